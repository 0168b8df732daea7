// SPDX-License-Identifier: Apache-2.0
// Backward closure over registers from the operands of effects.
#include "analyzer/machine/slice.h"

#include <algorithm>
#include <variant>

#include "analyzer/ptx/decode.h"

namespace handoff::machine {

namespace {

using ptx::Effect;
using ptx::Instruction;
using ptx::Operand;
using ptx::Space;

bool isPrivateSpace(Space space) { return space == Space::kLocal || space == Space::kParam || space == Space::kConst; }

/// What an instruction needs evaluated when it runs.
enum class Demand : std::uint8_t {
  kNothing,       ///< never executed
  kIfWritten,     ///< executed when a destination is needed; then all sources are
  kOpaque,        ///< executed when a destination is needed; sources are not (the result is unknown)
  kEverything,    ///< always executed, all sources needed
  kAddresses,     ///< always executed; stored data only when memory contents are needed
  kDescriptors,   ///< always executed; of the sources only matrix descriptors and addresses are needed
};

struct DemandOf {
  const Instruction& instr;
  bool follows_global_loads = false;  ///< the kernel has asynchronous stores whose destination such a load may read

  Space space() const { return instr.decoded->space(); }

  Demand operator()(const ptx::Unmodelled&) const { return Demand::kEverything; }
  Demand operator()(const ptx::Alu&) const { return Demand::kIfWritten; }
  Demand operator()(const ptx::Opaque&) const { return Demand::kOpaque; }
  Demand operator()(const ptx::Hint&) const { return Demand::kNothing; }
  Demand operator()(const ptx::Collective&) const { return Demand::kIfWritten; }
  Demand operator()(const ptx::Load&) const { return load(); }
  Demand operator()(const ptx::WmmaLoad&) const { return load(); }
  Demand operator()(const ptx::Store&) const {
    return isPrivateSpace(space()) ? Demand::kIfWritten : Demand::kAddresses;
  }
  Demand operator()(const ptx::Atomic&) const { return Demand::kAddresses; }
  Demand operator()(const ptx::StMatrix&) const { return Demand::kAddresses; }
  Demand operator()(const ptx::WmmaStore&) const { return Demand::kAddresses; }
  Demand operator()(const ptx::AsyncStore&) const { return Demand::kAddresses; }
  Demand operator()(const ptx::Wgmma& wgmma) const {
    return wgmma.op == ptx::WgmmaOp::kMma ? Demand::kDescriptors : Demand::kEverything;
  }
  Demand operator()(const ptx::Tcgen05& tcgen05) const {
    const bool moves_data = tcgen05.op == ptx::Tcgen05Op::kLd || tcgen05.op == ptx::Tcgen05Op::kSt;
    return moves_data ? Demand::kDescriptors : Demand::kEverything;
  }
  template <typename Other>
  Demand operator()(const Other&) const { return Demand::kEverything; }

  Demand load() const {
    if (space() == Space::kGlobal && follows_global_loads) return Demand::kAddresses;
    if (space() == Space::kGlobal || space() == Space::kTex) return Demand::kOpaque;
    return isPrivateSpace(space()) ? Demand::kIfWritten : Demand::kAddresses;
  }
};

Demand demandOf(const Instruction& instr, bool follows_global_loads = false) {
  return std::visit(DemandOf{instr, follows_global_loads}, instr.decoded->effect);
}

bool storesAsynchronously(const Instruction& instr) {
  const Effect& effect = instr.decoded->effect;
  const bool is_copy = std::holds_alternative<ptx::BulkCopy>(effect) || std::holds_alternative<ptx::TensorCopy>(effect);
  return is_copy && instr.decoded->space_count != 0 && instr.decoded->spaces[0] == Space::kGlobal;
}

template <typename F>
void forEachRegister(const Operand& operand, F&& f) {
  if (operand.kind == Operand::Kind::kRegister || operand.base == Operand::Base::kRegister) f(operand.reg);
  for (const Operand& element : operand.elements) forEachRegister(element, f);
}

bool readsBlockIndex(const Operand& operand) {
  if (operand.kind == Operand::Kind::kSpecial || operand.kind == Operand::Kind::kAddress) {
    using ptx::Special;
    if (operand.special == Special::kCtaidX || operand.special == Special::kCtaidY ||
        operand.special == Special::kCtaidZ) {
      return true;
    }
  }
  for (const Operand& element : operand.elements) {
    if (readsBlockIndex(element)) return true;
  }
  return false;
}

bool isAsyncCopy(const Effect& effect) {
  return std::holds_alternative<ptx::CpAsync>(effect) || std::holds_alternative<ptx::BulkCopy>(effect) ||
         std::holds_alternative<ptx::TensorCopy>(effect) || std::holds_alternative<ptx::AsyncStore>(effect);
}

bool isAddressOperand(const Operand& operand) {
  return operand.kind == Operand::Kind::kAddress || operand.kind == Operand::Kind::kTensorAddress;
}

/// One closure; `with_global_addresses` tells the full slice from the one that decides whether blocks differ.
class Closure {
 public:
  Closure(const ptx::Function& function, const std::set<std::uint32_t>& input_words, bool with_global_addresses)
      : function_(function), input_words_(input_words), with_global_addresses_(with_global_addresses) {
    slice_.is_executed.assign(function.instructions.size(), false);
    slice_.is_register_needed.assign(function.registers.size(), false);
    indexDefinitions();
  }

