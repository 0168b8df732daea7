// SPDX-License-Identifier: Apache-2.0
// Positions in the user's files, and the inline stack that leads to one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace handoff {

/// A position in a file. Lines and columns count from 1; 0 means "unknown".
struct SourcePos {
  std::string file;
  std::uint32_t line = 0;
  std::uint32_t column = 0;

  bool isKnown() const { return line != 0; }
  friend bool operator==(const SourcePos&, const SourcePos&) = default;
};

/// One level of an inline stack: a position and the (demangled) function it lies in.
struct SourceFrame {
  SourcePos pos;
  std::string function;  ///< empty when unknown

  friend bool operator==(const SourceFrame&, const SourceFrame&) = default;
};

/// Innermost frame first; the last frame lies in the kernel itself. Empty: position unknown.
using SourceStack = std::vector<SourceFrame>;

}  // namespace handoff
