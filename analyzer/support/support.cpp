// SPDX-License-Identifier: Apache-2.0
// Out-of-line parts of the support headers.
#include <cstdio>
#include <cstdlib>

#include "analyzer/support/check.h"
#include "analyzer/support/result.h"

namespace handoff {

void checkFailed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: internal error: %s does not hold\n", file, line, condition);
  std::abort();
}

std::string toString(const Error& error) {
  if (error.pos.file.empty()) return "error: " + error.message;
  std::string text = error.pos.file;
  if (error.pos.line != 0) text += ":" + std::to_string(error.pos.line);
  if (error.pos.column != 0) text += ":" + std::to_string(error.pos.column);
  return text + ": error: " + error.message;
}

}  // namespace handoff
