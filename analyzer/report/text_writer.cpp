// SPDX-License-Identifier: Apache-2.0
// Building blocks of the text report.
#include "analyzer/report/text_writer.h"

#include <llvm/Support/ConvertUTF.h>

#include <algorithm>
#include <array>

namespace handoff::report {
namespace {

constexpr std::size_t kMaxExcerptColumns = 160;

std::string_view escape(Style style) {
  switch (style) {
    case Style::kBold:
      return "\x1b[1m";
    case Style::kError:
      return "\x1b[1;31m";
    case Style::kWarning:
      return "\x1b[1;35m";
    case Style::kPossible:
      return "\x1b[1;33m";
    case Style::kNote:
      return "\x1b[1;36m";
    case Style::kGood:
    case Style::kCaret:
      return "\x1b[32m";
  }
  return "";
}

/// What a terminal would take for commands, and bytes that are no UTF-8, as one sign each.
std::string printable(std::string_view text) {
  constexpr std::string_view kReplacement = "\xef\xbf\xbd";
  std::string out;
  while (!text.empty()) {
    const auto* const first = reinterpret_cast<const llvm::UTF8*>(text.data());
    const std::size_t bytes = llvm::getNumBytesForUTF8(*first);
    const bool is_whole = bytes <= text.size() && llvm::isLegalUTF8Sequence(first, first + bytes) != 0;
    const bool is_control = (*first < 0x20 && *first != '\t') || *first == 0x7f || (*first == 0xc2 && is_whole && first[1] < 0xa0);
    const std::size_t taken = is_whole ? bytes : 1;
    out += is_whole && !is_control ? text.substr(0, taken) : kReplacement;
    text.remove_prefix(taken);
  }
  return out;
}

}  // namespace

std::string_view toString(diagnose::Severity severity) {
  static constexpr std::array<std::string_view, 4> kNames = {"error", "warning", "possible", "note"};
  return kNames[static_cast<std::size_t>(severity)];
}

Style styleOf(diagnose::Severity severity) {
  static constexpr std::array<Style, 4> kStyles = {Style::kError, Style::kWarning, Style::kPossible,
                                                   Style::kNote};
  return kStyles[static_cast<std::size_t>(severity)];
}

std::string TextWriter::styled(Style style, std::string_view text) const {
  if (!use_color_) return std::string(text);
  return std::string(escape(style)) + std::string(text) + "\x1b[0m";
}

std::string TextWriter::position(const SourcePos& pos) const {
  if (pos.file.empty()) return "handoff";
  std::string text = paths_.shorten(pos.file);
  if (pos.line != 0) text += ":" + std::to_string(pos.line);
  if (pos.line != 0 && pos.column != 0) text += ":" + std::to_string(pos.column);
  return text;
}

std::string TextWriter::shortPosition(const SourcePos& pos, const std::string& file) const {
  if (!pos.isKnown()) return "";
  const bool is_same = paths_.shorten(pos.file) == paths_.shorten(file);
  return (is_same ? "line " : paths_.shorten(pos.file) + ":") + std::to_string(pos.line);
}

void TextWriter::message(const SourcePos& pos, Style style, std::string_view kind, std::string_view text) {
  line(styled(Style::kBold, position(pos) + ":") + " " + styled(style, std::string(kind) + ":") + " " +
       std::string(text));
}

void TextWriter::excerpt(const SourcePos& pos, bool with_caret) {
  if (!pos.isKnown()) return;
  const std::string_view source = sources_.line(pos.file, pos.line);
  if (source.find_first_not_of(" \t") == std::string_view::npos) return;
  std::string number = std::to_string(pos.line);
  if (number.size() < 5) number.insert(0, 5 - number.size(), ' ');
  line(number + " | " + printable(source.substr(0, kMaxExcerptColumns)));
  if (!with_caret) return;

  const std::size_t text_start = source.find_first_not_of(" \t");
  std::size_t column = pos.column == 0 ? text_start : pos.column - 1;
  column = std::min(column, source.size());
  if (column >= kMaxExcerptColumns) return;
  std::string blank(source.substr(0, column));
  std::replace_if(
      blank.begin(), blank.end(), [](char c) { return c != '\t'; }, ' ');
  line("      | " + blank + styled(Style::kCaret, "^"));
}

void TextWriter::line(std::string_view text) {
  text_ += text;
  text_ += '\n';
}

}  // namespace handoff::report
