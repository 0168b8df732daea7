// SPDX-License-Identifier: Apache-2.0
// Insertions, deletions and replacements, with all branch targets moved along.
#include "analyzer/explore/apply_edit.h"

#include <algorithm>
#include <variant>

#include "analyzer/diagnose/edit_builder.h"

namespace handoff::explore {

using diagnose::Change;
using diagnose::Edit;
using diagnose::EditBuilder;

namespace {

ptx::Operand registerOperand(ptx::RegId reg) {
  ptx::Operand operand;
  operand.kind = ptx::Operand::Kind::kRegister;
  operand.reg = reg;
  return operand;
}

/// What is added at one place. Jumps from within `own` pass it by (before) or are led to it (after).
struct Insertion {
  ptx::Instruction instruction;
  Copy own;
};

class Applier {
 public:
  Applier(const machine::Program& program, const Statements& statements)
      : statements_(statements), result_{program.function, {}}, size_(program.function.instructions.size()), before_(size_ + 1),
        after_(size_ + 1), is_deleted_(size_) {}

  bool apply(const Change& change) {
    if (change.at >= size_ || change.to >= size_) return false;
    switch (change.kind) {
      case Change::Kind::kInsertBefore:
      case Change::Kind::kInsertAfter: return insert(change);
      case Change::Kind::kMoveBefore:
      case Change::Kind::kMoveAfter: return move(change);
      case Change::Kind::kSplitBranch: return splitBranch(change);
      case Change::Kind::kInsertTaken: return insertTaken(change);
      case Change::Kind::kWaitBefore:
      case Change::Kind::kWaitAfter: return insertWait(change);
      default: break;
    }
    phases_.reset();
    for (const std::uint32_t twin : statements_.twinsOf(change.at)) {
      if (!rewrite(twin, change)) return false;
    }
    return true;
  }

  Edited finish() {
    std::vector<ptx::Instruction> old = std::move(result_.function.instructions);
    result_.function.instructions.clear();
    std::vector<std::uint32_t> of_before(size_ + 1), of_after(size_ + 1), of_self(size_ + 1);
    std::vector<std::uint32_t> source;  // by new instruction: the old place whose jumps it shares
    const auto add = [&](ptx::Instruction&& instruction, std::uint32_t origin, std::uint32_t place) {
      result_.function.instructions.push_back(std::move(instruction));
      result_.origin.push_back(origin);
      source.push_back(place);
    };
    for (std::uint32_t i = 0; i <= size_; ++i) {
      of_before[i] = static_cast<std::uint32_t>(result_.origin.size());
      for (Insertion& insertion : before_[i]) add(std::move(insertion.instruction), Edited::kInserted, i);
      of_self[i] = static_cast<std::uint32_t>(result_.origin.size());
      if (i == size_) break;
      if (!is_deleted_[i]) add(std::move(old[i]), i, i);
      of_after[i] = static_cast<std::uint32_t>(result_.origin.size());
      for (Insertion& insertion : after_[i]) add(std::move(insertion.instruction), Edited::kInserted, i);
    }
    const auto placeOf = [&](std::uint32_t target, std::uint32_t from) {
      const auto isWithin = [&](const std::vector<Insertion>& insertions) {
        return std::any_of(insertions.begin(), insertions.end(),
                           [&](const Insertion& i) { return from >= i.own.first && from <= i.own.last; });
      };
      if (target > size_) return target;
      if (target > 0 && isWithin(after_[target - 1])) return of_after[target - 1];
      return isWithin(before_[target]) ? of_self[target] : of_before[target];
    };
    for (std::size_t i = 0; i < source.size(); ++i) {
      for (ptx::Operand& operand : result_.function.instructions[i].operands) {
        const bool is_poll_again = operand.kind == ptx::Operand::Kind::kLabel && operand.target == kPrevious;
        if (is_poll_again) operand.target = static_cast<ptx::InstrIndex>(i - 1);
        if (!is_poll_again) retarget(operand, source[i], placeOf);
      }
    }
    for (ptx::BranchTable& table : result_.function.branch_tables) {
      for (ptx::InstrIndex& target : table.targets) target = placeOf(target, Edited::kInserted);
    }
    for (ptx::Label& label : result_.function.labels) label.target = placeOf(label.target, Edited::kInserted);
    return std::move(result_);
  }

