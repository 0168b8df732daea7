// SPDX-License-Identifier: Apache-2.0
// Forward data flow over registers that wgmma.mma_async accumulates into or reads A from.
#include "analyzer/machine/register_hazards.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include "analyzer/ptx/cfg.h"
#include "analyzer/ptx/decode.h"

namespace handoff::machine {

namespace {

using ptx::Instruction;
using ptx::InstrIndex;
using ptx::Operand;
using ptx::Space;

constexpr unsigned kAccumulators = 0, kA = 1;  // operands of wgmma.mma_async
constexpr InstrIndex kNone = std::numeric_limits<InstrIndex>::max();
constexpr std::uint8_t kNotPending = 255, kOldest = 254;
/// Registers times blocks. Beyond it the question is left unanswered; no kernel seen comes near.
constexpr std::size_t kMaxCells = 16'000'000;

/// What paths say about the value of a register; where they meet, the worst of each member.
struct Value {
  InstrIndex mma = kNone;      ///< the multiplication whose result it is, while pending
  InstrIndex written = kNone;  ///< computed there by no multiplication, with no fence since
  InstrIndex summed = kNone;   ///< computed there by a multiplication, with no fence since
  /// Groups committed since the multiplication, its own included; 0: it is in no group yet.
  std::uint8_t pending = kNotPending;

  friend bool operator==(const Value&, const Value&) = default;
};

void join(Value& into, const Value& from) {
  if (std::pair(from.pending, from.mma) < std::pair(into.pending, into.mma)) {
    into.pending = from.pending;
    into.mma = from.mma;
  }
  into.written = std::min(into.written, from.written);
  into.summed = std::min(into.summed, from.summed);
}

struct State {
  bool is_reached = false;
  bool is_fenced = false;  ///< every path has met a fence or, so that one finding is enough, a multiplication
  std::vector<Value> values;
};

bool isMma(const Instruction& instr) {
  const auto* wgmma = std::get_if<ptx::Wgmma>(&instr.decoded->effect);
  return wgmma != nullptr && wgmma->op == ptx::WgmmaOp::kMma && instr.operands.size() > kA;
}

// Operands from `first` to `end` hold what a renaming copies to operand 0.
struct Renaming {
  std::size_t first = 1, end = 2;
};
std::optional<Renaming> renaming(const Instruction& instr) {
  const auto* alu = std::get_if<ptx::Alu>(&instr.decoded->effect);
  if (alu == nullptr) return std::nullopt;
  Renaming copied;
  if (alu->op == ptx::AluOp::kSelp) copied.end = 3;
  else if (alu->op != ptx::AluOp::kMov) return std::nullopt;
  if (instr.operands.size() < copied.end) return std::nullopt;
  return copied;
}

bool isPrivate(const Instruction& instr) {
  const Space space = instr.decoded->space();
  return space == Space::kLocal || space == Space::kParam || space == Space::kConst;
}
bool isPrivateLoad(const Instruction& instr) {
  return std::holds_alternative<ptx::Load>(instr.decoded->effect) && isPrivate(instr);
}
bool isPrivateStore(const Instruction& instr) {
  return std::holds_alternative<ptx::Store>(instr.decoded->effect) && isPrivate(instr);
}

template <typename F>
void forEachRegister(const Operand& operand, F&& f) {
  if (operand.kind == Operand::Kind::kRegister || operand.base == Operand::Base::kRegister) f(operand.reg);
  for (const Operand& element : operand.elements) forEachRegister(element, f);
}

// "m64n256k16"
std::string_view shapeOf(const Instruction& mma) {
  const auto& words = mma.decoded->modifiers;
  const auto word = std::ranges::find_if(words, [](const std::string& w) { return w.starts_with("m64n"); });
  return word == words.end() ? std::string_view() : std::string_view(*word);
}

class Analysis {
 public:
  explicit Analysis(const ptx::Function& function)
      : function_(function), cfg_(function), index_(function.registers.size(), kNone) {}

  std::vector<RegisterHazard> run() {
    followRegisters();
    if (count_ == 0) return {};
    settle();
    const std::size_t blocks = cfg_.blocks().size();
    is_reporting_ = true;
    for (std::size_t b = 0; b < blocks; ++b) {
      if (in_[b].is_reached) walk(b);
    }
    std::vector<RegisterHazard> hazards;
    for (const auto& [key, access] : found_) {
      hazards.push_back({.kind = key.second, .mma_instr = key.first, .access_instr = access});
    }
    return hazards;
  }

