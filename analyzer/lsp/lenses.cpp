// SPDX-License-Identifier: Apache-2.0
// Kernels by line.
#include "analyzer/lsp/lenses.h"

#include <algorithm>
#include <map>
#include <vector>

#include "analyzer/report/groups.h"

namespace handoff::lsp {

using diagnose::KernelReport;
using diagnose::Verdict;
namespace json = llvm::json;

namespace {

/// By current line.
using Kernels = std::map<std::uint32_t, std::vector<const KernelReport*>>;

Kernels kernelsIn(const Documents& documents, const std::string& path) {
  Kernels kernels;
  const auto target = documents.find(path);
  if (target == documents.end()) return kernels;
  for (const auto& [file, owner] : documents) {
    if (!owner.result) continue;
    for (const KernelReport& kernel : owner.result->checked->report.kernels) {
      if (kernel.pos.file != path) continue;
      if (const auto line = currentLine(*owner.result, target->second, path, kernel.pos.line))
        kernels[*line].push_back(&kernel);
    }
  }
  return kernels;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

/// What counts: findings for other launches do not.
std::size_t findingsOf(const KernelReport& kernel) {
  return static_cast<std::size_t>(
      std::count_if(kernel.findings.begin(), kernel.findings.end(),
                    [](const diagnose::Finding& finding) { return !finding.is_for_other_launches; }));
}

std::string verdictText(const KernelReport& kernel) {
  if (!kernel.error.empty()) return "not checked: " + kernel.error;
  if (!kernel.has_async && kernel.findings.empty()) return "no asynchronous copies";
  const std::string verdict(diagnose::toString(kernel.verdict));
  switch (kernel.verdict) {
    case Verdict::kVerified:
      return kernel.holds_for.empty() ? verdict : verdict + " for " + joined(kernel.holds_for);
    case Verdict::kBounded:
      return verdict + ": " + counted(kernel.limits.size(), "limit");
    case Verdict::kViolation:
      return verdict + ": " + counted(findingsOf(kernel), "finding");
    case Verdict::kError:
      break;
  }
  return verdict;
}

std::string titleOf(const std::vector<const KernelReport*>& kernels) {
  if (kernels.size() == 1) return "handoff: " + verdictText(*kernels.front());
  std::map<Verdict, std::size_t> counts;
  for (const KernelReport* kernel : kernels) ++counts[kernel->verdict];
  std::string text;
  for (const auto& [verdict, count] : counts)
    text +=
        (text.empty() ? "" : ", ") + std::to_string(count) + " " + std::string(diagnose::toString(verdict));
  return "handoff: " + counted(kernels.size(), "instance") + ": " + text;
}

void describe(const KernelReport& kernel, const Context& context, std::string& text) {
  text += (text.empty() ? "" : "\n") + std::string("### `") + nameOf(kernel) + "`\n\n" + verdictText(kernel) +
          "\n";
  if (kernel.verdict != Verdict::kVerified && !kernel.holds_for.empty())
    text += "\nHolds for " + joined(kernel.holds_for) + ".\n";
  if (!kernel.launches.empty()) text += "\nLaunches:\n";
  for (const std::string& launch : kernel.launches) text += "- `" + launch + "`\n";
  if (!kernel.limits.empty()) text += "\nLimits:\n";
  for (const diagnose::Limit& limit : kernel.limits) {
    const std::string place = limit.pos.isKnown() ? placeText(limit.pos, context.paths) : "";
    text += "- " + limit.reason + (place.empty() ? "" : " (" + place + ")") + "\n";
  }
  if (!kernel.findings.empty()) text += "\nFindings:\n";
  for (const diagnose::Finding& finding : kernel.findings)
    text += "- " + finding.rule + ": " + finding.message + " (" +
            placeText(context.paths.ownPos(finding.stack), context.paths) + ")\n";
}

}  // namespace

json::Array codeLenses(const Documents& documents, const std::string& path, const Context& context) {
  json::Array lenses;
  const auto document = documents.find(path);
  if (document == documents.end() || document->second.text == nullptr) return lenses;
  for (const auto& [line, kernels] : kernelsIn(documents, path)) {
    json::Object command{
        {"title", json::fixUTF8(titleOf(kernels))},
        {"command", kShowKernel},
        {"arguments", json::Array{document->second.uri.uri(), static_cast<std::int64_t>(line)}}};
    const llvm::lsp::Range range = document->second.text->rangeOf(line, 0, context.encoding);
    lenses.push_back(json::Object{{"range", llvm::lsp::toJSON(range)}, {"command", std::move(command)}});
  }
  return lenses;
}

std::optional<std::string> describeKernels(const Documents& documents, const std::string& path,
                                           std::uint32_t line, const Context& context) {
  const Kernels kernels = kernelsIn(documents, path);
  const auto found = kernels.find(line);
  if (found == kernels.end()) return std::nullopt;
  std::string text;
  for (const KernelReport* kernel : found->second) describe(*kernel, context, text);
  return json::fixUTF8(text);
}

}  // namespace handoff::lsp
