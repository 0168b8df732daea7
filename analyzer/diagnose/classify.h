// SPDX-License-Identifier: Apache-2.0
// Which rule a raw conflict breaks: the decision table of the tool.
#pragma once

#include <optional>
#include <string_view>

#include "analyzer/machine/outcome.h"

namespace handoff::diagnose {

/// Why no order exists between the two accesses of a conflict.
enum class Cause : std::uint8_t {
  kMissingWait,          ///< no wait of the copy's thread covers it
  kMissingCommit,        ///< a wait came, but the copy was in no committed group then
  kBarrierOnly,          ///< a barrier leads from the copy's issue to the use, but no wait
  kMissingBarrier,       ///< the copy's thread has waited (or the write is ordinary); nothing leads on to the other thread
  kPhaseRace,            ///< the copy arrives in a later phase than the reader waited for
  kInsufficientWait,     ///< the wait allowed the copy's group to stay pending
  kPrematureOverwrite,   ///< the reader wanted what was there before
  kOverlap,              ///< two writes
  kReuseInFlight,        ///< memory of a copy in flight got another use
  kSourceOverwritten,    ///< the global source was written while the copy could read it
  kWrongParity,          ///< a wait by parity was satisfied by a phase that its thread did not mean
  kMissingProxyFence,    ///< ordered, but of different proxies without a fence between
  kNotDrained,           ///< the destination of a bulk store is read, with no wait for its writes
};

std::string_view ruleOf(Cause cause);

/// Cause of a conflict; empty for pairs that are no defect of a hand-over (two ordinary writes).
std::optional<Cause> classify(const machine::Conflict& conflict, const machine::Outcome& outcome);

/// The wait by parity that let a thread of the conflict go on too early, because an older phase satisfied it; 0: none.
machine::EventId staleWait(const machine::Conflict& conflict, const machine::Outcome& outcome);

/// The access that reads is the first of the two.
bool isReaderFirst(const machine::Conflict& conflict);

/// The N of wait_group that would have covered the copy: groups committed after it when the wait ran.
std::uint32_t sufficientPending(const machine::Conflict& conflict);

}  // namespace handoff::diagnose