 private:
  // Registers of multiplications, and all that moves connect them with.
  void followRegisters() {
    std::vector<std::vector<std::uint32_t>> renamed(function_.registers.size());
    std::vector<std::uint32_t> open;
    const auto follow = [&](std::uint32_t reg) {
      if (index_[reg] != kNone) return;
      index_[reg] = count_++;
      open.push_back(reg);
    };
    for (const Instruction& instr : function_.instructions) {
      if (isMma(instr)) {
        forEachRegister(instr.operands[kAccumulators], [&](ptx::RegId r) { follow(static_cast<std::uint32_t>(r)); });
        if (instr.operands[kA].kind == Operand::Kind::kVector) {
          forEachRegister(instr.operands[kA], [&](ptx::RegId r) { follow(static_cast<std::uint32_t>(r)); });
        }
      } else if (const auto copied = renaming(instr)) {
        forEachRegister(instr.operands[0], [&](ptx::RegId to) {
          for (std::size_t o = copied->first; o < copied->end; ++o) {
            forEachRegister(instr.operands[o], [&](ptx::RegId from) {
              renamed[static_cast<std::uint32_t>(to)].push_back(static_cast<std::uint32_t>(from));
              renamed[static_cast<std::uint32_t>(from)].push_back(static_cast<std::uint32_t>(to));
            });
          }
        });
      }
    }
    while (!open.empty()) {
      const std::uint32_t reg = open.back();
      open.pop_back();
      for (const std::uint32_t other : renamed[reg]) follow(other);
    }
  }

  void settle() {
    in_.resize(cfg_.blocks().size());
    in_[0].is_reached = true;
    in_[0].values.resize(count_);
    for (bool is_changed = true; is_changed;) {
      is_changed = false;
      for (std::size_t b = 0; b < in_.size(); ++b) {
        if (!in_[b].is_reached || !in_[b].is_dirty) continue;
        in_[b].is_dirty = false;
        walk(b);
        for (const ptx::BlockId next : cfg_.blocks()[b].successors) {
          if (next != ptx::kExitBlock) is_changed |= flowInto(in_[static_cast<std::uint32_t>(next)]);
        }
      }
    }
  }

  struct BlockState : State {
    bool is_dirty = true;  ///< changed since the block was last walked
  };

  bool flowInto(BlockState& to) {
    if (!to.is_reached) {
      static_cast<State&>(to) = now_;
      to.is_dirty = true;
      return true;
    }
    bool is_changed = to.is_fenced && !now_.is_fenced;
    to.is_fenced = to.is_fenced && now_.is_fenced;
    for (std::size_t r = 0; r < count_; ++r) {
      const Value old = to.values[r];
      join(to.values[r], now_.values[r]);
      is_changed |= to.values[r] != old;
    }
    to.is_dirty |= is_changed;
    return is_changed;
  }

  void walk(std::size_t block) {
    now_ = in_[block];
    is_fence_reported_ = false;
    for (InstrIndex i = cfg_.blocks()[block].begin; i < cfg_.blocks()[block].end; ++i) step(i);
  }

  void step(InstrIndex i) {
    const Instruction& instr = function_.instructions[i];
    if (const auto* wgmma = std::get_if<ptx::Wgmma>(&instr.decoded->effect)) {
      switch (wgmma->op) {
        case ptx::WgmmaOp::kFence: fence(); return;
        case ptx::WgmmaOp::kCommit: commit(); return;
        case ptx::WgmmaOp::kWait: wait(instr); return;
        case ptx::WgmmaOp::kMma:
          if (isMma(instr)) multiply(i, instr);
          return;
      }
    }
    if (const auto copied = renaming(instr)) return rename(instr, *copied);
    compute(i, instr);
  }

  void fence() {
    now_.is_fenced = true;
    is_fence_reported_ = false;
    for (Value& value : now_.values) value.written = value.summed = kNone;
  }

  void commit() {
    for (Value& value : now_.values) {
      if (value.pending < kOldest) ++value.pending;
    }
  }

  // The N newest groups may stay pending.
  void wait(const Instruction& instr) {
    const bool is_known = !instr.operands.empty() && instr.operands[0].kind == Operand::Kind::kImmediate;
    const std::int64_t newest = is_known ? instr.operands[0].imm : 0;
    for (Value& value : now_.values) {
      if (value.pending == 0 || value.pending == kNotPending || value.pending <= newest) continue;
      value.pending = kNotPending;
      value.mma = kNone;
    }
  }

