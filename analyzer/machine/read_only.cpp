// SPDX-License-Identifier: Apache-2.0
// What may be written, by the pointers that writes go by (pointer_flow.h).
#include "analyzer/machine/read_only.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <variant>

#include "analyzer/machine/pointer_flow.h"
#include "analyzer/machine/strength.h"

namespace handoff::machine {

namespace {

using ptx::Space;

/// Where the threads of a kernel may write in global memory.
struct Written {
  bool is_anywhere = false;
  PointerOrigins buffers;
};

bool isHarmlessCall(const Program& program, const Op& op) {
  static constexpr std::string_view kHarmless[] = {"vprintf", "__assertfail"};
  const ptx::Instruction& instr = program.instruction(op);
  return std::any_of(instr.operands.begin(), instr.operands.end(), [](const ptx::Operand& operand) {
    const bool is_function = operand.kind == ptx::Operand::Kind::kFunction;
    return is_function && std::find(std::begin(kHarmless), std::end(kHarmless), operand.text) != std::end(kHarmless);
  });
}

/// Whether the instruction may write to global memory by the address among its operands.
bool writesByAddress(const Op& op) {
  const ptx::Effect& effect = op.decoded->effect;
  const Space space = op.decoded->space();
  const bool is_store = std::holds_alternative<ptx::Store>(effect) || std::holds_alternative<ptx::Atomic>(effect) ||
                        std::holds_alternative<ptx::WmmaStore>(effect) || std::holds_alternative<ptx::StMatrix>(effect) ||
                        std::holds_alternative<ptx::AsyncStore>(effect) || std::holds_alternative<ptx::StoreBulk>(effect) ||
                        std::holds_alternative<ptx::TensormapEdit>(effect);
  if (is_store) return space == Space::kGlobal || space == Space::kGeneric;
  return std::holds_alternative<ptx::BulkCopy>(effect) && op.decoded->spaces[0] == Space::kGlobal;
}

/// Instructions of which the operands do not tell where they write.
bool mayWriteAnywhere(const Program& program, const Op& op) {
  const ptx::Effect& effect = op.decoded->effect;
  if (std::holds_alternative<ptx::Unmodelled>(effect)) return true;
  if (std::holds_alternative<ptx::Call>(effect)) return !isHarmlessCall(program, op);
  return std::holds_alternative<ptx::TensorCopy>(effect) && op.decoded->space_count != 0 && op.decoded->spaces[0] == Space::kGlobal;
}

class ReadOnly {
 public:
  explicit ReadOnly(const Program& whole) : program_(whole), flow_(whole) {
    buffers_.insert(PointerFlow::kVariables);
    for (const ParamRead& read : program_.param_reads) {
      if (read.is_pointer) buffers_.insert(program_.param_offset[read.param] + read.offset);
    }
    for (const Op& op : program_.ops) addWrites(op);
  }

  bool isReadOnly(const Op& op) const {
    const ptx::Decoded& decoded = *op.decoded;
    const bool is_load = std::holds_alternative<ptx::Load>(decoded.effect) && decoded.space() == Space::kGlobal;
    if (!is_load || !isWeak(decoded)) return false;
    if (decoded.has("nc")) return true;  // PTX ISA, "ld.global.nc": the memory is read-only for the duration of the kernel
    const PointerOrigins from = originsOf(op);
    if (written_.is_anywhere || from.empty()) return false;
    return std::none_of(from.begin(), from.end(), [&](PointerOrigin origin) { return written_.buffers.contains(origin); });
  }

 private:
  /// The buffers that the op's first address may lead to; none where it may lead anywhere.
  PointerOrigins originsOf(const Op& op) const {
    for (const Arg& arg : program_.argsOf(op)) {
      if (arg.kind != Arg::Kind::kAddress) continue;
      PointerOrigins found = flow_.of(arg);
      if (found.contains(PointerFlow::kElsewhere)) return {};
      std::erase_if(found, [&](PointerOrigin origin) { return !buffers_.contains(origin); });
      return found;
    }
    return {};
  }

  void addWrites(const Op& op) {
    written_.is_anywhere |= mayWriteAnywhere(program_, op);
    if (!writesByAddress(op)) return;
    const PointerOrigins to = originsOf(op);
    written_.is_anywhere |= to.empty();
    written_.buffers.insert(to.begin(), to.end());
  }

  const Program& program_;
  const PointerFlow flow_;
  PointerOrigins buffers_;
  Written written_;
};

}  // namespace

Instructions readOnlyLoads(const Program& whole, const Instructions& loads) {
  const ReadOnly memory(whole);
  Instructions found;
  for (const Op& op : whole.ops) {
    if (loads.contains(op.instr) && memory.isReadOnly(op)) found.insert(op.instr);
  }
  return found;
}

}  // namespace handoff::machine
