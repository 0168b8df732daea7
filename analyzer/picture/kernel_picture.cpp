// SPDX-License-Identifier: Apache-2.0
// Columns are the moments at which a slot changes its state; a long middle is cut out.
#include "analyzer/picture/kernel_picture.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "analyzer/picture/labels.h"
#include "analyzer/picture/slot_spans.h"

namespace handoff::picture {

using diagnose::Picture;
using machine::EventId;

namespace {

constexpr std::size_t kMaxColumns = 84, kFirstColumns = 52;  ///< of a run that is cut
constexpr std::size_t kMaxRows = 16;

std::string plural(std::size_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

class KernelPicture {
 public:
  KernelPicture(const diagnose::Run& run, const machine::RunTrace& trace) : run_(run), trace_(trace) {}

  Picture make() {
    picture_.launch = launchText(run_.names);
    chooseSlots();
    if (!slots_.empty()) {
      makeColumns();
      addLanes();
      for (const SlotHistory& slot : slots_) addSlot(slot);
      addPhases();
    }
    addNotes();
    return std::move(picture_);
  }

 private:
  /// What changes, in the order in which it happens to one tile.
  enum class Change : std::uint8_t { kIssued, kWaited, kRead, kReleased };
  struct Moment {
    EventId event = 0;
    Change change{};
    std::uint32_t tile = 0;
    bool is_copied = false;
    friend auto operator<=>(const Moment&, const Moment&) = default;
  };

  void chooseSlots() {
    for (SlotHistory& slot : slotsOf(run_.program, run_.outcome.log, trace_, {})) {
      if (slot.cta != 0) {
        has_peers_ = true;
        continue;
      }
      const bool is_used = std::any_of(slot.fills.begin(), slot.fills.end(),
                                       [](const Fill& fill) { return fill.first_read != 0; });
      if (!is_used) {
        ++unread_;
      } else if (slots_.size() >= kMaxRows) {
        ++more_;
      } else {
        slots_.push_back(std::move(slot));
      }
    }
  }

  void makeColumns() {
    std::vector<Moment> moments;
    for (const SlotHistory& slot : slots_) {
      for (const Fill& fill : slot.fills) {
        moments.push_back({fill.issued, Change::kIssued, fill.number, fill.is_copied});
        if (fill.waited != 0 && fill.waited != fill.issued)
          moments.push_back({fill.waited, Change::kWaited, fill.number, fill.is_copied});
        if (fill.first_read != 0)
          moments.push_back({fill.first_read, Change::kRead, fill.number, fill.is_copied});
        if (fill.released != 0)
          moments.push_back({fill.released, Change::kReleased, fill.number, fill.is_copied});
      }
    }
    std::sort(moments.begin(), moments.end());
    // The parts of one tile change together.
    for (const Moment& moment : moments) {
      const bool is_same = !columns_.empty() && columns_.back().change == moment.change &&
                           columns_.back().tile == moment.tile &&
                           columns_.back().is_copied == moment.is_copied;
      if (!is_same) columns_.push_back(moment);
      ends_.events.resize(columns_.size());
      ends_.events.back() = moment.event;
    }
    cutMiddle();
    picture_.end = static_cast<Picture::Time>(columns_.size());
  }

  void cutMiddle() {
    if (columns_.size() <= kMaxColumns) return;
    const std::size_t count = columns_.size() - kMaxColumns + 1;
    std::set<std::pair<bool, std::uint32_t>> tiles;
    for (std::size_t i = kFirstColumns; i < kFirstColumns + count; ++i)
      if (columns_[i].change == Change::kIssued) tiles.insert({columns_[i].is_copied, columns_[i].tile});
    // The last of the columns that are left out stands for them.
    const auto from = static_cast<std::ptrdiff_t>(kFirstColumns);
    columns_.erase(columns_.begin() + from, columns_.begin() + from + static_cast<std::ptrdiff_t>(count - 1));
    ends_.events.erase(ends_.events.begin() + from,
                       ends_.events.begin() + from + static_cast<std::ptrdiff_t>(count - 1));
    picture_.gaps.push_back({static_cast<Picture::Time>(kFirstColumns), plural(tiles.size(), "tile")});
  }

  Picture::Time columnOf(EventId event) const { return ends_.of(event); }

  static std::string warps(const std::set<unsigned>& numbers) {
    if (numbers.size() == 1) return "warp " + std::to_string(*numbers.begin());
    const bool is_row = *numbers.rbegin() - *numbers.begin() + 1 == numbers.size();
    if (is_row)
      return "warps " + std::to_string(*numbers.begin()) + " to " + std::to_string(*numbers.rbegin());
    return std::to_string(numbers.size()) + " warps";
  }

  void addLanes() {
    std::set<unsigned> fillers, users;
    bool has_copies = false;
    const machine::EventLog& log = run_.outcome.log;
    for (const machine::RunTrace::Touch& touch : trace_.touches) {
      const auto in = [&](const SlotHistory& slot) {
        return slot.cta == touch.cta && touch.address >= slot.begin && touch.address < slot.end;
      };
      if (std::none_of(slots_.begin(), slots_.end(), in)) continue;
      const machine::Event& event = log[touch.event];
      const unsigned warp = event.warp % std::max(1u, run_.launch.warps());
      (touch.is_write ? fillers : users).insert(warp);
      has_copies |= touch.is_write && machine::isCopy(event.kind);
    }
    picture_.lanes = {{Picture::LaneKind::kThread, has_copies ? "copies issued" : "stores", warps(fillers)},
                      {Picture::LaneKind::kThread, has_copies ? "waits passed" : "hand-overs", warps(users)}};
    std::set<std::tuple<std::uint32_t, Picture::Time>> placed;
    for (const SlotHistory& slot : slots_) {
      for (const Fill& fill : slot.fills) {
        addTick(0, Picture::Mark::Kind::kIssue, fill.issued, fill,
                fill.is_copied ? " is issued" : " is stored", placed);
        const EventId over = fill.is_copied ? fill.waited : fill.first_read;
        if (over != 0)
          addTick(1, Picture::Mark::Kind::kWait, over, fill,
                  fill.is_copied ? " is waited for" : " is handed over", placed);
      }
    }
    std::sort(picture_.marks.begin(), picture_.marks.end(),
              [](const auto& a, const auto& b) { return std::tie(a.at, a.lane) < std::tie(b.at, b.lane); });
  }

  void addTick(std::uint32_t lane, Picture::Mark::Kind kind, EventId event, const Fill& fill,
               const char* what, std::set<std::tuple<std::uint32_t, Picture::Time>>& placed) {
    const Picture::Time at = columnOf(event);
    if (!placed.insert({lane, at}).second) return;
    const machine::Op& op = run_.program.ops[run_.outcome.log[event].op];
    picture_.marks.push_back({lane, at, kind, "", "tile " + std::to_string(fill.number) + what,
                              run_.program.stackOf(op.instr), false});
  }

  void addSlot(const SlotHistory& history) {
    picture_.slots.push_back({history.name, slotSpans(history, ends_, picture_.end), false});
  }

  void addPhases() {
    EventId filled = 0, last_issue = 0;
    for (const SlotHistory& slot : slots_) {
      for (const Fill& fill : slot.fills) {
        const EventId used = fill.first_read;
        if (used != 0 && (filled == 0 || used < filled)) filled = used;
        last_issue = std::max(last_issue, fill.issued);
      }
    }
    const Picture::Time from = columnOf(filled),
                        to = std::max(from, last_issue > filled ? columnOf(last_issue) + 1 : from);
    if (from > 0) picture_.phases.push_back({"fill", 0, from});
    if (to > from) picture_.phases.push_back({"steady state", from, to});
    if (picture_.end > to) picture_.phases.push_back({"drain", to, picture_.end});
  }

  void addNotes() {
    std::vector<std::string>& notes = picture_.notes;
    if (slots_.empty())
      notes.push_back(
          "no memory is both filled and read again by asynchronous operations in this run, so there are no "
          "slots to show");
    if (has_peers_) notes.push_back("only the slots of the first block of the cluster are shown");
    if (more_ != 0) notes.push_back(plural(more_, "more slot") + " not shown");
    if (unread_ != 0 && !slots_.empty())
      notes.push_back(plural(unread_, "slot") + " that nobody reads not shown");
    if (run_.outcome.was_stopped)
      notes.push_back("the run was cut: it is longer than a picture needs, so the end is missing");
    if (trace_.is_cut)
      notes.push_back("there are too many accesses to note them all: later ones are missing");
    if (!run_.outcome.stuck.empty()) notes.push_back("the run does not come to its end");
  }

  const diagnose::Run& run_;
  const machine::RunTrace& trace_;
  Picture picture_;
  std::vector<SlotHistory> slots_;
  std::vector<Moment> columns_;
  Columns ends_;  ///< by column: the last event that it stands for
  std::size_t more_ = 0, unread_ = 0;
  bool has_peers_ = false;
};

}  // namespace

Picture pictureOfKernel(const diagnose::Run& run, const machine::RunTrace& trace) {
  return KernelPicture(run, trace).make();
}

}  // namespace handoff::picture
