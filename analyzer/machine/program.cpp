// SPDX-License-Identifier: Apache-2.0
// Lowering: memory layout, operand resolution, branch targets over the sliced instruction list.
#include "analyzer/machine/program.h"

#include <algorithm>
#include <unordered_map>
#include <variant>

#include "analyzer/machine/address.h"
#include "analyzer/machine/alu.h"
#include "analyzer/machine/barrier_reuse.h"
#include "analyzer/machine/param_reads.h"
#include "analyzer/machine/pointer_flow.h"
#include "analyzer/machine/poll_loops.h"
#include "analyzer/machine/slice.h"
#include "analyzer/ptx/cfg.h"

namespace handoff::machine {

namespace {

using ptx::Operand;
using ptx::Space;

constexpr std::uint64_t alignUp(std::uint64_t value, std::uint64_t align) {
  return align <= 1 ? value : (value + align - 1) / align * align;
}

// Bytes that no GPU has (CUDA Programming Guide, "Compute Capabilities"), rounded up: more is a mistake or an attack, and
// each byte costs memory here.
constexpr std::uint64_t kMaxShared = kTensorBase - kSharedBase, kMaxConst = 1U << 20U, kMaxLocal = 512U << 10U;
constexpr std::uint64_t kMaxParameters = 64U << 10U;

class Lowering {
 public:
  Lowering(const ptx::Module& module, const ptx::Function& kernel, const Instructions& input_words)
      : module_(module), input_words_(input_words) {
    program_.module = &module;
    program_.locations = module.locations;
    if (program_.locations.empty()) program_.locations.emplace_back();
    program_.function = inlineCalls(module, kernel, program_.locations);
  }

  Result<Program> run(bool whole) {
    const ptx::Function& function = program_.function;
    slice_ = whole ? wholeFunction(function) : computeSlice(function, input_words_);
    program_.needs_shared_contents = slice_.needs_shared_contents;
    program_.depends_on_block = slice_.depends_on_block;
    program_.addresses_depend_on_block = slice_.addresses_depend_on_block;
    program_.has_async_copies = slice_.has_async_copies;
    placeUnlocated();
    layOutVariables();
    if (!too_large_.empty()) return Error{too_large_, {module_.file, function.ptx_line, 0}};
    numberRegisters();
    const ptx::Cfg cfg(function);
    numberOps();
    for (std::uint32_t i = 0; i < function.instructions.size(); ++i) {
      if (slice_.is_executed[i]) lower(i, cfg);
    }
    for (const ptx::BranchTable& table : function.branch_tables) {
      auto& targets = program_.branch_tables.emplace_back();
      for (const ptx::InstrIndex target : table.targets) targets.push_back(opAt(target));
    }
    program_.param_reads = findParamReads(function, slice_);
    program_.shared_granule = narrowestSharedAccess();
    program_.register_count = next_slot_;
    markApart(program_);
    markNullChecks(program_);
    return std::move(program_);
  }

 private:
  // Code without line information is at its line of the PTX.
  void placeUnlocated() {
    for (ptx::Instruction& instr : program_.function.instructions) {
      noteFeatures(instr);
      if (!program_.locations[instr.loc].empty() || instr.ptx_line == 0) continue;
      instr.loc = static_cast<ptx::LocId>(program_.locations.size());
      program_.locations.push_back({SourceFrame{{module_.file, instr.ptx_line, 0}, ""}});
    }
  }