 private:
  /// The target of an inserted branch back to the inserted instruction before it.
  static constexpr ptx::InstrIndex kPrevious = 0xffffffffu;

  std::vector<ptx::Instruction>& instructions() { return result_.function.instructions; }

  template <typename PlaceOf>
  static void retarget(ptx::Operand& operand, std::uint32_t from, const PlaceOf& placeOf) {
    if (operand.kind == ptx::Operand::Kind::kLabel) operand.target = placeOf(operand.target, from);
    for (ptx::Operand& element : operand.elements) retarget(element, from, placeOf);
  }

  ptx::Instruction make(const std::string& opcode, std::vector<ptx::Operand> operands, std::uint32_t beside) {
    ptx::Instruction instruction;
    instruction.opcode = opcode;
    instruction.decoded = &ptx::decode(opcode);
    instruction.operands = std::move(operands);
    instruction.loc = instructions()[beside].loc;
    return instruction;
  }

  ptx::RegId freshRegister(ptx::Type type, const char* prefix) {
    std::vector<ptx::Register>& registers = result_.function.registers;
    registers.push_back({prefix + std::to_string(registers.size()), type});
    return static_cast<ptx::RegId>(registers.size() - 1);
  }

  bool insert(const Change& change) {
    const bool is_before = change.kind == Change::Kind::kInsertBefore;
    const std::vector<Copy> copies = statements_.copiesOf(change.at);
    if (copies.empty()) return false;
    for (const Copy& copy : copies) {
      if (!is_before && !statements_.endsStatement(change.at, copy)) return false;
      const std::uint32_t place = is_before ? copy.first : copy.last;
      std::vector<Insertion>& list = (is_before ? before_ : after_)[place];
      ptx::Instruction instruction = make(change.opcode, change.operands, place);
      bringOperands(instruction, copy, list);
      list.push_back({std::move(instruction), copy});
    }
    return true;
  }

  bool insertTaken(const Change& change) {
    for (const std::uint32_t twin : statements_.twinsOf(change.at)) {
      if (!instructions()[twin].guard) return false;
      ptx::Instruction instruction = make(change.opcode, change.operands, twin);
      bringOperands(instruction, {twin, twin}, before_[twin]);
      instruction.guard = instructions()[twin].guard;
      before_[twin].push_back({std::move(instruction), {twin, twin}});
    }
    return true;
  }

  bool insertWait(const Change& change) {
    const std::vector<ptx::Operand>& named = instructions()[change.to].operands;
    if (change.operand >= named.size() || named[change.operand].kind != ptx::Operand::Kind::kAddress) return false;
    const bool is_before = change.kind == Change::Kind::kWaitBefore;
    const std::vector<Copy> copies = statements_.copiesOf(change.at);
    if (copies.empty()) return false;
    for (const Copy& copy : copies) {
      if (!is_before && !statements_.endsStatement(change.at, copy)) return false;
      std::vector<Insertion>& list = is_before ? before_[copy.first] : after_[copy.last];
      const ptx::RegId is_over = freshRegister(ptx::Type::kPred, "%over");
      ptx::Instruction poll = make(change.opcode, {registerOperand(is_over), named[change.operand], EditBuilder::immediate(change.value)}, copy.first);
      bringOperands(poll, copy, list);
      list.push_back({std::move(poll), copy});
      ptx::Operand target;
      target.kind = ptx::Operand::Kind::kLabel;
      target.target = kPrevious;
      ptx::Instruction again = make("bra", {target}, copy.first);
      again.guard = ptx::Guard{is_over, true};
      list.push_back({std::move(again), copy});
    }
    return true;
  }

  // Compilers compute an operand where it is used first, which may be behind the new place: what it is computed from
  // comes along. A register with one definition has the same value wherever that is repeated.
  void bringOperands(const ptx::Instruction& instruction, const Copy& own, std::vector<Insertion>& list) {
    std::vector<std::uint32_t> needed;
    for (const ptx::Operand& operand : instruction.operands) collect(operand, needed);
    std::sort(needed.begin(), needed.end());
    for (const std::uint32_t i : needed) list.push_back({instructions()[i], own});
  }

