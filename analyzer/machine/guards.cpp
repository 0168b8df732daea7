// SPDX-License-Identifier: Apache-2.0
// Liveness of registers, and the regions behind branches.
#include "analyzer/machine/guards.h"

#include <algorithm>
#include <unordered_set>
#include <variant>

#include "analyzer/machine/regions.h"
#include "analyzer/machine/slice.h"
#include "analyzer/machine/strength.h"

namespace handoff::machine {

namespace {

constexpr std::size_t kMaxRegionOps = 20'000;

template <typename F>
void forEachSlot(const Program& program, const Arg& arg, F&& f) {
  if (arg.slot != kNoSlot && (arg.slot & kConstantBit) == 0 && arg.kind != Arg::Kind::kSink) f(arg.slot);
  for (std::uint32_t i = 0; i < arg.count; ++i) forEachSlot(program, program.args[arg.first + i], f);
}

template <typename F>
void forEachWritten(const Program& program, const Op& op, F&& f) {
  for (std::uint32_t d = 0; d < op.dst_count; ++d) forEachSlot(program, program.args[op.first_arg + d], f);
}

template <typename F>
void forEachRead(const Program& program, const Op& op, F&& f) {
  if (op.guard != kNoSlot && (op.guard & kConstantBit) == 0) f(op.guard);
  for (std::uint32_t i = op.dst_count; i < op.arg_count; ++i) forEachSlot(program, program.args[op.first_arg + i], f);
}

template <typename F>
void forEachSuccessor(const Program& program, OpIndex index, F&& f) {
  const Op& op = program.ops[index];
  const ptx::Effect& effect = op.decoded->effect;
  if (std::holds_alternative<ptx::Branch>(effect)) {
    if (op.target != kNoOp) f(op.target);
    if (op.guard == kNoSlot) return;
  } else if (std::holds_alternative<ptx::BranchIndexed>(effect)) {
    if (op.table < program.branch_tables.size()) {
      for (const OpIndex target : program.branch_tables[op.table]) f(target);
    }
    return;
  } else if (std::holds_alternative<ptx::Exit>(effect) || std::holds_alternative<ptx::Return>(effect) ||
             std::holds_alternative<ptx::Trap>(effect)) {
    if (op.guard == kNoSlot) return;
  }
  f(index + 1);
}

bool isPlainExit(const Program& program, OpIndex index) {
  if (index >= program.ops.size() || program.ops[index].guard != kNoSlot) return false;
  const ptx::Effect& effect = program.ops[index].decoded->effect;
  return std::holds_alternative<ptx::Exit>(effect) || std::holds_alternative<ptx::Return>(effect);
}

}  // namespace

Liveness::Liveness(const Program& program) : rows_(program.ops.size()), stride_((program.register_count + 63) / 64) {
  bits_.assign(rows_ * stride_, 0);
  std::vector<std::uint64_t> row(stride_);
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (std::size_t i = rows_; i-- > 0;) {
      const Op& op = program.ops[i];
      std::fill(row.begin(), row.end(), 0);
      forEachSuccessor(program, static_cast<OpIndex>(i), [&](OpIndex next) {
        if (next >= rows_) return;
        for (std::size_t w = 0; w < stride_; ++w) row[w] |= bits_[next * stride_ + w];
      });
      if (op.guard == kNoSlot) {
        forEachWritten(program, op, [&](Slot slot) { row[slot / 64] &= ~(1ull << (slot % 64)); });
      }
      forEachRead(program, op, [&](Slot slot) { row[slot / 64] |= 1ull << (slot % 64); });
      const auto begin = bits_.begin() + static_cast<std::ptrdiff_t>(i * stride_);
      if (std::equal(row.begin(), row.end(), begin)) continue;
      std::copy(row.begin(), row.end(), begin);
      has_changed = true;
    }
  }
}

std::vector<Slot> Liveness::at(OpIndex op) const {
  std::vector<Slot> slots;
  for (Slot slot = 0; op < rows_ && slot < stride_ * 64; ++slot) {
    if (isLive(op, slot)) slots.push_back(slot);
  }
  return slots;
}

Guards::Guards(const Program& program)
    : program_(program), liveness_(program), known_(program.ops.size(), GuardClass::kUnknown) {
  for (const Op& op : program.ops) has_async_arrivals_ |= std::holds_alternative<ptx::CpAsyncMbarrierArrive>(op.decoded->effect);
}

