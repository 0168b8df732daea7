// SPDX-License-Identifier: Apache-2.0
// The slots of a run, on the clock of the warp that reads them.
#include "analyzer/lab/timeline.h"

#include <algorithm>
#include <optional>

#include "analyzer/explore/scenario.h"
#include "analyzer/machine/machine.h"
#include "analyzer/machine/run_trace.h"
#include "analyzer/picture/slots.h"

namespace handoff::lab {

using machine::EventId;
using machine::RunTrace;

namespace {

constexpr std::size_t kMaxTiles = 96;  ///< that a page can show
constexpr std::uint64_t kMaxSteps = 200'000;

class TimelineMaker {
 public:
  TimelineMaker(const machine::Program& program, const machine::Outcome& outcome, const RunTrace& trace)
      : program_(program), log_(outcome.log), trace_(trace) {}

  /// Empty: nothing is copied and read again.
  std::optional<Timeline> make() {
    // With the reader's own instructions as the clock, issue, wait and reads line up.
    const std::optional<std::uint16_t> reader = picture::lowestReader(picture::slotsOf(program_, log_, trace_, {}), log_, trace_);
    if (!reader) return std::nullopt;
    observer_ = *reader;
    countSteps();
    Timeline timeline;
    timeline.warp = observer_;
    for (const picture::SlotHistory& slot : picture::slotsOf(program_, log_, trace_, {.observer = observer_}))
      if (slot.cta == 0) add(slot, timeline);
    // Without a turn that issues while another tile is used there is no steady state.
    timeline.drained_from = std::max(timeline.drained_from, timeline.filled);
    return timeline;
  }

 private:
  void add(const picture::SlotHistory& history, Timeline& timeline) const {
    Slot slot{history.name, {}};
    for (const picture::Fill& fill : history.fills) {
      if (!fill.is_copied) continue;
      // Where every warp copies its part, the observer's own part counts.
      Tile tile{fill.number, timeOf(fill.own_issue != 0 ? fill.own_issue : fill.issued), 0, 0};
      tile.waited = fill.waited == 0 ? tile.issued : timeOf(fill.waited);
      tile.released = std::max(fill.last_read == 0 ? tile.waited : timeOf(fill.last_read), tile.waited);
      if (timeline.filled == 0 || tile.waited < timeline.filled) timeline.filled = tile.waited;
      timeline.drained_from = std::max(timeline.drained_from, tile.issued);
      timeline.end = std::max(timeline.end, tile.released);
      slot.tiles.push_back(tile);
    }
    if (!slot.tiles.empty()) timeline.slots.push_back(std::move(slot));
  }

  void countSteps() {
    observed_before_.push_back(0);
    for (const RunTrace::Step& step : trace_.steps)
      observed_before_.push_back(observed_before_.back() + (step.warp == observer_ ? 1 : 0));
  }

  /// Instructions of the observer up to the event, itself included.
  std::uint64_t timeOf(EventId event) const {
    const auto step = std::upper_bound(trace_.steps.begin(), trace_.steps.end(), event,
                                       [](EventId id, const RunTrace::Step& s) { return id < s.next_event; });
    return observed_before_[static_cast<std::size_t>(step - trace_.steps.begin())];
  }

  const machine::Program& program_;
  const machine::EventLog& log_;
  const RunTrace& trace_;
  std::uint16_t observer_ = 0;
  std::vector<std::uint64_t> observed_before_;  ///< by step
};

Result<std::optional<Timeline>> timelineOfKernel(const frontend::Unit& unit, const ptx::Function& kernel,
                                                 const explore::Options& options) {
  const frontend::KernelDecl* decl = nullptr;
  for (const frontend::KernelDecl& known : unit.kernels)
    if (explore::isSameKernel(known.name, kernel.name)) decl = &known;
  const Result<machine::Program> sliced = machine::buildProgram(unit.module, kernel);
  const Result<machine::Program> whole = machine::buildWholeProgram(unit.module, kernel);
  if (!sliced || !whole) return (sliced ? whole : sliced).error();
  if (!sliced->has_async_copies) return std::optional<Timeline>();
  const std::vector<explore::Scenario> scenarios = explore::scenariosFor(unit, decl, *sliced, options);
  const explore::Scenario& scenario = scenarios.front();
  RunTrace trace;
  trace.records_touches = true;
  machine::RunOptions run;
  run.trace = &trace;
  run.max_steps = std::min(options.max_steps, kMaxSteps);
  run.max_seconds = options.max_seconds;
  const machine::Outcome outcome = machine::run(*whole, scenario.launch, run);
  if (outcome.was_stopped || !outcome.stuck.empty())
    return Error{"the run of '" + diagnose::demangle(kernel.name) + "' does not come to its end; give smaller sizes with --launch", {unit.file, 0, 0}};
  std::optional<Timeline> timeline = TimelineMaker(*whole, outcome, trace).make();
  if (!timeline) return timeline;
  timeline->file = unit.file;
  timeline->kernel = decl != nullptr && !decl->pretty.empty() ? decl->pretty : diagnose::demangle(kernel.name);
  timeline->launch = scenario.text;
  return timeline;
}

}  // namespace

Result<Timeline> timelineOf(const frontend::Unit& unit, const explore::Options& options) {
  std::optional<Timeline> only;
  for (const ptx::Function& function : unit.module.functions) {
    if (!function.is_kernel || function.is_declaration) continue;
    if (!diagnose::isNamed(function.name, options.kernel_filter)) continue;
    Result<std::optional<Timeline>> timeline = timelineOfKernel(unit, function, options);
    if (!timeline) return timeline.error();
    if (!*timeline) continue;
    if (only) return Error{"several kernels have slots; choose one with --kernel", {unit.file, 0, 0}};
    only = std::move(**timeline);
  }
  if (!only) return Error{"no kernel here copies tiles into shared memory and reads them", {unit.file, 0, 0}};
  std::size_t tiles = 0;
  for (const Slot& slot : only->slots) tiles += slot.tiles.size();
  if (tiles > kMaxTiles)
    return Error{std::to_string(tiles) + " tiles are too many for a timeline; give smaller sizes with --launch", {unit.file, 0, 0}};
  return std::move(*only);
}

std::string renderTimeline(const Timeline& timeline) {
  std::string text = timeline.kernel + "\n  launch: " + timeline.launch + "\n  times in instructions of warp " +
                     std::to_string(timeline.warp) + ": issued .. waited for .. last read\n";
  const auto number = [](std::uint64_t value) { return std::to_string(value); };
  for (const Slot& slot : timeline.slots) {
    text += "  " + slot.name + "\n";
    for (const Tile& tile : slot.tiles)
      text += "    tile " + number(tile.number) + ": " + number(tile.issued) + " .. " + number(tile.waited) + " .. " +
              number(tile.released) + "\n";
  }
  return text + "  fill until " + number(timeline.filled) + ", steady until " + number(timeline.drained_from) +
         ", drain until " + number(timeline.end) + "\n";
}

}  // namespace handoff::lab
