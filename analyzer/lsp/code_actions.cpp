// SPDX-License-Identifier: Apache-2.0
// Edits of the text that is open, from changes of the text that was checked.
#include "analyzer/lsp/code_actions.h"

#include <algorithm>
#include <map>
#include <optional>

namespace handoff::lsp {

using diagnose::SourceChange;
using llvm::lsp::Position;
using llvm::lsp::Range;
using llvm::lsp::TextEdit;
namespace json = llvm::json;

namespace {

constexpr llvm::StringLiteral kQuickFix = "quickfix";

std::string withEnds(const std::string& text, const std::string& end) {
  std::string result;
  for (const char c : text) result += c == '\n' ? end : std::string(1, c);
  return result;
}

/// Of a document whose lines all end alike, and of its first line otherwise.
std::string lineEnd(const Text& text) {
  return text.content().find("\r\n") != std::string::npos ? "\r\n" : "\n";
}

/// Empty: the line is not the one that the change was made for.
std::optional<TextEdit> editOf(const SourceChange& change, const CheckResult& result,
                               const Document& document, Encoding encoding) {
  const std::optional<std::uint32_t> number = currentLine(result, document, change.pos.file, change.pos.line);
  if (!number) return std::nullopt;
  const Text& text = *document.text;
  const std::size_t line = *number - 1;
  if (text.line(line) != change.original) return std::nullopt;
  const std::string end = lineEnd(text), added = withEnds(change.text, end);
  const Position start = text.positionOf(line, 0, encoding),
                 stop = text.positionOf(line, text.line(line).size(), encoding);
  const bool is_last = line + 1 == text.lineCount();
  const Position next = is_last ? stop : Position(static_cast<int>(line) + 1, 0);
  TextEdit edit;
  switch (change.kind) {
    case SourceChange::Kind::kInsertBefore:
      edit.range = Range(start);
      edit.newText = added + end;
      break;
    case SourceChange::Kind::kInsertAfter:
      edit.range = Range(stop);
      edit.newText = end + added;
      break;
    case SourceChange::Kind::kReplace:
      edit.range = {start, stop};
      edit.newText = added;
      break;
    case SourceChange::Kind::kDelete:
      edit.range = {start, next};
      break;
  }
  return edit;
}

/// Edits of one document; all changes of the repair or none.
struct FileEdits {
  const Document* document = nullptr;
  std::vector<TextEdit> edits;
};

std::optional<FileEdits> editsOf(const Documents& documents, const CheckResult& result,
                                 const std::vector<SourceChange>& changes, Encoding encoding) {
  FileEdits edits;
  for (const SourceChange& change : changes) {
    const auto document = documents.find(change.pos.file);
    if (document == documents.end() || document->second.text == nullptr) return std::nullopt;
    if (edits.document != nullptr && edits.document != &document->second) return std::nullopt;
    edits.document = &document->second;
    const std::optional<TextEdit> edit = editOf(change, result, document->second, encoding);
    if (!edit) return std::nullopt;
    edits.edits.push_back(*edit);
  }
  return edits.edits.empty() ? std::nullopt : std::optional(std::move(edits));
}

json::Object workspaceEdit(const FileEdits& edits, bool has_document_changes) {
  json::Array list;
  for (const TextEdit& edit : edits.edits) list.push_back(llvm::lsp::toJSON(edit));
  const std::string uri = edits.document->uri.uri().str();
  if (!has_document_changes) return json::Object{{"changes", json::Object{{uri, std::move(list)}}}};
  json::Object identifier{{"uri", uri}, {"version", edits.document->version}};
  json::Object of_document{{"textDocument", std::move(identifier)}, {"edits", std::move(list)}};
  return json::Object{{"documentChanges", json::Array{std::move(of_document)}}};
}

/// As for --fix: what may be a finding, or is one for other launches only, changes no code.
bool hasRepair(const Shown& shown) {
  return shown.finding != nullptr && shown.finding->repair && !shown.finding->repair->changes.empty() &&
         shown.finding->severity != diagnose::Severity::kPossible && !shown.finding->is_for_other_launches;
}

/// "NOLINT(handoff-rule)" in the comment of the line, or in a new one; empty where a comment cannot end the
/// line, or holds a NOLINT without a list, which would come first.
std::optional<TextEdit> silencingEdit(const Text& text, std::size_t line, const std::string& rule,
                                      Encoding encoding) {
  const std::string_view content = text.line(line);
  const auto insert = [&](std::size_t byte, std::string added) {
    TextEdit edit;
    edit.range = Range(text.positionOf(line, byte, encoding));
    edit.newText = std::move(added);
    return edit;
  };
  const std::size_t word = content.find("NOLINT");
  if (word != std::string_view::npos) {
    const std::size_t close = content.find(')', word);
    if (!content.substr(word).starts_with("NOLINT(") || close == std::string_view::npos) return std::nullopt;
    return insert(close, ", handoff-" + rule);
  }
  if (content.ends_with('\\')) return std::nullopt;
  return insert(content.size(), "  // NOLINT(handoff-" + rule + ")");
}

class ActionMaker {
 public:
  ActionMaker(const Documents& documents, const ActionRequest& request, const Context& context)
      : documents_(documents), request_(request), context_(context) {}

