// SPDX-License-Identifier: Apache-2.0
// Witness jobs on disk, and what handoff-confirm made of them.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "analyzer/mutate/score.h"
#include "analyzer/report/paths.h"
#include "analyzer/report/report.h"
#include "analyzer/support/json.h"

namespace handoff::cli {

/// Names jobs by file, kernel, rule and line, so that another run of the same check gives the same names.
class WitnessFiles {
 public:
  /// `folder`, `results`: empty for none. Fails when the results cannot be read.
  static Result<WitnessFiles> open(const std::string& folder, const std::string& results);

  bool isWanted() const { return !folder_.empty() || !results_.empty(); }
  /// Writes the jobs of the file's findings and gives them what the GPU said.
  Result<unsigned> add(report::FileReport& file, const report::Paths& paths);

  /// A mutant of a kernel.
  struct Mutant {
    std::string file, kernel, op, change;
    std::uint32_t line = 0;
    std::uint32_t number = 0;  ///< tells it from others of the same operator and line, also of runs for other parts
  };
  /// Writes the jobs of a mutant, and returns their names.
  Result<std::vector<std::string>> add(const Mutant& mutant, const std::vector<mutate::Scored::Job>& jobs);

 private:
  /// What a job is about: a rule, or "none", and a line of the source.
  struct Subject {
    std::string file, kernel, rule;
    std::uint32_t line = 0;
    std::string op = {}, change = {};  ///< of a mutant
    std::uint32_t number = 0;          ///< of a mutant
  };
  std::string uniqueName(const Subject& subject);
  Result<unsigned> write(const std::string& name, const Subject& subject,
                         const diagnose::WitnessJob& job) const;

  std::string folder_;
  std::map<std::string, diagnose::Confirmation> results_;
  std::set<std::string> names_;
};

}  // namespace handoff::cli
