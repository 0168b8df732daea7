// SPDX-License-Identifier: Apache-2.0
// The audit for programs; docs/audit.md describes the format.
#include <llvm/Support/FormatVariadic.h>
#include <llvm/Support/JSON.h>
#include <llvm/Support/raw_ostream.h>

#include "analyzer/report/audit.h"

namespace handoff::report {
namespace {

namespace json = llvm::json;

constexpr std::int64_t kFormatVersion = 1;

/// A copy, valid as UTF-8, whatever the name was.
json::Value text(std::string_view value) {
  const llvm::StringRef ref(value.data(), value.size());
  return json::Value(json::isUTF8(ref) ? ref.str() : json::fixUTF8(ref));
}

json::Value number(std::uint64_t value) { return static_cast<std::int64_t>(value); }

void addPosition(json::Object& object, const SourcePos& pos, const Paths& paths) {
  object["file"] = text(pos.file.empty() ? std::string() : paths.shorten(pos.file));
  object["line"] = number(pos.line);
  object["column"] = number(pos.column);
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

json::Object workObject(const audit::Work& work) {
  return json::Object{
      {"arithmetic", number(work.arithmetic)}, {"shared", number(work.shared)}, {"global", number(work.global)}};
}

json::Object callObject(const audit::Call& call, const Paths& paths) {
  json::Array instructions, waits;
  for (const audit::Instruction& instr : call.instructions) {
    instructions.push_back(json::Object{{"kind", text(toString(instr.lowering))},
                                        {"text", text(instr.text)},
                                        {"copies", number(instr.copies)},
                                        {"executed", number(instr.executed)}});
  }
  for (const audit::Overlap& overlap : call.overlaps) {
    json::Object object{{"wait", text(overlap.wait)},
                        {"pairs", number(overlap.instances)},
                        {"least_work", workObject(overlap.least)},
                        {"most_work", workObject(overlap.most)},
                        {"stack", stackArray(overlap.stack, paths)}};
    addPosition(object, paths.ownPos(overlap.stack), paths);
    waits.push_back(std::move(object));
  }
  json::Object object{{"api", text(call.api)},
                      {"instructions", std::move(instructions)},
                      {"reason", text(call.reason)},
                      {"waits", std::move(waits)},
                      {"stack", stackArray(call.stack, paths)}};
  addPosition(object, paths.ownPos(call.stack), paths);
  return object;
}

json::Object adviceObject(const diagnose::Finding& finding, const Paths& paths) {
  json::Array related;
  for (const diagnose::Related& item : finding.related) {
    json::Object object{{"message", text(item.message)}, {"stack", stackArray(item.stack, paths)}};
    addPosition(object, paths.ownPos(item.stack), paths);
    related.push_back(std::move(object));
  }
  json::Object object{{"rule", text(finding.rule)},
                      {"message", text(finding.message)},
                      {"related", std::move(related)},
                      {"stack", stackArray(finding.stack, paths)}};
  addPosition(object, paths.ownPos(finding.stack), paths);
  return object;
}

json::Object kernelObject(const audit::KernelAudit& kernel, const Paths& paths) {
  json::Array launches, calls, advice, limits;
  for (const std::string& launch : kernel.launches) launches.push_back(text(launch));
  for (const audit::Call& call : kernel.calls) calls.push_back(callObject(call, paths));
  for (const diagnose::Finding& finding : kernel.advice) advice.push_back(adviceObject(finding, paths));
  for (const diagnose::Limit& limit : kernel.limits) {
    json::Object object{{"reason", text(limit.reason)}};
    addPosition(object, limit.pos, paths);
    limits.push_back(std::move(object));
  }
  json::Object object{{"name", text(kernel.pretty)},   {"symbol", text(kernel.name)},    {"launches", std::move(launches)},
                      {"calls", std::move(calls)},     {"advice", std::move(advice)},    {"limits", std::move(limits)},
                      {"error", text(kernel.error)}};
  addPosition(object, kernel.pos, paths);
  return object;
}

json::Array sassArray(const std::vector<audit::SassFunction>& functions) {
  json::Array result;
  for (const audit::SassFunction& function : functions) {
    json::Array instructions;
    for (const audit::SassInstruction& instr : function.instructions)
      instructions.push_back(json::Object{
          {"kind", text(toString(instr.lowering))}, {"opcode", text(instr.opcode)}, {"line", number(instr.line)}, {"count", number(instr.count)}});
    result.push_back(json::Object{{"symbol", text(function.name)},
                                  {"arch", text(function.arch)},
                                  {"instructions", std::move(instructions)},
                                  {"global_loads", number(function.plain_loads)},
                                  {"shared_stores", number(function.plain_stores)}});
  }
  return result;
}

json::Array errorArray(const std::vector<Error>& errors, const Paths& paths) {
  json::Array result;
  for (const Error& error : errors) {
    json::Object object{{"message", text(error.message)}};
    addPosition(object, error.pos, paths);
    result.push_back(std::move(object));
  }
  return result;
}

}  // namespace

std::string renderAuditJson(const std::vector<AuditedFile>& files, const Paths& paths, const JsonOptions& options) {
  json::Array array;
  for (const AuditedFile& file : files) {
    json::Array kernels;
    for (const audit::KernelAudit& kernel : file.kernels) kernels.push_back(kernelObject(kernel, paths));
    json::Object object{{"path", text(file.path)},
                        {"frontend", text(file.frontend)},
                        {"kernels", std::move(kernels)},
                        {"notes", errorArray(file.notes, paths)}};
    if (file.sass) object["sass"] = sassArray(*file.sass);
    if (file.error) object["error"] = errorArray({*file.error}, paths)[0];
    array.push_back(std::move(object));
  }
  const json::Value root = json::Object{{"format_version", kFormatVersion},
                                        {"tool", json::Object{{"name", "handoff"}, {"version", text(options.tool_version)}}},
                                        {"audit", std::move(array)}};
  return llvm::formatv("{0:2}\n", root).str();
}

}  // namespace handoff::report
