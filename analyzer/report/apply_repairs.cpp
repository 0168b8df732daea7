// SPDX-License-Identifier: Apache-2.0
// Lines in, lines out.
#include "analyzer/report/apply_repairs.h"

#include <algorithm>
#include <map>
#include <string_view>

namespace handoff::report {

using diagnose::Repair;
using diagnose::SourceChange;

namespace {

/// A line with its end, which the last one may lack.
struct Line {
  std::string_view text, end;
};

std::vector<Line> splitLines(std::string_view text) {
  std::vector<Line> lines;
  while (!text.empty()) {
    const std::size_t stop = text.find('\n');
    const std::size_t size = stop == std::string_view::npos ? text.size() : stop + 1;
    std::size_t content = stop == std::string_view::npos ? size : stop;
    if (content > 0 && text[content - 1] == '\r') --content;
    lines.push_back({text.substr(0, content), text.substr(content, size - content)});
    text.remove_prefix(size);
  }
  return lines;
}

void append(std::string& out, std::string_view text, std::string_view end) {
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t stop = std::min(text.find('\n', at), text.size());
    out.append(text.substr(at, stop - at)).append(end);
    at = stop + 1;
  }
}

bool isWithin(const Repair& repair, const std::string& file) {
  return !repair.changes.empty() && std::all_of(repair.changes.begin(), repair.changes.end(),
                                                [&](const SourceChange& change) { return change.pos.file == file; });
}

}  // namespace

Result<Repaired> applyRepairs(const std::string& text, const std::string& file, const std::vector<diagnose::Finding>& findings) {
  const std::vector<Line> lines = splitLines(text);
  std::map<std::uint32_t, SourceChange> by_line;
  std::vector<std::vector<SourceChange>> taken;
  Repaired result;
  for (const diagnose::Finding& finding : findings) {
    const bool counts = finding.repair && finding.severity != diagnose::Severity::kPossible && !finding.is_for_other_launches;
    if (!counts || !isWithin(*finding.repair, file)) continue;
    const std::vector<SourceChange>& changes = finding.repair->changes;
    if (std::find(taken.begin(), taken.end(), changes) != taken.end()) continue;
    for (const SourceChange& change : changes) {
      const bool same = change.pos.line >= 1 && change.pos.line <= lines.size() && lines[change.pos.line - 1].text == change.original;
      if (!same) return Error{"this line is no longer the one that the repair was made for; the file is left as it is", {file, change.pos.line, 0}};
    }
    const bool is_free = std::none_of(changes.begin(), changes.end(),
                                      [&](const SourceChange& change) { return by_line.contains(change.pos.line); });
    if (!is_free) {
      ++result.left;
      continue;
    }
    for (const SourceChange& change : changes) by_line.emplace(change.pos.line, change);
    taken.push_back(changes);
    ++result.applied;
  }
  for (std::uint32_t number = 1; number <= lines.size(); ++number) {
    const Line& line = lines[number - 1];
    const auto found = by_line.find(number);
    if (found == by_line.end()) {
      result.text.append(line.text).append(line.end);
      continue;
    }
    const SourceChange& change = found->second;
    const std::string_view end = line.end.empty() ? "\n" : line.end;
    if (change.kind == SourceChange::Kind::kInsertBefore || change.kind == SourceChange::Kind::kReplace) append(result.text, change.text, end);
    if (change.kind == SourceChange::Kind::kInsertBefore || change.kind == SourceChange::Kind::kInsertAfter) result.text.append(line.text).append(end);
    if (change.kind == SourceChange::Kind::kInsertAfter) append(result.text, change.text, end);
  }
  return result;
}

}  // namespace handoff::report
