// SPDX-License-Identifier: Apache-2.0
// Runs each kernel under the launches of its unit and joins lowering, overlap and advice.
#include "analyzer/audit/audit.h"

#include <algorithm>
#include <map>
#include <optional>

#include "analyzer/audit/batches.h"
#include "analyzer/audit/lowering.h"
#include "analyzer/audit/over_wait.h"
#include "analyzer/audit/overlap.h"
#include "analyzer/explore/scenario.h"
#include "analyzer/machine/machine.h"
#include "analyzer/support/thread_clock.h"

namespace handoff::audit {

using diagnose::Finding;
using diagnose::Related;
using diagnose::Severity;

namespace {

/// Every access of shared memory is noted in such a run.
constexpr std::uint64_t kMaxStepsForBatches = 100'000;

bool fillsShared(const Call& call) {
  return std::any_of(call.instructions.begin(), call.instructions.end(),
                     [](const Instruction& instr) { return instr.fills_shared; });
}

std::string timesText(std::uint64_t count) {
  return count == 1 ? "once" : std::to_string(count) + " times";
}

class KernelAuditor {
 public:
  KernelAuditor(const frontend::Unit& unit, const ptx::Function& kernel, const explore::Options& options, Detail detail)
      : unit_(unit), kernel_(kernel), options_(options), detail_(detail), start_(ThreadClock::now()) {
    for (const frontend::KernelDecl& decl : unit.kernels)
      if (explore::isSameKernel(decl.name, kernel.name)) decl_ = &decl;
  }

  KernelAudit run() {
    result_.name = kernel_.name;
    result_.pretty = decl_ != nullptr && !decl_->pretty.empty() ? decl_->pretty : diagnose::demangle(kernel_.name);
    result_.pos = decl_ != nullptr ? decl_->pos : SourcePos{unit_.module.file, kernel_.ptx_line, 0};
    auditKernel();
    return std::move(result_);
  }

 private:
  void auditKernel() {
    if (decl_ != nullptr && decl_->untrusted) {
      result_.error = decl_->untrusted->message;
      return;
    }
    const Result<machine::Program> whole = machine::buildWholeProgram(unit_.module, kernel_);
    const Result<machine::Program> sliced = machine::buildProgram(unit_.module, kernel_);
    if (!whole || !sliced) {
      result_.error = (whole ? sliced : whole).error().message;
      return;
    }
    Lowered lowered = lowerCalls(*whole);
    if (lowered.calls.empty()) return;
    Overlaps overlaps(*whole, lowered);
    for (const explore::Scenario& scenario : explore::scenariosFor(unit_, decl_, *sliced, options_)) {
      const std::uint32_t threads = scenario.launch.threads();
      if (threads == 0 || threads > 1024) continue;
      result_.launches.push_back(scenario.text);
      for (const diagnose::Limit& assumption : scenario.assumptions) addLimit(assumption);
      runOnce(*whole, scenario, overlaps);
    }
    overlaps.finish();
    if (detail_ == Detail::kBatches) findBatches(*whole, *sliced, lowered);
    adviseOnFallbacks(*whole, lowered);
    adviseOnOverlap(lowered.calls);
    for (Finding& finding : findOverWaits(unit_, kernel_, *whole, overlaps.mostPending(), options_))
      result_.advice.push_back(std::move(finding));
    result_.calls = std::move(lowered.calls);
  }

  void runOnce(const machine::Program& whole, const explore::Scenario& scenario, Overlaps& overlaps) {
    machine::RunTrace trace;
    machine::RunOptions run;
    run.trace = &trace;
    run.max_steps = options_.max_steps;
    const double spent = std::chrono::duration<double>(ThreadClock::now() - start_).count();
    run.max_seconds = std::max(0.1, options_.max_seconds - spent);
    const machine::Outcome outcome = machine::run(whole, scenario.launch, run);
    for (const machine::RunLimit& limit : outcome.limits) addLimit({limit.reason, positionOf(whole, limit.instr)});
    overlaps.add(outcome, trace);
  }

  // Under the first launch: one is enough to show which copies go together.
  void findBatches(const machine::Program& whole, const machine::Program& sliced, Lowered& lowered) {
    const std::vector<explore::Scenario> scenarios = explore::scenariosFor(unit_, decl_, sliced, options_);
    if (isCancelled(options_.cancel) || scenarios.empty()) return;
    const explore::Scenario& scenario = scenarios.front();
    if (scenario.launch.threads() == 0 || scenario.launch.threads() > 1024) return;
    addBatches(whole, scenario.launch, scenario.names, std::min(options_.max_steps, kMaxStepsForBatches), lowered);
  }