  // What the kernel uses at all decides which bookkeeping a run can do without.
  void noteFeatures(const ptx::Instruction& instr) {
    const ptx::Effect& effect = instr.decoded->effect;
    if (const auto* mbarrier = std::get_if<ptx::Mbarrier>(&effect)) {
      program_.has_mbarrier_waits |= mbarrier->op == ptx::MbarrierOp::kTestWait || mbarrier->op == ptx::MbarrierOp::kTryWait;
    }
    const bool is_bulk = std::holds_alternative<ptx::BulkCopy>(effect) || std::holds_alternative<ptx::TensorCopy>(effect);
    program_.has_async_proxy |= is_bulk || std::holds_alternative<ptx::Wgmma>(effect) ||
                                std::holds_alternative<ptx::Tcgen05>(effect) ||
                                std::holds_alternative<ptx::ClusterLaunchControl>(effect);
    program_.has_bulk_stores |= is_bulk && instr.decoded->space_count != 0 && instr.decoded->spaces[0] == Space::kGlobal;
    program_.has_tensor_memory |= std::holds_alternative<ptx::Tcgen05>(effect);
    program_.edits_tensormaps |= std::holds_alternative<ptx::TensormapEdit>(effect);
    const auto* alu = std::get_if<ptx::Alu>(&effect);
    program_.uses_cluster |= std::holds_alternative<ptx::ClusterBarrier>(effect) ||
                             (alu != nullptr && alu->op == ptx::AluOp::kMapa) || instr.decoded->has("multicast::cluster");
  }

  void layOutVariables() {
    std::uint64_t shared = kSharedBase, global = 0, constant = 0;
    const auto place = [&](const ptx::Variable& variable, bool is_module_scope, std::uint32_t index) {
      std::uint64_t address = 0;
      switch (variable.space) {
        case Space::kShared:
          if (variable.is_extern && variable.size == 0) return;  // dynamic: after all static ones
          shared = alignUp(shared, variable.align);
          address = shared;
          program_.shared.push_back({variable.name, address, variable.size, variable.align});
          shared += variable.size;
          require("shared", shared - kSharedBase, kMaxShared);
          break;
        case Space::kGlobal:
          global = alignUp(global, variable.align);
          address = bufferBase(kGlobalVariableBuffer) + global;
          global += variable.size;
          break;
        case Space::kConst:
          constant = alignUp(constant, variable.align);
          address = constant;
          if (require("constant", constant + variable.size, kMaxConst)) addConstBytes(variable, constant);
          constant += variable.size;
          break;
        case Space::kLocal:
        case Space::kParam:
          program_.local_bytes = alignUp(program_.local_bytes, std::max(variable.align, 8u));
          address = program_.local_bytes + (variable.space == Space::kParam ? kCallParamBase : 0);
          program_.local_bytes += variable.size;
          require("local", program_.local_bytes, kMaxLocal);
          break;
        default: return;
      }
      address_of_[key(is_module_scope, index)] = address;
    };
    layOutParameters();
    for (std::uint32_t i = 0; i < module_.variables.size(); ++i) {
      if (isSharedElsewhere(module_.variables[i])) continue;
      place(module_.variables[i], true, i);
    }
    for (std::uint32_t i = 0; i < program_.function.variables.size(); ++i) {
      if (!address_of_.contains(key(false, i))) place(program_.function.variables[i], false, i);
    }
    program_.static_shared_bytes = shared - kSharedBase;
    placeDynamicShared(shared);
  }

  bool require(const char* what, std::uint64_t bytes, std::uint64_t most) {
    if (bytes <= most) return true;
    if (too_large_.empty())
      too_large_ = "the variables take " + std::to_string(bytes) + " bytes of " + what + " memory, more than any GPU has (" +
                   std::to_string(most) + ")";
    return false;
  }

  // A module-scope shared variable belongs to the kernels that use it; others must not move this kernel's layout.
  bool isSharedElsewhere(const ptx::Variable& variable) {
    if (variable.space != Space::kShared) return false;
    if (used_names_.empty()) {
      for (const ptx::Instruction& instr : program_.function.instructions) {
        for (const Operand& operand : instr.operands) noteUse(operand);
      }
      used_names_.insert({"", true});
    }
    return !used_names_.contains(variable.name);
  }

  void noteUse(const Operand& operand) {
    const bool is_variable = operand.kind == Operand::Kind::kVariable || operand.base == Operand::Base::kVariable;
    if (is_variable && operand.is_module_scope) {
      used_names_[module_.variables[static_cast<std::uint32_t>(operand.var)].name] = true;
    }
    for (const Operand& element : operand.elements) noteUse(element);
  }

