// SPDX-License-Identifier: Apache-2.0
// Lines, and replacements of their characters.
#include "analyzer/report/file_lines.h"

#include <algorithm>

namespace handoff::report {
namespace {

using Kind = diagnose::SourceChange::Kind;

/// The lines of `text`, each closed by `end`.
std::string closedLines(std::string_view text, std::string_view end) {
  std::string result;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t stop = std::min(text.find('\n', at), text.size());
    result.append(text.substr(at, stop - at)).append(end);
    at = stop + 1;
  }
  return result;
}

}  // namespace

std::vector<FileLine> splitLines(std::string_view text) {
  std::vector<FileLine> lines;
  std::size_t offset = 0;
  while (offset < text.size()) {
    const std::size_t stop = text.find('\n', offset);
    const std::size_t next = stop == std::string_view::npos ? text.size() : stop + 1;
    std::size_t content = stop == std::string_view::npos ? text.size() : stop;
    if (stop != std::string_view::npos && content > offset && text[content - 1] == '\r') --content;
    lines.push_back({text.substr(offset, content - offset), text.substr(content, next - content), offset});
    offset = next;
  }
  return lines;
}

bool isStillThere(const diagnose::SourceChange& change, const std::vector<FileLine>& lines) {
  return change.pos.line >= 1 && change.pos.line <= lines.size() &&
         lines[change.pos.line - 1].text == change.original;
}

TextEdit toEdit(const diagnose::SourceChange& change, const std::vector<FileLine>& lines) {
  const FileLine& line = lines[change.pos.line - 1];
  const std::string_view end = line.end.empty() ? "\n" : line.end;
  const EditPoint begin{change.pos.line, 0, line.offset};
  const EditPoint stop{change.pos.line, static_cast<std::uint32_t>(line.text.size()),
                       line.offset + line.text.size()};
  const EditPoint next =
      line.end.empty() ? stop : EditPoint{change.pos.line + 1, 0, stop.offset + line.end.size()};
  switch (change.kind) {
    case Kind::kInsertBefore:
      return {begin, begin, closedLines(change.text, end)};
    case Kind::kInsertAfter:
      return {next, next, (line.end.empty() ? "\n" : "") + closedLines(change.text, end)};
    case Kind::kReplace:
      return {begin, next, closedLines(change.text, end)};
    case Kind::kDelete:
      break;
  }
  return {begin, next, ""};
}

}  // namespace handoff::report
