// SPDX-License-Identifier: Apache-2.0
// Prints the queue's steps, or the slots of a kernel as text or as a page.
#include "analyzer/cli/queue.h"

#include <fstream>
#include <iostream>

#include "analyzer/cli/fail.h"
#include "analyzer/cli/settings.h"
#include "analyzer/lab/page.h"

namespace handoff::cli {
namespace {

Result<std::string> textOf(const CheckOptions& options) {
  const QueueOptions& queue = options.queue;
  if (!options.inputs.empty())
    return Error{"'" + options.inputs.front() + "' is not expected here; a file of a kernel goes with --timeline", {}};
  if (queue.timeline.empty()) {
    if (queue.makes_page) return Error{"--html needs a kernel: --timeline=FILE", {}};
    std::string text;
    for (const std::string& line : lab::queueTable(queue.rates, queue.steps)) text += line + "\n";
    return text;
  }
  const Result<frontend::Unit> unit = frontend::load(queue.timeline, options.frontend);
  if (!unit) return unit.error();
  if (const std::vector<Error> mistakes = explore::commentMistakes(*unit); !mistakes.empty()) return mistakes.front();
  const Result<lab::Timeline> timeline = lab::timelineOf(*unit, settingsFor(options, {}).explore);
  if (!timeline) return timeline.error();
  return queue.makes_page ? lab::renderPage(*timeline) : lab::renderTimeline(*timeline);
}

}  // namespace

ExitCode runQueue(const CheckOptions& options) {
  const Result<std::string> text = textOf(options);
  if (!text) return fail(text.error());
  std::ofstream file;
  if (!options.output.empty()) file.open(options.output);
  std::ostream& out = options.output.empty() ? std::cout : file;
  out << *text << std::flush;
  return out ? ExitCode::kNothingFound : fail({"cannot write the output", {options.output, 0, 0}});
}

}  // namespace handoff::cli