  SourcePos positionOf(const machine::Program& program, std::uint32_t instr) const {
    if (instr >= program.function.instructions.size()) return result_.pos;
    const SourceStack& stack = program.stackOf(instr);
    return stack.empty() ? SourcePos{program.module->file, program.function.instructions[instr].ptx_line, 0}
                         : stack.back().pos;
  }

  void adviseOnFallbacks(const machine::Program& whole, Lowered& lowered) {
    for (std::uint32_t i = 0; i < lowered.calls.size(); ++i) {
      Call& call = lowered.calls[i];
      const auto isPlain = [](const Instruction& instr) { return instr.lowering == Lowering::kPlain; };
      const bool is_only_plain = std::all_of(call.instructions.begin(), call.instructions.end(), isPlain);
      const auto ran = [&](bool plain) {
        return std::any_of(call.instructions.begin(), call.instructions.end(),
                           [&](const Instruction& instr) { return isPlain(instr) == plain && instr.executed != 0; });
      };
      if (is_only_plain) {
        call.reason = reasonForPlain(whole, lowered, i);
      } else if (ran(/*plain=*/true) && !ran(/*plain=*/false)) {
        call.reason = "the kernel decides when it runs, and in the runs made it decided so every time";
      } else {
        continue;
      }
      Finding finding;
      finding.rule = "perf-synchronous-fallback";
      finding.severity = Severity::kNote;
      finding.message = "'" + call.api + "' became plain loads and stores: " + call.reason;
      finding.stack = call.stack;
      result_.advice.push_back(std::move(finding));
    }
  }

  // A wait that has work before it for some copy is one of a pipeline, whose first tile nothing can hide.
  void adviseOnOverlap(const std::vector<Call>& calls) {
    struct Idle { const Overlap* overlap = nullptr; std::uint64_t instances = 0; std::vector<const Call*> calls; };
    std::vector<Idle> waits;
    for (const Call& call : calls) {
      for (const Overlap& overlap : call.overlaps) {
        auto wait = std::find_if(waits.begin(), waits.end(), [&](const Idle& idle) {
          return idle.overlap->stack == overlap.stack && idle.overlap->wait == overlap.wait;
        });
        if (wait == waits.end()) wait = waits.insert(waits.end(), {&overlap, 0, {}});
        wait->instances += overlap.instances;
        if (overlap.most.total() > wait->overlap->most.total()) wait->overlap = &overlap;
        if (fillsShared(call)) wait->calls.push_back(&call);
      }
    }
    for (const Idle& wait : waits) {
      if (wait.overlap->most.total() != 0 || wait.calls.empty()) continue;
      Finding finding;
      finding.rule = "perf-no-overlap";
      finding.severity = Severity::kNote;
      finding.message = "no work lies between the copy and this wait for it, which was met " + timesText(wait.instances);
      finding.stack = wait.overlap->stack;
      for (const Call* call : wait.calls) finding.related.push_back({"the copy is issued here", call->stack});
      result_.advice.push_back(std::move(finding));
    }
  }

  void addLimit(const diagnose::Limit& limit) {
    const auto same = [&](const diagnose::Limit& other) { return other.reason == limit.reason && other.pos == limit.pos; };
    if (std::none_of(result_.limits.begin(), result_.limits.end(), same)) result_.limits.push_back(limit);
  }

  const frontend::Unit& unit_;
  const ptx::Function& kernel_;
  const explore::Options& options_;
  const Detail detail_;
  const ThreadClock::time_point start_;
  const frontend::KernelDecl* decl_ = nullptr;
  KernelAudit result_;
};

}  // namespace

void adviseOnSass(KernelAudit& kernel, const SassFunction& sass) {
  for (Call& call : kernel.calls) {
    const bool is_lost = std::any_of(call.instructions.begin(), call.instructions.end(), [&](const Instruction& instr) {
      return instr.lowering != Lowering::kPlain && sass.opcodesOf(instr.lowering).empty();
    });
    if (!is_lost) continue;
    call.reason = "the machine code has no instruction for it";
    Finding finding;
    finding.rule = "perf-synchronous-fallback";
    finding.severity = Severity::kNote;
    finding.message = "'" + call.api + "' is asynchronous in the PTX, but the machine code has no instruction for it";
    finding.stack = call.stack;
    kernel.advice.push_back(std::move(finding));
  }
}

std::vector<KernelAudit> audit(const frontend::Unit& unit, const explore::Options& options, Detail detail) {
  std::vector<KernelAudit> audits;
  for (const ptx::Function& function : unit.module.functions) {
    if (!function.is_kernel || function.is_declaration) continue;
    if (diagnose::isNamed(function.name, options.kernel_filter) && !isCancelled(options.cancel)) audits.push_back(KernelAuditor(unit, function, options, detail).run());
  }
  return audits;
}

}  // namespace handoff::audit
