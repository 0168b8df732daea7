// SPDX-License-Identifier: Apache-2.0
// The file of a baseline, and what it does to a report.
#include "analyzer/report/baseline.h"

#include <llvm/Support/JSON.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <tuple>

#include "analyzer/report/json_text.h"
#include "analyzer/report/suppress.h"
#include "analyzer/support/json.h"

namespace handoff::report {
namespace {

constexpr std::int64_t kFormatVersion = 1;
constexpr std::size_t kMaxSource = 100;

auto orderOf(const BaselineEntry& entry) {
  return std::tie(entry.file, entry.kernel, entry.rule, entry.fingerprint);
}

std::string_view trimmed(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
}

BaselineEntry entryOf(const diagnose::Finding& finding, const diagnose::KernelReport& kernel,
                      const FileReport& file, const Paths& paths, SourceLines& sources) {
  const SourcePos pos = paths.ownPos(finding.stack);
  BaselineEntry entry;
  entry.fingerprint = finding.fingerprint;
  entry.rule = finding.rule;
  entry.kernel = kernel.pretty.empty() ? kernel.name : kernel.pretty;
  entry.file = paths.fromRoot(pos.file.empty() ? file.path : pos.file);
  entry.source = trimmed(sources.line(pos.file, pos.line)).substr(0, kMaxSource);
  const std::string input = paths.fromRoot(file.path);
  if (input != entry.file) entry.input = input;
  return entry;
}

/// 16 hexadecimal digits, a colon, a number.
bool isFingerprint(std::string_view text) {
  constexpr std::size_t kDigits = 16;
  constexpr std::string_view kHex = "0123456789abcdef", kDecimal = "0123456789";
  return text.size() > kDigits + 1 && text[kDigits] == ':' &&
         text.substr(0, kDigits).find_first_not_of(kHex) == std::string_view::npos &&
         text.substr(kDigits + 1).find_first_not_of(kDecimal) == std::string_view::npos;
}

Result<BaselineEntry> entryFrom(const json::Value& value, const std::string& name) {
  const auto wrong = [&](std::string message, const json::Value& at) {
    return Error{std::move(message), {name, at.line() != 0 ? at.line() : value.line(), 0}};
  };
  if (!value.isObject()) return wrong("a finding of a baseline is an object", value);
  BaselineEntry entry;
  for (const auto& [field, target] :
       {std::pair<std::string_view, std::string*>{"fingerprint", &entry.fingerprint},
        {"rule", &entry.rule},
        {"file", &entry.file},
        {"kernel", &entry.kernel},
        {"source", &entry.source},
        {"input", &entry.input}}) {
    const json::Value& member = value[field];
    if (member.isNull() && (field == "source" || field == "input")) continue;
    if (!member.isString())
      return wrong("this finding needs a \"" + std::string(field) + "\", a string", member);
    *target = member.text();
  }
  if (!isFingerprint(entry.fingerprint))
    return wrong("'" + entry.fingerprint + "' is no fingerprint: 16 hexadecimal digits, a colon and a number",
                 value["fingerprint"]);
  return entry;
}

void printEntry(llvm::raw_ostream& out, const BaselineEntry& entry) {
  llvm::json::OStream json(out);
  json.object([&] {
    json.attribute("fingerprint", jsonText(entry.fingerprint));
    json.attribute("rule", jsonText(entry.rule));
    json.attribute("file", jsonText(entry.file));
    if (!entry.input.empty()) json.attribute("input", jsonText(entry.input));
    json.attribute("kernel", jsonText(entry.kernel));
    if (!entry.source.empty()) json.attribute("source", jsonText(entry.source));
  });
}

std::string listOf(const std::set<std::string>& rules) {
  std::string text;
  for (const std::string& rule : rules) text += (text.empty() ? "" : ", ") + rule;
  return text;
}

}  // namespace

void Baseline::add(std::vector<BaselineEntry> more) {
  for (BaselineEntry& entry : more)
    if (fingerprints_.insert(entry.fingerprint).second) entries.push_back(std::move(entry));
  std::sort(entries.begin(), entries.end(),
            [](const BaselineEntry& a, const BaselineEntry& b) { return orderOf(a) < orderOf(b); });
}

void Baseline::remove(const std::function<bool(const BaselineEntry&)>& is_unwanted) {
  std::erase_if(entries, [&](const BaselineEntry& entry) {
    if (!is_unwanted(entry)) return false;
    fingerprints_.erase(entry.fingerprint);
    return true;
  });
}

std::vector<BaselineEntry> baselineEntries(const FileReport& file, const Paths& paths, SourceLines& sources) {
  std::vector<BaselineEntry> entries;
  for (const diagnose::KernelReport& kernel : file.kernels)
    for (const diagnose::Finding& finding : kernel.findings)
      entries.push_back(entryOf(finding, kernel, file, paths, sources));
  for (const SetAside& item : file.set_aside)
    if (item.by == SetAside::By::kBaseline)
      entries.push_back(entryOf(item.finding, file.kernels[item.kernel], file, paths, sources));
  return entries;
}

Result<Baseline> parseBaseline(std::string_view text, const std::string& name) {
  const Result<json::Value> root = json::parse(text, name);
  if (!root) return root.error();
  const json::Value &version = (*root)["version"], &findings = (*root)["findings"];
  if (!version.isInteger() || !findings.isArray())
    return Error{"this is no baseline: it needs \"version\" and \"findings\"", {name, root->line(), 0}};
  if (version.integer() != kFormatVersion)
    return Error{"version " + std::to_string(version.integer()) +
                     " of the baseline is not known; this handoff reads version " +
                     std::to_string(kFormatVersion),
                 {name, version.line(), 0}};
  std::vector<BaselineEntry> entries;
  for (const json::Value& value : findings.array()) {
    Result<BaselineEntry> entry = entryFrom(value, name);
    if (!entry) return entry.error();
    entries.push_back(std::move(*entry));
  }
  Baseline baseline;
  baseline.add(std::move(entries));
  return baseline;
}

Result<Baseline> readBaseline(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return Error{"cannot read the baseline", {path, 0, 0}};
  const std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  if (stream.bad()) return Error{"cannot read the baseline", {path, 0, 0}};
  return parseBaseline(text, path);
}

std::string printBaseline(const Baseline& baseline) {
  std::string text;
  llvm::raw_string_ostream out(text);
  out << "{\n  \"version\": " << kFormatVersion << ",\n  \"findings\": [";
  const char* separator = "\n    ";
  for (const BaselineEntry& entry : baseline.entries) {
    out << separator;
    printEntry(out, entry);
    separator = ",\n    ";
  }
  out << (baseline.entries.empty() ? "" : "\n  ") << "]\n}\n";
  return text;
}

void applyBaseline(FileReport& file, const Baseline& baseline, const Paths& paths) {
  for (std::size_t k = 0; k < file.kernels.size(); ++k) {
    diagnose::KernelReport& kernel = file.kernels[k];
    std::vector<diagnose::Finding> remaining;
    std::set<std::string> rules;
    unsigned counting = 0;
    SourcePos first;
    for (diagnose::Finding& finding : kernel.findings) {
      if (!baseline.contains(finding.fingerprint)) {
        remaining.push_back(std::move(finding));
        continue;
      }
      if (finding.severity != diagnose::Severity::kNote && !finding.is_for_other_launches) {
        rules.insert(finding.rule);
        if (counting++ == 0) first = paths.ownPos(finding.stack);
      }
      file.set_aside.push_back({k, std::move(finding), SetAside::By::kBaseline, "", "", {}});
    }
    kernel.findings = remaining;
    if (counting == 0) continue;
    const std::string known =
        counting == 1 ? "1 known finding" : std::to_string(counting) + " known findings";
    dropFindings(kernel, std::move(remaining), {known + " of the baseline: " + listOf(rules), first});
  }
}

void Coverage::add(const FileReport& file, const Paths& paths, bool is_whole) {
  if (file.error || !is_whole) return;
  const std::string input = paths.fromRoot(file.path);
  files_.insert(input);
  for (const diagnose::KernelReport& kernel : file.kernels)
    if (kernel.verdict == diagnose::Verdict::kError || kernel.is_cut_short)
      open_.insert({input, kernel.pretty.empty() ? kernel.name : kernel.pretty});
}

void Coverage::addMissing(const Baseline& baseline, const std::string& root) {
  std::set<std::string> missing;
  bool is_any_there = false;
  for (const BaselineEntry& entry : baseline.entries) {
    std::error_code failed;
    const bool is_there = std::filesystem::exists(std::filesystem::path(root) / entry.checkedFile(), failed);
    is_any_there |= is_there;
    if (!is_there) missing.insert(entry.checkedFile());
  }
  if (is_any_there) files_.insert(missing.begin(), missing.end());
}

bool Coverage::covers(const BaselineEntry& entry) const {
  return is_on_(entry.rule) && files_.contains(entry.checkedFile()) &&
         !open_.contains({entry.checkedFile(), entry.kernel});
}

BaselineDiff compare(const Baseline& before, const Baseline& after,
                     const std::function<bool(const BaselineEntry&)>& is_covered) {
  BaselineDiff diff;
  for (const BaselineEntry& entry : after.entries)
    (before.contains(entry.fingerprint) ? diff.unchanged : diff.added).push_back(entry);
  for (const BaselineEntry& entry : before.entries)
    if (!after.contains(entry.fingerprint)) (is_covered(entry) ? diff.gone : diff.unjudged).push_back(entry);
  return diff;
}

}  // namespace handoff::report
