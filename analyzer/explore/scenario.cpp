// SPDX-License-Identifier: Apache-2.0
// Building launches.
#include "analyzer/explore/scenario.h"

#include <algorithm>
#include <map>
#include <optional>
#include <variant>

#include "analyzer/explore/annotations.h"
#include "analyzer/explore/configured.h"
#include "analyzer/explore/tensor_maps.h"
#include "analyzer/machine/address.h"
#include "analyzer/support/launch_text.h"

namespace handoff::explore {

using frontend::Folded;
using frontend::KernelDecl;
using frontend::LaunchSite;
using frontend::ParamField;

namespace {

/// Values for what nothing fixes.
constexpr std::uint32_t kAssumedBlock = 128;
constexpr std::uint32_t kAssumedGrid = 4;
constexpr machine::Dim3 kAssumedCluster = {2, 1, 1};
/// CTAs; more than 8 need cudaFuncAttributeNonPortableClusterSizeAllowed (CUDA C++ Programming Guide, "Thread Block
/// Clusters").
constexpr std::uint32_t kMaxClusterSize = 16;

/// Threads of a block (CUDA C++ Programming Guide, "Compute Capabilities").
constexpr std::int64_t kMaxThreads = 1024;

/// Of any chip, since PTX for an older one runs on a newer one.
constexpr std::uint64_t kMostSharedBytes = 227 * 1024;
/// Shared memory that one CTA may have, in bytes (CUDA C++ Programming Guide, "Compute Capabilities").
std::uint64_t maxSharedBytes(unsigned sm) {
  if (sm >= 90 && sm < 120) return kMostSharedBytes;
  if (sm == 80 || sm == 87) return 163 * 1024;
  return 99 * 1024;
}

/// A launch before assumptions: what a site, a comment or the command line fixes.
struct Given {
  std::array<Folded, 3> grid, block, cluster;
  Folded shared;
  std::vector<LaunchSite::Argument> arguments;
  std::map<std::string, std::int64_t, std::less<>> named;
  std::string origin;  ///< "" or " (file:line)"
  SourcePos pos;
  SourcePos site;      ///< of a launch site; unknown for comments and the command line
};

// Text that is not of the form was refused before.
Given parseLaunch(std::string_view text) {
  Given given;
  const Result<LaunchText> launch = parseLaunchText(text, Block::kOptional);
  if (!launch) return given;
  given.block = launch->block;
  given.grid = launch->grid;
  given.cluster = launch->cluster;
  given.shared = launch->shared_bytes;
  given.named.insert(launch->parameters.begin(), launch->parameters.end());
  return given;
}

std::string positionText(const SourcePos& pos) {
  return pos.isKnown() ? " (" + pos.file + ":" + std::to_string(pos.line) + ")" : "";
}

Given fromSite(const LaunchSite& site) {
  return {.grid = site.grid, .block = site.block, .cluster = site.cluster, .shared = site.dynamic_smem,
          .arguments = site.arguments, .named = {}, .origin = positionText(site.pos), .pos = site.pos, .site = site.pos};
}

std::vector<Given> givenLaunches(const frontend::Unit& unit, const KernelDecl* decl, const std::string& name,
                                 const Options& options) {
  std::vector<Given> given;
  for (const std::string& text : options.launches) given.push_back(parseLaunch(text));
  if (!given.empty()) return given;
  for (const Annotation& annotation : annotationsAbove(unit, decl, "launch")) {
    given.push_back(parseLaunch(annotation.text));
    given.back().origin = positionText(annotation.pos);
    given.back().pos = annotation.pos;
  }
  if (!given.empty()) return given;
  const std::string pretty = decl != nullptr ? decl->pretty : diagnose::demangle(name);
  for (const ConfiguredLaunch* configured : configuredFor(options, name, pretty)) {
    given.push_back(parseLaunch(configured->text));
    given.back().origin = positionText(configured->pos);
    given.back().pos = configured->pos;
  }
  if (!given.empty()) return given;
  for (const LaunchSite& site : unit.launches) {
    if (isSameKernel(site.kernel, name)) given.push_back(fromSite(site));
  }
  if (given.empty()) given.emplace_back();
  return given;
}

bool isKnown(const std::array<Folded, 3>& extent) {
  return std::all_of(extent.begin(), extent.end(), [](const Folded& f) { return f.has_value(); });
}

/// Does the instruction make sense with other CTAs in the cluster only?
bool needsCluster(const ptx::Decoded& decoded) {
  if (std::holds_alternative<ptx::ClusterBarrier>(decoded.effect) || decoded.has("multicast::cluster") ||
      decoded.has("cta_group::2"))
    return true;
  if (const auto* alu = std::get_if<ptx::Alu>(&decoded.effect)) return alu->op == ptx::AluOp::kMapa;
  if (decoded.space() != ptx::Space::kSharedCluster) return false;
  if (std::holds_alternative<ptx::BulkCopy>(decoded.effect)) {
    return decoded.space_count > 1 && decoded.spaces[1] == ptx::Space::kShared;  // from one CTA to another
  }
  return std::holds_alternative<ptx::Load>(decoded.effect) || std::holds_alternative<ptx::Store>(decoded.effect) ||
         std::holds_alternative<ptx::Atomic>(decoded.effect) || std::holds_alternative<ptx::AsyncStore>(decoded.effect) ||
         std::holds_alternative<ptx::Mbarrier>(decoded.effect);
}

class Builder {
 public:
  Builder(const frontend::Unit& unit, const KernelDecl* decl, const machine::Program& program, const Options& options,
          const Given& given)
      : unit_(unit), decl_(decl), program_(program), given_(given),
        tensor_maps_(unit, decl, program.function.name, options, given.site) {}

