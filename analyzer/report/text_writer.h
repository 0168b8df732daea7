// SPDX-License-Identifier: Apache-2.0
// Building blocks of the text report: coloured words, positions, source excerpts.
#pragma once

#include <string>
#include <string_view>

#include "analyzer/diagnose/finding.h"
#include "analyzer/report/paths.h"
#include "analyzer/report/source_lines.h"

namespace handoff::report {

enum class Style : std::uint8_t { kBold, kError, kWarning, kPossible, kNote, kGood, kCaret };

std::string_view toString(diagnose::Severity severity);  ///< "error", "warning", "possible", "note"
Style styleOf(diagnose::Severity severity);

class TextWriter {
 public:
  TextWriter(const Paths& paths, SourceLines& sources, bool use_color)
      : paths_(paths), sources_(sources), use_color_(use_color) {}

  std::string styled(Style style, std::string_view text) const;
  /// "file:line:col", without what is unknown.
  std::string position(const SourcePos& pos) const;
  /// ":line" when the file is `file`, else "file:line"; empty when unknown.
  std::string shortPosition(const SourcePos& pos, const std::string& file) const;
  /// Appends "file:line:col: kind: message".
  void message(const SourcePos& pos, Style style, std::string_view kind, std::string_view text);
  /// Appends the source line; with a caret line below it if `with_caret`.
  void excerpt(const SourcePos& pos, bool with_caret);
  void line(std::string_view text);

  const Paths& paths() const { return paths_; }
  std::string take() { return std::move(text_); }

 private:
  const Paths& paths_;
  SourceLines& sources_;
  bool use_color_;
  std::string text_;
};

}  // namespace handoff::report
