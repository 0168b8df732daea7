// SPDX-License-Identifier: Apache-2.0
// Comments of a file that no parser has read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/frontend/unit.h"

namespace handoff::frontend {

/// Every comment with "NOLINT" or "handoff:" in it. Knows strings and character literals, no raw strings.
std::vector<SourceComment> scanComments(std::string_view text, const std::string& file);

}  // namespace handoff::frontend
