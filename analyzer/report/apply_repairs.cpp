// SPDX-License-Identifier: Apache-2.0
// Which repairs go together, and what they make of a text.
#include "analyzer/report/apply_repairs.h"

#include <algorithm>
#include <set>

namespace handoff::report {

using diagnose::Repair;
using diagnose::SourceChange;

namespace {

bool isWithin(const Repair& repair, const std::string& file) {
  return !repair.changes.empty() &&
         std::all_of(repair.changes.begin(), repair.changes.end(),
                     [&](const SourceChange& change) { return change.pos.file == file; });
}

}  // namespace

bool isApplicable(const diagnose::Finding& finding) {
  return finding.repair && finding.severity != diagnose::Severity::kPossible &&
         !finding.is_for_other_launches;
}

Result<Choice> chooseRepairs(const std::string& text, const std::string& file,
                             const std::vector<diagnose::Finding>& findings) {
  const std::vector<FileLine> lines = splitLines(text);
  std::set<std::uint32_t> changed;
  std::vector<std::vector<SourceChange>> taken;
  Choice choice;
  for (std::size_t i = 0; i < findings.size(); ++i) {
    if (!isApplicable(findings[i]) || !isWithin(*findings[i].repair, file)) continue;
    const std::vector<SourceChange>& changes = findings[i].repair->changes;
    if (std::find(taken.begin(), taken.end(), changes) != taken.end()) continue;
    for (const SourceChange& change : changes) {
      if (!isStillThere(change, lines))
        return Error{"this line is no longer the one that the repair was made for; the file is left as it is",
                     {file, change.pos.line, 0}};
    }
    const bool is_free = std::none_of(changes.begin(), changes.end(), [&](const SourceChange& change) {
      return changed.contains(change.pos.line);
    });
    if (!is_free) {
      ++choice.left;
      continue;
    }
    taken.push_back(changes);
    ChosenRepair& chosen = choice.repairs.emplace_back(ChosenRepair{i, {}});
    for (const SourceChange& change : changes) {
      changed.insert(change.pos.line);
      chosen.edits.push_back(toEdit(change, lines));
    }
  }
  return choice;
}

Result<Repaired> applyRepairs(const std::string& text, const std::string& file,
                              const std::vector<diagnose::Finding>& findings) {
  const Result<Choice> choice = chooseRepairs(text, file, findings);
  if (!choice) return choice.error();
  std::vector<const TextEdit*> edits;
  for (const ChosenRepair& repair : choice->repairs)
    for (const TextEdit& edit : repair.edits) edits.push_back(&edit);
  // No two of them change the same line, so only an insertion may begin where another edit does; it comes
  // first.
  std::sort(edits.begin(), edits.end(), [](const TextEdit* a, const TextEdit* b) {
    return std::pair(a->first.offset, a->last.offset) < std::pair(b->first.offset, b->last.offset);
  });
  Repaired result{"", static_cast<unsigned>(choice->repairs.size()), choice->left};
  std::size_t at = 0;
  for (const TextEdit* edit : edits) {
    result.text.append(text, at, edit->first.offset - at).append(edit->text);
    at = edit->last.offset;
  }
  result.text.append(text, at);
  return result;
}

}  // namespace handoff::report