  Slice run() {
    follows_global_loads_ = std::any_of(function_.instructions.begin(), function_.instructions.end(), storesAsynchronously);
    for (std::size_t i = 0; i < function_.instructions.size(); ++i) {
      const Demand demand = demandOf(function_.instructions[i], follows_global_loads_);
      const bool is_effect = demand == Demand::kEverything || demand == Demand::kAddresses || demand == Demand::kDescriptors;
      if (is_effect) execute(i);
      slice_.has_async_copies |= isAsyncCopy(function_.instructions[i].decoded->effect);
    }
    drain();
    return std::move(slice_);
  }

 private:
  void indexDefinitions() {
    definitions_.resize(function_.registers.size());
    for (std::size_t i = 0; i < function_.instructions.size(); ++i) {
      const Instruction& instr = function_.instructions[i];
      const unsigned count = ptx::destinationCount(*instr.decoded, instr.operands.size());
      for (unsigned d = 0; d < count; ++d) {
        forEachRegister(instr.operands[d], [&](ptx::RegId reg) {
          definitions_[static_cast<std::uint32_t>(reg)].push_back(static_cast<std::uint32_t>(i));
        });
      }
      const bool is_private_store = std::holds_alternative<ptx::Store>(instr.decoded->effect) &&
                                    isPrivateSpace(instr.decoded->space());
      if (is_private_store) private_stores_.push_back(static_cast<std::uint32_t>(i));
    }
  }

  void need(ptx::RegId reg) {
    const auto index = static_cast<std::uint32_t>(reg);
    if (slice_.is_register_needed[index]) return;
    slice_.is_register_needed[index] = true;
    pending_.push_back(index);
  }

  void needOperand(const Operand& operand) {
    forEachRegister(operand, [&](ptx::RegId reg) { need(reg); });
    slice_.depends_on_block |= readsBlockIndex(operand);
  }

  // Operands that hold a global address: left out of the closure that asks whether blocks behave alike.
  bool isGlobalAddress(const Instruction& instr, std::size_t operand) const {
    if (with_global_addresses_ || !isAddressOperand(instr.operands[operand])) return false;
    if (std::holds_alternative<ptx::CpAsync>(instr.decoded->effect)) return operand == 1;
    // Coordinates of a tensor copy only say where in the tensor; the map itself decides how many bytes move.
    if (instr.operands[operand].kind == Operand::Kind::kTensorAddress) return true;
    if (std::holds_alternative<ptx::BulkCopy>(instr.decoded->effect)) {
      const auto side = static_cast<std::size_t>(operand == 1 ? 1 : 0);
      return operand < 2 && instr.decoded->spaces[side] == Space::kGlobal;
    }
    return instr.decoded->space() == Space::kGlobal;
  }

  void execute(std::size_t index) {
    if (slice_.is_executed[index]) return;
    slice_.is_executed[index] = true;
    const Instruction& instr = function_.instructions[index];
    const Demand demand = demandOf(instr, follows_global_loads_);
    if (instr.guard) need(instr.guard->reg);
    if (demand == Demand::kOpaque && !input_words_.contains(static_cast<std::uint32_t>(index))) return;
    if (demand == Demand::kDescriptors) return needDescriptors(instr);
    const unsigned destinations = ptx::destinationCount(*instr.decoded, instr.operands.size());
    for (std::size_t o = destinations; o < instr.operands.size(); ++o) {
      if (isGlobalAddress(instr, o)) continue;
      if (demand == Demand::kAddresses && !isAddressOperand(instr.operands[o])) {
        data_operands_.push_back({static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(o)});
        if (!isContentNeeded(instr)) continue;
      }
      // Where in the tensor a copy reads is of no consequence; through which map it does, is.
      const bool is_tensor = instr.operands[o].kind == Operand::Kind::kTensorAddress;
      needOperand(is_tensor ? instr.operands[o].elements.front() : instr.operands[o]);
    }
  }