  void multiply(InstrIndex i, const Instruction& instr) {
    if (!now_.is_fenced) lacksFence(i, i);
    now_.is_fenced = true;
    const auto checkWritten = [&](const Value& value) {
      if (value.written != kNone) lacksFence(i, value.written);
    };
    if (instr.operands[kA].kind == Operand::Kind::kVector) {
      forEachFollowed(instr.operands[kA], [&](Value& value) {
        checkWritten(value);
        if (value.pending != kNotPending) usedBeforeWait(value.mma, i);
        else if (value.summed != kNone) lacksFence(i, value.summed);
      });
    }
    forEachFollowed(instr.operands[kAccumulators], [&](Value& value) {
      checkWritten(value);
      // Chains of one shape order themselves.
      const bool is_chain =
          value.summed == kNone || shapeOf(function_.instructions[value.summed]) == shapeOf(instr);
      if (!is_chain) lacksFence(i, value.summed);
      assign(instr, value, {.mma = i, .summed = i, .pending = 0});
    });
  }

  void rename(const Instruction& instr, const Renaming& copied) {
    const Operand& to = instr.operands[0];
    const Operand& from = instr.operands[copied.first];
    if (to.kind == Operand::Kind::kVector && from.kind == Operand::Kind::kVector &&
        to.elements.size() == from.elements.size()) {
      std::vector<Value> values;
      for (const Operand& element : from.elements) values.push_back(worstOf(element));
      for (std::size_t e = 0; e < values.size(); ++e) {
        forEachFollowed(to.elements[e], [&](Value& value) { assign(instr, value, values[e]); });
      }
      return;
    }
    Value worst;
    for (std::size_t o = copied.first; o < copied.end; ++o) join(worst, worstOf(instr.operands[o]));
    forEachFollowed(to, [&](Value& value) { assign(instr, value, worst); });
  }

  void compute(InstrIndex i, const Instruction& instr) {
    const unsigned destinations = ptx::destinationCount(*instr.decoded, instr.operands.size());
    if (is_reporting_ && !isPrivateStore(instr)) {
      const auto read = [&](const Value& value) {
        if (value.pending != kNotPending) usedBeforeWait(value.mma, i);
      };
      for (std::size_t o = destinations; o < instr.operands.size(); ++o) forEachFollowed(instr.operands[o], read);
    }
    const Value result{.written = isPrivateLoad(instr) ? kNone : i};
    for (std::size_t d = 0; d < destinations; ++d) {
      forEachFollowed(instr.operands[d], [&](Value& value) { assign(instr, value, result); });
    }
  }

  static void assign(const Instruction& instr, Value& value, const Value& result) {
    if (instr.guard) join(value, result);
    else value = result;
  }

  Value worstOf(const Operand& operand) {
    Value worst;
    forEachFollowed(operand, [&](const Value& value) { join(worst, value); });
    return worst;
  }

  template <typename F>
  void forEachFollowed(const Operand& operand, F&& f) {
    forEachRegister(operand, [&](ptx::RegId reg) {
      const std::uint32_t index = index_[static_cast<std::uint32_t>(reg)];
      if (index != kNone) f(now_.values[index]);
    });
  }

  // One finding for each fence that is missing, not for each multiplication that would have needed it.
  void lacksFence(InstrIndex mma, InstrIndex access) {
    if (is_fence_reported_) return;
    is_fence_reported_ = is_reporting_;
    report(RegisterHazard::Kind::kNoFence, mma, access);
  }
  void usedBeforeWait(InstrIndex mma, InstrIndex access) {
    report(RegisterHazard::Kind::kUseBeforeWait, mma, access);
  }
  void report(RegisterHazard::Kind kind, InstrIndex mma, InstrIndex access) {
    if (!is_reporting_) return;
    const auto [it, is_new] = found_.try_emplace({mma, kind}, access);
    if (!is_new) it->second = std::min(it->second, access);
  }

  const ptx::Function& function_;
  const ptx::Cfg cfg_;
  std::vector<std::uint32_t> index_;  ///< by register: place in State::values, or kNone
  std::uint32_t count_ = 0;           ///< followed registers
  std::vector<BlockState> in_;        ///< by block
  State now_;
  bool is_reporting_ = false;
  bool is_fence_reported_ = false;
  std::map<std::pair<InstrIndex, RegisterHazard::Kind>, InstrIndex> found_;
};

}  // namespace

bool canFindRegisterHazards(const ptx::Function& function) {
  const bool has_mma = std::ranges::any_of(function.instructions, isMma);
  return !has_mma || function.registers.size() * ptx::Cfg(function).blocks().size() <= kMaxCells;
}

std::vector<RegisterHazard> findRegisterHazards(const ptx::Function& function) {
  if (std::ranges::none_of(function.instructions, isMma) || !canFindRegisterHazards(function)) return {};
  return Analysis(function).run();
}

}  // namespace handoff::machine
