// SPDX-License-Identifier: Apache-2.0
// From a run's trace to slots: tiles are what one group of copies, or one bulk copy, puts into one buffer; tiles that start
// at the same address share a slot.
#include "analyzer/lab/timeline.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "analyzer/explore/scenario.h"
#include "analyzer/machine/machine.h"
#include "analyzer/machine/match_waits.h"
#include "analyzer/machine/run_trace.h"

namespace handoff::lab {

using machine::Event;
using machine::EventId;
using machine::EventKind;
using machine::RunTrace;

namespace {

constexpr std::size_t kMaxTiles = 96;  ///< that a page can show
constexpr std::uint64_t kMaxSteps = 200'000;

/// A tile while it is put together.
struct OpenTile {
  std::uint64_t begin = 0, end = 0;  ///< bytes of shared memory
  EventId first = 0;                 ///< its first copy
  EventId issue = 0;                 ///< the first copy of the observed warp, or of any where that one issues none
  EventId wait = 0, last_read = 0;   ///< of the observed warp; 0: none yet
};

class TimelineMaker {
 public:
  TimelineMaker(const machine::Program& program, const machine::Outcome& outcome, const RunTrace& trace)
      : program_(program), log_(outcome.log), trace_(trace) {}

  /// Empty when no tile is read.
  std::optional<Timeline> make() {
    collectTiles();
    if (!findObserver()) return std::nullopt;
    noteWaits();
    noteReads();
    return assemble();
  }

 private:
  /// Warps that copy parts of one tile count their groups alike. A bulk copy is a tile of its own.
  using Key = std::tuple<std::string, EventId, std::uint32_t>;

  static bool fills(EventKind kind) { return machine::isCopy(kind); }

  void collectTiles() {
    std::map<Key, std::size_t> known;
    for (const RunTrace::Touch& touch : trace_.touches) {
      const Event& event = log_[touch.event];
      if (!touch.is_write || touch.cta != 0 || !fills(event.kind)) continue;
      const machine::SharedVariable* const variable = program_.sharedAt(touch.address);
      const bool is_grouped = event.kind == EventKind::kCopy;
      const Key key{variable != nullptr ? variable->name : "", is_grouped ? 0 : touch.event, is_grouped ? event.value : 0};
      const auto [found, is_new] = known.try_emplace(key, tiles_.size());
      if (is_new) tiles_.push_back({touch.address, touch.address + touch.bytes, touch.event, touch.event, 0, 0});
      OpenTile& tile = tiles_[found->second];
      tile.begin = std::min(tile.begin, touch.address);
      tile.end = std::max(tile.end, touch.address + touch.bytes);
      tile_of_[touch.event].push_back(found->second);
    }
  }

  // The lowest warp that reads a tile: with its own instructions as the clock, issue, wait and reads line up.
  bool findObserver() {
    std::optional<std::uint16_t> lowest;
    for (const RunTrace::Touch& touch : trace_.touches) {
      const std::uint16_t warp = log_[touch.event].warp;
      if (touch.is_write || touch.cta != 0 || fills(log_[touch.event].kind) || (lowest && warp >= *lowest)) continue;
      if (std::any_of(tiles_.begin(), tiles_.end(), [&](const OpenTile& tile) { return holds(tile, touch); })) lowest = warp;
    }
    if (!lowest) return false;
    observer_ = *lowest;
    // Where every warp copies its part, the observer's own part counts.
    std::vector<bool> is_own(tiles_.size(), false);
    for (const auto& [event, tiles] : tile_of_) {
      if (log_[event].warp != observer_) continue;
      for (const std::size_t tile : tiles) {
        if (!is_own[tile]) tiles_[tile].issue = event;
        is_own[tile] = true;
      }
    }
    return true;
  }

  static bool holds(const OpenTile& tile, const RunTrace::Touch& touch) {
    return tile.first < touch.event && touch.address >= tile.begin && touch.address < tile.end;
  }

  void noteWaits() {
    const auto found = [&](EventId issue, EventId wait) {
      if (log_[wait].warp != observer_) return;
      const auto tiles = tile_of_.find(issue);
      if (tiles == tile_of_.end()) return;
      for (const std::size_t tile : tiles->second) tiles_[tile].wait = std::max(tiles_[tile].wait, wait);
    };
    machine::matchWaits(log_, trace_, found, [](EventId, std::uint32_t) {});
  }

  void noteReads() {
    for (const RunTrace::Touch& touch : trace_.touches) {
      if (touch.is_write || touch.cta != 0 || log_[touch.event].warp != observer_) continue;
      // The youngest tile there that was issued before: the one before it has been read.
      for (std::size_t i = tiles_.size(); i-- > 0;) {
        if (!holds(tiles_[i], touch)) continue;
        tiles_[i].last_read = std::max(tiles_[i].last_read, touch.event);
        break;
      }
    }
  }

  /// Instructions of the observer up to the event, itself included.
  std::uint64_t timeOf(EventId event) const {
    const auto step = std::upper_bound(trace_.steps.begin(), trace_.steps.end(), event,
                                       [](EventId id, const RunTrace::Step& s) { return id < s.next_event; });
    return observed_before_[static_cast<std::size_t>(step - trace_.steps.begin())];
  }

  Timeline assemble() {
    observed_before_.push_back(0);
    for (const RunTrace::Step& step : trace_.steps)
      observed_before_.push_back(observed_before_.back() + (step.warp == observer_ ? 1 : 0));
    Timeline timeline;
    timeline.warp = observer_;
    std::map<std::uint64_t, Slot> slots;
    std::uint32_t number = 0;
    for (const OpenTile& open : tiles_) {
      Tile tile{number++, timeOf(open.issue), 0, 0};
      tile.waited = open.wait == 0 ? tile.issued : timeOf(open.wait);
      tile.released = open.last_read == 0 ? tile.waited : timeOf(open.last_read);
      tile.released = std::max(tile.released, tile.waited);
      if (timeline.filled == 0) timeline.filled = tile.waited;
      timeline.drained_from = std::max(timeline.drained_from, tile.issued);
      timeline.end = std::max(timeline.end, tile.released);
      slots[open.begin].tiles.push_back(tile);
    }
    // Without a turn that issues while another tile is used there is no steady state.
    timeline.drained_from = std::max(timeline.drained_from, timeline.filled);
    std::map<std::string, unsigned> numbers;
    for (auto& [address, slot] : slots) {
      const machine::SharedVariable* const variable = program_.sharedAt(address);
      const std::string buffer = variable != nullptr ? diagnose::variableName(variable->name) : "shared memory";
      slot.name = buffer + ", slot " + std::to_string(numbers[buffer]++);
      timeline.slots.push_back(std::move(slot));
    }
    return timeline;
  }

  const machine::Program& program_;
  const machine::EventLog& log_;
  const RunTrace& trace_;
  std::vector<OpenTile> tiles_;
  std::map<EventId, std::vector<std::size_t>> tile_of_;
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
    const bool is_wanted = function.name.find(options.kernel_filter) != std::string::npos ||
                           diagnose::demangle(function.name).find(options.kernel_filter) != std::string::npos;
    if (!is_wanted) continue;
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