  Scenario build() {
    fixBlock();
    fixCluster();
    fixGrid();
    fixShared();
    fixParameters();
    nameArrays();
    const machine::Launch& launch = scenario_.launch;
    scenario_.names.launch = launchName(launch);
    scenario_.text = scenario_.names.launch;
    for (const Integer& integer : scenario_.integers) {
      scenario_.text += " " + integer.name + "=" + (integer.is_free ? "any" : std::to_string(integer.value));
    }
    scenario_.text += given_.origin;
    return std::move(scenario_);
  }

 private:
  void assume(const std::string& what) {
    SourcePos pos = given_.pos.isKnown() ? given_.pos : decl_ != nullptr ? decl_->pos : SourcePos{};
    if (!pos.isKnown()) pos = {program_.module->file, program_.function.ptx_line, 0};
    scenario_.assumptions.push_back({what, pos});
  }

  void fixBlock() {
    machine::Dim3& block = scenario_.launch.block;
    const ptx::KernelLimits& limits = program_.function.limits;
    if (limits.req_ntid) {
      block = *limits.req_ntid;
      return;
    }
    if (isKnown(given_.block)) {
      std::int64_t threads = 1;
      for (unsigned d = 0; d < 3; ++d) {
        const std::int64_t extent = std::clamp<std::int64_t>(*given_.block[d], 0, kMaxThreads + 1);
        block[d] = static_cast<std::uint32_t>(extent);
        threads *= extent;
      }
      if (threads >= 1 && threads <= kMaxThreads) return;
      const auto text = [&](unsigned d) { return std::to_string(*given_.block[d]); };
      block = {kAssumedBlock, 1, 1};
      return assume("a block of (" + text(0) + "," + text(1) + "," + text(2) + ") threads cannot be launched: " + dim3Text(block) +
                    " is assumed");
    }
    if (limits.max_ntid) {
      block = *limits.max_ntid;
      assume("the block size is assumed to be the launch bound " + dim3Text(block));
      return;
    }
    block = {kAssumedBlock, 1, 1};
    assume("no launch fixes the block size: " + dim3Text(block) + " is assumed");
  }

  void fixCluster() {
    const bool is_known = takeKnownCluster();
    machine::Dim3& cluster = scenario_.launch.cluster;
    if (is_known && scenario_.launch.clusterSize() > kMaxClusterSize) {
      assume("a cluster " + dim3Text(cluster) + " cannot be launched: one CTA by itself is assumed");
      cluster = {1, 1, 1};
    }
    const bool is_needed = std::any_of(program_.ops.begin(), program_.ops.end(),
                                       [](const machine::Op& op) { return needsCluster(*op.decoded); });
    if (is_known || !is_needed) return;
    cluster = kAssumedCluster;
    scenario_.has_assumed_cluster = true;
    assume("no launch fixes the cluster size: " + dim3Text(cluster) + " is assumed");
  }

