// SPDX-License-Identifier: Apache-2.0
// Names for the events of a run, short enough for a drawing.
#pragma once

#include <string>

#include "analyzer/diagnose/diagnose.h"
#include "analyzer/diagnose/picture.h"

namespace handoff::picture {

/// "commit\ngroup 0": at most two lines of a few letters.
std::string labelOf(const diagnose::Run& run, machine::EventId event, unsigned lane);
diagnose::Picture::Mark::Kind markKind(machine::EventKind kind);
/// An operation in flight: "group 0", "bulk store".
std::string flightLabel(const diagnose::Run& run, machine::EventId event, unsigned lane);
/// An mbarrier: "full[0]", "bar of CTA 1".
std::string barrierName(const diagnose::Run& run, std::uint64_t address);
/// "grid=(16,1,1) block=(128,1,1) smem=0, tiles = 12".
std::string launchText(const diagnose::Names& names);

}  // namespace handoff::picture
