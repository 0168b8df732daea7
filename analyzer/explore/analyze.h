// SPDX-License-Identifier: Apache-2.0
// From a unit to a report for each of its kernels.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "analyzer/diagnose/finding.h"
#include "analyzer/frontend/unit.h"
#include "analyzer/support/cancel.h"

namespace handoff::explore {

/// An entry of .handoff.yaml: the launch of every kernel whose name matches the glob.
struct ConfiguredLaunch {
  std::string kernel_glob, text;
  SourcePos pos;
};

/// An entry of .handoff.yaml: what one copy through a tensor map of such kernels writes.
struct ConfiguredTensorMap {
  std::string kernel_glob;
  std::string name;  ///< "tma_a", "params.tma_b", "param0+128"
  std::string box;   ///< a text that parseTensorBox takes
  SourcePos pos;
};

struct Options {
  double max_seconds = 60;                   ///< processor time per kernel
  /// Of the time that the front end took for the unit, for all its kernels together: what one leaves is there for the
  /// others. 0: no such bound. None for PTX, which no front end has made.
  double max_share = 0;
  std::uint64_t max_steps = 2'000'000;       ///< executed warp instructions per run; of large blocks more:
  std::uint64_t min_steps_of_warp = 40'000;  ///< at least these for each warp
  std::string kernel_filter;                 ///< only kernels whose name contains this; empty: all
  /// Launches to run instead of those of the unit: "block=128 grid=16x2 smem=49152 K=64".
  std::vector<std::string> launches;
  std::vector<ConfiguredLaunch> configured;  ///< count where neither `launches` nor a comment gives a launch
  std::vector<ConfiguredTensorMap> tensor_maps;  ///< count where no comment speaks of the map
  bool try_repairs = true;
  /// Values that the unit's launches fix count like any other: what goes wrong for other launches is a violation, too.
  bool any_launch = false;
  /// Also explore what the unit's launches fix, to say apart what goes wrong only for others.
  bool explores_other_launches = true;
  unsigned max_paths = 256;                  ///< runs with different inputs, per kernel
  bool makes_jobs = false;                   ///< fill in Finding::job
  bool makes_controls = false;               ///< and KernelReport::control_job
  bool makes_pictures = false;               ///< fill in Finding::picture and KernelReport::picture
  unsigned solver_milliseconds = 1000;       ///< for each question; without an answer a kernel is bounded
  unsigned max_memory_mb = 2048;             ///< of the whole process, when the next path is about to start
  const CancelToken* cancel = nullptr;       ///< null: never. A kernel that was cancelled is bounded
};

/// One report per kernel of the module, in the module's order. A kernel that could not be checked has verdict kError
/// and says why; nothing is left out but what `kernel_filter` leaves out.
/// With `around`, each kernel goes through it: it returns the report that `run` makes, or one that it has.
using AroundKernel = std::function<diagnose::KernelReport(const ptx::Function& kernel,
                                                          const std::function<diagnose::KernelReport()>& run)>;
std::vector<diagnose::KernelReport> analyze(const frontend::Unit& unit, const Options& options, const AroundKernel& around = {});

}  // namespace handoff::explore