  void layOutParameters() {
    std::uint64_t offset = 0;
    for (const ptx::VarId id : program_.function.params) {
      const auto index = static_cast<std::uint32_t>(id);
      const ptx::Variable& variable = program_.function.variables[index];
      offset = alignUp(offset, variable.align);
      program_.param_offset.push_back(static_cast<std::uint32_t>(offset));
      address_of_[key(false, index)] = offset;
      offset += variable.size;
      if (!require("parameter", offset, kMaxParameters)) return;
    }
    program_.param_bytes = static_cast<std::uint32_t>(offset);
  }

  void addConstBytes(const ptx::Variable& variable, std::uint64_t at) {
    program_.const_bytes.resize(at + variable.size, 0);
    program_.const_known.resize(at + variable.size, !variable.has_symbolic_init && !variable.init.empty());
    std::copy_n(variable.init.begin(), std::min<std::size_t>(variable.init.size(), variable.size),
                program_.const_bytes.begin() + static_cast<std::ptrdiff_t>(at));
  }

  void placeDynamicShared(std::uint64_t end_of_static) {
    std::uint32_t align = 16;
    std::string name;
    const auto consider = [&](const ptx::Variable& v) {
      if (v.space != Space::kShared || !v.is_extern || v.size != 0) return false;
      align = std::max(align, v.align);
      name = v.name;
      return true;
    };
    std::vector<std::uint64_t> keys;
    for (std::uint32_t i = 0; i < module_.variables.size(); ++i) {
      if (!isSharedElsewhere(module_.variables[i]) && consider(module_.variables[i])) keys.push_back(key(true, i));
    }
    for (std::uint32_t i = 0; i < program_.function.variables.size(); ++i) {
      if (consider(program_.function.variables[i])) keys.push_back(key(false, i));
    }
    program_.dynamic_shared_offset = alignUp(end_of_static, align);
    program_.has_dynamic_shared = !keys.empty();
    if (keys.empty()) return;
    for (const std::uint64_t k : keys) address_of_[k] = program_.dynamic_shared_offset;
    program_.shared.push_back({name, program_.dynamic_shared_offset, 0, align});
  }

  static std::uint64_t key(bool is_module_scope, std::uint32_t index) {
    return (std::uint64_t{is_module_scope} << 32) | index;
  }

  void numberRegisters() {
    slot_of_.assign(program_.function.registers.size(), kNoSlot);
    for (std::size_t i = 0; i < slot_of_.size(); ++i) {
      if (!slice_.is_register_needed[i]) continue;
      slot_of_[i] = next_slot_++;
      program_.slot_bits.push_back(static_cast<std::uint8_t>(bitWidth(program_.function.registers[i].type)));
    }
  }

  void numberOps() {
    const std::size_t count = program_.function.instructions.size();
    op_from_.assign(count + 1, kNoOp);
    std::uint32_t ops = 0;
    for (std::size_t i = 0; i < count; ++i) ops += slice_.is_executed[i];
    const std::uint32_t total = ops;
    for (std::size_t i = count; i-- > 0;) {
      if (slice_.is_executed[i]) --ops;
      op_from_[i] = slice_.is_executed[i] ? ops : op_from_[i + 1];
    }
    program_.ops.reserve(total);
  }

  OpIndex opAt(ptx::InstrIndex instr) const { return op_from_[instr]; }

  Slot constant(std::uint64_t word) {
    const auto [it, is_new] = constant_of_.try_emplace(word, static_cast<Slot>(program_.constants.size()));
    if (is_new) {
      program_.constants.emplace_back();
      program_.constants.back().word.fill(word);
    }
    return it->second | kConstantBit;
  }

