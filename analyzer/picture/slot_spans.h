// SPDX-License-Identifier: Apache-2.0
// From the events of a slot to its states, column by column.
#pragma once

#include <algorithm>
#include <vector>

#include "analyzer/diagnose/picture.h"
#include "analyzer/picture/slots.h"

namespace handoff::picture {

/// The columns of a picture: each stands for the events up to its own.
struct Columns {
  std::vector<machine::EventId> events;

  diagnose::Picture::Time of(machine::EventId event) const {
    return static_cast<diagnose::Picture::Time>(std::lower_bound(events.begin(), events.end(), event) -
                                                events.begin());
  }
  /// The first one that is wholly later.
  diagnose::Picture::Time after(machine::EventId event) const {
    return static_cast<diagnose::Picture::Time>(std::upper_bound(events.begin(), events.end(), event) -
                                                events.begin());
  }
  bool has(machine::EventId event) const { return std::binary_search(events.begin(), events.end(), event); }
};

std::vector<diagnose::Picture::SlotSpan> slotSpans(const SlotHistory& history, const Columns& columns,
                                                   diagnose::Picture::Time end);

}  // namespace handoff::picture