  json::Array make() {
    const std::vector<Shown> shown = shownIn(documents_, request_.path, context_);
    if (isWanted(kQuickFix)) {
      // Repairs first: what is there to be repaired should not be silenced.
      for (const Shown& item : shown)
        if (isMet(item) && hasRepair(item)) addRepair(item);
      for (const Shown& item : shown)
        if (isMet(item) && item.finding != nullptr) addSilencing(item);
      for (const Shown& item : shown)
        if (isMet(item) && item.finding != nullptr) addExplanation(item);
    }
    if (isWanted(kFixAll)) addFixAll(shown);
    return std::move(actions_);
  }

 private:
  /// A kind stands for all below it: "source" for "source.fixAll.handoff".
  bool isWanted(llvm::StringRef kind) const {
    if (request_.only.empty()) return true;
    return std::any_of(request_.only.begin(), request_.only.end(), [&](llvm::StringRef wanted) {
      return wanted.empty() || kind == wanted || (kind.starts_with(wanted) && kind[wanted.size()] == '.');
    });
  }

  bool isMet(const Shown& shown) const {
    return shown.range.start.line <= request_.range.end.line &&
           shown.range.end.line >= request_.range.start.line;
  }

  void add(std::string title, llvm::StringRef kind, const Shown* about, json::Object rest) {
    rest["title"] = json::fixUTF8(title);
    rest["kind"] = kind;
    if (about != nullptr) rest["diagnostics"] = json::Array{json::Object(about->diagnostic)};
    // Findings of several instances have one repair.
    const auto same = [&](const json::Value& other) {
      return other.getAsObject()->getString("title") == rest.getString("title") &&
             *other.getAsObject() == rest;
    };
    if (std::none_of(actions_.begin(), actions_.end(), same)) actions_.push_back(std::move(rest));
  }

  void addRepair(const Shown& shown) {
    const diagnose::Repair& repair = *shown.finding->repair;
    const std::optional<FileEdits> edits =
        editsOf(documents_, *shown.owner->result, repair.changes, context_.encoding);
    if (!edits) return;
    add("handoff: " + repair.description, kQuickFix, &shown,
        json::Object{{"edit", workspaceEdit(*edits, request_.has_document_changes)},
                     {"isPreferred", repair.is_tested}});
  }

  void addSilencing(const Shown& shown) {
    const auto document = documents_.find(request_.path);
    const auto edit = silencingEdit(*document->second.text, static_cast<std::size_t>(shown.range.start.line),
                                    shown.finding->rule, context_.encoding);
    if (!edit) return;
    add("handoff: silence with NOLINT(handoff-" + shown.finding->rule + ")", kQuickFix, &shown,
        json::Object{{"edit", workspaceEdit({&document->second, {*edit}}, request_.has_document_changes)}});
  }

  void addExplanation(const Shown& shown) {
    const std::string title = "handoff: explain " + shown.finding->rule;
    json::Object command{
        {"title", title}, {"command", kExplainRule}, {"arguments", json::Array{shown.finding->rule}}};
    add(title, kQuickFix, &shown, json::Object{{"command", std::move(command)}});
  }

  /// Repairs of the document's own check, each on lines that no other changes.
  void addFixAll(const std::vector<Shown>& shown) {
    const auto document = documents_.find(request_.path);
    FileEdits all;
    std::vector<const std::vector<SourceChange>*> taken;
    const auto clashes = [&](const std::vector<SourceChange>& changes) {
      return std::any_of(taken.begin(), taken.end(), [&](const auto* other) {
        return std::any_of(other->begin(), other->end(), [&](const SourceChange& a) {
          return std::any_of(changes.begin(), changes.end(),
                             [&](const SourceChange& b) { return a.pos.line == b.pos.line; });
        });
      });
    };
    for (const Shown& item : shown) {
      if (!hasRepair(item) || !item.finding->repair->is_tested || clashes(item.finding->repair->changes))
        continue;
      const std::optional<FileEdits> edits =
          editsOf(documents_, *item.owner->result, item.finding->repair->changes, context_.encoding);
      if (!edits || edits->document != &document->second) continue;
      all.document = edits->document;
      all.edits.insert(all.edits.end(), edits->edits.begin(), edits->edits.end());
      taken.push_back(&item.finding->repair->changes);
    }
    if (taken.empty()) return;
    add("handoff: apply " + counted(taken.size(), "verified repair"), kFixAll, nullptr,
        json::Object{{"edit", workspaceEdit(all, request_.has_document_changes)}});
  }

  const Documents& documents_;
  const ActionRequest& request_;
  const Context& context_;
  json::Array actions_;
};

}  // namespace

json::Array codeActions(const Documents& documents, const ActionRequest& request, const Context& context) {
  const auto document = documents.find(request.path);
  if (document == documents.end() || document->second.text == nullptr) return {};
  return ActionMaker(documents, request, context).make();
}

}  // namespace handoff::lsp
