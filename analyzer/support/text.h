// SPDX-License-Identifier: Apache-2.0
// Names as users write them: globs, and what a misspelt one may have meant.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace handoff {

/// `*` stands for any text; every other character for itself.
bool matchesGlob(std::string_view text, std::string_view glob);

/// "; did you mean 'x'?" with the most similar of `candidates`, or "" when none is similar.
std::string suggestion(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace handoff
