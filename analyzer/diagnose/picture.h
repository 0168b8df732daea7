// SPDX-License-Identifier: Apache-2.0
// What happened, as plain data for a drawing: who did what when, what was in flight, and what became of the
// slots.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/support/source.h"

namespace handoff::diagnose {

struct Picture {
  /// A column, from 0. Columns are in the order of the analyzer's run: an order, and no measure of time.
  using Time = std::uint32_t;

  enum class LaneKind : std::uint8_t { kThread, kCopyEngine, kTensorCore, kBarrier };
  struct Lane {
    LaneKind kind = LaneKind::kThread;
    std::string name;  ///< "thread (32,0,0)", "mbarrier"
    std::string role;  ///< "warp 1, issues the copy", "full[0]"; empty: none
  };

  /// One step of a thread. The steps of a picture are numbered by their place in `marks`, from 1.
  struct Mark {
    enum class Kind : std::uint8_t { kIssue, kCommit, kWait, kBarrier, kArrive, kAccess, kOther };
    std::uint32_t lane = 0;
    Time at = 0;
    Kind kind = Kind::kOther;
    std::string label;        ///< a few letters a line: "commit\ngroup 0"
    std::string text;         ///< "commits group 0"
    SourceStack stack;        ///< innermost first
    bool is_culprit = false;  ///< one of the events that the finding is about
  };

  /// What lasts: an operation in flight, a phase of an mbarrier.
  struct Span {
    std::uint32_t lane = 0;
    Time from = 0, to = 0;
    bool is_open = false;  ///< nothing shown here ends it
    std::string label;     ///< "group 0"
    std::string text;      ///< "in flight until the wait in step 5"
    bool is_culprit = false;
  };

  struct Point {
    std::uint32_t lane = 0;
    Time at = 0;
  };
  /// An order between two points.
  struct Edge {
    enum class Kind : std::uint8_t { kIssue, kCompletion, kArrival, kBarrier, kMissing };
    Kind kind = Kind::kIssue;
    Point from, to;
    std::string text;  ///< kMissing: what would order them, "no cp.async.wait_group covers group 3"
  };

  enum class SlotState : std::uint8_t { kFree, kFilling, kReady, kReading, kStale };
  struct SlotSpan {
    Time from = 0, to = 0;
    SlotState state = SlotState::kFree;
    std::string label;  ///< number of the tile; empty: none
    std::string text;   ///< "tile 3: issued, not waited for"
  };
  struct Slot {
    std::string name;             ///< "ring, slot 0"
    std::vector<SlotSpan> spans;  ///< in order, without overlap
    bool is_culprit = false;
  };
  struct Phase {
    std::string name;  ///< "fill", "steady state", "drain"
    Time from = 0, to = 0;
  };
  /// Something left out before this column.
  struct Gap {
    Time at = 0;
    std::string text;  ///< "31 steps"
  };

  Time end = 0;             ///< one after the last column
  std::vector<Lane> lanes;  ///< from top to bottom
  std::vector<Mark> marks;  ///< in the order of the run
  std::vector<Span> spans;
  std::vector<Edge> edges;
  std::vector<Slot> slots;
  std::vector<Phase> phases;  ///< of a whole kernel
  std::vector<Gap> gaps;
  std::vector<std::string> notes;  ///< what is not shown, and why
  std::string launch;              ///< of the run that is shown

  bool isEmpty() const { return lanes.empty() && slots.empty(); }
};

}  // namespace handoff::diagnose
