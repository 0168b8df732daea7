// SPDX-License-Identifier: Apache-2.0
// From findings to clang::tooling::TranslationUnitDiagnostics.
#include "analyzer/report/export_fixes.h"

#include <clang/Tooling/Core/Diagnostic.h>
#include <clang/Tooling/DiagnosticsYaml.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "analyzer/report/apply_repairs.h"
#include "analyzer/report/file_lines.h"

namespace handoff::report {
namespace {

namespace tooling = clang::tooling;

std::size_t offsetOf(const SourcePos& pos, SourceLines& sources) {
  const std::vector<FileLine> lines = splitLines(sources.text(pos.file));
  if (pos.line == 0 || pos.line > lines.size()) return 0;
  const FileLine& line = lines[pos.line - 1];
  return line.offset + (pos.column == 0 ? 0 : std::min<std::size_t>(pos.column - 1, line.text.size()));
}

/// An edit, and the finding that it belongs to.
struct OwnedEdit {
  std::size_t finding = 0;
  TextEdit edit;
};

/// The edits in the order of the file. Those that touch become one, of the first one's finding: two
/// replacements at one place have no order, and readers take them for a conflict.
std::vector<OwnedEdit> mergedEdits(const Choice& choice) {
  std::vector<OwnedEdit> edits, merged;
  for (const ChosenRepair& repair : choice.repairs)
    for (const TextEdit& edit : repair.edits) edits.push_back({repair.finding, edit});
  std::stable_sort(edits.begin(), edits.end(), [](const OwnedEdit& a, const OwnedEdit& b) {
    return std::pair(a.edit.first.offset, a.edit.last.offset) <
           std::pair(b.edit.first.offset, b.edit.last.offset);
  });
  for (OwnedEdit& next : edits) {
    if (merged.empty() || merged.back().edit.last.offset != next.edit.first.offset) {
      merged.push_back(std::move(next));
      continue;
    }
    merged.back().edit.last = next.edit.last;
    merged.back().edit.text += next.edit.text;
  }
  return merged;
}

}  // namespace

FixExport::Note FixExport::noteAt(const std::string& message, const SourcePos& pos,
                                  SourceLines& sources) const {
  if (pos.file.empty()) return {message, "", 0};
  const std::filesystem::path path = std::filesystem::path(working_dir_) / pos.file;
  return {message, path.lexically_normal().generic_string(), offsetOf(pos, sources)};
}

void FixExport::add(const FileReport& file, const Paths& paths, SourceLines& sources) {
  std::vector<diagnose::Finding> findings;
  for (const diagnose::KernelReport& kernel : file.kernels)
    findings.insert(findings.end(), kernel.findings.begin(), kernel.findings.end());
  const std::size_t first = items_.size();
  for (const diagnose::Finding& finding : findings) {
    Item& item = items_.emplace_back();
    item.rule = finding.rule;
    item.is_error = finding.severity == diagnose::Severity::kError && !finding.is_for_other_launches;
    item.message = noteAt(finding.message, paths.ownPos(finding.stack), sources);
    for (const diagnose::Related& related : finding.related)
      item.notes.push_back(noteAt(related.message, paths.ownPos(related.stack), sources));
  }
  const Result<Choice> choice = chooseRepairs(sources.text(file.path), file.path, findings);
  if (!choice) return;  // the file has changed meanwhile: its offsets say nothing
  const std::string path = noteAt("", {file.path, 0, 0}, sources).path;
  for (const OwnedEdit& owned : mergedEdits(*choice)) {
    const TextEdit& edit = owned.edit;
    items_[first + owned.finding].changes.push_back(
        {path, edit.text, edit.first.offset, edit.last.offset - edit.first.offset});
  }
}

std::string FixExport::render() const {
  const auto toMessage = [](const Note& note) {
    tooling::DiagnosticMessage message;
    message.Message = note.message;
    message.FilePath = note.path;
    message.FileOffset = static_cast<unsigned>(note.offset);
    return message;
  };
  tooling::TranslationUnitDiagnostics unit;
  for (const Item& item : items_) {
    tooling::Diagnostic diagnostic("handoff-" + item.rule, toMessage(item.message), {},
                                   item.is_error ? tooling::Diagnostic::Error : tooling::Diagnostic::Warning,
                                   working_dir_);
    for (const Note& note : item.notes) diagnostic.Notes.push_back(toMessage(note));
    for (const Change& change : item.changes) {
      const tooling::Replacement replacement(change.path, static_cast<unsigned>(change.offset),
                                             static_cast<unsigned>(change.length), change.text);
      // They are merged: no two of them meet.
      llvm::cantFail(diagnostic.Message.Fix[change.path].add(replacement));
    }
    unit.Diagnostics.push_back(std::move(diagnostic));
  }
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::yaml::Output yaml(stream);
  yaml << unit;
  return text;
}

}  // namespace handoff::report
