// SPDX-License-Identifier: Apache-2.0
// From what the machine met to named findings.
#pragma once

#include <cstdint>
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

/// A finding, what identifies its cause, and what might repair it (best guess first).
struct Diagnosis {
  Finding finding;
  std::uint32_t primary_instr = 0;   ///< into Program::function.instructions
  std::uint32_t secondary_instr = 0;
  std::vector<Edit> edits;
  /// The last event that the finding rests on; 0: it rests on the whole run.
  machine::EventId last_event = 0;
};

/// Findings of one run. Conflicts that follow from another one's cause are folded into it.
std::vector<Diagnosis> diagnose(const Run& run);

}  // namespace handoff::diagnose
