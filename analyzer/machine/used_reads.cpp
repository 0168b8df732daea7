// SPDX-License-Identifier: Apache-2.0
// Taint of watched loads through the registers of a warp.
#include "analyzer/machine/used_reads.h"

#include <algorithm>
#include <variant>

#include "analyzer/machine/executor.h"

namespace handoff::machine {

namespace {

/// Groups followed in one run (bits of a word), and runs spent on the question; what is left over counts as used.
constexpr std::size_t kGroupsPerRun = 64;
constexpr std::size_t kMaxRuns = 3;

bool mayRun(const Lanes& guard, LaneMask lanes, bool is_negated) {
  bool any = (guard.unknown & lanes) != 0;
  forEachLane(lanes, [&](unsigned lane) { any |= ((guard.word[lane] & 1) != 0) != is_negated; });
  return any;
}

}  // namespace

std::vector<bool> usedReads(const Program& whole, const Launch& launch, const RunOptions& options,
                            const std::vector<std::vector<ReadInstance>>& groups) {
  std::vector<bool> used(groups.size(), true);
  for (std::size_t run = 0; run < kMaxRuns && run * kGroupsPerRun < groups.size(); ++run) {
    const std::size_t begin = run * kGroupsPerRun, end = std::min(begin + kGroupsPerRun, groups.size());
    ReadWatch watch;
    for (std::size_t group = begin; group < end; ++group) {
      for (const ReadInstance& read : groups[group]) {
        watch.reads.push_back(read);
        watch.bits.push_back(static_cast<unsigned>(group - begin));
      }
    }
    // The finest shadow never asks for another run; races are not looked for while watching.
    RunOptions quiet = options;
    quiet.skip_races = true;
    Executor executor(whole, launch, quiet, {.tracked = {}, .granule = 1, .boxes = {}});
    executor.watch(&watch);
    executor.run();
    if (!watch.is_complete) return used;
    for (std::size_t group = begin; group < end; ++group) {
      const std::uint64_t bit = std::uint64_t{1} << (group - begin);
      used[group] = (watch.used & bit) != 0 || (watch.seen & bit) == 0;
    }
  }
  return used;
}

std::uint64_t Executor::watchedIn(const Warp& warp, const Arg& arg) const {
  std::uint64_t bits = 0;
  const bool in_register = arg.slot != kNoSlot && !(arg.slot & kConstantBit);
  if (in_register && arg.slot < warp.watched.size()) bits |= warp.watched[arg.slot];
  for (std::uint32_t i = 0; i < arg.count; ++i) bits |= watchedIn(warp, program_.args[arg.first + i]);
  return bits;
}

void Executor::setWatched(Warp& warp, const Arg& arg, std::uint64_t bits, bool keeps_old) {
  if (arg.slot != kNoSlot && !(arg.slot & kConstantBit) && arg.slot < warp.watched.size()) {
    warp.watched[arg.slot] = bits | (keeps_old ? warp.watched[arg.slot] : 0);
  }
  for (std::uint32_t i = 0; i < arg.count; ++i) setWatched(warp, program_.args[arg.first + i], bits, keeps_old);
}

// A branch around arithmetic chooses values: they carry the watch of its condition. Any other one decides what is done.
void Executor::watchBranch(Warp& warp, OpIndex index, std::uint64_t condition) {
  const Region& region = regions_.at(index);
  if (!region.is_arithmetic) {
    watch_->used |= condition;
    return;
  }
  for (const OpIndex op : region.ops) watch_->chosen[op] = true;
  for (const Slot slot : region.written) warp.watched[slot] |= condition;
}

// Before an instruction runs, or is passed over: what it reads is used, unless it only computes registers from it; then
// they carry the watch.
void Executor::watchStep(const Step& step) {
  auto& [warp, fragment, op, index, lanes] = step;
  if (warp.watched.empty()) warp.watched.resize(program_.register_count, 0);
  watch_->chosen.resize(program_.ops.size(), false);
  const bool has_guard = op.guard != kNoSlot && !(op.guard & kConstantBit);
  const std::uint64_t condition = has_guard ? warp.watched[op.guard] : 0;
  const ptx::Effect& effect = op.decoded->effect;
  if (std::holds_alternative<ptx::Branch>(effect)) {
    if (condition != 0) watchBranch(warp, index, condition);
    return;
  }
  // Who is held off by a condition that is no matter of what is watched does nothing.
  if (condition == 0 && has_guard && !mayRun(value(warp, op.guard), lanes, op.is_guard_negated)) return;
  const bool is_pure = std::holds_alternative<ptx::Alu>(effect) || std::holds_alternative<ptx::Opaque>(effect);
  std::uint64_t moved = condition, used = is_pure ? 0 : condition;
  for (std::uint32_t i = op.dst_count; i < op.arg_count; ++i) (is_pure ? moved : used) |= watchedIn(warp, arg(op, i));
  watch_->used |= used;
  const bool keeps_old = has_guard || lanes != warp.live || watch_->chosen[index] || is_on_side_;
  for (std::uint32_t i = 0; i < op.dst_count; ++i) setWatched(warp, arg(op, i), moved, keeps_old);
}

// A region that is left out.
void Executor::watchSkipped(Warp& warp, const Region& region) {
  if (warp.watched.empty()) return;
  std::uint64_t bits = 0;
  for (const Slot slot : region.read) bits |= warp.watched[slot];
  if (!region.is_arithmetic) watch_->used |= bits;
  for (const Slot slot : region.written) warp.watched[slot] |= bits;
}

// After a load ran: its destinations carry the watch.
void Executor::watchLoad(Warp& warp, const Op& op, OpIndex index) {
  if (!std::holds_alternative<ptx::Load>(op.decoded->effect) && !std::holds_alternative<ptx::LdMatrix>(op.decoded->effect) &&
      !std::holds_alternative<ptx::WmmaLoad>(op.decoded->effect)) {
    return;
  }
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < watch_->reads.size(); ++i) {
    const ReadInstance& read = watch_->reads[i];
    const bool is_it = read.warp == warp.id && read.instr == op.instr && read.pass == warp.passes[index];
    if (is_it) bits |= std::uint64_t{1} << watch_->bits[i];
  }
  if (bits == 0) return;
  watch_->seen |= bits;
  for (std::uint32_t d = 0; d < op.dst_count; ++d) setWatched(warp, arg(op, d), bits, /*keeps_old=*/true);
}

}  // namespace handoff::machine