  /// What is compiled into the kernel binds every launch of it.
  bool takeKnownCluster() {
    machine::Dim3& cluster = scenario_.launch.cluster;
    if (program_.function.limits.req_cluster) {
      cluster = *program_.function.limits.req_cluster;
      return true;
    }
    for (const auto* extent : {decl_ != nullptr ? &decl_->cluster_dims : nullptr, &given_.cluster}) {
      if (extent == nullptr || !isKnown(*extent)) continue;
      for (unsigned d = 0; d < 3; ++d) cluster[d] = static_cast<std::uint32_t>(std::clamp<std::int64_t>(*(*extent)[d], 1, 1024));
      return true;
    }
    return false;
  }

  void fixGrid() {
    machine::Dim3& grid = scenario_.launch.grid;
    const bool is_any_known = std::any_of(given_.grid.begin(), given_.grid.end(), [](const Folded& f) { return f.has_value(); });
    bool is_rounded = false;
    for (unsigned d = 0; d < 3; ++d) {
      const std::uint32_t fallback = d == 2 && !is_any_known ? 1 : kAssumedGrid, step = scenario_.launch.cluster[d];
      const std::uint32_t wanted = given_.grid[d] ? static_cast<std::uint32_t>(std::max<std::int64_t>(*given_.grid[d], 1)) : fallback;
      grid[d] = (wanted + step - 1) / step * step;
      is_rounded |= given_.grid[d] && grid[d] != wanted;
    }
    scenario_.can_free_grid = !readsGridSize();
    if (is_rounded) assume("the grid is no multiple of the cluster: " + dim3Text(grid) + " is assumed");
    if (isKnown(given_.grid)) return;
    scenario_.is_grid_free = scenario_.can_free_grid;
    if (!scenario_.is_grid_free) assume("no launch fixes the grid: " + dim3Text(grid) + " is assumed");
  }

  bool readsGridSize() const {
    return std::any_of(program_.specials.begin(), program_.specials.end(), [](const auto& special) {
      return (special.special >= ptx::Special::kNctaidX && special.special <= ptx::Special::kNctaidZ) ||
             (special.special >= ptx::Special::kNclusteridX && special.special <= ptx::Special::kNclusteridZ);
    });
  }

  void fixShared() {
    std::uint64_t& bytes = scenario_.launch.dynamic_shared_bytes;
    const std::uint64_t used = program_.has_dynamic_shared ? program_.dynamic_shared_offset - machine::kSharedBase : 0;
    if (given_.shared) {
      bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(*given_.shared, 0));
      if (used + bytes <= kMostSharedBytes) return;
      const std::string asked = std::to_string(bytes);
      bytes = kMostSharedBytes - std::min(used, kMostSharedBytes);
      return assume("a block with " + asked + " bytes of dynamic shared memory cannot be launched: " + std::to_string(bytes) +
                    " are assumed");
    }
    if (!program_.has_dynamic_shared) return;
    const std::uint64_t most = maxSharedBytes(unit_.module.sm);
    bytes = most > used ? most - used : 0;
    assume("no launch fixes the dynamic shared memory: " + std::to_string(bytes) + " bytes are assumed");
  }

  const ParamField* fieldAt(std::uint32_t param, std::uint32_t offset) const {
    if (decl_ == nullptr) return nullptr;
    for (const ParamField& field : decl_->fields) {
      if (field.param == param && offset >= field.offset && offset < field.offset + std::max(field.size, 1u)) return &field;
    }
    return nullptr;
  }

  std::string nameOf(const machine::ParamRead& read) const {
    if (const ParamField* field = fieldAt(read.param, read.offset); field != nullptr && !field->name.empty()) {
      return field->name;
    }
    std::string name = "parameter " + std::to_string(read.param);
    return read.offset == 0 ? name : name + "+" + std::to_string(read.offset);
  }

  void write(std::uint32_t param, std::uint32_t offset, std::uint32_t size, std::uint64_t word) {
    if (param >= program_.param_offset.size()) return;
    const std::uint32_t at = program_.param_offset[param] + offset;
    for (std::uint32_t i = 0; i < size && at + i < scenario_.launch.param_bytes.size(); ++i) {
      scenario_.launch.param_bytes[at + i] = static_cast<std::uint8_t>(i < 8 ? word >> (8 * i) : 0);
      scenario_.launch.param_known[at + i] = true;
    }
  }

