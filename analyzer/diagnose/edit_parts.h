// SPDX-License-Identifier: Apache-2.0
// Candidates of kinds that several findings share, added to what a builder has.
#pragma once

#include "analyzer/diagnose/edit_builder.h"

namespace handoff::diagnose {

/// An address or a size that is no multiple of what the copy at `at` needs.
void addAlignmentEdits(EditBuilder& build, const machine::Misuse& misuse, std::uint32_t at);
/// The copy at `at`, or its mbarrier, goes to a CTA that its form leaves out.
void addSpaceEdits(EditBuilder& build, std::uint32_t at);
/// A wait beside `spot` for the phase of that parity of the mbarrier that the instruction `named` names.
void addWait(EditBuilder& build, Spot spot, std::uint32_t named, std::uint64_t parity);
/// Every arrival counts for the first phase, and all waits are for it.
void addOnePhase(EditBuilder& build, machine::EventId init);
/// Threads that leave before `wait` arrive first.
void addArrivalsOfLeavers(EditBuilder& build, std::uint32_t wait);
/// A signal that comes behind a wait comes before it.
void addEarlierSignals(EditBuilder& build);
/// Nothing but operations of a warpgroup stands between a branch around `at` and `at`: the branch is taken behind it.
void addLaterBranch(EditBuilder& build, std::uint32_t at);
/// Waits of threads that leave by a branch, for the copy at `copy`.
void addWaitsOfLeavers(EditBuilder& build, std::uint32_t copy);

}  // namespace handoff::diagnose
