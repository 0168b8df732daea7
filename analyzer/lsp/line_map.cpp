// SPDX-License-Identifier: Apache-2.0
// Common heads and tails.
#include "analyzer/lsp/line_map.h"

#include <algorithm>

namespace handoff::lsp {

LineMap::LineMap(const Text& checked, const Text& now)
    : checked_lines_(checked.lineCount()), now_lines_(now.lineCount()) {
  is_identity_ = &checked == &now || checked.content() == now.content();
  const std::size_t shorter = std::min(checked_lines_, now_lines_);
  if (is_identity_) {
    head_ = shorter;
    return;
  }
  while (head_ < shorter && checked.line(head_) == now.line(head_)) ++head_;
  while (tail_ < shorter - head_ &&
         checked.line(checked_lines_ - 1 - tail_) == now.line(now_lines_ - 1 - tail_))
    ++tail_;
}

namespace {

std::optional<std::uint32_t> map(std::uint32_t line, std::size_t from, std::size_t to, std::size_t head,
                                 std::size_t tail) {
  if (line == 0 || line > from) return std::nullopt;
  if (line <= head) return line;
  if (line > from - tail) return static_cast<std::uint32_t>(line + to - from);
  return std::nullopt;
}

}  // namespace

std::optional<std::uint32_t> LineMap::toNow(std::uint32_t checked) const {
  return map(checked, checked_lines_, now_lines_, head_, tail_);
}

std::optional<std::uint32_t> LineMap::toChecked(std::uint32_t now) const {
  return map(now, now_lines_, checked_lines_, head_, tail_);
}

}  // namespace handoff::lsp
