// SPDX-License-Identifier: Apache-2.0
// Lines, columns and changes.
#include "analyzer/lsp/text.h"

#include <algorithm>
#include <utility>

namespace handoff::lsp {

using llvm::lsp::Position;
using llvm::lsp::Range;

namespace {

bool isContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

/// UTF-16 units of the character that starts with this byte: two for those of four bytes.
std::size_t unitsOf(char lead) { return (static_cast<unsigned char>(lead) & 0xF8U) == 0xF0U ? 2 : 1; }

std::size_t byteOf(std::string_view line, std::size_t units, Encoding encoding) {
  if (encoding == Encoding::kUtf8) return std::min(units, line.size());
  std::size_t byte = 0;
  while (byte < line.size() && units > 0) {
    units -= std::min(units, unitsOf(line[byte]));
    for (++byte; byte < line.size() && isContinuation(line[byte]);) ++byte;
  }
  return byte;
}

std::size_t unitsBefore(std::string_view line, std::size_t byte, Encoding encoding) {
  byte = std::min(byte, line.size());
  if (encoding == Encoding::kUtf8) return byte;
  std::size_t units = 0;
  for (std::size_t i = 0; i < byte; ++i)
    if (!isContinuation(line[i])) units += unitsOf(line[i]);
  return units;
}

bool isWord(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == ':';
}

/// Behind the bracket that closes the one at `open`; `open` when it is not closed on this line.
std::size_t closingOf(std::string_view line, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < line.size(); ++i) {
    if (line[i] == '(' || line[i] == '[') ++depth;
    if ((line[i] == ')' || line[i] == ']') && --depth == 0) return i + 1;
  }
  return open;
}

/// "values[codes[g]];" -> "values[codes[g]]"
std::size_t expressionEnd(std::string_view line, std::size_t begin) {
  std::size_t end = begin;
  while (end < line.size() && isWord(line[end])) ++end;
  while (end < line.size() && end > begin && (line[end] == '(' || line[end] == '[')) {
    const std::size_t closed = closingOf(line, end);
    if (closed == end) break;
    end = closed;
  }
  return end;
}

}  // namespace

Text::Text(std::string content) : content_(std::move(content)) {
  starts_.push_back(0);
  for (std::size_t i = 0; i < content_.size(); ++i) {
    if (content_[i] == '\n')
      starts_.push_back(i + 1);
    else if (content_[i] == '\r' && (i + 1 == content_.size() || content_[i + 1] != '\n'))
      starts_.push_back(i + 1);
  }
}

std::string_view Text::line(std::size_t index) const {
  if (index >= starts_.size()) return {};
  const std::size_t end = index + 1 < starts_.size() ? starts_[index + 1] : content_.size();
  std::string_view text(content_.data() + starts_[index], end - starts_[index]);
  if (text.ends_with('\n')) text.remove_suffix(1);
  if (text.ends_with('\r')) text.remove_suffix(1);
  return text;
}

std::optional<std::size_t> Text::offsetOf(Position position, Encoding encoding) const {
  if (position.line < 0 || position.character < 0) return std::nullopt;
  const auto number = static_cast<std::size_t>(position.line);
  // Editors end a range over everything at the line behind the last.
  if (number == starts_.size() && position.character == 0) return content_.size();
  if (number >= starts_.size()) return std::nullopt;
  return starts_[number] + byteOf(line(number), static_cast<std::size_t>(position.character), encoding);
}

Position Text::positionOf(std::size_t number, std::size_t byte, Encoding encoding) const {
  return {static_cast<int>(number), static_cast<int>(unitsBefore(line(number), byte, encoding))};
}

Range Text::rangeOf(std::uint32_t number, std::uint32_t column, Encoding encoding) const {
  const std::size_t index = std::min<std::size_t>(number == 0 ? 0 : number - 1, starts_.size() - 1);
  const std::string_view text = line(index);
  std::size_t begin = std::min(text.find_first_not_of(" \t"), text.size());
  std::size_t end = std::min(text.find_last_not_of(" \t") + 1, text.size());
  if (column != 0 && column <= text.size()) {
    begin = column - 1;
    const std::size_t stop = expressionEnd(text, begin);
    end = stop == begin ? begin + 1 : stop;
  }
  return {positionOf(index, begin, encoding), positionOf(index, std::max(begin, end), encoding)};
}

SharedText applyChanges(const SharedText& text, const std::vector<Change>& changes, Encoding encoding) {
  SharedText now = text;
  for (const Change& change : changes) {
    if (!change.range) {
      now = std::make_shared<const Text>(change.text);
      continue;
    }
    const auto begin = now->offsetOf(change.range->start, encoding),
               end = now->offsetOf(change.range->end, encoding);
    if (!begin || !end || *begin > *end) return nullptr;
    std::string content = now->content();
    content.replace(*begin, *end - *begin, change.text);
    now = std::make_shared<const Text>(std::move(content));
  }
  return now;
}

}  // namespace handoff::lsp
