// SPDX-License-Identifier: Apache-2.0
// From accesses to slots and their contents.
#include "analyzer/picture/slots.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "analyzer/diagnose/names.h"
#include "analyzer/machine/match_waits.h"

namespace handoff::picture {

using machine::Event;
using machine::EventId;
using machine::EventKind;
using machine::RunTrace;

namespace {

constexpr std::size_t kMaxSlots = 64;

/// A stretch of shared memory of one CTA.
struct Area {
  std::uint32_t cta = 0;
  std::uint64_t begin = 0, end = 0;
};

bool overlaps(const Area& a, const Area& b) { return a.cta == b.cta && a.begin < b.end && b.begin < a.end; }

class SlotReader {
 public:
  SlotReader(const machine::Program& program, const machine::EventLog& log, const RunTrace& trace,
             const SlotQuestion& question)
      : program_(program), log_(log), trace_(trace), question_(question) {}

  std::vector<SlotHistory> read() {
    findAreas();
    makeSlots();
    noteFirstWaits();
    for (const RunTrace::Touch& touch : trace_.touches)
      forEachSlot(touch, [&](std::size_t slot) { note(slot, touch); });
    finish();
    return std::move(slots_);
  }

 private:
  /// What belongs together: a cp.async group, whose parts all warps count alike, or the operations that one
  /// phase of an mbarrier counts.
  using Key = std::tuple<std::uint32_t, EventKind, std::uint64_t, std::uint64_t>;
  struct Stretch {
    Key key;
    Area area;
    friend bool operator<(const Stretch& a, const Stretch& b) {
      return std::tie(a.key, a.area.begin) < std::tie(b.key, b.area.begin);
    }
  };

  Key keyOf(const RunTrace::Touch& touch) const {
    const Event& event = log_[touch.event];
    if (event.kind == EventKind::kCopy) return {touch.cta, event.kind, 0, event.value};
    const machine::AsyncOp* op = log_.findOp(touch.event, machine::lowestLane(event.lanes));
    if (op != nullptr && touch.is_write) {
      for (const machine::AsyncOp::Completion& completion : op->completions)
        if (completion.cta == touch.cta || op->completions.size() == 1)
          return {touch.cta, event.kind, completion.barrier + 1, completion.phases};
    }
    if (event.kind == EventKind::kMma) return {touch.cta, event.kind, event.warp, event.value};
    return {touch.cta, event.kind, ~std::uint64_t{0}, touch.event};
  }

  enum class Use : std::uint8_t { kFilled, kStored, kMultiplied };
  bool isOf(const RunTrace::Touch& touch, Use use) const {
    const EventKind kind = log_[touch.event].kind;
    switch (use) {
      case Use::kFilled:
        return touch.is_write && machine::isCopy(kind);
      case Use::kStored:
        return !touch.is_write && machine::isCopy(kind);
      case Use::kMultiplied:
        return !touch.is_write && kind == EventKind::kMma;
    }
    return false;
  }

  // What loads fill comes first: an epilogue may use the same memory in one piece.
  void findAreas() {
    for (const Use use : {Use::kFilled, Use::kStored, Use::kMultiplied}) {
      if (use == Use::kMultiplied && !areas_.empty()) break;
      addAreas(stretches(use));
    }
    if (question_.place) addPlace(*question_.place);
    std::sort(areas_.begin(), areas_.end(), [](const Area& a, const Area& b) {
      return std::tie(a.cta, a.begin) < std::tie(b.cta, b.begin);
    });
    if (areas_.size() > kMaxSlots) areas_.resize(kMaxSlots);
  }

  std::vector<Stretch> stretches(Use use) const {
    std::vector<Stretch> parts;
    for (const RunTrace::Touch& touch : trace_.touches)
      if (isOf(touch, use))
        parts.push_back({keyOf(touch), {touch.cta, touch.address, touch.address + touch.bytes}});
    std::sort(parts.begin(), parts.end());
    parts = joined(parts, [](const Area& a, const Area& b) { return b.begin <= a.end; });
    std::vector<std::pair<std::uint32_t, std::uint64_t>> begins;
    for (const Stretch& part : parts) begins.emplace_back(part.area.cta, part.area.begin);
    std::sort(begins.begin(), begins.end());
    // Rows with padding between them: nothing else is ever copied there.
    return joined(parts, [&](const Area& a, const Area& b) {
      const auto next = std::lower_bound(begins.begin(), begins.end(), std::pair(a.cta, a.end));
      return next != begins.end() && *next == std::pair(b.cta, b.begin) &&
             variableAt(a.begin) == variableAt(b.begin);
    });
  }

