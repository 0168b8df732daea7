// SPDX-License-Identifier: Apache-2.0
// Witnesses, and look-ups in the event log that several reporters share.
#pragma once

#include <string>

#include "analyzer/diagnose/diagnose.h"

namespace handoff::diagnose {

Witness witnessOf(const Run& run, machine::Access first, machine::Access second, const std::string& place);
/// For findings about one event.
Witness witnessOf(const Run& run, std::uint16_t warp, machine::LaneMask lanes, const std::string& place);

/// The finding is about accesses that meet with these data, and need not with others.
void makePossible(const Run& run, Finding& finding, const std::vector<machine::DataValue>& data);
/// The finding holds whatever the data; `data` is an example.
void makeCertain(const Run& run, Finding& finding, const std::vector<machine::DataValue>& data);

template <typename Predicate>
machine::EventId lastOf(const Run& run, machine::EventId from, machine::EventId to, machine::Access by,
                        Predicate&& wanted) {
  const machine::EventLog& log = run.outcome.log;
  const std::uint16_t warp = log[by.event].warp;
  for (machine::EventId id = to; --id > from;) {
    const machine::Event& event = log[id];
    if (event.warp == warp && (event.lanes & machine::laneBit(by.lane)) && wanted(event.kind)) return id;
  }
  return 0;
}

template <typename Predicate>
machine::EventId firstAfter(const Run& run, machine::Access by, Predicate&& wanted) {
  const machine::EventLog& log = run.outcome.log;
  const std::uint16_t warp = log[by.event].warp;
  for (machine::EventId id = by.event + 1; id < log.end(); ++id) {
    const machine::Event& event = log[id];
    if (event.warp == warp && (event.lanes & machine::laneBit(by.lane)) && wanted(event.kind)) return id;
  }
  return 0;
}

}  // namespace handoff::diagnose
