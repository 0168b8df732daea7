// SPDX-License-Identifier: Apache-2.0
// Runs are repeated with a trace: the first time nobody knew what would be worth noting.
#include "analyzer/explore/pictures.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "analyzer/machine/machine.h"
#include "analyzer/machine/run_trace.h"
#include "analyzer/picture/finding_picture.h"
#include "analyzer/picture/kernel_picture.h"

namespace handoff::explore {

using diagnose::Picture;

namespace {

/// 32 bytes each.
constexpr std::size_t kMaxTouches = 4'000'000;
constexpr std::uint64_t kMaxSteps = 100'000;  ///< of a kernel's picture
constexpr double kMaxSeconds = 5;             ///< of a run
constexpr std::size_t kMaxPictures = 12;      ///< of findings, for a kernel

std::shared_ptr<const Picture> onlyNote(std::string note) {
  Picture picture;
  picture.notes.push_back(std::move(note));
  return std::make_shared<const Picture>(std::move(picture));
}

}  // namespace

void addFindingPictures(const machine::Program& program, const std::vector<Input>& inputs,
                        const std::vector<Repairer::Open>& shown, diagnose::KernelReport& report) {
  std::map<std::size_t, std::vector<std::size_t>> by_input;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    if (i < kMaxPictures)
      by_input[shown[i].input].push_back(i);
    else
      report.findings[i].picture = onlyNote("Only the first " + std::to_string(kMaxPictures) +
                                            " findings of a kernel have a picture.");
  }
  for (const auto& [number, findings] : by_input) {
    const Input& input = inputs[number];
    machine::RunTrace trace;
    trace.records_touches = true;
    trace.max_touches = kMaxTouches;
    machine::RunOptions options = input.options;
    options.trace = &trace;
    options.max_seconds = std::max(options.max_seconds, kMaxSeconds);
    const machine::Outcome outcome = machine::run(program, input.launch, options);
    const diagnose::Run run{program, input.launch, outcome, input.names};
    for (const std::size_t i : findings)
      report.findings[i].picture =
          std::make_shared<const Picture>(picture::pictureOfFinding(run, trace, shown[i].diagnosis));
  }
}

void addKernelPicture(const machine::Program& program, const Scenario& scenario,
                      diagnose::KernelReport& report) {
  constexpr std::uint32_t kMaxThreads = 1024;
  if (scenario.launch.threads() == 0 || scenario.launch.threads() > kMaxThreads) return;  // no launch at all
  machine::RunTrace trace;
  trace.records_touches = true;
  trace.max_touches = kMaxTouches;
  machine::RunOptions options;
  options.trace = &trace;
  options.max_steps = kMaxSteps;
  options.max_seconds = kMaxSeconds;
  const machine::Outcome outcome = machine::run(program, scenario.launch, options);
  const diagnose::Run run{program, scenario.launch, outcome, scenario.names};
  report.picture = std::make_shared<const Picture>(picture::pictureOfKernel(run, trace));
}

}  // namespace handoff::explore
