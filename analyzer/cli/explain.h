// SPDX-License-Identifier: Apache-2.0
// `handoff explain RULE` and --list-checks.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace handoff::cli {

/// The page docs/rules/<rule>.md, which is part of the binary; empty for an unknown rule.
std::optional<std::string_view> rulePage(std::string_view rule);

/// One line a check that `checks` (globs) switches on: name, severity, summary.
std::string listChecks(std::string_view checks);

/// What `explain` says about a name that is no rule, with the most similar rule.
std::string unknownRule(std::string_view name);

}  // namespace handoff::cli
