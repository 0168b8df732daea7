// SPDX-License-Identifier: Apache-2.0
// What the parts of a run share: the inputs, the state of the cluster, what was found so far.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <utility>

#include "analyzer/machine/data_terms.h"
#include "analyzer/machine/launch.h"
#include "analyzer/machine/outcome.h"
#include "analyzer/machine/program.h"
#include "analyzer/machine/state.h"

namespace handoff::machine {

struct RunState {
  RunState(const Program& p, const Launch& l, const RunOptions& o) : program(p), launch(l), options(o), path(o.path) {}

  const Program& program;
  const Launch& launch;
  const RunOptions& options;
  PathLog* path;                                   ///< where decisions are noted at present; null: nowhere
  Cluster cluster;
  Outcome outcome;
  DataTerms data;                                  ///< what is known of unknown data

  EventLog& log() { return outcome.log; }
  const EventLog& log() const { return outcome.log; }
  /// From here on the run is about something that may not be what the program does.
  void noteUnmodelled() {
    outcome.has_unmodelled = true;
    if (outcome.unmodelled_from == 0) outcome.unmodelled_from = outcome.log.end();
  }
  void noteAssumption() {
    if (outcome.assumed_from == 0) outcome.assumed_from = outcome.log.end();
  }
  /// Names a limit once for each instruction.
  void addLimit(std::string reason, std::uint32_t instr) {
    if (limited_.emplace(reason, instr).second) outcome.limits.push_back({std::move(reason), instr});
  }

  /// The first ones, as many as there were before.
  void keepLimits(std::size_t count) {
    for (; outcome.limits.size() > count; outcome.limits.pop_back()) {
      limited_.erase({outcome.limits.back().reason, outcome.limits.back().instr});
    }
  }

  DataQuestions& questions() {
    if (options.questions != nullptr) return *options.questions;
    if (!own_questions_) own_questions_ = std::make_unique<DataQuestions>();
    return *own_questions_;
  }

 private:
  std::unique_ptr<DataQuestions> own_questions_;
  std::set<std::pair<std::string, std::uint32_t>> limited_;
};

}  // namespace handoff::machine
