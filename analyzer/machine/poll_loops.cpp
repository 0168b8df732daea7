// SPDX-License-Identifier: Apache-2.0
// What the exits of a poll loop depend on.
#include "analyzer/machine/poll_loops.h"

#include <algorithm>
#include <set>
#include <variant>

#include "analyzer/ptx/cfg.h"
#include "analyzer/ptx/decode.h"

namespace handoff::machine {

namespace {

using ptx::BlockId;
using ptx::InstrIndex;
using ptx::Instruction;
using ptx::Operand;

bool isPoll(const Instruction& instr) {
  const auto* effect = std::get_if<ptx::Mbarrier>(&instr.decoded->effect);
  return effect != nullptr && (effect->op == ptx::MbarrierOp::kTestWait || effect->op == ptx::MbarrierOp::kTryWait);
}

bool isComputed(const Instruction& instr) {
  const ptx::Effect& effect = instr.decoded->effect;
  return std::holds_alternative<ptx::Alu>(effect) || std::holds_alternative<ptx::Opaque>(effect) ||
         std::holds_alternative<ptx::Collective>(effect);
}

/// What it adds to its own old value counts no turns.
bool isAccumulating(const Instruction& instr) {
  const auto* alu = std::get_if<ptx::Alu>(&instr.decoded->effect);
  return alu != nullptr && (alu->op == ptx::AluOp::kAnd || alu->op == ptx::AluOp::kOr);
}

template <typename F>
void forEachRegister(const Operand& operand, F&& f) {
  if (operand.kind == Operand::Kind::kRegister || operand.base == Operand::Base::kRegister) f(operand.reg);
  for (const Operand& element : operand.elements) forEachRegister(element, f);
}

class PollLoops {
 public:
  explicit PollLoops(const ptx::Function& function) : function_(function), cfg_(function) {}

  std::vector<InstrIndex> run() {
    std::vector<InstrIndex> found;
    for (InstrIndex i = 0; i < function_.instructions.size(); ++i) {
      if (!isPoll(function_.instructions[i]) || !cfg_.isReachable(cfg_.blockOf(i))) continue;
      const BlockId header = cfg_.loopHeader(cfg_.blockOf(i));
      if (header == ptx::kExitBlock) continue;
      const std::set<BlockId> body = loopOf(header);
      if (asksOnly(body) && mayGiveUp(body)) found.push_back(i);
    }
    return found;
  }

 private:
  const ptx::Block& block(BlockId id) const { return cfg_.blocks()[static_cast<std::uint32_t>(id)]; }

  /// The natural loop: what leads back to the header without passing it.
  std::set<BlockId> loopOf(BlockId header) const {
    std::set<BlockId> body{header};
    std::vector<BlockId> open;
    const auto add = [&](BlockId from) {
      if (cfg_.isReachable(from) && body.insert(from).second) open.push_back(from);
    };
    for (const BlockId latch : block(header).predecessors) {
      if (cfg_.dominates(header, latch)) add(latch);
    }
    while (!open.empty()) {
      const BlockId next = open.back();
      open.pop_back();
      for (const BlockId from : block(next).predecessors) add(from);
    }
    return body;
  }

  /// A loop that does other things as well goes on with them when its poll fails, as runs do in which polls fail.
  bool asksOnly(const std::set<BlockId>& body) const {
    return std::all_of(body.begin(), body.end(), [&](BlockId id) {
      for (InstrIndex i = block(id).begin; i < block(id).end; ++i) {
        const Instruction& instr = function_.instructions[i];
        const ptx::Effect& effect = instr.decoded->effect;
        const bool is_step = isPoll(instr) || isComputed(instr) || std::holds_alternative<ptx::Hint>(effect) ||
                             std::holds_alternative<ptx::Branch>(effect);
        if (!is_step) return false;
      }
      return true;
    });
  }

  bool mayGiveUp(const std::set<BlockId>& body) const {
    return std::any_of(body.begin(), body.end(), [&](BlockId id) {
      return std::any_of(block(id).successors.begin(), block(id).successors.end(), [&](BlockId next) {
        if (body.contains(next)) return false;
        const Instruction& last = function_.instructions[block(id).end - 1];
        std::set<InstrIndex> seen;
        return !(last.guard && followsFromPolls(last.guard->reg, body, seen)) && !isDoomed(next);
      });
    });
  }

  /// All that the loop computes the register from are results of its polls.
  bool followsFromPolls(ptx::RegId reg, const std::set<BlockId>& body, std::set<InstrIndex>& seen) const {
    for (const BlockId id : body) {
      for (InstrIndex i = block(id).begin; i < block(id).end; ++i) {
        const Instruction& instr = function_.instructions[i];
        if (isPoll(instr) || !writes(instr, reg)) continue;
        if (!isComputed(instr) || !seen.insert(i).second) return false;
        bool follows = true;
        const auto ask = [&](ptx::RegId source) {
          follows = follows && ((source == reg && isAccumulating(instr)) || followsFromPolls(source, body, seen));
        };
        for (std::size_t o = destinations(instr); o < instr.operands.size(); ++o) forEachRegister(instr.operands[o], ask);
        if (instr.guard) ask(instr.guard->reg);
        seen.erase(i);
        if (!follows) return false;
      }
    }
    return true;
  }

  static std::size_t destinations(const Instruction& instr) {
    return ptx::destinationCount(*instr.decoded, instr.operands.size());
  }
  static bool writes(const Instruction& instr, ptx::RegId reg) {
    bool is_written = false;
    for (std::size_t d = 0; d < destinations(instr); ++d) forEachRegister(instr.operands[d], [&](ptx::RegId to) { is_written |= to == reg; });
    return is_written;
  }

  /// Straight from there to a trap, which ends the kernel: a message may be written on the way.
  bool isDoomed(BlockId at) const {
    constexpr unsigned kReach = 8;
    for (unsigned step = 0; step < kReach && at != ptx::kExitBlock; ++step) {
      for (InstrIndex i = block(at).begin; i < block(at).end; ++i) {
        const Instruction& instr = function_.instructions[i];
        if (std::holds_alternative<ptx::Trap>(instr.decoded->effect)) return true;
        const auto isFailure = [](const Operand& operand) { return operand.kind == Operand::Kind::kFunction && operand.text == "__assertfail"; };
        if (std::any_of(instr.operands.begin(), instr.operands.end(), isFailure)) return true;
      }
      if (block(at).successors.size() != 1) return false;
      at = block(at).successors.front();
    }
    return false;
  }

  const ptx::Function& function_;
  const ptx::Cfg cfg_;
};

}  // namespace

std::vector<InstrIndex> pollsThatGiveUp(const ptx::Function& function) {
  if (std::none_of(function.instructions.begin(), function.instructions.end(), isPoll)) return {};
  return PollLoops(function).run();
}

}  // namespace handoff::machine