  Slot specialSlot(ptx::Special special) {
    for (const auto& known : program_.specials) {
      if (known.special == special) return known.slot;
    }
    program_.specials.push_back({special, next_slot_});
    const bool is_wide = special == ptx::Special::kClock64 || special == ptx::Special::kGlobaltimer;
    program_.slot_bits.push_back(is_wide ? 64 : 32);
    return next_slot_++;
  }

  Slot registerSlot(ptx::RegId reg) const { return slot_of_[static_cast<std::uint32_t>(reg)]; }

  std::uint64_t variableAddress(const Operand& operand) const {
    const auto it = address_of_.find(key(operand.is_module_scope, static_cast<std::uint32_t>(operand.var)));
    return it == address_of_.end() ? 0 : it->second;
  }

  Space variableSpace(const Operand& operand) const {
    const auto index = static_cast<std::uint32_t>(operand.var);
    return operand.is_module_scope ? module_.variables[index].space : program_.function.variables[index].space;
  }

  Arg lowerOperand(const Operand& operand) {
    Arg arg;
    arg.is_negated = operand.is_negated;
    switch (operand.kind) {
      case Operand::Kind::kRegister:
        arg.kind = Arg::Kind::kSlot;
        arg.slot = registerSlot(operand.reg);
        if (!operand.elements.empty()) lowerElements(operand.elements, arg);
        if (arg.slot == kNoSlot && arg.count == 0) arg.kind = Arg::Kind::kSink;
        break;
      case Operand::Kind::kImmediate:
        arg = {.kind = Arg::Kind::kSlot, .slot = constant(static_cast<std::uint64_t>(operand.imm))};
        break;
      case Operand::Kind::kSpecial:
        arg = {.kind = Arg::Kind::kSlot, .slot = specialSlot(operand.special)};
        break;
      case Operand::Kind::kVariable:
        arg = {.kind = Arg::Kind::kSlot,
               .space = variableSpace(operand),
               .slot = constant(variableAddress(operand) + static_cast<std::uint64_t>(operand.imm))};
        break;
      case Operand::Kind::kAddress: lowerAddress(operand, arg); break;
      case Operand::Kind::kVector:
      case Operand::Kind::kTensorAddress:
      case Operand::Kind::kList:
        arg.kind = Arg::Kind::kVector;
        lowerElements(operand.elements, arg);
        break;
      case Operand::Kind::kSink:
        if (!operand.elements.empty()) lowerElements(operand.elements, arg);  // "_|p"
        break;
      case Operand::Kind::kFunction:
      case Operand::Kind::kLabel:
      case Operand::Kind::kSymbol: break;
    }
    return arg;
  }

  void lowerAddress(const Operand& operand, Arg& arg) {
    arg.kind = Arg::Kind::kAddress;
    arg.offset = operand.imm;
    if (operand.base == Operand::Base::kRegister) {
      arg.slot = registerSlot(operand.reg);
    } else if (operand.base == Operand::Base::kVariable) {
      arg.space = variableSpace(operand);
      arg.slot = constant(variableAddress(operand));
    } else {
      arg.slot = constant(0);
    }
  }

  void lowerElements(const std::vector<Operand>& elements, Arg& arg) {
    std::vector<Arg> lowered;
    for (const Operand& element : elements) lowered.push_back(lowerOperand(element));
    arg.first = static_cast<std::uint32_t>(program_.args.size());
    arg.count = static_cast<std::uint32_t>(lowered.size());
    program_.args.insert(program_.args.end(), lowered.begin(), lowered.end());
  }

