// SPDX-License-Identifier: Apache-2.0
// Candidates against all inputs.
#include "analyzer/explore/repair.h"

#include <algorithm>
#include <chrono>

#include "analyzer/machine/machine.h"

namespace handoff::explore {

using diagnose::Diagnosis;
using diagnose::Edit;

namespace {

class Stopwatch {
 public:
  explicit Stopwatch(double& total) : total_(total) {}
  ~Stopwatch() { total_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  double& total_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

Repairer::Repairer(const machine::Program& program, std::vector<Input> inputs, std::string file, Budget budget)
    : program_(program), inputs_(std::move(inputs)), statements_(program, std::move(file)), budget_(budget),
      baselines_(inputs_.size()) {}

const Repairer::Baseline& Repairer::baseline(std::size_t input) {
  std::optional<Baseline>& known = baselines_[input];
  if (known) return *known;
  known.emplace();
  const Input& in = inputs_[input];
  const machine::Outcome outcome = machine::run(program_, in.launch, in.options);
  for (const Diagnosis& met : diagnose::diagnose({program_, in.launch, outcome, in.names})) {
    known->findings.insert({met.finding.rule, met.primary_instr, met.secondary_instr});
  }
  for (const machine::RunLimit& limit : outcome.limits) known->limits.insert(limit.reason);
  return *known;
}

bool Repairer::helps(const Edited& edited, const Diagnosis& diagnosis, std::size_t first) {
  ptx::Module module = *program_.module;
  module.functions.clear();
  module.locations = program_.locations;
  const Result<machine::Program> program = machine::buildProgram(module, edited.function);
  if (!program) return false;
  const auto original = [&](std::uint32_t instr) {
    // What happens at an insertion was not there before.
    return instr < edited.origin.size() ? edited.origin[instr] : Edited::kInserted;
  };
  const Key own{diagnosis.finding.rule, diagnosis.primary_instr, diagnosis.secondary_instr};
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    // The input that showed the finding first: it is the one that refutes most candidates.
    const std::size_t index = i == 0 ? first : i <= first ? i - 1 : i;
    const Baseline& before = baseline(index);
    const Input& in = inputs_[index];
    machine::RunOptions options = in.options;
    options.max_seconds = std::min(options.max_seconds, budget_.seconds);
    const machine::Outcome outcome = machine::run(*program, in.launch, options);
    for (const machine::RunLimit& limit : outcome.limits) {
      if (!before.limits.contains(limit.reason)) return false;
    }
    for (const Diagnosis& left : diagnose::diagnose({*program, in.launch, outcome, in.names})) {
      const Key key{left.finding.rule, original(left.primary_instr), original(left.secondary_instr)};
      if (key == own || !before.findings.contains(key)) return false;
    }
  }
  return true;
}

std::optional<diagnose::Repair> Repairer::repair(const Diagnosis& diagnosis, std::size_t input) {
  const Stopwatch stopwatch(spent_);
  const auto start = std::chrono::steady_clock::now();
  std::size_t tries = 0;
  for (const Edit& edit : diagnosis.edits) {
    const double seconds = spent_ + std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (++tries > budget_.tries || seconds > budget_.seconds) break;
    const std::optional<Edited> edited = applyEdit(program_, statements_, edit);
    if (!edited || !helps(*edited, diagnosis, input)) continue;
    const std::uint32_t at = edit.changes.front().at;
    return diagnose::Repair{edit.description, program_.stackOf(at), {}};
  }
  return std::nullopt;
}

}  // namespace handoff::explore
