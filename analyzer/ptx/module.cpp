// SPDX-License-Identifier: Apache-2.0
// Look-ups in a module, and the names of special registers.
#include "analyzer/ptx/module.h"

#include <algorithm>
#include <array>

namespace handoff::ptx {
namespace {

// In the order of Special.
constexpr std::string_view kSpecials[] = {
    "%tid.x",
    "%tid.y",
    "%tid.z",
    "%ntid.x",
    "%ntid.y",
    "%ntid.z",
    "%ctaid.x",
    "%ctaid.y",
    "%ctaid.z",
    "%nctaid.x",
    "%nctaid.y",
    "%nctaid.z",
    "%laneid",
    "%warpid",
    "%nwarpid",
    "%cluster_ctaid.x",
    "%cluster_ctaid.y",
    "%cluster_ctaid.z",
    "%cluster_nctaid.x",
    "%cluster_nctaid.y",
    "%cluster_nctaid.z",
    "%cluster_ctarank",
    "%cluster_nctarank",
    "%clusterid.x",
    "%clusterid.y",
    "%clusterid.z",
    "%nclusterid.x",
    "%nclusterid.y",
    "%nclusterid.z",
    "%is_explicit_cluster",
    "%lanemask_eq",
    "%lanemask_le",
    "%lanemask_lt",
    "%lanemask_ge",
    "%lanemask_gt",
    "%dynamic_smem_size",
    "%total_smem_size",
    "%aggr_smem_size",
    "%reserved_smem_offset_begin",
    "%smid",
    "%nsmid",
    "%gridid",
    "%clock",
    "%clock64",
    "%globaltimer",
};
static_assert(std::size(kSpecials) == static_cast<unsigned>(Special::kOther));

constexpr std::string_view kOtherSpecials[] = {
    "%clock_hi",
    "%globaltimer_lo",
    "%globaltimer_hi",
    "%reserved_smem_offset_end",
    "%reserved_smem_offset_cap",
    "%reserved_smem_offset_0",
    "%reserved_smem_offset_1",
    "%current_graph_exec",
    "%tid",
    "%ntid",
    "%ctaid",
    "%nctaid",
    "%clusterid",
    "%nclusterid",
    "%cluster_ctaid",
    "%cluster_nctaid",
    "%tid.w",
    "%ntid.w",
    "%ctaid.w",
    "%nctaid.w",
    "%clusterid.w",
    "%nclusterid.w",
};

bool isNumbered(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return false;
  name.remove_prefix(prefix.size());
  if (name.ends_with("_64")) name.remove_suffix(3);
  return !name.empty() && name.size() <= 2 &&
         std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

std::string_view toString(Linkage linkage) {
  constexpr std::array<std::string_view, 5> kNames = {"", ".extern", ".visible", ".weak", ".common"};
  return kNames[static_cast<unsigned>(linkage)];
}

std::optional<Special> parseSpecial(std::string_view name) {
  if (const auto* found = std::ranges::find(kSpecials, name); found != std::end(kSpecials)) {
    return static_cast<Special>(found - std::begin(kSpecials));
  }
  const bool is_other = std::ranges::find(kOtherSpecials, name) != std::end(kOtherSpecials) ||
                        isNumbered(name, "%pm") || isNumbered(name, "%envreg");
  return is_other ? std::optional(Special::kOther) : std::nullopt;
}

std::string_view toString(Special special) {
  return special == Special::kOther ? std::string_view() : kSpecials[static_cast<unsigned>(special)];
}

const Function* Module::findFunction(std::string_view name) const {
  if (const auto alias = std::ranges::find(aliases, name, &Alias::name); alias != aliases.end())
    name = alias->target;
  const Function* declaration = nullptr;
  for (const Function& function : functions) {
    if (function.name != name) continue;
    if (!function.is_declaration) return &function;
    declaration = &function;
  }
  return declaration;
}

}  // namespace handoff::ptx
