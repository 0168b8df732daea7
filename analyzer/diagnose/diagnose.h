// SPDX-License-Identifier: Apache-2.0
// From what the machine met to named findings.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "analyzer/diagnose/edit.h"
#include "analyzer/diagnose/finding.h"
#include "analyzer/diagnose/names.h"
#include "analyzer/machine/launch.h"
#include "analyzer/machine/outcome.h"
#include "analyzer/machine/program.h"

namespace handoff::diagnose {

/// One run of the machine, with the names to report it in.
struct Run {
  const machine::Program& program;
  const machine::Launch& launch;
  const machine::Outcome& outcome;
  const Names& names;
};

/// One of the events that a finding is about: the thread and the turn in which its instruction runs.
struct Site {
  std::uint32_t instr = 0;  ///< into Program::function.instructions
  std::uint32_t group = 0;  ///< Op::site: copies of one source statement share it
  std::uint32_t pass = 0;   ///< how often the instruction had run in its warp, from 1; 0: not known
  std::uint32_t cta = 0;    ///< rank in the cluster
  std::uint32_t warp = 0;   ///< of the CTA
  std::uint32_t lane = 0;
  machine::EventKind kind = machine::EventKind::kRead;
  std::uint64_t source = 0;  ///< of a copy from global memory, where it is known
};
Site siteOf(const Run& run, machine::Access access);

/// A finding, what identifies its cause, and what might repair it (best guess first).
struct Diagnosis {
  Finding finding;
  std::uint32_t primary_instr = 0;   ///< into Program::function.instructions
  std::uint32_t secondary_instr = 0;
  std::vector<Edit> edits;
  /// The last event that the finding rests on; 0: it rests on the whole run.
  machine::EventId last_event = 0;
  /// The events it is about, the earlier one first; one for a misuse or a thread that is stuck.
  std::vector<Site> sites{};
  ptx::Space space = ptx::Space::kShared;
  std::uint64_t address = 0;  ///< what they meet at; 0: nothing in particular
  std::map<std::uint64_t, std::uint64_t> assumed_boxes{};  ///< Outcome::assumed_boxes
};

/// Findings of one run. Conflicts that follow from another one's cause are folded into it.
std::vector<Diagnosis> diagnose(const Run& run);

}  // namespace handoff::diagnose
