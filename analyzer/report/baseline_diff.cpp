// SPDX-License-Identifier: Apache-2.0
// What has changed since a baseline, for people and for programs.
#include <llvm/Support/FormatVariadic.h>
#include <llvm/Support/JSON.h>
#include <llvm/Support/raw_ostream.h>

#include "analyzer/report/baseline.h"
#include "analyzer/report/json_text.h"

namespace handoff::report {
namespace {

namespace json = llvm::json;

void renderEntries(std::string& text, std::string_view state, const std::vector<BaselineEntry>& entries) {
  for (const BaselineEntry& entry : entries) {
    text += std::string(state) + ": " + entry.file + ": " + entry.rule + " in " + entry.kernel;
    if (!entry.input.empty()) text += " (" + entry.input + ")";
    text += "\n";
    if (!entry.source.empty()) text += "  " + entry.source + "\n";
  }
}

json::Array entryArray(const std::vector<BaselineEntry>& entries) {
  json::Array array;
  for (const BaselineEntry& entry : entries) {
    json::Object object{{"fingerprint", jsonText(entry.fingerprint)},
                        {"rule", jsonText(entry.rule)},
                        {"file", jsonText(entry.file)},
                        {"kernel", jsonText(entry.kernel)},
                        {"source", jsonText(entry.source)}};
    if (!entry.input.empty()) object["input"] = jsonText(entry.input);
    array.push_back(std::move(object));
  }
  return array;
}

}  // namespace

std::string renderDiff(const BaselineDiff& diff) {
  std::string text;
  renderEntries(text, "new", diff.added);
  renderEntries(text, "fixed", diff.gone);
  text += std::to_string(diff.added.size()) + " new, " + std::to_string(diff.gone.size()) + " fixed, " +
          std::to_string(diff.unchanged.size()) + " unchanged";
  if (!diff.unjudged.empty()) text += ", " + std::to_string(diff.unjudged.size()) + " not checked";
  return text + "\n";
}

std::string renderDiffJson(const BaselineDiff& diff) {
  const json::Value root = json::Object{{"version", 1},
                                        {"new", entryArray(diff.added)},
                                        {"fixed", entryArray(diff.gone)},
                                        {"unchanged", entryArray(diff.unchanged)},
                                        {"not_checked", entryArray(diff.unjudged)}};
  std::string result;
  llvm::raw_string_ostream stream(result);
  stream << llvm::formatv("{0:2}", root) << '\n';
  return result;
}

}  // namespace handoff::report
