// SPDX-License-Identifier: Apache-2.0
// The SARIF log: one run with its tool, invocation, artifacts and results.
#include "analyzer/report/sarif.h"

#include <llvm/Support/FormatVariadic.h>
#include <llvm/Support/raw_ostream.h>

#include "analyzer/diagnose/rule.h"
#include "analyzer/report/json_text.h"
#include "analyzer/report/sarif_parts.h"

namespace handoff::report {

namespace json = llvm::json;

namespace {

constexpr const char* kSchema =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

json::Object textObject(std::string_view text) { return json::Object{{"text", jsonText(text)}}; }

/// Limits, notes and failures. A verdict that is not `verified` is no result: readers such as GitHub's code
/// scanning make an alert of every result, whatever its kind is.
class Notifications {
 public:
  explicit Notifications(SarifPlaces& places) : places_(places) {}

  void add(const FileReport& file) {
    if (file.error) addError(*file.error, file);
    for (const Error& error : file.more_errors) addError(error, file);
    for (const Error& note : file.notes) add(SarifNotice::kNote, "note", note.message, note.pos, file);
    for (const diagnose::KernelReport& kernel : file.kernels) add(kernel, file);
  }

  void add(const RunEnd& end) {
    if (!end.is_interrupted) return;
    std::string text = "The run was interrupted";
    for (std::size_t i = 0; i < end.unchecked_files.size(); ++i)
      text += (i == 0 ? "; not checked: " : ", ") + end.unchecked_files[i];
    items_.push_back(json::Object{{"descriptor", sarifNotice(SarifNotice::kInterrupted)},
                                  {"level", "error"},
                                  {"message", textObject(text + ".")}});
  }

  json::Array take() { return std::move(items_); }

 private:
  void add(SarifNotice notice, const char* level, std::string_view message, const SourcePos& pos,
           const FileReport& file) {
    const SourcePos known = pos.file.empty() ? SourcePos{file.path, 0, 0} : pos;
    items_.push_back(json::Object{{"descriptor", sarifNotice(notice)},
                                  {"level", level},
                                  {"message", textObject(std::string(message) + ".")},
                                  {"locations", json::Array{places_.location(known)}}});
  }
  void addError(const Error& error, const FileReport& file) {
    add(SarifNotice::kInput, "error", error.message, error.pos, file);
  }
  void add(const diagnose::KernelReport& kernel, const FileReport& file) {
    const std::string& name = kernel.pretty.empty() ? kernel.name : kernel.pretty;
    if (kernel.verdict == diagnose::Verdict::kError)
      add(SarifNotice::kUnchecked, "error", name + " was not checked: " + kernel.error, kernel.pos, file);
    for (const diagnose::Limit& limit : kernel.limits)
      add(SarifNotice::kBounded, "note",
          name + " is " + std::string(toString(kernel.verdict)) + "; limit: " + limit.reason,
          limit.pos.isKnown() ? limit.pos : kernel.pos, file);
  }

  SarifPlaces& places_;
  json::Array items_;
};

/// Rules that the command line switched on or off against their defaults.
json::Array overrides(const SarifOptions& options) {
  json::Array items;
  for (const diagnose::RuleInfo& rule : diagnose::rules()) {
    const bool is_on = options.checks.contains(rule.name), is_on_by_default = rule.group != "perf";
    if (is_on == is_on_by_default) continue;
    items.push_back(json::Object{
        {"descriptor", json::Object{{"id", jsonText(rule.name)}, {"index", sarifRuleIndex(rule.name)}}},
        {"configuration", json::Object{{"enabled", is_on}}}});
  }
  return items;
}

const char* descriptionOf(int exit_code) {
  switch (exit_code) {
    case 0:
      return "nothing found";
    case 1:
      return "findings";
    case 2:
      return "usage, input or configuration";
    default:
      return "internal error";
  }
}

json::Object invocation(const Report& report, SarifPlaces& places, const SarifOptions& options) {
  Notifications notifications(places);
  for (const FileReport& file : report.files) notifications.add(file);
  notifications.add(report.end);
  json::Object object{{"executionSuccessful", report.end.exit_code < 2 && !report.end.is_interrupted},
                      {"exitCode", report.end.exit_code},
                      {"exitCodeDescription", descriptionOf(report.end.exit_code)},
                      {"toolExecutionNotifications", notifications.take()}};
  if (json::Array items = overrides(options); !items.empty())
    object["ruleConfigurationOverrides"] = std::move(items);
  return object;
}

/// Every kernel with its verdict: what has no finding is worth knowing, too.
json::Array kernels(const Report& report, const SarifPlaces& places) {
  json::Array items;
  for (const FileReport& file : report.files) {
    for (const diagnose::KernelReport& kernel : file.kernels) {
      json::Array holds_for;
      for (const std::string& value : kernel.holds_for) holds_for.push_back(jsonText(value));
      items.push_back(json::Object{{"name", jsonText(kernel.pretty.empty() ? kernel.name : kernel.pretty)},
                                   {"file", jsonText(places.paths().fromRoot(file.path))},
                                   {"verdict", jsonText(toString(kernel.verdict))},
                                   {"holdsFor", std::move(holds_for)}});
    }
  }
  return items;
}

}  // namespace

std::string renderSarif(const Report& report, const Paths& paths, SourceLines& sources,
                        const SarifOptions& options) {
  SarifPlaces places(paths, sources);
  json::Array results;
  for (const FileReport& file : report.files) places.artifact(file.path, true);
  for (const FileReport& file : report.files) addSarifResults(results, file, places, options);
  json::Object run{{"tool", json::Object{{"driver", sarifDriver(options)}}},
                   {"invocations", json::Array{invocation(report, places, options)}},
                   {"columnKind", "utf16CodeUnits"},
                   {"results", std::move(results)},
                   {"properties", json::Object{{"kernels", kernels(report, places)}}}};
  // Where the root is, is not said: the log is the same on every machine.
  run["originalUriBaseIds"] = json::Object{
      {"%SRCROOT%",
       json::Object{
           {"description", textObject("The root of the repository, or else the working directory.")}}}};
  run["artifacts"] = places.artifacts();
  const json::Value root =
      json::Object{{"$schema", kSchema}, {"version", "2.1.0"}, {"runs", json::Array{std::move(run)}}};
  std::string result;
  llvm::raw_string_ostream stream(result);
  stream << llvm::formatv("{0:2}", root) << '\n';
  return result;
}

}  // namespace handoff::report
