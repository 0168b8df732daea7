// SPDX-License-Identifier: Apache-2.0
// States of a slot.
#include "analyzer/picture/slot_spans.h"

#include <string>

namespace handoff::picture {

using diagnose::Picture;
using SlotState = Picture::SlotState;
using Time = Picture::Time;

std::vector<Picture::SlotSpan> slotSpans(const SlotHistory& history, const Columns& columns, Time end) {
  std::vector<Picture::SlotSpan> spans;
  Time last = 0;
  const auto free = [&](bool is_used) { return is_used ? "free: its content has been used" : "empty"; };
  for (std::size_t i = 0; i < history.fills.size(); ++i) {
    const Fill& fill = history.fills[i];
    const Time limit = i + 1 < history.fills.size() ? columns.of(history.fills[i + 1].issued) : end;
    const std::string label = std::to_string(fill.number), tile = "tile " + label;
    const auto add = [&](Time to, SlotState state, const std::string& name, const std::string& text) {
      to = std::min(to, limit);
      if (last >= to) return;
      spans.push_back({last, to, state, name, text});
      last = to;
    };
    add(columns.of(fill.issued), SlotState::kFree, "", free(i != 0));
    add(fill.waited == 0 ? limit : columns.of(fill.waited), SlotState::kFilling, label,
        tile + (fill.is_copied ? ": the copy is on its way" : ": being stored"));
    if (fill.waited == 0) continue;
    // Reads that came too early found it on its way.
    const bool is_read = fill.first_read > fill.waited;
    add(is_read ? columns.of(fill.first_read) : limit, SlotState::kReady, label, tile + ": complete, not yet read");
    if (!is_read) continue;
    const Time over =
        fill.released > fill.last_read ? columns.of(fill.released) : columns.after(fill.last_read);
    add(over, SlotState::kReading, label,
        tile + (fill.is_read_later ? ": being read, asynchronously" : ": being read"));
  }
  if (last < end) spans.push_back({last, end, SlotState::kFree, "", free(!history.fills.empty())});
  return spans;
}

}  // namespace handoff::picture
