// SPDX-License-Identifier: Apache-2.0
// Where the lines of a checked text are in the text that the editor has by now.
//
// Lines before the first difference keep their number, lines behind the last one keep their distance from the
// end, and those in between have no place. So one edited region, wherever it is, moves what lies behind it,
// and a result about a line that was touched is about no line any more.
#pragma once

#include <cstdint>
#include <optional>

#include "analyzer/lsp/text.h"

namespace handoff::lsp {

class LineMap {
 public:
  LineMap(const Text& checked, const Text& now);

  /// Lines from 1; empty: it was changed or removed.
  std::optional<std::uint32_t> toNow(std::uint32_t checked) const;
  std::optional<std::uint32_t> toChecked(std::uint32_t now) const;
  /// Nothing was changed.
  bool isIdentity() const { return is_identity_; }

 private:
  std::size_t checked_lines_, now_lines_;
  std::size_t head_ = 0, tail_ = 0;  ///< lines that are the same
  bool is_identity_ = false;
};

}  // namespace handoff::lsp
