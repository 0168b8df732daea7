// SPDX-License-Identifier: Apache-2.0
// Runs the workers of a job, each in a process of its own, and judges what they say.
#pragma once

#include <atomic>
#include <map>
#include <string>
#include <vector>

#include "analyzer/confirm/job.h"

namespace handoff::confirm {

struct Settings {
  std::string program;     ///< this executable
  std::string arguments;   ///< the file given with --args; empty: none
  unsigned launches = 50;  ///< of each cell
  unsigned seconds = 5;    ///< without progress of launches, after which they count as a hang
  bool runs_all = false;
  std::string variants;  ///< as narrow() takes them
  unsigned blocks = 0;
  const std::atomic<bool>* stop = nullptr;  ///< a wish to end: what is under way is worth nothing; null: never
};

/// What launches of one kernel came to.
struct Cell {
  unsigned launches = 0, wrong = 0;
  unsigned first_word = 0;  ///< of the buffers, that differed first
  bool is_hang = false;
  std::string fault;    ///< name of the driver's error
  std::string skipped;  ///< why it was not run

  bool hasRun() const { return launches != 0 || is_hang || !fault.empty(); }
  bool hasFailed() const { return wrong != 0 || is_hang || !fault.empty(); }
  std::string text() const;  ///< "wrong in 12 of 50 launches"
};

struct JobResult {
  std::string
      status;  ///< "confirmed", "not reproduced", "invalid"; of a control: "held", "failed", "invalid"
  std::string summary;  ///< one sentence, for the report
  std::string device;
  int driver_version = 0;
  unsigned mode = 0;                           ///< how memory was filled
  std::map<std::size_t, Cell> base, repaired;  ///< by variant
};

JobResult confirmJob(const Job& job, const Settings& settings);

/// The entry of the results for this job.
json::Value describe(const Job& job, const JobResult& result);

}  // namespace handoff::confirm