  void collect(const ptx::Operand& operand, std::vector<std::uint32_t>& needed) {
    constexpr std::size_t kMaxChain = 24;
    const bool is_register = operand.kind == ptx::Operand::Kind::kRegister ||
                             (operand.kind == ptx::Operand::Kind::kAddress && operand.base == ptx::Operand::Base::kRegister);
    if (is_register) {
      const std::optional<std::uint32_t> definition = onlyDefinition(operand.reg);
      const bool is_new = definition && std::find(needed.begin(), needed.end(), *definition) == needed.end();
      if (is_new && needed.size() < kMaxChain) {
        needed.push_back(*definition);
        const std::vector<ptx::Operand>& operands = instructions()[*definition].operands;
        for (std::size_t i = 1; i < operands.size(); ++i) collect(operands[i], needed);
      }
    }
    for (const ptx::Operand& element : operand.elements) collect(element, needed);
  }

  std::optional<std::uint32_t> onlyDefinition(ptx::RegId reg) {
    std::optional<std::uint32_t> found;
    for (std::uint32_t i = 0; i < size_; ++i) {
      const ptx::Instruction& instruction = instructions()[i];
      const unsigned count = ptx::destinationCount(*instruction.decoded, instruction.operands.size());
      for (unsigned d = 0; d < count; ++d) {
        if (!writes(instruction.operands[d], reg)) continue;
        const bool is_simple = std::holds_alternative<ptx::Alu>(instruction.decoded->effect) && !instruction.guard && count == 1;
        if (found || !is_simple) return std::nullopt;
        found = i;
      }
    }
    return found;
  }

  static bool writes(const ptx::Operand& operand, ptx::RegId reg) {
    if (operand.kind == ptx::Operand::Kind::kRegister && operand.reg == reg) return true;
    return std::any_of(operand.elements.begin(), operand.elements.end(),
                       [&](const ptx::Operand& element) { return writes(element, reg); });
  }

  bool move(const Change& change) {
    const std::vector<std::uint32_t> twins = statements_.twinsOf(change.at);
    const std::vector<Copy> places = statements_.copiesOf(change.to);
    if (places.empty() || twins.size() != places.size()) return false;
    for (std::size_t i = 0; i < twins.size(); ++i) {
      if (twins[i] >= places[i].first && twins[i] <= places[i].last) return false;
      const bool is_before = change.kind == Change::Kind::kMoveBefore;
      const std::uint32_t place = is_before ? places[i].first : places[i].last;
      std::vector<Insertion>& list = (is_before ? before_ : after_)[place];
      bringOperands(instructions()[twins[i]], places[i], list);
      list.push_back({instructions()[twins[i]], places[i]});
      is_deleted_[twins[i]] = true;
    }
    return true;
  }

  // "@p bra JOIN; A; at; B; JOIN:" becomes "@p bra MID; A; MID: at; @p bra JOIN; B; JOIN:".
  bool splitBranch(const Change& change) {
    ptx::Instruction& branch = instructions()[change.at];
    if (branch.operands.empty() || branch.operands[0].kind != ptx::Operand::Kind::kLabel || !branch.guard) return false;
    if (change.to <= change.at || branch.operands[0].target <= change.to) return false;
    after_[change.to].push_back({branch, {change.to, change.to}});
    branch.operands[0].target = change.to;
    return true;
  }