  template <typename Joins>
  static std::vector<Stretch> joined(const std::vector<Stretch>& parts, Joins&& joins) {
    std::vector<Stretch> result;
    for (const Stretch& part : parts) {
      const bool follows = !result.empty() && result.back().key == part.key;
      if (follows && joins(result.back().area, part.area)) {
        result.back().area.end = std::max(result.back().area.end, part.area.end);
      } else {
        result.push_back(part);
      }
    }
    return result;
  }

  // The smallest stretches are the slots; a larger one is a use of several.
  void addAreas(std::vector<Stretch> stretches) {
    std::stable_sort(stretches.begin(), stretches.end(), [](const Stretch& a, const Stretch& b) {
      return a.area.end - a.area.begin < b.area.end - b.area.begin;
    });
    for (const Stretch& stretch : stretches) {
      const auto same = [&](const Area& area) { return overlaps(area, stretch.area); };
      if (areas_.size() < 4 * kMaxSlots && std::none_of(areas_.begin(), areas_.end(), same))
        areas_.push_back(stretch.area);
    }
  }

  void addPlace(const SlotQuestion::Place& place) {
    Area wanted{place.cta, place.address, place.address + 1};
    for (const Area& area : areas_)
      if (overlaps(area, wanted)) return;
    for (const RunTrace::Touch& touch : trace_.touches) {
      const Area area{touch.cta, touch.address, touch.address + touch.bytes};
      if (!overlaps(area, wanted) || touch.bytes > 4096) continue;
      wanted.begin = std::min(wanted.begin, area.begin);
      wanted.end = std::max(wanted.end, area.end);
    }
    areas_.push_back(wanted);
  }

  const machine::SharedVariable* variableAt(std::uint64_t address) const {
    return program_.sharedAt(address);
  }

  void makeSlots() {
    std::map<std::pair<std::uint32_t, std::string>, unsigned> counts, numbers;
    const auto buffer = [&](const Area& area) {
      const machine::SharedVariable* variable = variableAt(area.begin);
      return std::pair(area.cta, variable != nullptr ? diagnose::variableName(variable->name)
                                                     : std::string("shared memory"));
    };
    for (const Area& area : areas_) ++counts[buffer(area)];
    for (const Area& area : areas_) {
      const auto name = buffer(area);
      const std::string number = ", slot " + std::to_string(numbers[name]++);
      slots_.push_back({name.second + (counts[name] > 1 ? number : ""), area.cta, area.begin, area.end, {}});
    }
    keys_.resize(slots_.size());
    issues_.resize(slots_.size());
  }

  template <typename F>
  void forEachSlot(const RunTrace::Touch& touch, F&& f) const {
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      const SlotHistory& slot = slots_[i];
      if (slot.cta == touch.cta && touch.address < slot.end && slot.begin < touch.address + touch.bytes) f(i);
    }
  }

  void noteFirstWaits() {
    machine::matchWaits(
        log_, trace_,
        [&](EventId issue, EventId wait) {
          if (question_.observer && log_[wait].warp != *question_.observer) return;
          const auto [known, is_new] = first_wait_.try_emplace(issue, wait);
          if (!is_new) known->second = std::min(known->second, wait);
        },
        [](EventId, std::uint32_t) {});
  }

  EventId firstWait(EventId issue) const {
    const auto found = first_wait_.find(issue);
    return found == first_wait_.end() ? 0 : found->second;
  }