  /// What a launch calls a parameter of PTX, which has no names.
  static std::string numberOf(const machine::ParamRead& read) {
    return toString(ParamPlace{read.param, read.offset});
  }

  void checkNames() {
    if (decl_ != nullptr) return;
    for (const auto& [name, value] : given_.named) {
      const bool is_read = std::any_of(program_.param_reads.begin(), program_.param_reads.end(),
                                       [&, &own = name](const machine::ParamRead& read) { return numberOf(read) == own; });
      if (!is_read) assume("the kernel reads no parameter '" + name + "', to which the launch gives a value: those of PTX are param0, param1, ...");
    }
  }

  void fixParameters() {
    checkNames();
    scenario_.launch.param_bytes.assign(program_.param_bytes, 0);
    scenario_.launch.param_known.assign(program_.param_bytes, false);
    for (const machine::ParamRead& read : program_.param_reads) fixParameter(read);
    for (const diagnose::Limit& mistake : tensor_maps_.mistakes()) scenario_.assumptions.push_back(mistake);
    for (const ParamPlace& place : tensor_maps_.places())
      if (!isPointer(place)) addTensorMapAt(place);
  }

  bool isPointer(const ParamPlace& place) const {
    if (const ParamField* field = fieldAt(place.param, place.offset)) return field->kind == ParamField::Kind::kPointer;
    return std::any_of(program_.param_reads.begin(), program_.param_reads.end(), [&](const machine::ParamRead& read) {
      return read.is_pointer && read.param == place.param && read.offset == place.offset;
    });
  }

  void addTensorMapAt(const ParamPlace& place) {
    constexpr std::uint64_t kMapBytes = 128;
    const std::uint64_t count = program_.param_offset.size();
    const std::uint64_t end = place.param + 1 < count ? program_.param_offset[place.param + 1] : program_.param_bytes;
    if (place.param >= count || program_.param_offset[place.param] + std::uint64_t{place.offset} + kMapBytes > end)
      return assume("the kernel has no room for a tensor map at " + toString(place));
    addTensorMap(place, machine::kParamWindow + program_.param_offset[place.param] + place.offset);
  }

  void addTensorMap(const ParamPlace& place, std::uint64_t address) {
    if (const auto map = tensor_maps_.at(place)) scenario_.launch.tensor_maps.emplace(address, *map);
  }

  void fixParameter(machine::ParamRead read) {
    const ParamField* field = fieldAt(read.param, read.offset);
    // Who reads a part of a number reads the number: its range is that of the declaration.
    const bool is_number = field != nullptr && field->kind == ParamField::Kind::kInteger && field->size <= 8;
    if (is_number && read.offset + read.size <= field->offset + field->size) {
      read.offset = field->offset;
      read.size = field->size;
    }
    const std::string name = nameOf(read);
    // The declaration knows best; without one, a 64-bit value that addresses are computed from is a pointer.
    const bool is_pointer = field != nullptr ? field->kind == ParamField::Kind::kPointer : read.is_pointer;
    const auto named = given_.named.find(decl_ != nullptr ? name : numberOf(read));
    const bool is_given = named != given_.named.end();
    if (is_pointer && is_given && named->second == 0) return fixToNull(read, name);
    if (is_pointer) {
      const auto buffer = static_cast<unsigned>(scenario_.names.buffers.size());
      scenario_.names.buffers.emplace(buffer, name);
      addTensorMap({read.param, read.offset}, machine::bufferBase(buffer));
      return write(read.param, read.offset, 8, machine::bufferBase(buffer));
    }
    // The words of a tensor map mean nothing one by one.
    if (field != nullptr && (field->kind == ParamField::Kind::kFloat || field->kind == ParamField::Kind::kTensorMap)) return;
    for (const LaunchSite::Argument& argument : given_.arguments) {
      const bool covers = argument.param == read.param && read.offset >= argument.offset &&
                          read.offset + read.size <= argument.offset + argument.size;
      if (!covers) continue;
      const std::uint64_t word = static_cast<std::uint64_t>(argument.value) >> (8 * (read.offset - argument.offset));
      return fixTo(read, name, word, argument.value, /*is_assumed=*/false);
    }
    if (is_given) {
      return fixTo(read, name, static_cast<std::uint64_t>(named->second), named->second, /*is_assumed=*/false);
    }
    const std::int64_t value = read.size == 1 ? 1 : kAssumedInteger;
    fixTo(read, name, static_cast<std::uint64_t>(value), value, /*is_assumed=*/true);
  }