  bool rewrite(std::uint32_t at, const Change& change) {
    ptx::Instruction& instruction = instructions()[at];
    const Copy own{at, at};
    const auto hasOperand = [&] { return change.operand < instruction.operands.size(); };
    const auto asValue = [&] {
      const ptx::Operand::Kind kind = instruction.operands[change.operand].kind;
      return kind == ptx::Operand::Kind::kRegister || kind == ptx::Operand::Kind::kImmediate;
    };
    switch (change.kind) {
      case Change::Kind::kDelete: is_deleted_[at] = true; return true;
      case Change::Kind::kSetOperand:
        if (!hasOperand()) return false;
        instruction.operands[change.operand] = EditBuilder::immediate(change.value);
        return true;
      case Change::Kind::kFlipOperand:
        if (!hasOperand() || !asValue()) return false;
        return compute(at, change.operand, "xor.b32", 1);
      case Change::Kind::kCapOperand:
        if (!hasOperand() || !asValue()) return false;
        return compute(at, change.operand, "min.u32", change.value);
      case Change::Kind::kAddToOperand:
        if (!hasOperand()) return false;
        if (instruction.operands[change.operand].kind == ptx::Operand::Kind::kAddress) {
          instruction.operands[change.operand].imm += change.value;
          return true;
        }
        return asValue() && compute(at, change.operand, "add.s32", change.value);
      case Change::Kind::kDropGuard: instruction.guard.reset(); return true;
      case Change::Kind::kNegateGuard:
        if (!instruction.guard) return false;
        instruction.guard->is_negated = !instruction.guard->is_negated;
        return true;
      case Change::Kind::kPhaseBit: return hasOperand() && asValue() && keepPhase(at, change);
      case Change::Kind::kSetOpcode:
        instruction.opcode = change.opcode;
        instruction.decoded = &ptx::decode(change.opcode);
        return true;
      case Change::Kind::kReplace:
        instruction.opcode = change.opcode;
        instruction.decoded = &ptx::decode(change.opcode);
        instruction.operands = change.operands;
        return true;
      case Change::Kind::kRetry: {
        if (instruction.operands.empty() || instruction.operands[0].kind != ptx::Operand::Kind::kRegister) return false;
        ptx::Operand target;
        target.kind = ptx::Operand::Kind::kLabel;
        target.target = at;
        ptx::Instruction again = make("bra", {target}, at);
        again.guard = ptx::Guard{instruction.operands[0].reg, true};
        after_[at].push_back({std::move(again), own});
        return true;
      }
      case Change::Kind::kMapOperand: return hasOperand() && mapOperand(at, change);
      case Change::Kind::kSplitCopy: return splitCopy(at, change.value);
      case Change::Kind::kElect: {
        if (instruction.guard) return false;
        const ptx::RegId elected = freshRegister(ptx::Type::kPred, "%elected");
        ptx::Operand result;
        result.kind = ptx::Operand::Kind::kSink;
        result.elements.push_back(registerOperand(elected));
        before_[at].push_back({make("elect.sync", {result, EditBuilder::immediate(0xffffffff)}, at), own});
        instruction.guard = ptx::Guard{elected, false};
        return true;
      }
      default: return false;
    }
  }

  // One register for all copies of the wait, with a bit for each mbarrier: neighbours in an array have bits of their own.
  bool keepPhase(std::uint32_t at, const Change& change) {
    const ptx::Operand address = instructions()[at].operands[change.operand - 1];
    if (address.kind != ptx::Operand::Kind::kAddress) return false;
    if (!phases_) {
      phases_ = freshRegister(ptx::Type::kB32, "%phases");
      before_[0].push_back({make("mov.b32", {registerOperand(*phases_), EditBuilder::immediate(change.value != 0 ? 0xffffffff : 0)}, at), {}});
    }
    ptx::Operand start = address.base == ptx::Operand::Base::kRegister ? registerOperand(address.reg) : address;
    if (address.base != ptx::Operand::Base::kRegister) start.kind = ptx::Operand::Kind::kVariable;
    const ptx::RegId index = freshRegister(ptx::Type::kB32, "%index"), bit = freshRegister(ptx::Type::kB32, "%phase");
    const auto compute = [&](std::vector<Insertion>& list, const char* opcode, ptx::RegId to, std::vector<ptx::Operand> from, const Copy& own) {
      from.insert(from.begin(), registerOperand(to));
      list.push_back({make(opcode, std::move(from), at), own});
    };
    const auto number = [](std::int64_t value) { return EditBuilder::immediate(value); };
    compute(before_[at], "mov.u32", index, {start}, {});
    if (address.base == ptx::Operand::Base::kRegister) compute(before_[at], "add.u32", index, {registerOperand(index), number(address.imm)}, {});
    compute(before_[at], "shr.u32", index, {registerOperand(index), number(3)}, {});
    compute(before_[at], "and.b32", index, {registerOperand(index), number(31)}, {});
    compute(before_[at], "shr.u32", bit, {registerOperand(*phases_), registerOperand(index)}, {});
    compute(before_[at], "and.b32", bit, {registerOperand(bit), number(1)}, {});
    instructions()[at].operands[change.operand] = registerOperand(bit);
    for (const Copy& copy : statements_.copiesOf(at)) {
      if (at < copy.first || at > copy.last) continue;
      compute(after_[copy.last], "shl.b32", bit, {number(1), registerOperand(index)}, copy);
      compute(after_[copy.last], "xor.b32", *phases_, {registerOperand(*phases_), registerOperand(bit)}, copy);
    }
    return true;
  }

