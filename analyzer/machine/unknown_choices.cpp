// SPDX-License-Identifier: Apache-2.0
// Ways through branches on unknown data.
#include "analyzer/machine/unknown_choices.h"

#include <unordered_set>
#include <variant>

#include "analyzer/machine/thread_values.h"

namespace handoff::machine {

LaneMask UnknownChoices::lanes(OpIndex op, std::uint16_t warp, LaneMask asking) {
  using enum UnknownBranches;
  if (way_ == kHoldNowhere) return 0;
  if (way_ == kHoldEverywhere) return asking;
  const auto when = [&](bool holds) { return holds ? asking : 0; };
  if (way_ == kHoldByTurns || way_ == kHoldByOtherTurns) {
    return when((turns_[{warp, op}]++ % 2 == 0) == (way_ == kHoldByTurns));
  }
  if (!mayDifferByThread(op)) return 0;
  const bool is_first_warp = first_to_ask_.try_emplace(op, warp).first->second == warp;
  const LaneMask first_lane = laneBit(lowestLane(asking));
  switch (way_) {
    case kHoldInFirstWarp: return when(is_first_warp);
    case kHoldInOtherWarps: return when(!is_first_warp);
    case kHoldInFirstLane: return maySplitWarp(op) ? first_lane : when(is_first_warp);
    default: return maySplitWarp(op) ? asking & ~first_lane : when(!is_first_warp);
  }
}

bool UnknownChoices::mayDifferByThread(OpIndex op) {
  if (!by_thread_) by_thread_ = dependOnThread(program_.function);
  const auto& guard = program_.instruction(program_.ops[op]).guard;
  return guard && (*by_thread_)[static_cast<std::uint32_t>(guard->reg)];
}

bool UnknownChoices::maySplitWarp(OpIndex op) {
  const auto [known, is_new] = splittable_.try_emplace(op, false);
  if (is_new) known->second = findWhetherSplittable(op);
  return known->second;
}

bool UnknownChoices::findWhetherSplittable(OpIndex index) const {
  const auto isTogether = [](const Op& op) { return op.decoded->has("sync") || op.decoded->has("aligned"); };
  const Op& start = program_.ops[index];
  if (!std::holds_alternative<ptx::Branch>(start.decoded->effect)) return !isTogether(start);
  if (start.reconverge == kNoOp) return false;
  std::unordered_set<OpIndex> seen;
  std::vector<OpIndex> work{index + 1, start.target};
  while (!work.empty()) {
    const OpIndex at = work.back();
    work.pop_back();
    if (at == start.reconverge || !seen.insert(at).second) continue;
    if (at >= program_.ops.size()) return false;
    const Op& op = program_.ops[at];
    if (isTogether(op) || std::holds_alternative<ptx::BranchIndexed>(op.decoded->effect)) return false;
    const bool is_jump = std::holds_alternative<ptx::Branch>(op.decoded->effect);
    if (is_jump) work.push_back(op.target);
    if (!is_jump || op.guard != kNoSlot) work.push_back(at + 1);
  }
  return true;
}

}  // namespace handoff::machine
