// SPDX-License-Identifier: Apache-2.0
// Which way the threads of a run go where data decide that the machine does not have.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "analyzer/machine/lanes.h"
#include "analyzer/machine/launch.h"
#include "analyzer/machine/program.h"

namespace handoff::machine {

class UnknownChoices {
 public:
  UnknownChoices(const Program& program, UnknownBranches way) : program_(program), way_(way) {}

  /// The condition of a branch, or a predicate, may be true for one thread and false for another.
  bool mayDifferByThread(OpIndex op);
  /// Lanes of a warp may part there: nothing on the way needs them together.
  bool maySplitWarp(OpIndex op);
  /// Of the lanes that ask, those for which the condition is taken to hold.
  LaneMask lanes(OpIndex op, std::uint16_t warp, LaneMask asking);
  /// Not all threads go the same way, or not always.
  bool isMixed() const { return way_ != UnknownBranches::kHoldNowhere && way_ != UnknownBranches::kHoldEverywhere; }

 private:
  bool findWhetherSplittable(OpIndex op) const;

  const Program& program_;
  const UnknownBranches way_;
  std::optional<std::vector<bool>> by_thread_;           ///< by register, when asked for
  std::map<OpIndex, bool> splittable_;
  std::map<OpIndex, std::uint16_t> first_to_ask_;        ///< the warp that came first
  std::map<std::pair<std::uint16_t, OpIndex>, unsigned> turns_;  ///< how often a warp has come
};

}  // namespace handoff::machine