  void lower(std::uint32_t index, const ptx::Cfg& cfg) {
    const ptx::Instruction& instr = program_.function.instructions[index];
    Op op;
    op.decoded = instr.decoded;
    op.instr = index;
    op.site = siteOf(instr, index);
    op.reads_input = input_words_.contains(index);
    // Barriers gather their lanes themselves.
    const bool is_barrier = std::holds_alternative<ptx::CtaBarrier>(instr.decoded->effect) ||
                            std::holds_alternative<ptx::WarpBarrier>(instr.decoded->effect) ||
                            std::holds_alternative<ptx::ClusterBarrier>(instr.decoded->effect);
    op.is_collective = instr.decoded->has("sync") && !is_barrier;
    if (instr.guard) {
      op.guard = registerSlot(instr.guard->reg);
      op.is_guard_negated = instr.guard->is_negated;
    }
    std::vector<Arg> args;
    for (const Operand& operand : instr.operands) args.push_back(lowerOperand(operand));
    op.first_arg = static_cast<std::uint32_t>(program_.args.size());
    op.arg_count = static_cast<std::uint32_t>(args.size());
    op.dst_count = ptx::destinationCount(*instr.decoded, instr.operands.size());
    program_.args.insert(program_.args.end(), args.begin(), args.end());
    if (std::holds_alternative<ptx::Branch>(instr.decoded->effect)) lowerBranch(op, instr, cfg);
    if (std::holds_alternative<ptx::BranchIndexed>(instr.decoded->effect)) lowerTable(op, instr, cfg);
    program_.ops.push_back(op);
  }

  // Unrolling and inlining copy instructions; their positions tell which ones were one statement.
  std::uint32_t siteOf(const ptx::Instruction& instr, std::uint32_t index) {
    const SourceStack& stack = program_.locations[instr.loc];
    std::string key = instr.opcode;
    for (const SourceFrame& frame : stack) {
      key += "|" + frame.pos.file + ":" + std::to_string(frame.pos.line) + ":" + std::to_string(frame.pos.column);
    }
    if (stack.empty()) key += "#" + std::to_string(index);
    return site_of_.try_emplace(std::move(key), static_cast<std::uint32_t>(site_of_.size())).first->second;
  }

  static bool isPlainExit(const ptx::Instruction& instr) {
    return !instr.guard && (std::holds_alternative<ptx::Return>(instr.decoded->effect) ||
                            std::holds_alternative<ptx::Exit>(instr.decoded->effect));
  }

  OpIndex reconvergence(std::uint32_t instr, const ptx::Cfg& cfg) const {
    const ptx::BlockId join = cfg.immediatePostDominator(cfg.blockOf(instr));
    if (join == ptx::kExitBlock) return kNoOp;
    std::uint32_t at = cfg.blocks()[static_cast<std::uint32_t>(join)].begin;
    while (at < slice_.is_executed.size() && !slice_.is_executed[at]) ++at;
    // Lanes that have nothing left to do but to return do not wait for the others.
    const bool only_returns = at >= slice_.is_executed.size() || isPlainExit(program_.function.instructions[at]);
    return only_returns ? kNoOp : opAt(at);
  }

  void lowerBranch(Op& op, const ptx::Instruction& instr, const ptx::Cfg& cfg) {
    for (const Operand& operand : instr.operands) {
      if (operand.kind != Operand::Kind::kLabel) continue;
      op.target = opAt(operand.target);
      op.leaves_loop_on_taken = leavesLoop(op.instr, operand.target, cfg);
    }
    if (!instr.guard) return;
    op.reconverge = reconvergence(op.instr, cfg);
    op.leaves_loop_on_fallthrough = leavesLoop(op.instr, op.instr + 1, cfg);
  }

  bool leavesLoop(std::uint32_t from, std::uint32_t to, const ptx::Cfg& cfg) const {
    const ptx::BlockId source = cfg.blockOf(from);
    if (cfg.loopDepth(source) == 0) return false;
    if (to >= program_.function.instructions.size()) return true;
    const ptx::BlockId target = cfg.blockOf(to);
    if (cfg.loopDepth(target) < cfg.loopDepth(source)) return true;
    return cfg.loopDepth(target) == cfg.loopDepth(source) && cfg.loopHeader(target) != cfg.loopHeader(source);
  }

