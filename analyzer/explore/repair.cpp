// SPDX-License-Identifier: Apache-2.0
// Candidates against all inputs.
#include "analyzer/explore/repair.h"

#include <algorithm>
#include <map>
#include <set>

#include "analyzer/explore/source_fix.h"
#include "analyzer/explore/source_style.h"
#include "analyzer/machine/machine.h"

namespace handoff::explore {

using diagnose::Diagnosis;
using diagnose::Edit;

namespace {

/// By change of the edit: a wait for another phase that this run does not pass by a phase that is long over.
void noteWaits(const Edit& edit, const Edited& edited, const machine::Program& program, const machine::Outcome& outcome,
               std::vector<bool>& waits) {
  for (machine::EventId id = 1; id < outcome.log.end(); ++id) {
    const machine::Event& event = outcome.log[id];
    if (event.kind != machine::EventKind::kMbarrierWait || event.is_repeat) continue;
    const std::uint32_t origin = edited.origin[program.ops[event.op].instr];
    for (std::size_t i = 0; i < edit.changes.size(); ++i) {
      if (origin == edit.changes[i].at) waits[i] = true;
    }
  }
}

/// A wait that every run passes so waits for nothing, and hides what it should have been.
bool isIdleWait(const machine::Program& program, const Edit& edit, const std::vector<bool>& waits) {
  for (std::size_t i = 0; i < edit.changes.size(); ++i) {
    const diagnose::Change& change = edit.changes[i];
    const bool is_other_phase = change.kind == diagnose::Change::Kind::kFlipOperand || change.kind == diagnose::Change::Kind::kPhaseBit;
    if (is_other_phase && program.function.instructions[change.at].decoded->has("parity") && !waits[i]) return true;
  }
  return false;
}

}  // namespace

Repairer::Repairer(const machine::Program& program, std::vector<Input> inputs, std::string file, SourceText text, Budget budget)
    : program_(program), inputs_(std::move(inputs)), file_(std::move(file)),
      text_(std::move(text)), statements_(program, file_, text_), budget_(budget),
      baselines_(inputs_.size()) {}

machine::Outcome Repairer::runCounted(const machine::Program& program, const Input& input, std::uint64_t max_steps) {
  machine::RunOptions options = input.options;
  options.max_steps = std::min(max_steps, steps_ < budget_.steps ? budget_.steps - steps_ : 1);
  options.max_seconds = std::min(options.max_seconds, budget_.seconds);
  machine::Outcome outcome = machine::run(program, input.launch, options);
  steps_ += outcome.steps;
  return outcome;
}

const Repairer::Baseline& Repairer::baseline(std::size_t input) {
  std::optional<Baseline>& known = baselines_[input];
  if (known) return *known;
  known.emplace();
  const Input& in = inputs_[input];
  const machine::Outcome outcome = runCounted(program_, in, in.options.max_steps);
  known->is_cut = isSpent();
  for (const Diagnosis& met : diagnose::diagnose({program_, in.launch, outcome, in.names})) {
    known->findings.insert({met.finding.rule, met.primary_instr, met.secondary_instr});
  }
  known->steps = outcome.steps;
  for (const machine::RunLimit& limit : outcome.limits) known->limits.insert(limit.reason);
  return *known;
}

bool Repairer::isSpent() {
  const bool is_late = std::chrono::duration<double>(ThreadClock::now() - start_).count() > budget_.seconds;
  was_cut_short_ |= is_late;
  return steps_ >= budget_.steps || is_late;
}

Repairer::Result Repairer::check(const Edit& edit, const Open& open) {
  const std::optional<Edited> edited = applyEdit(program_, statements_, edit);
  if (!edited || (open.is_gone && !open.is_gone(*edited))) return Result::kFails;
  ptx::Module module = *program_.module;
  module.functions.clear();
  module.locations = program_.locations;
  const handoff::Result<machine::Program> program = machine::buildProgram(module, edited->function);
  if (!program) return Result::kFails;
  const auto original = [&](std::uint32_t instr) {
    // What happens at an insertion was not there before.
    return instr < edited->origin.size() ? edited->origin[instr] : Edited::kInserted;
  };
  const Diagnosis& finding = open.diagnosis;
  const Key own{finding.finding.rule, finding.primary_instr, finding.secondary_instr};
  bool is_clean = true, is_seen = false;
  std::vector<bool> waits(edit.changes.size());
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    // The input that showed the finding first: it is the one that refutes most candidates.
    const std::size_t index = i == 0 ? open.input : i <= open.input ? i - 1 : i;
    const Baseline& before = baseline(index);
    const Input& in = inputs_[index];
    if (before.is_cut) return Result::kFails;
    const machine::Outcome outcome = runCounted(*program, in, std::min(in.options.max_steps, 4 * before.steps + 60'000));
    // A run that hung before may be longer than a try can go on: then it says what it met. Some run has to come to its end.
    is_seen |= before.findings.contains(own) && !outcome.was_stopped;
    for (const machine::RunLimit& limit : outcome.limits) {
      if (outcome.was_stopped && limit.reason.starts_with("the run was stopped")) continue;
      if (!before.limits.contains(limit.reason)) return Result::kFails;
    }
    if (isSpent()) return Result::kFails;
    noteWaits(edit, *edited, *program, outcome, waits);
    for (const Diagnosis& left : diagnose::diagnose({*program, in.launch, outcome, in.names})) {
      const Key key{left.finding.rule, original(left.primary_instr), original(left.secondary_instr)};
      const bool is_note = left.finding.severity == diagnose::Severity::kNote;
      // A note that comes with it is no reason against a repair: a wait that is just strong enough may leave copies in
      // flight at the end, which nobody reads.
      if (key == own || (!is_note && !before.findings.contains(key))) return Result::kFails;
      is_clean &= is_note;
    }
  }
  if (!is_seen && !open.is_gone) return Result::kFails;
  // Inputs with few turns may not come to a phase that the wait is for.
  if (isIdleWait(program_, edit, waits)) return Result::kFails;
  return is_clean ? Result::kClean : Result::kLeavesOthers;
}

diagnose::Repair Repairer::repairBy(const Edit& edit, const Open& open, Result result) {
  const std::optional<Edit> variant = isSpent() ? std::nullopt : inStyleOf(text_, edit);
  const Edit& chosen = variant && check(*variant, open) == result ? *variant : edit;
  // From the statement that is changed outwards; the function that wraps it is not the place.
  const std::uint32_t at = chosen.changes.front().at;
  const SourceStack& stack = program_.stackOf(at);
  return {chosen.description, {stack.begin() + static_cast<std::ptrdiff_t>(std::min(statements_.frameOf(at), stack.size())), stack.end()},
          sourceChanges(program_, statements_, text_, file_, chosen), /*is_tested=*/true, std::make_shared<const Edit>(chosen)};
}

std::vector<std::optional<diagnose::Repair>> Repairer::repairAll(const std::vector<Open>& findings) {
  std::vector<std::optional<diagnose::Repair>> repairs(findings.size());
  std::vector<const Edit*> partial(findings.size(), nullptr);
  // The best guess of each finding comes before the second best of any: one of them may be behind all the others.
  for (std::size_t guess = 0; guess < budget_.tries; ++guess) {
    for (std::size_t f = 0; f < findings.size() && !isSpent(); ++f) {
      if (guess >= findings[f].diagnosis.edits.size()) continue;
      const Edit& edit = findings[f].diagnosis.edits[guess];
      if (partial[f] != nullptr && findings.size() == 1) continue;  // what is left are notes
      const Result result = check(edit, findings[f]);
      if (result == Result::kClean) {
        // What leaves no finding repairs them all; whether a note goes with it is a question of its own.
        const diagnose::Repair repair = repairBy(edit, findings[f], result);
        for (std::size_t other = 0; other < findings.size(); ++other) {
          const bool is_note = findings[other].diagnosis.finding.severity == diagnose::Severity::kNote;
          if (other == f || !is_note || (!isSpent() && check(edit, findings[other]) != Result::kFails)) repairs[other] = repair;
        }
        return repairs;
      }
      if (result == Result::kLeavesOthers && !edit.is_bold && partial[f] == nullptr) partial[f] = &edit;
    }
  }
  for (std::size_t f = 0; f < findings.size(); ++f) {
    if (partial[f] != nullptr) repairs[f] = repairBy(*partial[f], findings[f], Result::kLeavesOthers);
  }
  return repairs;
}

void keepRepresentatives(std::vector<Input>& inputs, const std::vector<std::uint64_t>& steps, std::vector<Repairer::Open>& findings) {
  constexpr std::size_t kMaxInputs = 24;
  constexpr std::uint64_t kMaxSteps = 60'000;
  std::set<std::size_t> kept;
  for (const Repairer::Open& open : findings) kept.insert(open.input);
  std::vector<std::size_t> order(inputs.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return steps[a] < steps[b]; });
  std::uint64_t taken = 0;
  for (const std::size_t input : order) {
    if (kept.size() >= kMaxInputs || taken + steps[input] > kMaxSteps) break;
    if (kept.insert(input).second) taken += steps[input];
  }
  std::vector<Input> left;
  std::map<std::size_t, std::size_t> place;
  for (const std::size_t input : kept) {
    place[input] = left.size();
    left.push_back(std::move(inputs[input]));
  }
  inputs = std::move(left);
  for (Repairer::Open& open : findings) open.input = place[open.input];
}

diagnose::KernelReport withRepairsOf(const diagnose::KernelReport& first, diagnose::KernelReport second) {
  for (diagnose::Finding& finding : second.findings) {
    const auto known = std::find_if(first.findings.begin(), first.findings.end(), [&](const diagnose::Finding& other) {
      return other.repair && other.rule == finding.rule && other.stack == finding.stack;
    });
    if (!finding.repair && known != first.findings.end()) finding.repair = known->repair;
  }
  return second;
}

}  // namespace handoff::explore
