// SPDX-License-Identifier: Apache-2.0
// HANDOFF_CHECK: assertions that stay on in every build.
#pragma once

namespace handoff {

/// Prints "file:line: internal error: condition" to stderr and aborts with exit code 3 semantics
/// (the driver turns the abort of a worker into an internal error of that input).
[[noreturn]] void checkFailed(const char* condition, const char* file, int line);

}  // namespace handoff

/// What *we* can get wrong. What a *user* can cause is a Result error or a named limit instead.
#define HANDOFF_CHECK(condition) \
  ((condition) ? static_cast<void>(0) : ::handoff::checkFailed(#condition, __FILE__, __LINE__))