  void fixToNull(const machine::ParamRead& read, const std::string& name) {
    write(read.param, read.offset, 8, 0);
    const auto is_same = [&](const Integer& other) { return other.name == name; };
    if (read.param >= program_.param_offset.size() ||
        std::any_of(scenario_.integers.begin(), scenario_.integers.end(), is_same))
      return;
    scenario_.integers.push_back({.name = name, .offset = program_.param_offset[read.param] + read.offset, .bytes = 8,
                                  .is_pointer = true});
    scenario_.names.parameters.emplace_back(name, "0");
  }

  void fixTo(const machine::ParamRead& read, const std::string& name, std::uint64_t word, std::int64_t shown,
             bool is_assumed) {
    const ParamField* field = fieldAt(read.param, read.offset);
    if (field != nullptr && read.offset + read.size > field->offset + field->size) {
      // No symbol has the range of two numbers side by side.
      assume("'" + name + "' is read together with what follows it: " + std::to_string(shown) + " is assumed");
      is_assumed = false;
    }
    write(read.param, read.offset, read.size, word);
    // Of several reads of one place the first stands for all.
    const std::uint32_t at = read.param < program_.param_offset.size() ? program_.param_offset[read.param] + read.offset : 0;
    bool is_known = false;
    for (Integer& other : scenario_.integers) {
      if (at >= other.offset + other.bytes || other.offset >= at + read.size) continue;
      is_known = true;
      const bool is_within = at >= other.offset && at + read.size <= other.offset + other.bytes;
      if (is_within || !other.is_free) continue;
      // A wider read of the same place would not see the symbol.
      other.is_free = false;
      assume("'" + name + "' is read in pieces of different sizes: " + std::to_string(shown) + " is assumed");
    }
    if (read.param < program_.param_offset.size() && read.size <= 8 && !is_known) {
      scenario_.integers.push_back({name, program_.param_offset[read.param] + read.offset, read.size, shown, is_assumed});
    }
    auto& parameters = scenario_.names.parameters;
    const auto known = std::find_if(parameters.begin(), parameters.end(), [&](const auto& p) { return p.first == name; });
    if (known == parameters.end()) parameters.emplace_back(name, std::to_string(shown) + (is_assumed ? " (assumed)" : ""));
  }

  void nameArrays() {
    for (const frontend::SharedArray& array : unit_.shared_arrays) {
      scenario_.names.arrays.emplace(array.name, diagnose::ArrayShape{array.element_bytes, array.extents});
    }
  }

  const frontend::Unit& unit_;
  const KernelDecl* decl_;
  const machine::Program& program_;
  const Given& given_;
  const TensorMaps tensor_maps_;
  Scenario scenario_;
};

}  // namespace

bool isSameKernel(std::string_view a, std::string_view b) {
  const auto plain = [](std::string_view name) {
    std::string text(name);
    if (text.starts_with("_ZL")) text.erase(2, 1);
    return text;
  };
  return a == b || plain(a) == plain(b);
}

std::vector<Scenario> scenariosFor(const frontend::Unit& unit, const KernelDecl* decl, const machine::Program& program,
                                   const Options& options) {
  std::vector<Scenario> scenarios;
  for (const Given& given : givenLaunches(unit, decl, program.function.name, options)) {
    Scenario scenario = Builder(unit, decl, program, options, given).build();
    const bool is_new = std::none_of(scenarios.begin(), scenarios.end(), [&](const Scenario& other) {
      return other.names.launch == scenario.names.launch && other.launch.param_bytes == scenario.launch.param_bytes &&
             haveSameBoxes(other.launch, scenario.launch);
    });
    if (is_new) scenarios.push_back(std::move(scenario));
  }
  return scenarios;
}

}  // namespace handoff::explore