  bool mapOperand(std::uint32_t at, const Change& change) {
    ptx::Operand& address = instructions()[at].operands[change.operand];
    const ptx::Instruction& map = instructions()[change.to];
    const bool is_plain = address.kind == ptx::Operand::Kind::kAddress && address.base == ptx::Operand::Base::kRegister && address.imm == 0;
    if (!is_plain || map.operands.size() != 3) return false;
    const ptx::RegId mapped = freshRegister(ptx::Type::kB32, "%mapped");
    // An address that is mapped to another CTA is mapped anew.
    const std::optional<std::uint32_t> definition = onlyDefinition(address.reg);
    const bool is_mapped = definition && instructions()[*definition].opcode == map.opcode;
    const ptx::Operand local = is_mapped ? instructions()[*definition].operands[1] : registerOperand(address.reg);
    ptx::Instruction again = make(map.opcode, {registerOperand(mapped), local, map.operands[2]}, at);
    before_[at].push_back({std::move(again), {at, at}});
    address.reg = mapped;
    return true;
  }

  bool splitCopy(std::uint32_t at, std::int64_t piece) {
    ptx::Instruction& copy = instructions()[at];
    constexpr std::size_t kPlain = 3;  // destination, source, size: no source size or other operand that counts bytes
    if (copy.operands.size() != kPlain || copy.operands[2].kind != ptx::Operand::Kind::kImmediate || copy.guard) return false;
    const std::int64_t bytes = copy.operands[2].imm;
    copy.opcode = EditBuilder::replaced(copy.opcode, "cp.async.cg", "cp.async.ca");
    copy.decoded = &ptx::decode(copy.opcode);
    copy.operands[2].imm = piece;
    for (std::int64_t done = piece; done < bytes; done += piece) {
      ptx::Instruction next = copy;
      for (std::size_t address = 0; address < 2; ++address) next.operands[address].imm += done;
      after_[at].push_back({std::move(next), {at, at}});
    }
    return true;
  }

  bool compute(std::uint32_t at, std::uint32_t operand, const char* opcode, std::int64_t value) {
    ptx::Operand& old = instructions()[at].operands[operand];
    if (old.kind == ptx::Operand::Kind::kImmediate) {
      old.imm = opcode[0] == 'x' ? old.imm ^ value : opcode[0] == 'a' ? old.imm + value : std::min(old.imm, value);
      return true;
    }
    const ptx::RegId fresh = freshRegister(ptx::Type::kB32, "%changed");
    before_[at].push_back({make(opcode, {registerOperand(fresh), old, EditBuilder::immediate(value)}, at), {}});
    old = registerOperand(fresh);
    return true;
  }

  const Statements& statements_;
  Edited result_;
  std::optional<ptx::RegId> phases_;  ///< of the change at hand
  std::uint32_t size_;
  std::vector<std::vector<Insertion>> before_, after_;
  std::vector<bool> is_deleted_;
};

}  // namespace

std::optional<Edited> applyEdit(const machine::Program& program, const Statements& statements, const Edit& edit) {
  Applier applier(program, statements);
  for (const Change& change : edit.changes) {
    if (!applier.apply(change)) return std::nullopt;
  }
  return applier.finish();
}

}  // namespace handoff::explore
