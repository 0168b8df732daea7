// SPDX-License-Identifier: Apache-2.0
// The order was measured on an H200: which perturbation shows which rule, and which ones hide it
// (docs/gpu-results.md).
#include "analyzer/witness/plan.h"

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <string_view>

#include "analyzer/diagnose/names.h"

namespace handoff::witness {

using diagnose::Diagnosis;
using diagnose::Site;
using machine::EventKind;

namespace {

constexpr std::string_view kAll[] = {
    "plain",           "poison",           "host-poison",      "host",
    "delay-first",     "delay-second",     "stores",           "flood",
    "delay-first-all", "delay-second-all", "host-delay-first", "host-delay-second"};

/// What shows the rule best; the others follow in the order of kAll.
std::span<const std::string_view> favourites(std::string_view rule) {
  static constexpr std::string_view kLateCopy[] = {"plain", "host-poison", "poison"};
  static constexpr std::string_view kLateWriter[] = {"delay-first", "delay-first-all", "plain"};
  static constexpr std::string_view kLateReader[] = {"delay-first", "delay-first-all", "delay-second",
                                                     "plain", "poison"};
  static constexpr std::string_view kFence[] = {"stores", "plain"};
  static constexpr std::string_view kDrain[] = {"flood", "plain", "host"};
  static constexpr std::string_view kOverlap[] = {"host", "plain", "delay-first"};
  static const std::map<std::string_view, std::span<const std::string_view>> kTable = {
      {"missing-barrier", kLateWriter},     {"uninitialized-barrier", kLateWriter},
      {"premature-overwrite", kLateReader}, {"missing-proxy-fence", kFence},
      {"store-not-drained", kDrain},        {"source-overwritten", kDrain},
      {"cluster-lifetime", kLateReader},    {"overlapping-copies", kOverlap},
  };
  const auto found = kTable.find(rule);
  return found != kTable.end() ? found->second : kLateCopy;
}

class Planner {
 public:
  Planner(const Diagnosis& diagnosis, const machine::Program& program, const machine::Launch& launch)
      : diagnosis_(diagnosis), program_(program), launch_(launch) {}

  std::vector<Variant> plan() {
    std::vector<Variant> variants;
    const auto add = [&](std::string_view name) {
      const bool is_known =
          std::any_of(variants.begin(), variants.end(), [&](const Variant& v) { return v.name == name; });
      if (is_known) return;
      if (std::optional<Variant> variant = make(std::string(name))) variants.push_back(std::move(*variant));
    };
    for (const std::string_view name : favourites(diagnosis_.finding.rule)) add(name);
    for (const std::string_view name : kAll) add(name);
    return variants;
  }

 private:
  std::optional<Variant> make(const std::string& name) {
    Variant variant{.name = name};
    Instrumenter to(program_);
    if (name.starts_with("host")) {
      if (!hasCopy()) return std::nullopt;
      variant.has_host_sources = true;
      variant.description = "the global memory of the copies is host memory";
    }
    const auto describe = [&](const std::string& text) {
      variant.description += (variant.description.empty() ? "" : "; ") + text;
    };
    bool fits = true;
    if (name == "plain") describe("the kernel as it is");
    if (name.ends_with("poison")) {
      fits = poison(to);
      describe("the issuer overwrites the slot before it issues the copy");
    } else if (name.find("delay-first") != std::string::npos) {
      fits = delay(to, 0, name.ends_with("-all"), describe);
    } else if (name.find("delay-second") != std::string::npos) {
      fits = delay(to, 1, name.ends_with("-all"), describe);
    } else if (name == "stores") {
      fits = stores(to);
      describe("eight conflicting stores of the same warp come right before the store");
    } else if (name == "flood") {
      fits = flood(to);
      describe("512 KiB of bulk stores to host memory are queued before the bulk store");
    }
    if (!fits) return std::nullopt;
    variant.added = to.take();
    return variant;
  }

  bool hasCopy() const {
    return std::any_of(program_.ops.begin(), program_.ops.end(), [](const machine::Op& op) {
      const ptx::Effect& effect = op.decoded->effect;
      return std::holds_alternative<ptx::CpAsync>(effect) || std::holds_alternative<ptx::BulkCopy>(effect) ||
             std::holds_alternative<ptx::TensorCopy>(effect);
    });
  }

  /// The instruction of a site and its copies in unrolled loops.
  std::vector<std::uint32_t> copiesOf(const Site& site) const {
    std::vector<std::uint32_t> copies;
    for (const machine::Op& op : program_.ops) {
      if (op.site == site.group && op.decoded == program_.function.instructions[site.instr].decoded)
        copies.push_back(op.instr);
    }
    if (copies.empty()) copies.push_back(site.instr);
    std::sort(copies.begin(), copies.end());
    copies.erase(std::unique(copies.begin(), copies.end()), copies.end());
    return copies;
  }

