// SPDX-License-Identifier: Apache-2.0
// The JSON report.
#include "analyzer/report/json.h"

#include <llvm/Support/FormatVariadic.h>
#include <llvm/Support/JSON.h>
#include <llvm/Support/raw_ostream.h>

#include "analyzer/report/groups.h"
#include "analyzer/report/json_text.h"
#include "analyzer/report/text_writer.h"

namespace handoff::report {
namespace {

namespace json = llvm::json;

constexpr std::int64_t kFormatVersion = 1;

json::Value text(std::string_view value) { return jsonText(value); }

void addPosition(json::Object& object, const SourcePos& pos, const Paths& paths) {
  object["file"] = text(pos.file.empty() ? std::string() : paths.shorten(pos.file));
  object["line"] = static_cast<std::int64_t>(pos.line);
  object["column"] = static_cast<std::int64_t>(pos.column);
}

json::Array stackArray(const SourceStack& stack, const Paths& paths) {
  json::Array frames;
  for (const SourceFrame& frame : stack) {
    json::Object object{{"function", text(frame.function)}};
    addPosition(object, frame.pos, paths);
    frames.push_back(std::move(object));
  }
  return frames;
}

json::Object witnessObject(const diagnose::Witness& witness, const Paths& paths) {
  json::Array parameters;
  for (const auto& [name, value] : witness.parameters)
    parameters.push_back(json::Object{{"name", text(name)}, {"value", text(value)}});
  json::Array steps;
  for (const diagnose::Step& step : witness.steps) {
    json::Object object{{"actor", text(step.actor)}, {"text", text(step.text)}};
    addPosition(object, paths.ownPos(step.stack), paths);
    steps.push_back(std::move(object));
  }
  return json::Object{{"launch", text(witness.launch)},
                      {"parameters", std::move(parameters)},
                      {"block", text(witness.block)},
                      {"first_thread", text(witness.first_thread)},
                      {"second_thread", text(witness.second_thread)},
                      {"iteration", static_cast<std::int64_t>(witness.iteration)},
                      {"buffer", text(witness.buffer)},
                      {"steps", std::move(steps)}};
}

json::Value repairValue(const std::optional<diagnose::Repair>& repair, const Paths& paths) {
  if (!repair) return nullptr;
  static constexpr std::string_view kKinds[] = {"insert_before", "insert_after", "replace", "delete"};
  json::Array changes;
  for (const diagnose::SourceChange& change : repair->changes) {
    json::Object object{{"kind", text(kKinds[static_cast<std::size_t>(change.kind)])},
                        {"original", text(change.original)},
                        {"text", text(change.text)}};
    addPosition(object, change.pos, paths);
    changes.push_back(std::move(object));
  }
  json::Object object{{"description", text(repair->description)}, {"changes", std::move(changes)}};
  addPosition(object, paths.ownPos(repair->stack), paths);
  return object;
}

json::Array textArray(const std::vector<std::string>& values) {
  json::Array array;
  for (const std::string& value : values) array.push_back(text(value));
  return array;
}

json::Object findingObject(const diagnose::Finding& finding, std::uint32_t group, const Paths& paths) {
  json::Array related;
  for (const diagnose::Related& item : finding.related) {
    json::Object object{{"message", text(item.message)}, {"stack", stackArray(item.stack, paths)}};
    addPosition(object, paths.ownPos(item.stack), paths);
    related.push_back(std::move(object));
  }
  json::Object object{{"rule", text(finding.rule)},
                      {"severity", text(toString(finding.severity))},
                      {"message", text(finding.message)},
                      {"group", static_cast<std::int64_t>(group)},
                      {"fingerprint", text(finding.fingerprint)},
                      {"for_other_launches", finding.is_for_other_launches},
                      {"repeat", finding.is_repeat},
                      {"also_in", textArray(finding.also_in)},
                      {"stack", stackArray(finding.stack, paths)},
                      {"related", std::move(related)},
                      {"witness", witnessObject(finding.witness, paths)},
                      {"repair", repairValue(finding.repair, paths)}};
  if (finding.confirmation)
    object["confirmation"] = json::Object{{"status", text(finding.confirmation->status)}, {"summary", text(finding.confirmation->text)}};
  addPosition(object, paths.ownPos(finding.stack), paths);
  return object;
}

json::Object kernelObject(const diagnose::KernelReport& kernel, const std::vector<std::uint32_t>& groups,
                          const Paths& paths, const JsonOptions& options) {
  json::Array launches, holds_for, limits, findings;
  for (const std::string& value : kernel.holds_for) holds_for.push_back(text(value));
  for (const std::string& launch : kernel.launches) launches.push_back(text(launch));
  for (const diagnose::Limit& limit : kernel.limits) {
    json::Object object{{"reason", text(limit.reason)}};
    addPosition(object, limit.pos, paths);
    limits.push_back(std::move(object));
  }
  for (std::size_t i = 0; i < kernel.findings.size(); ++i)
    findings.push_back(findingObject(kernel.findings[i], groups[i], paths));

  json::Object object{{"name", text(kernel.pretty.empty() ? kernel.name : kernel.pretty)},
                      {"symbol", text(kernel.name)},
                      {"verdict", text(diagnose::toString(kernel.verdict))},
                      {"has_async", kernel.has_async},
                      {"launches", std::move(launches)},
                      {"holds_for", std::move(holds_for)},
                      {"paths", static_cast<std::int64_t>(kernel.paths)},
                      {"limits", std::move(limits)},
                      {"findings", std::move(findings)}};
  addPosition(object, kernel.pos, paths);
  if (!kernel.error.empty()) object["error"] = text(kernel.error);
  if (options.show_stats) {
    object["seconds"] = kernel.seconds;
    object["warp_instructions"] = static_cast<std::int64_t>(kernel.warp_instructions);
  }
  return object;
}

/// A finding that is not reported: group 0, with what took it out.
json::Object setAsideObject(const SetAside& item, const FileReport& file, const Paths& paths) {
  static constexpr std::string_view kBy[] = {"comment", "config", "baseline"};
  json::Object object{{"by", text(kBy[static_cast<std::size_t>(item.by)])},
                      {"spelling", text(item.spelling)},
                      {"reason", text(item.reason)},
                      {"kernel", text(file.kernels[item.kernel].name)},
                      {"finding", findingObject(item.finding, 0, paths)}};
  addPosition(object, item.pos, paths);
  return object;
}

json::Object errorObject(const Error& error, const Paths& paths) {
  json::Object object{{"message", text(error.message)}};
  addPosition(object, error.pos, paths);
  return object;
}

json::Object fileObject(const FileReport& file, const Paths& paths, const JsonOptions& options) {
  json::Array kernels, set_aside, notes, more_errors;
  const GroupIds groups = groupFindings(file, paths);
  for (std::size_t i = 0; i < file.kernels.size(); ++i)
    kernels.push_back(kernelObject(file.kernels[i], groups[i], paths, options));
  for (const SetAside& item : file.set_aside) set_aside.push_back(setAsideObject(item, file, paths));
  for (const Error& error : file.more_errors) more_errors.push_back(errorObject(error, paths));
  for (const Error& note : file.notes) notes.push_back(errorObject(note, paths));
  json::Object object{{"path", text(file.path)},
                      {"frontend", text(file.frontend)},
                      {"kernels", std::move(kernels)},
                      {"set_aside", std::move(set_aside)},
                      {"more_errors", std::move(more_errors)},
                      {"notes", std::move(notes)}};
  object["error"] = file.error ? json::Value(errorObject(*file.error, paths)) : json::Value(nullptr);
  if (options.show_stats) {
    object["produce_seconds"] = file.produce_seconds;
    object["parse_seconds"] = file.parse_seconds;
  }
  return object;
}

}  // namespace

std::string renderJson(const Report& report, const Paths& paths, const JsonOptions& options) {
  json::Array files;
  for (const FileReport& file : report.files) files.push_back(fileObject(file, paths, options));
  json::Array notes;
  for (const Error& note : report.end.notes) notes.push_back(errorObject(note, paths));
  const json::Value root =
      json::Object{{"version", kFormatVersion},
                   {"tool", json::Object{{"name", "handoff"}, {"version", text(options.tool_version)}}},
                   {"interrupted", report.end.is_interrupted},
                   {"unchecked_files", textArray(report.end.unchecked_files)},
                   {"notes", std::move(notes)},
                   {"files", std::move(files)}};
  std::string result;
  llvm::raw_string_ostream stream(result);
  stream << llvm::formatv("{0:2}", root) << '\n';
  return result;
}

}  // namespace handoff::report
