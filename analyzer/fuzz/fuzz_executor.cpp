// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: kernels made of the input's bytes run and are analysed. Whatever they do, the analysis ends
// within its budget, says the same twice (one input of four), and calls nothing verified that hangs in a run.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "analyzer/explore/analyze.h"
#include "analyzer/fuzz/kernel_maker.h"
#include "analyzer/machine/machine.h"
#include "analyzer/ptx/parser.h"
#include "analyzer/support/check.h"

namespace {

using namespace handoff;

// Small, so that many kernels are tried: seconds are for what the counts do not bound.
constexpr std::uint64_t kMaxSteps = 400, kMaxEvents = 4'000;
constexpr unsigned kMaxSeconds = 1, kMaxPaths = 3, kSolverMilliseconds = 10;
constexpr double kMaxSecondsOfRun = 30;  ///< never reached: where the clock ends two runs, they differ

/// What a report says, without times.
std::string digestOf(const diagnose::KernelReport& report) {
  std::string text(toString(report.verdict));
  text += " " + std::to_string(report.paths) + " " + std::to_string(report.warp_instructions) + " " + report.error + "\n";
  for (const std::string& launch : report.launches) text += launch + "\n";
  for (const std::string& quantity : report.holds_for) text += quantity + "\n";
  for (const diagnose::Limit& limit : report.limits) text += std::to_string(limit.pos.line) + " " + limit.reason + "\n";
  for (const diagnose::Finding& finding : report.findings) {
    text += finding.rule + ": " + finding.message + " " + finding.witness.first_thread + finding.witness.second_thread + "\n";
    for (const diagnose::Step& step : finding.witness.steps) text += step.actor + " " + step.text + "\n";
    if (finding.repair) text += finding.repair->description + "\n";
  }
  return text;
}

std::string digestOf(const machine::Outcome& outcome) {
  std::string text = std::to_string(outcome.steps) + " " + std::to_string(outcome.log.end()) + "\n";
  for (const machine::Conflict& conflict : outcome.conflicts)
    text += std::to_string(conflict.first.event) + " " + std::to_string(conflict.second.event) + "\n";
  for (const machine::Misuse& misuse : outcome.misuses)
    text += std::to_string(static_cast<int>(misuse.kind)) + " " + std::to_string(misuse.op) + "\n";
  for (const machine::Stuck& stuck : outcome.stuck)
    text += std::to_string(static_cast<int>(stuck.kind)) + " " + std::to_string(stuck.op) + "\n";
  for (const machine::RunLimit& limit : outcome.limits) text += limit.reason + "\n";
  return text;
}

void require(bool holds, const std::string& what, const fuzz::Kernel& kernel) {
  if (holds) return;
  std::fprintf(stderr, "%s\nlaunch: %s\n%s\n", what.c_str(), kernel.launchText().c_str(), kernel.text().c_str());
  std::abort();
}

void requireSame(const diagnose::KernelReport& one, const diagnose::KernelReport& two, const fuzz::Kernel& kernel) {
  if (one.is_cut_short || two.is_cut_short) return;
  require(digestOf(one) == digestOf(two), "two analyses differ:\n" + digestOf(one) + "---\n" + digestOf(two), kernel);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const bool makes_all = data[0] % 16 == 15, runs_twice = data[0] / 16 % 4 == 0;
  fuzz::Kernel kernel = fuzz::makeKernel(fuzz::Bytes(data + 1, size - 1));
  kernel.setup.options.max_steps = kMaxSteps;
  kernel.setup.options.max_events = kMaxEvents;
  kernel.setup.options.max_seconds = kMaxSecondsOfRun;
  Result<ptx::Module> module = ptx::parse(kernel.text(), "fuzz.ptx");
  require(module.hasValue(), module ? "" : "not well-formed: " + toString(module.error()), kernel);
  const Result<machine::Program> program = machine::buildProgram(*module, *module->findFunction("k"));
  require(program.hasValue(), program ? "" : "no program: " + toString(program.error()), kernel);

  const test::Ran first = test::runModule(kernel.text(), kernel.setup);
  if (runs_twice)
    require(digestOf(first.outcome) == digestOf(test::runModule(kernel.text(), kernel.setup).outcome), "two runs differ",
            kernel);
  require(first.outcome.steps <= kMaxSteps + kMaxSteps / 2 || first.outcome.was_stopped, "over the budget", kernel);
  first.diagnoses();

  frontend::Unit unit;
  unit.file = "fuzz.ptx";
  unit.producer = frontend::Producer::kPtxFile;
  unit.module = std::move(*module);
  explore::Options options;
  options.max_seconds = kMaxSeconds;
  options.max_steps = kMaxSteps;
  options.min_steps_of_warp = kMaxSteps / 8;
  options.max_paths = kMaxPaths;
  options.solver_milliseconds = kSolverMilliseconds;
  options.launches = {kernel.launchText()};
  options.explores_other_launches = options.try_repairs = options.makes_jobs = options.makes_controls = makes_all;
  options.makes_pictures = data[0] == 255;  // each is a run with a budget of its own
  const auto one = explore::analyze(unit, options);
  require(one.size() == 1, "one kernel, one report", kernel);
  if (runs_twice) requireSame(one[0], explore::analyze(unit, options).at(0), kernel);
  const bool hangs = !first.outcome.stuck.empty() && first.outcome.assumed_from == 0 && first.outcome.unmodelled_from == 0;
  require(!hangs || one[0].verdict != diagnose::Verdict::kVerified, "verified, and a run of it hangs", kernel);
  return 0;
}