  /// Of tensor copies: the least, so that no other slot is touched. 0: not known.
  std::uint64_t boxBytes() const {
    std::uint64_t least = 0;
    for (const auto& [address, map] : launch_.tensor_maps)
      least = least == 0 ? map.box_bytes : std::min(least, map.box_bytes);
    return least;
  }

  bool poison(Instrumenter& to) const {
    bool fits = false;
    std::vector<std::uint32_t> done;
    for (const Site& site : diagnosis_.sites) {
      if (!machine::isCopy(site.kind)) continue;
      for (const std::uint32_t instr : copiesOf(site)) {
        if (std::find(done.begin(), done.end(), instr) != done.end()) continue;
        done.push_back(instr);
        fits |= to.poison(instr, boxBytes());
      }
    }
    return fits;
  }

  template <typename Describe>
  bool delay(Instrumenter& to, std::size_t which, bool is_always, const Describe& describe) const {
    if (which >= diagnosis_.sites.size()) return false;
    const Site& site = diagnosis_.sites[which];
    if (!is_always && site.pass == 0) return false;
    const std::vector<std::uint32_t> copies =
        is_always ? copiesOf(site) : std::vector<std::uint32_t>{site.instr};
    for (const std::uint32_t instr : copies)
      to.delay({.instr = instr, .warp = site.warp, .cta = site.cta, .pass = is_always ? 0 : site.pass},
               launch_.clusterSize() > 1);
    const std::string thread =
        diagnose::threadName(launch_, site.cta * launch_.warps() + site.warp, site.lane);
    describe("the warp of thread " + thread + " spins for 10 us before '" +
             program_.function.instructions[site.instr].opcode + "'" +
             (is_always       ? ", every time"
              : site.pass > 1 ? ", turn " + std::to_string(site.pass)
                              : ""));
    return true;
  }

  bool stores(Instrumenter& to) const {
    constexpr std::uint64_t kMaxShared = 48 * 1024;  // of variables, on every target
    bool fits = false;
    for (const Site& site : diagnosis_.sites) {
      if (site.kind != EventKind::kWrite) continue;
      const bool has_room = program_.static_shared_bytes + Instrumenter::kScratchBytes <= kMaxShared;
      const ptx::Space space =
          diagnosis_.space == ptx::Space::kGlobal ? ptx::Space::kGlobal : ptx::Space::kShared;
      if (space == ptx::Space::kShared && !has_room) continue;
      for (const std::uint32_t instr : copiesOf(site)) fits |= to.conflictingStores(instr, space);
    }
    return fits;
  }

  bool flood(Instrumenter& to) const {
    bool fits = false;
    for (const Site& site : diagnosis_.sites) {
      if (site.kind != EventKind::kBulk) continue;
      for (const std::uint32_t instr : copiesOf(site)) fits |= to.floodStores(instr);
    }
    return fits;
  }

  const Diagnosis& diagnosis_;
  const machine::Program& program_;
  const machine::Launch& launch_;
};

}  // namespace

Prediction predictionOf(const std::string& rule, const machine::Program& program) {
  static constexpr std::string_view kHangs[] = {
      "hang",       "arrival-count-mismatch", "tx-count-mismatch", "divergent-protocol", "wrong-parity",
      "phase-race", "uninitialized-barrier"};
  static constexpr std::string_view kFaults[] = {
      "misaligned-copy",   "wrong-space",       "illegal-barrier-op", "uninitialized-barrier",
      "cluster-lifetime",  "tx-count-mismatch", "phase-race",         "arrival-count-mismatch",
      "divergent-protocol"};
  const auto isAmong = [&](std::span<const std::string_view> rules) {
    return std::find(rules.begin(), rules.end(), rule) != rules.end();
  };
  // Barriers that are armed twice or overrun stop the kernel, whatever the mistake behind it is called.
  static constexpr std::string_view kOverruns[] = {"hang", "missing-wait", "wrong-parity",
                                                   "insufficient-wait", "premature-overwrite"};
  return {.is_hang = isAmong(kHangs),
          .is_fault = isAmong(kFaults) || (program.has_mbarrier_waits && isAmong(kOverruns))};
}

std::vector<Variant> variantsFor(const Diagnosis& diagnosis, const machine::Program& program,
                                 const machine::Launch& launch) {
  return Planner(diagnosis, program, launch).plan();
}

}  // namespace handoff::witness