  void note(std::size_t slot, const RunTrace::Touch& touch) {
    const EventKind kind = log_[touch.event].kind;
    if (!touch.is_write) return noteRead(slot, touch);
    std::vector<Fill>& fills = slots_[slot].fills;
    const bool is_copy = machine::isCopy(kind);
    const bool is_same =
        !fills.empty() && (is_copy ? fills.back().is_copied && keys_[slot].back() == keyOf(touch)
                                   : fills.back().first_read == 0);
    if (!is_same) {
      const Key key = is_copy ? keyOf(touch) : Key{touch.cta, kind, 0, touch.event};
      std::map<Key, std::uint32_t>& numbers = numbers_[{touch.cta, is_copy}];
      const auto number = static_cast<std::uint32_t>(numbers.size());
      Fill fill;
      fill.number = numbers.try_emplace(key, number).first->second;
      fill.is_copied = is_copy;
      fill.issued = touch.event;
      fills.push_back(fill);
      keys_[slot].push_back(key);
      issues_[slot].emplace_back();
    }
    Fill& fill = fills.back();
    if (!fill.is_copied) fill.waited = touch.event;
    if (fill.is_copied && is_copy &&
        (issues_[slot].back().empty() || issues_[slot].back().back() != touch.event))
      issues_[slot].back().push_back(touch.event);
    const bool is_own = question_.observer && log_[touch.event].warp == *question_.observer;
    if (is_own && fill.own_issue == 0) fill.own_issue = touch.event;
  }

  void noteRead(std::size_t slot, const RunTrace::Touch& touch) {
    const Event& event = log_[touch.event];
    std::vector<Fill>& fills = slots_[slot].fills;
    if (fills.empty() || (question_.observer && event.warp != *question_.observer)) return;
    Fill& fill = fills.back();
    if (fill.first_read == 0) fill.first_read = touch.event;
    fill.last_read = touch.event;
    EventId over = touch.event;
    if (machine::isAsync(event.kind)) {
      fill.is_read_later = true;
      over = std::max(over, firstWait(touch.event));
    }
    fill.released = std::max(fill.released, over);
  }

  // The last of the waits, as far as they come before the first use: other warps may wait for their parts
  // later on.
  void finish() {
    for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
      for (std::size_t i = 0; i < slots_[slot].fills.size(); ++i) {
        Fill& fill = slots_[slot].fills[i];
        if (!fill.is_copied) continue;
        EventId before = 0, first = 0;
        for (const EventId issue : issues_[slot][i]) {
          const EventId wait = firstWait(issue);
          if (wait == 0) continue;
          first = first == 0 ? wait : std::min(first, wait);
          if (fill.first_read == 0 || wait < fill.first_read) before = std::max(before, wait);
        }
        fill.waited = before != 0 ? before : first;
      }
    }
  }

  const machine::Program& program_;
  const machine::EventLog& log_;
  const RunTrace& trace_;
  const SlotQuestion& question_;
  std::vector<Area> areas_;
  std::vector<SlotHistory> slots_;
  std::vector<std::vector<Key>> keys_;                     ///< by slot and fill
  std::vector<std::vector<std::vector<EventId>>> issues_;  ///< by slot and fill
  std::map<std::pair<std::uint32_t, bool>, std::map<Key, std::uint32_t>>
      numbers_;  ///< by CTA, and whether it is copied
  std::unordered_map<EventId, EventId> first_wait_;
};

}  // namespace

std::vector<SlotHistory> slotsOf(const machine::Program& program, const machine::EventLog& log,
                                 const RunTrace& trace, const SlotQuestion& question) {
  return SlotReader(program, log, trace, question).read();
}

std::optional<std::uint16_t> lowestReader(const std::vector<SlotHistory>& slots, const machine::EventLog& log,
                                          const RunTrace& trace) {
  std::optional<std::uint16_t> lowest;
  for (const RunTrace::Touch& touch : trace.touches) {
    const Event& event = log[touch.event];
    if (touch.is_write || touch.cta != 0 || machine::isCopy(event.kind) || (lowest && event.warp >= *lowest))
      continue;
    for (const SlotHistory& slot : slots)
      if (slot.cta == 0 && !slot.fills.empty() && slot.fills.front().issued < touch.event &&
          touch.address >= slot.begin && touch.address < slot.end)
        lowest = event.warp;
  }
  return lowest;
}

}  // namespace handoff::picture
