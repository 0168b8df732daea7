// SPDX-License-Identifier: Apache-2.0
// Diagnostics as JSON: LLVM's own type has no code and no link.
#include "analyzer/lsp/diagnostics.h"

#include <algorithm>
#include <tuple>

#include "analyzer/diagnose/rule.h"

namespace handoff::lsp {

using llvm::lsp::Range;
namespace json = llvm::json;

namespace {

/// Where no text is at hand, a column of the compiler counts as one of the protocol.
Range guessRange(const SourcePos& pos) {
  const int line = static_cast<int>(pos.line == 0 ? 0 : pos.line - 1),
            column = static_cast<int>(pos.column == 0 ? 0 : pos.column - 1);
  return {{line, column}, {line, column + 1}};
}

json::Object diagnosticOf(const Documents& documents, const CheckResult& result, const Notice& notice,
                          const Range& range, const Context& context) {
  json::Object diagnostic{{"range", llvm::lsp::toJSON(range)},
                          {"severity", static_cast<int>(notice.severity)},
                          {"code", notice.code},
                          {"source", "handoff"},
                          {"message", json::fixUTF8(notice.message)}};
  if (diagnose::findRule(notice.code) != nullptr)
    if (const std::string link = context.rule_link(notice.code); !link.empty())
      diagnostic["codeDescription"] = json::Object{{"href", link}};
  json::Array related;
  for (const Notice::Related& other : notice.related)
    related.push_back(json::Object{{"location", locationOf(documents, result, other.pos, context)},
                                   {"message", json::fixUTF8(other.message)}});
  if (!related.empty()) diagnostic["relatedInformation"] = std::move(related);
  return diagnostic;
}

bool isBefore(const Shown& a, const Shown& b) {
  return std::tie(a.range.start.line, a.range.start.character) <
         std::tie(b.range.start.line, b.range.start.character);
}

}  // namespace

json::Object locationOf(const Documents& documents, const CheckResult& result, const SourcePos& pos,
                        const Context& context) {
  if (const auto open = documents.find(pos.file); open != documents.end() && open->second.text != nullptr) {
    const std::uint32_t line = currentLine(result, open->second, pos.file, pos.line).value_or(pos.line);
    const Range range = open->second.text->rangeOf(line, pos.column, context.encoding);
    return json::Object{{"uri", open->second.uri.uri()}, {"range", llvm::lsp::toJSON(range)}};
  }
  llvm::Expected<llvm::lsp::URIForFile> uri = llvm::lsp::URIForFile::fromFile(pos.file);
  std::string text;
  if (uri)
    text = uri->uri().str();
  else
    llvm::consumeError(uri.takeError());
  return json::Object{{"uri", text}, {"range", llvm::lsp::toJSON(guessRange(pos))}};
}

std::vector<Shown> shownIn(const Documents& documents, const std::string& path, const Context& context) {
  const auto target = documents.find(path);
  if (target == documents.end() || target->second.text == nullptr) return {};
  const IsShown is_shown = [&](const std::string& file) { return documents.contains(file); };
  std::vector<Shown> shown;
  for (const auto& [file, owner] : documents) {
    if (!owner.result) continue;
    const report::FileReport& report = owner.result->checked->report;
    // A header that cannot be compiled by itself is no mistake.
    if (isHeader(file) && report.error) continue;
    for (const Notice& notice : noticesOf(report, context.paths, is_shown)) {
      if (notice.pos.file != path) continue;
      const std::optional<std::uint32_t> line =
          currentLine(*owner.result, target->second, path, notice.pos.line);
      if (!line && notice.pos.line != 0) continue;
      const Range range = target->second.text->rangeOf(line.value_or(1), notice.pos.column, context.encoding);
      json::Object diagnostic = diagnosticOf(documents, *owner.result, notice, range, context);
      const auto same = [&](const Shown& other) {
        return json::Value(json::Object(other.diagnostic)) == json::Value(json::Object(diagnostic));
      };
      if (std::none_of(shown.begin(), shown.end(), same))
        shown.push_back({std::move(diagnostic), range, &owner, notice.finding});
    }
  }
  std::stable_sort(shown.begin(), shown.end(), isBefore);
  return shown;
}

}  // namespace handoff::lsp
