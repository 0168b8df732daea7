// SPDX-License-Identifier: Apache-2.0
// The kernels of a unit, one after the other, and the time that each may take.
#include "analyzer/explore/analyze.h"

#include <algorithm>
#include <chrono>

#include "analyzer/explore/input_words.h"
#include "analyzer/explore/kernel_analysis.h"
#include "analyzer/explore/missing_kernels.h"
#include "analyzer/explore/repair.h"
#include "analyzer/explore/shared_time.h"
#include "analyzer/explore/trial.h"
#include "analyzer/support/thread_clock.h"

namespace handoff::explore {

using diagnose::KernelReport;
using diagnose::Verdict;

namespace {

double secondsSince(ThreadClock::time_point start) {
  return std::chrono::duration<double>(ThreadClock::now() - start).count();
}

// First with all data in memory unknown. Where that bounds the kernel, words that nobody writes become inputs.
KernelReport analyzeKernel(const frontend::Unit& unit, const ptx::Function& kernel, const Options& options, const Trial& trial) {
  constexpr unsigned kMaxRounds = 3;  // the address of a word may be computed from another one
  const auto start = ThreadClock::now();
  const auto wall_start = std::chrono::steady_clock::now();
  machine::Instructions words;
  auto [best, wanted] = analyzeOnce(unit, kernel, options, trial, words);
  for (unsigned round = 0; round < kMaxRounds && best.verdict == Verdict::kBounded && !best.is_cut_short; ++round) {
    const machine::Instructions more = inputWords(unit.module, kernel, wanted, words);
    Options rest = options;
    rest.max_seconds -= secondsSince(start);
    if (more == words || rest.max_seconds <= 0) break;
    words = more;
    Analysed again = analyzeOnce(unit, kernel, rest, trial, words);
    wanted = std::move(again.wanted_words);
    const bool is_better = again.report.verdict != Verdict::kBounded || again.report.limits.size() <= best.limits.size();
    if (is_better) best = withRepairsOf(best, std::move(again.report));
  }
  best.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - wall_start).count();
  return best;
}

std::vector<KernelReport> analyzeAll(const frontend::Unit& unit, const Options& options, const Trial& trial, const AroundKernel& around) {
  std::vector<const ptx::Function*> kernels;
  for (const ptx::Function& function : unit.module.functions) {
    if (!function.is_kernel || function.is_declaration) continue;
    if (diagnose::isNamed(function.name, options.kernel_filter)) kernels.push_back(&function);
  }
  const bool has_share = options.max_share != 0 && unit.producer != frontend::Producer::kPtxFile;
  SharedTime time(options.max_share * unit.produce_processor_seconds - unit.parse_seconds, kernels.size());
  std::vector<KernelReport> reports;
  for (const ptx::Function* const kernel : kernels) {
    Options own = options;
    if (has_share) own.max_seconds = std::min(own.max_seconds, time.part());
    const auto start = ThreadClock::now();
    const auto run = [&] { return analyzeKernel(unit, *kernel, own, trial); };
    reports.push_back(around ? around(*kernel, run) : run());
    time.take(secondsSince(start));
  }
  reportMissingKernels(unit, options, reports);
  return reports;
}

}  // namespace

std::vector<KernelReport> analyze(const frontend::Unit& unit, const Options& options, const AroundKernel& around) {
  return analyzeAll(unit, options, {}, around);
}

std::vector<KernelReport> analyze(const frontend::Unit& unit, const Options& options, const Trial& trial) {
  return analyzeAll(unit, options, trial, {});
}

}  // namespace handoff::explore
