// SPDX-License-Identifier: Apache-2.0
// Draws a picture (diagnose/picture.h).
#pragma once

#include <string>
#include <string_view>

#include "analyzer/diagnose/picture.h"

namespace handoff::report {

/// Steps carry data-step, their number from 1, for whoever links them with a list. `label` is what a screen
/// reader says.
std::string drawPicture(const diagnose::Picture& picture, std::string_view label);

/// The states and arrows that occur, explained: HTML.
std::string legendOf(const diagnose::Picture& picture);

}  // namespace handoff::report
