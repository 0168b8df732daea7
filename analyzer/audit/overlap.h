// SPDX-License-Identifier: Apache-2.0
// How much work a warp does between the issue of a copy and the wait for it.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "analyzer/audit/lowering.h"
#include "analyzer/machine/outcome.h"
#include "analyzer/machine/run_trace.h"

namespace handoff::audit {

/// Which instructions of a kernel are work, and of which kind.
class WorkKinds {
 public:
  enum class Kind : std::uint8_t { kNone, kArithmetic, kShared, kGlobal };

  /// `whole`: with every instruction kept (machine::buildWholeProgram).
  WorkKinds(const machine::Program& whole, const Lowered& lowered);
  Kind of(std::uint32_t instr) const { return kinds_[instr]; }

 private:
  std::vector<Kind> kinds_;
};

/// "cp.async.wait_group 1"; the opcode for what names no number of groups.
std::string describeWait(const machine::Program& program, std::uint32_t instr);

/// Adds what the runs of one kernel show to its calls.
class Overlaps {
 public:
  Overlaps(const machine::Program& whole, Lowered& lowered);

  void add(const machine::Outcome& outcome, const machine::RunTrace& trace);
  /// Fills in Call::overlaps, in the order of the waits in the code.
  void finish();
  /// By instruction of a wait for groups of copies: the most groups that were pending when it was executed.
  const std::map<std::uint32_t, std::uint32_t>& mostPending() const { return most_pending_; }

 private:
  const machine::Program& program_;
  Lowered& lowered_;
  WorkKinds kinds_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Overlap> by_wait_;  ///< by call, and instruction of the wait
  std::map<std::uint32_t, std::uint32_t> most_pending_;
};

}  // namespace handoff::audit
