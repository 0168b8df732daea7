// SPDX-License-Identifier: Apache-2.0
// Manifest and PTX of a job.
#include "analyzer/witness/job.h"

#include <algorithm>
#include <array>
#include <bit>
#include <set>
#include <span>

#include "analyzer/diagnose/names.h"
#include "analyzer/machine/address.h"

namespace handoff::witness {

using json::Array;
using json::Object;
using json::Value;

namespace {

constexpr std::int64_t kFormatVersion = 1;

Value dim3(const machine::Dim3& extent) { return Array{extent[0], extent[1], extent[2]}; }

std::string hex(std::span<const std::uint8_t> bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::string_view kindName(machine::EventKind kind) {
  using machine::EventKind;
  switch (kind) {
    case EventKind::kRead:
      return "read";
    case EventKind::kWrite:
      return "write";
    case EventKind::kAtomic:
      return "atomic";
    case EventKind::kCopy:
      return "cp.async";
    case EventKind::kBulk:
      return "bulk copy";
    case EventKind::kAsyncStore:
      return "asynchronous store";
    case EventKind::kMma:
      return "multiplication";
    case EventKind::kMbarrierInit:
      return "mbarrier init";
    case EventKind::kMbarrierArrive:
      return "mbarrier arrival";
    case EventKind::kMbarrierExpect:
      return "mbarrier expect";
    case EventKind::kMbarrierWait:
      return "mbarrier wait";
    default:
      return "other";
  }
}

void collectTargets(const ptx::Operand& operand, std::set<ptx::InstrIndex>& targets) {
  if (operand.kind == ptx::Operand::Kind::kLabel) targets.insert(operand.target);
  for (const ptx::Operand& element : operand.elements) collectTargets(element, targets);
}

/// Inlined calls and edits move instructions and leave the labels behind.
void relabel(ptx::Function& function) {
  std::set<ptx::InstrIndex> targets;
  for (const ptx::Instruction& instruction : function.instructions) {
    for (const ptx::Operand& operand : instruction.operands) collectTargets(operand, targets);
  }
  for (const ptx::BranchTable& table : function.branch_tables)
    targets.insert(table.targets.begin(), table.targets.end());
  function.labels.clear();
  for (const ptx::InstrIndex target : targets)
    function.labels.push_back({"$L" + std::to_string(target), target});
}

class Builder {
 public:
  explicit Builder(const Case& input) : in_(input) {}

  diagnose::WitnessJob build() {
    const ptx::Module& module = *in_.program.module;
    Value& manifest = job_.manifest;
    manifest.set("version", kFormatVersion);
    manifest.set("rule", in_.diagnosis.finding.rule);
    manifest.set("message", in_.diagnosis.finding.message);
    manifest.set("kernel", in_.program.function.name);
    manifest.set("target", module.target);
    manifest.set("launch", Object{{"grid", dim3(in_.launch.grid)},
                                  {"block", dim3(in_.launch.block)},
                                  {"cluster", dim3(in_.launch.cluster)},
                                  {"dynamic_shared", in_.launch.dynamic_shared_bytes}});
    manifest.set("parameters", parameters());
    manifest.set("arguments", arguments());
    if (in_.is_control) manifest.set("is_control", true);
    if (!in_.is_control) {
      manifest.set("memory", memory());
      manifest.set("events", events());
    }
    manifest.set("reference", in_.repaired != nullptr ? "repaired" : "self");
    if (in_.repaired != nullptr) manifest.set("repair", in_.repaired->description);
    const Prediction prediction = predictionOf(in_.diagnosis.finding.rule, in_.program);
    Array outcomes = {"wrong"};
    if (prediction.is_hang) outcomes.emplace_back("hang");
    if (prediction.is_fault) outcomes.emplace_back("fault");
    manifest.set("predicts", std::move(outcomes));
    if (!in_.is_control) manifest.set("steps", steps());
    manifest.set("variants", variants());
    return std::move(job_);
  }

 private:
  Value parameters() const {
    Array list;
    for (const ptx::VarId id : in_.program.function.params) {
      const ptx::Variable& variable = in_.program.function.variables[static_cast<std::uint32_t>(id)];
      list.push_back(Object{{"bytes", variable.size}, {"align", variable.align}});
    }
    return list;
  }

  /// The machine's value of a place in the parameters, when the launch gives all of its bytes.
  std::optional<std::uint64_t> known(const Parameter& parameter) const {
    if (parameter.param >= in_.program.param_offset.size()) return std::nullopt;
    const std::uint32_t at = in_.program.param_offset[parameter.param] + parameter.offset;
    std::uint64_t value = 0;
    for (std::uint32_t i = 0; i < parameter.size; ++i) {
      if (at + i >= in_.launch.param_known.size() || !in_.launch.param_known[at + i]) return std::nullopt;
      if (i < 8) value |= std::uint64_t{in_.launch.param_bytes[at + i]} << (8 * i);
    }
    return value;
  }

  Value arguments() const {
    Array list;
    for (const Parameter& parameter : in_.parameters) {
      Value argument =
          Object{{"param", parameter.param}, {"offset", parameter.offset}, {"name", parameter.name}};
      switch (parameter.kind) {
        case Parameter::Kind::kPointer:
          addBuffer(argument, parameter);
          break;
        case Parameter::Kind::kTensorMap:
          argument.set("kind", "tensor_map");
          argument.set("map", mapOrGuess(machine::kParamWindow + placeOf(parameter)));
          break;
        case Parameter::Kind::kFloat:
        case Parameter::Kind::kValue:
          addValue(argument, parameter);
          break;
      }
      list.push_back(std::move(argument));
    }
    return list;
  }

  std::uint64_t placeOf(const Parameter& parameter) const {
    return parameter.param < in_.program.param_offset.size()
               ? in_.program.param_offset[parameter.param] + parameter.offset
               : 0;
  }

  void addBuffer(Value& argument, const Parameter& parameter) const {
    argument.set("kind", "buffer");
    argument.set("bytes", std::int64_t{16} << 20);
    argument.set("fill", "tile");
    const std::optional<std::uint64_t> address = known(parameter);
    argument.set("is_source", address && isSource(*address >> machine::kBufferShift));
    if (address) {
      if (Value map = mapOrGuess(*address); !map.isNull()) argument.set("map", std::move(map));
    }
  }

  bool isSource(std::uint64_t buffer) const {
    return std::any_of(
        in_.diagnosis.sites.begin(), in_.diagnosis.sites.end(),
        [&](const diagnose::Site& site) { return site.source >> machine::kBufferShift == buffer; });
  }

  void addValue(Value& argument, const Parameter& parameter) const {
    std::uint64_t value = known(parameter).value_or(static_cast<std::uint64_t>(parameter.value));
    if (parameter.kind == Parameter::Kind::kFloat) {
      constexpr std::uint64_t kOneHalf = 0x3c00, kOneFloat = 0x3f80'0000, kOneDouble = 0x3ff0'0000'0000'0000;
      value = parameter.size == 8 ? kOneDouble : parameter.size == 4 ? kOneFloat : kOneHalf;
    }
    std::vector<std::uint8_t> bytes(parameter.size);
    for (std::size_t i = 0; i < bytes.size() && i < 8; ++i)
      bytes[i] = static_cast<std::uint8_t>(value >> (8 * i));
    argument.set("kind", "value");
    argument.set("bytes", hex(bytes));
  }

  Value mapAt(std::uint64_t address) const {
    const auto found = in_.launch.tensor_maps.find(address);
    if (found == in_.launch.tensor_maps.end() || found->second.box.empty()) return {};
    const machine::TensorMap& map = found->second;
    Array box, steps;
    for (const std::uint32_t extent : map.box) box.emplace_back(extent);
    for (const std::uint32_t step : map.steps) steps.emplace_back(step);
    return Object{{"element_bytes", map.element_bytes},
                  {"box", std::move(box)},
                  {"steps", std::move(steps)},
                  {"swizzle", map.swizzle},
                  {"interleave", map.interleave}};
  }

  Value mapOrGuess(std::uint64_t address) const {
    Value map = mapAt(address);
    const auto assumed = in_.diagnosis.assumed_boxes.find(address);
    if (map.isNull() && assumed != in_.diagnosis.assumed_boxes.end())
      map = guessedMap(assumed->second, rankOfMaps());
    if (!map.isNull() && in_.program.edits_tensormaps) map.set("is_edited", true);
    return map;
  }

  /// Of the tensor copies of the kernel: "cp.async.bulk.tensor.2d".
  std::size_t rankOfMaps() const {
    for (const machine::Op& op : in_.program.ops) {
      if (!std::holds_alternative<ptx::TensorCopy>(op.decoded->effect)) continue;
      for (const std::string& modifier : op.decoded->modifiers) {
        if (modifier.size() == 2 && modifier[1] == 'd') return static_cast<std::size_t>(modifier[0] - '0');
      }
    }
    return 2;
  }

  /// Any box of that many bytes moves as much as the one that the host makes: rows of at most 128 bytes, of
  /// words where they go into it. Null when no box has that size.
  static Value guessedMap(std::uint64_t bytes, std::size_t rank) {
    constexpr std::uint64_t kUnit = 16, kRow = 128, kMost = 256;  // CUDA driver API, cuTensorMapEncodeTiled
    if (bytes % kUnit != 0 || rank == 0 || rank > 5) return {};
    constexpr std::uint64_t kWord = 4;
    std::uint64_t row = rank == 1 ? std::min(bytes, kMost * kWord) : std::min(bytes, kRow);
    while (row > kUnit && bytes % row != 0) row -= kUnit;
    std::uint64_t rest = bytes / row;
    Array box = {row / kWord};
    for (std::size_t d = 1; d < rank; ++d) {
      std::uint64_t extent = std::min(rest, kMost);
      while (rest % extent != 0) --extent;
      box.emplace_back(extent);
      rest /= extent;
    }
    if (rest != 1) return {};
    return Object{{"element_bytes", kWord}, {"box", std::move(box)}, {"is_guess", true}};
  }

  /// Where the bytes begin: the finding names one of them. Accesses of up to 16 bytes are aligned to their
  /// size.
  std::uint64_t firstAddress() const {
    const auto bytes = static_cast<std::uint64_t>(sharedBytes());
    const bool is_vector = std::has_single_bit(bytes) && bytes <= 16;
    return is_vector ? in_.diagnosis.address & ~(bytes - 1) : in_.diagnosis.address;
  }

  Value memory() const {
    return Object{{"space", in_.diagnosis.space == ptx::Space::kGlobal ? "global" : "shared"},
                  {"place", in_.diagnosis.finding.witness.buffer},
                  {"address", firstAddress()},
                  {"bytes", sharedBytes()}};
  }

  /// At the place where the events meet: the source of a copy is read.
  bool writes(const diagnose::Site& site) const {
    using machine::EventKind;
    if (site.kind == EventKind::kWrite || site.kind == EventKind::kAsyncStore) return true;
    if (!machine::isCopy(site.kind)) return false;
    const ptx::Decoded& decoded = *in_.program.function.instructions[site.instr].decoded;
    const bool is_to_global = decoded.space() == ptx::Space::kGlobal;
    return (in_.diagnosis.space == ptx::Space::kGlobal) == is_to_global;
  }

  /// Of the cell where they meet: as many as the narrower of the two copies moves.
  std::uint32_t sharedBytes() const {
    std::uint32_t bytes = in_.program.shared_granule;
    for (const diagnose::Site& site : in_.diagnosis.sites) {
      const std::vector<ptx::Operand>& operands = in_.program.function.instructions[site.instr].operands;
      const bool has_size = site.kind == machine::EventKind::kCopy && operands.size() > 2 &&
                            operands[2].kind == ptx::Operand::Kind::kImmediate;
      if (has_size) bytes = std::max(bytes, static_cast<std::uint32_t>(operands[2].imm));
    }
    return bytes;
  }

  Value events() const {
    Array list;
    for (const diagnose::Site& site : in_.diagnosis.sites) {
      const ptx::Instruction& instruction = in_.program.function.instructions[site.instr];
      list.push_back(Object{
          {"instruction", site.instr},
          {"text", ptx::print(*in_.program.module, in_.program.function, instruction)},
          {"kind", kindName(site.kind)},
          {"writes", writes(site)},
          {"is_async", machine::isAsync(site.kind)},
          {"thread", diagnose::threadName(in_.launch, site.cta * in_.launch.warps() + site.warp, site.lane)},
          {"block_of_cluster", site.cta},
          {"warp", site.warp},
          {"lane", site.lane},
          {"turn", site.pass}});
    }
    return list;
  }

  Value steps() const {
    Array list;
    for (const diagnose::Step& step : in_.diagnosis.finding.witness.steps)
      list.push_back(Object{{"actor", step.actor}, {"text", step.text}});
    return list;
  }

  /// A module with this function in place of the kernel, without the other kernels and without positions.
  ptx::Module moduleWith(const ptx::Function& function) const {
    ptx::Module module = *in_.program.module;
    std::erase_if(module.functions,
                  [&](const ptx::Function& f) { return f.is_kernel && f.name != function.name; });
    for (ptx::Function& f : module.functions) {
      if (f.name == function.name && !f.is_declaration) {
        f = function;
        relabel(f);
        f.linkage = ptx::Linkage::kVisible;  // a driver finds it by name
      }
      for (ptx::Instruction& instruction : f.instructions) instruction.loc = 0;
    }
    module.files.clear();
    module.locations.assign(1, {});
    return module;
  }

  Value variants() {
    const ptx::Module base = moduleWith(in_.program.function);
    std::optional<ptx::Module> repaired;
    std::vector<std::uint32_t> place;
    if (in_.repaired != nullptr) {
      repaired = moduleWith(in_.repaired->function);
      // What stood before a deleted instruction stands before the next one.
      const std::size_t size = in_.program.function.instructions.size();
      place.assign(size, static_cast<std::uint32_t>(in_.repaired->function.instructions.size()));
      for (std::uint32_t i = static_cast<std::uint32_t>(in_.repaired->origin.size()); i-- > 0;) {
        if (in_.repaired->origin[i] < size) place[in_.repaired->origin[i]] = i;
      }
      for (std::size_t i = size; i-- > 1;) {
        if (place[i - 1] == in_.repaired->function.instructions.size()) place[i - 1] = place[i];
      }
    }
    Array list;
    const std::vector<Variant> planned =
        in_.is_control ? controlVariants(in_.program, in_.launch, in_.diagnosis.assumed_boxes)
                       : variantsFor(in_.diagnosis, in_.program, in_.launch);
    for (const Variant& variant : planned) {
      Value entry = Object{
          {"name", variant.name}, {"what", variant.description}, {"host_sources", variant.has_host_sources}};
      if (variant.has_host_buffers) entry.set("host_buffers", true);
      if (variant.has_neighbour) entry.set("neighbour", true);
      if (variant.has_noise) entry.set("noise", true);
      entry.set("base", addFile(variant, "base", base, variant.added.before));
      if (repaired) {
        std::multimap<ptx::InstrIndex, std::string> moved;
        for (const auto& [instr, text] : variant.added.before) moved.emplace(place[instr], text);
        entry.set("repaired", addFile(variant, "repaired", *repaired, moved));
      }
      list.push_back(std::move(entry));
    }
    return list;
  }

  std::string addFile(const Variant& variant, const std::string& which, const ptx::Module& module,
                      const std::multimap<ptx::InstrIndex, std::string>& before) {
    ptx::Insertions insertions{.header = variant.added.header,
                               .function = in_.program.function.name,
                               .entry = variant.added.entry,
                               .before = before};
    std::string text = ptx::print(module, insertions);
    for (const auto& [name, known] : job_.files) {
      if (known == text) return name;  // variants that differ only in where the data lies
    }
    const std::string name = variant.name + "." + which + ".ptx";
    job_.files.emplace(name, std::move(text));
    return name;
  }

  const Case& in_;
  diagnose::WitnessJob job_;
};

}  // namespace

diagnose::WitnessJob makeJob(const Case& input) { return Builder(input).build(); }

}  // namespace handoff::witness