  // wgmma.mma_async d, a, b, ...: a vector holds matrix elements, a single register a descriptor.
  void needDescriptors(const Instruction& instr) {
    const bool is_wgmma = std::holds_alternative<ptx::Wgmma>(instr.decoded->effect);
    for (std::size_t o = 0; o < instr.operands.size(); ++o) {
      const bool is_descriptor = is_wgmma && (o == 1 || o == 2) && instr.operands[o].kind == Operand::Kind::kRegister;
      if (is_descriptor || isAddressOperand(instr.operands[o])) needOperand(instr.operands[o]);
    }
  }

  void drain() {
    while (!pending_.empty()) {
      const std::uint32_t reg = pending_.back();
      pending_.pop_back();
      for (const std::uint32_t index : definitions_[reg]) define(index);
    }
  }

  void define(std::uint32_t index) {
    execute(index);
    const Instruction& instr = function_.instructions[index];
    const Effect& effect = instr.decoded->effect;
    const bool is_load = std::holds_alternative<ptx::Load>(effect) || std::holds_alternative<ptx::Atomic>(effect);
    if (!is_load) return;
    if (isPrivateSpace(instr.decoded->space())) {
      if (!readsKernelParameter(instr)) needPrivateContents();
    } else if (instr.decoded->space() != Space::kGlobal) {
      needSharedContents();
      needPrivateContents();  // a generic load may read the stack
    }
  }

  // Kernel parameters and constants come from outside; only the stack has contents to follow.
  bool readsKernelParameter(const Instruction& instr) const {
    if (instr.decoded->space() == Space::kConst) return true;
    if (instr.decoded->space() != Space::kParam || instr.operands.size() < 2) return false;
    const Operand& address = instr.operands[1];
    if (address.base != Operand::Base::kVariable || address.is_module_scope) return false;
    return std::find(function_.params.begin(), function_.params.end(), address.var) != function_.params.end();
  }

  // A store to a generic address may go to the stack.
  bool isContentNeeded(const Instruction& instr) const {
    return slice_.needs_shared_contents ||
           (slice_.needs_local_contents && instr.decoded->space() == Space::kGeneric);
  }

  void needStoredData() {
    for (const auto& [index, operand] : std::vector(data_operands_)) {
      const Instruction& instr = function_.instructions[index];
      if (isContentNeeded(instr)) needOperand(instr.operands[operand]);
    }
  }

  void needSharedContents() {
    if (slice_.needs_shared_contents) return;
    slice_.needs_shared_contents = true;
    needStoredData();
  }

  void needPrivateContents() {
    if (slice_.needs_local_contents) return;
    slice_.needs_local_contents = true;
    for (const std::uint32_t index : private_stores_) execute(index);
    needStoredData();
  }

  struct DataOperand { std::uint32_t instr, operand; };

  const ptx::Function& function_;
  const std::set<std::uint32_t>& input_words_;
  const bool with_global_addresses_;
  bool follows_global_loads_ = false;
  Slice slice_;
  std::vector<std::vector<std::uint32_t>> definitions_;
  std::vector<std::uint32_t> private_stores_;
  std::vector<DataOperand> data_operands_;
  std::vector<std::uint32_t> pending_;
};

}  // namespace

Slice wholeFunction(const ptx::Function& function) {
  Slice slice = computeSlice(function);
  slice.is_executed.assign(function.instructions.size(), true);
  slice.is_register_needed.assign(function.registers.size(), true);
  slice.needs_local_contents = true;
  return slice;
}

Slice computeSlice(const ptx::Function& function, const std::set<std::uint32_t>& input_words) {
  Slice slice = Closure(function, input_words, /*with_global_addresses=*/true).run();
  slice.addresses_depend_on_block = slice.depends_on_block;
  slice.depends_on_block = Closure(function, input_words, /*with_global_addresses=*/false).run().depends_on_block;
  return slice;
}

bool hasProtocolEffect(const ptx::Instruction& instruction) {
  const Demand demand = demandOf(instruction);
  const bool is_effect = demand == Demand::kEverything || demand == Demand::kAddresses || demand == Demand::kDescriptors;
  if (!is_effect) return false;
  const Effect& effect = instruction.decoded->effect;
  const bool is_memory = std::holds_alternative<ptx::Store>(effect) || std::holds_alternative<ptx::Atomic>(effect);
  if (is_memory && instruction.decoded->space() == Space::kGlobal) return false;
  return !std::holds_alternative<ptx::Branch>(effect) && !std::holds_alternative<ptx::BranchIndexed>(effect);
}

}  // namespace handoff::machine