Guards::Side Guards::effectOf(OpIndex index) const {
  const Op& op = program_.ops[index];
  const ptx::Effect& effect = op.decoded->effect;
  const bool is_exit = std::holds_alternative<ptx::Exit>(effect) || std::holds_alternative<ptx::Return>(effect) ||
                       std::holds_alternative<ptx::Trap>(effect) || std::holds_alternative<ptx::BranchIndexed>(effect);
  if (is_exit) return Side::kProtocol;
  const bool is_plain = std::holds_alternative<ptx::Load>(effect) || std::holds_alternative<ptx::Store>(effect) ||
                        std::holds_alternative<ptx::LdMatrix>(effect) || std::holds_alternative<ptx::StMatrix>(effect) ||
                        std::holds_alternative<ptx::WmmaLoad>(effect) || std::holds_alternative<ptx::WmmaStore>(effect) ||
                        std::holds_alternative<ptx::CpAsync>(effect);
  const bool is_strong = isStrong(*op.decoded);
  if (is_plain && !is_strong) {
    const bool is_load = std::holds_alternative<ptx::Load>(effect);
    const bool is_copy = std::holds_alternative<ptx::CpAsync>(effect);
    const ptx::Space space = is_copy ? ptx::Space::kShared : op.decoded->space();
    const bool is_private = space == ptx::Space::kLocal || space == ptx::Space::kParam || space == ptx::Space::kConst;
    if (is_load && (is_private || space == ptx::Space::kTex)) return Side::kSilent;
    if (op.is_apart || (is_load && space == ptx::Space::kGlobal && !program_.has_bulk_stores)) return Side::kSilent;
    if (!is_load && is_private) return Side::kProtocol;  // contents of the stack
    // What is stored may be loaded again where contents matter.
    if (!is_load && program_.needs_shared_contents && space != ptx::Space::kGlobal) return Side::kProtocol;
    if (!is_load && space == ptx::Space::kGlobal && !program_.has_async_copies) return Side::kSilent;
    // A store hides the one before it from later checks: leaving it out is another matter than leaving out a read. A copy
    // that does so is reported itself, unless all before it are ordered before the issuing thread at that place; then
    // whoever is ordered after the copy is ordered after them without it, too: by a wait of the issuing thread, but not
    // by a copy that arrives at an mbarrier itself.
    if (is_copy && has_async_arrivals_) return Side::kProtocol;
    const bool is_read = is_load || std::holds_alternative<ptx::LdMatrix>(effect) || std::holds_alternative<ptx::WmmaLoad>(effect);
    return is_read || is_copy || space == ptx::Space::kGlobal ? Side::kAccess : Side::kProtocol;
  }
  if (touchesGlobal(program_, op)) {
    const bool is_ordering = is_strong && op.decoded->sem != ptx::Sem::kRelaxed && op.decoded->sem != ptx::Sem::kVolatile;
    return is_ordering ? Side::kProtocol : Side::kAccess;
  }
  return hasProtocolEffect(program_.instruction(op)) ? Side::kProtocol : Side::kSilent;
}

bool Guards::writesLive(OpIndex index, OpIndex at) const {
  bool any = false;
  forEachWritten(program_, program_.ops[index], [&](Slot slot) { any |= at != kNoOp && liveness_.isLive(at, slot); });
  return any;
}

// The worst that happens between `start` and `end`; kNoOp: up to the end of the thread.
Guards::Side Guards::sideFrom(OpIndex start, OpIndex end, OpIndex branch) {
  Side worst = Side::kSilent;
  bool has_ended = false;
  std::unordered_set<OpIndex> seen;
  std::vector<OpIndex> work{start};
  while (!work.empty()) {
    const OpIndex at = work.back();
    work.pop_back();
    const bool is_end = at == end || (end == kNoOp && isPlainExit(program_, at));
    has_ended |= is_end;
    if (is_end || !seen.insert(at).second) continue;
    if (at >= program_.ops.size() || seen.size() > kMaxRegionOps) return Side::kProtocol;
    if (writesLive(at, end)) return Side::kProtocol;
    const Side effect = effectOf(at);
    if (effect == Side::kProtocol) return effect;
    worst = std::max(worst, effect);
    if (at == branch) {  // a loop: more turns make more accesses
      has_ended = true;
      continue;
    }
    forEachSuccessor(program_, at, [&](OpIndex next) { work.push_back(next); });
  }
  return has_ended ? worst : Side::kProtocol;
}

GuardClass Guards::classifyBranch(OpIndex index) {
  const Op& op = program_.ops[index];
  const Side taken = op.target == kNoOp ? Side::kProtocol : sideFrom(op.target, op.reconverge, index);
  const Side rest = sideFrom(index + 1, op.reconverge, index);
  if (taken == Side::kSilent && rest == Side::kSilent) return GuardClass::kSilent;
  if (taken == Side::kAccess && rest == Side::kSilent) return GuardClass::kAccessIfTaken;
  if (taken == Side::kSilent && rest == Side::kAccess) return GuardClass::kAccessIfNotTaken;
  return GuardClass::kControl;
}

GuardClass Guards::classify(OpIndex index) {
  GuardClass& known = known_[index];
  if (known != GuardClass::kUnknown) return known;
  const Op& op = program_.ops[index];
  if (std::holds_alternative<ptx::Branch>(op.decoded->effect)) {
    known = classifyBranch(index);
  } else {
    const Side effect = writesLive(index, index + 1) ? Side::kProtocol : effectOf(index);
    known = effect == Side::kSilent ? GuardClass::kSilent : effect == Side::kAccess ? GuardClass::kAccessIfTaken : GuardClass::kControl;
  }
  return known;
}

}  // namespace handoff::machine