  void lowerTable(Op& op, const ptx::Instruction& instr, const ptx::Cfg& cfg) {
    op.reconverge = reconvergence(op.instr, cfg);
    for (const Operand& operand : instr.operands) {
      for (std::uint32_t t = 0; t < program_.function.branch_tables.size(); ++t) {
        if (!operand.text.empty() && operand.text == program_.function.branch_tables[t].name) op.table = t;
      }
    }
  }

  // All accesses are naturally aligned, so the narrowest one is a grid that none of them crosses. Generic accesses may
  // be narrower; the run notices (machine::run).
  unsigned narrowestSharedAccess() const {
    unsigned narrowest = 16;
    for (std::uint32_t i = 0; i < program_.function.instructions.size(); ++i) {
      if (slice_.is_executed[i]) narrowest = std::min(narrowest, sharedBytes(program_.function.instructions[i]));
    }
    return narrowest;
  }

  // Bytes that one lane touches in shared memory; 16 for instructions that touch none.
  static unsigned sharedBytes(const ptx::Instruction& instr) {
    const ptx::Effect& effect = instr.decoded->effect;
    constexpr unsigned kWidest = 16;
    if (std::holds_alternative<ptx::CpAsync>(effect)) {
      const bool has_size = instr.operands.size() > 2 && instr.operands[2].kind == Operand::Kind::kImmediate;
      return has_size ? static_cast<unsigned>(std::clamp<std::int64_t>(instr.operands[2].imm, 4, 16)) : 4;
    }
    const bool is_access = std::holds_alternative<ptx::Load>(effect) || std::holds_alternative<ptx::Store>(effect) ||
                           std::holds_alternative<ptx::Atomic>(effect);
    const Space space = instr.decoded->space();
    const bool is_shared = space == Space::kShared || space == Space::kSharedCluster;
    const unsigned bytes = ptx::byteSize(instr.decoded->type());
    if (!is_access || !is_shared || bytes == 0) return kWidest;
    return std::min(kWidest, bytes * std::max(instr.decoded->vector, 1u));
  }

  const ptx::Module& module_;
  const Instructions& input_words_;
  Program program_;
  Slice slice_;
  std::unordered_map<std::uint64_t, std::uint64_t> address_of_;
  std::unordered_map<std::string, bool> used_names_;
  std::unordered_map<std::uint64_t, Slot> constant_of_;
  std::unordered_map<std::string, std::uint32_t> site_of_;
  std::vector<Slot> slot_of_;
  std::vector<OpIndex> op_from_;
  std::string too_large_;  ///< why the variables cannot be laid out
  Slot next_slot_ = 0;
};

}  // namespace

const SharedVariable* Program::sharedAt(std::uint64_t address) const {
  const SharedVariable* best = nullptr;
  for (const SharedVariable& variable : shared) {
    const bool inside = address >= variable.offset && (variable.size == 0 || address < variable.offset + variable.size);
    if (inside && (best == nullptr || variable.size != 0)) best = &variable;
  }
  return best;
}

namespace {

Result<Program> build(const ptx::Module& module, const ptx::Function& kernel, const Instructions& input_words, bool whole) {
  if (kernel.is_declaration) {
    return Error{"kernel '" + kernel.name + "' is only declared", {module.file, kernel.ptx_line, 0}};
  }
  Result<Program> program = Lowering(module, kernel, input_words).run(whole);
  if (!program) return program;
  program->ends_barriers = endsBarriers(*program);
  for (const ptx::InstrIndex poll : pollsThatGiveUp(program->function)) {
    program->limits.push_back({"the loop may give up before the phase is over: what it does then was not run", poll});
  }
  return program;
}

}  // namespace

Result<Program> buildProgram(const ptx::Module& module, const ptx::Function& kernel, const Instructions& input_words) {
  return build(module, kernel, input_words, /*whole=*/false);
}

Result<Program> buildWholeProgram(const ptx::Module& module, const ptx::Function& kernel, const Instructions& input_words) {
  return build(module, kernel, input_words, /*whole=*/true);
}

}  // namespace handoff::machine
