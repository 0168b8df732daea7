// SPDX-License-Identifier: Apache-2.0
// Which wait of a run covers which asynchronous operation.
#pragma once

#include <cstdint>
#include <functional>

#include "analyzer/machine/event.h"
#include "analyzer/machine/run_trace.h"

namespace handoff::machine {

/// An operation, and a wait after which its warp may rely on it.
using Found = std::function<void(EventId issue, EventId wait)>;
/// A wait for groups, and how many were pending.
using Waited = std::function<void(EventId wait, std::uint32_t pending)>;

/// Walks the log once. One thread stands for all that issue in one instruction. A phase of an mbarrier is reported once for
/// each warp that waits for it.
void matchWaits(const EventLog& log, const RunTrace& trace, const Found& found, const Waited& waited);

}  // namespace handoff::machine
