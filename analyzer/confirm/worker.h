// SPDX-License-Identifier: Apache-2.0
// One process on the GPU: runs variants of a job until something goes wrong or nothing is left, and says on
// standard output how far it came. A fault ends the process, since it takes the context with it; a hang is
// ended by the supervisor.
//
//   device NAME             driver VERSION          once
//   loading | running                                a new step; `running` has to go on within the time limit
//   reference TEXT                                   what is wrong with the kernel that says what is right;
//   ends the process cell VARIANT WHICH                               what comes next; WHICH is 0 for the
//   kernel, 1 for the repaired one count LAUNCHES WRONG WORD                        of this cell so far;
//   WORD: the first that differs fault NAME                                       ends the process skip TEXT
//   this cell cannot be run done
#pragma once

#include <cstddef>
#include <string>

#include "analyzer/confirm/job.h"

namespace handoff::confirm {

/// How memory is filled: attempts in order, until the reference runs.
inline constexpr unsigned kFillModes = 4;

struct WorkerOptions {
  std::size_t first_variant = 0;
  unsigned first_which = 0;  ///< 0 or 1
  unsigned mode = 0;         ///< below kFillModes
  unsigned launches = 50;    ///< for each cell
  bool runs_all = false;     ///< also after a variant has shown the defect
};

/// Launches the kernel of the job once, as it is, and compares nothing: for other tools to look at. Returns
/// the exit code of the process; what went wrong is said as above.
int runOneLaunch(const Job& job, const WorkerOptions& options);

/// Returns the exit code of the process.
int runWorker(const Job& job, const WorkerOptions& options);

}  // namespace handoff::confirm
