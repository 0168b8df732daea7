// SPDX-License-Identifier: Apache-2.0
// Which entries of .handoff.yaml a kernel answers to.
#pragma once

#include <string_view>
#include <vector>

#include "analyzer/explore/analyze.h"

namespace handoff::explore {

/// A glob may speak of a kernel in any of the ways in which people write it: "_Z8ring_sumILi3EEvPf",
/// "ns::ring_sum<3>(float *)", "ns::ring_sum<3>", "ns::ring_sum".
bool isKernelCalled(std::string_view glob, std::string_view mangled, std::string_view pretty);

/// All entries for a kernel, in the order of the file; each is a launch of its own.
std::vector<const ConfiguredLaunch*> configuredFor(const Options& options, std::string_view mangled,
                                                   std::string_view pretty);

}  // namespace handoff::explore
