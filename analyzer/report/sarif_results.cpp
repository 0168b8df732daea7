// SPDX-License-Identifier: Apache-2.0
// A finding as a SARIF result: the trace as a code flow with one thread flow for each actor, the other
// positions as related locations, the tried repair as a fix.
#include <algorithm>
#include <utility>

#include "analyzer/report/apply_repairs.h"
#include "analyzer/report/baseline.h"
#include "analyzer/report/json_text.h"
#include "analyzer/report/sarif_parts.h"

namespace handoff::report {

namespace json = llvm::json;

namespace {

json::Object textObject(std::string_view text) { return json::Object{{"text", jsonText(text)}}; }

/// What a result needs to know beside the finding.
struct Subject {
  const diagnose::Finding& finding;
  const diagnose::KernelReport& kernel;
  const FileReport& file;
};

const std::string& nameOf(const diagnose::KernelReport& kernel) {
  return kernel.pretty.empty() ? kernel.name : kernel.pretty;
}

/// The position, or the nearest thing to one: readers want a file for every location.
SourcePos knownPos(const SourcePos& pos, const Subject& subject) {
  if (!pos.file.empty()) return pos;
  if (!subject.kernel.pos.file.empty()) return subject.kernel.pos;
  return {subject.file.path, 0, 0};
}

std::string_view levelOf(const diagnose::Finding& finding) {
  if (finding.is_for_other_launches) return "note";
  switch (finding.severity) {
    case diagnose::Severity::kError:
      return "error";
    case diagnose::Severity::kWarning:
      return "warning";
    case diagnose::Severity::kPossible:
    case diagnose::Severity::kNote:
      break;
  }
  return "note";
}

/// Text within a link: brackets would end it.
std::string linkText(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

/// The message, and behind it links to the related locations by their ids: some viewers show those only so.
std::string messageOf(const diagnose::Finding& finding) {
  std::string text =
      finding.is_for_other_launches ? "for other launches: " + finding.message : finding.message;
  text += '.';
  for (std::size_t i = 0; i < finding.related.size(); ++i)
    text += (i == 0 ? " See: [" : "; [") + linkText(finding.related[i].message) + "](" +
            std::to_string(i + 1) + ")";
  return finding.related.empty() ? text : text + ".";
}

json::Array relatedLocations(const Subject& subject, SarifPlaces& places) {
  json::Array locations;
  for (const diagnose::Related& related : subject.finding.related) {
    json::Object location = places.location(knownPos(places.paths().ownPos(related.stack), subject));
    location["id"] = static_cast<std::int64_t>(locations.size() + 1);
    location["message"] = textObject(related.message);
    locations.push_back(std::move(location));
  }
  return locations;
}

/// Numbers of the steps that are written: all of them, or the first two and the last ones, which explain the
/// conflict.
std::vector<std::size_t> writtenSteps(std::size_t count) {
  constexpr std::size_t kFirst = 2;
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < count; ++i)
    if (count <= kMaxSarifSteps || i < kFirst || i >= count - (kMaxSarifSteps - kFirst)) numbers.push_back(i);
  return numbers;
}

std::string flowMessage(const diagnose::Witness& witness, std::size_t left_out) {
  std::string text = "launch " + witness.launch;
  for (const auto& [name, value] : witness.parameters) text += ", " + name + " = " + value;
  if (!witness.block.empty()) text += ", block " + witness.block;
  if (left_out != 0) text += "; " + std::to_string(left_out) + " steps behind the second one are left out";
  return text;
}

json::Array codeFlows(const Subject& subject, SarifPlaces& places) {
  const std::vector<diagnose::Step>& steps = subject.finding.witness.steps;
  if (steps.empty()) return {};
  const std::vector<std::size_t> written = writtenSteps(steps.size());
  std::vector<std::pair<std::string, json::Array>> flows;  // in the order in which the actors appear
  for (const std::size_t i : written) {
    json::Object location = places.location(knownPos(places.paths().ownPos(steps[i].stack), subject));
    location["message"] = textObject(steps[i].actor + " " + steps[i].text);
    json::Object item{{"location", std::move(location)},
                      {"executionOrder", static_cast<std::int64_t>(i + 1)}};
    if (i + 1 == steps.size()) item["importance"] = "essential";
    auto flow =
        std::find_if(flows.begin(), flows.end(), [&](const auto& f) { return f.first == steps[i].actor; });
    if (flow == flows.end()) flow = flows.insert(flow, {steps[i].actor, {}});
    flow->second.push_back(std::move(item));
  }
  json::Array thread_flows;
  for (auto& [actor, locations] : flows)
    thread_flows.push_back(json::Object{
        {"id", jsonText(actor)}, {"message", textObject(actor)}, {"locations", std::move(locations)}});
  const std::string message = flowMessage(subject.finding.witness, steps.size() - written.size());
  return json::Array{
      json::Object{{"message", textObject(message)}, {"threadFlows", std::move(thread_flows)}}};
}

json::Array fixes(const diagnose::Finding& finding, SarifPlaces& places) {
  if (!isApplicable(finding) || !finding.repair->is_tested) return {};
  json::Array changes = places.changes(*finding.repair);
  if (changes.empty()) return {};
  return json::Array{json::Object{{"description", textObject(finding.repair->description)},
                                  {"artifactChanges", std::move(changes)}}};
}

json::Object properties(const Subject& subject) {
  const diagnose::Finding& finding = subject.finding;
  const diagnose::Witness& witness = finding.witness;
  json::Object object{{"kernel", jsonText(nameOf(subject.kernel))},
                      {"verdict", jsonText(toString(subject.kernel.verdict))}};
  for (const auto& [name, value] : {std::pair<const char*, const std::string&>{"launch", witness.launch},
                                    {"block", witness.block},
                                    {"firstThread", witness.first_thread},
                                    {"secondThread", witness.second_thread},
                                    {"memory", witness.buffer}})
    if (!value.empty()) object[name] = jsonText(value);
  if (finding.severity == diagnose::Severity::kPossible) object["isPossible"] = true;
  if (finding.is_for_other_launches) object["isForOtherLaunches"] = true;
  if (finding.repair && !finding.repair->description.empty())
    object["repair"] = jsonText(finding.repair->description);
  if (!finding.also_in.empty()) {
    json::Array files;
    for (const std::string& name : finding.also_in) files.push_back(jsonText(name));
    object["alsoIn"] = std::move(files);
  }
  if (finding.confirmation) {
    object["gpu"] = jsonText(finding.confirmation->status);
    if (!finding.confirmation->text.empty()) object["gpuSummary"] = jsonText(finding.confirmation->text);
  }
  return object;
}

json::Object resultObject(const Subject& subject, SarifPlaces& places, const SarifOptions& options) {
  const diagnose::Finding& finding = subject.finding;
  json::Object location = places.location(knownPos(places.paths().ownPos(finding.stack), subject), true);
  location["logicalLocations"] = json::Array{
      json::Object{{"fullyQualifiedName", jsonText(nameOf(subject.kernel))}, {"kind", "function"}}};
  json::Object result{{"ruleId", jsonText(finding.rule)},
                      {"level", jsonText(levelOf(finding))},
                      {"message", textObject(messageOf(finding))},
                      {"locations", json::Array{std::move(location)}},
                      {"properties", properties(subject)}};
  if (const std::int64_t index = sarifRuleIndex(finding.rule); index >= 0) result["ruleIndex"] = index;
  if (!finding.fingerprint.empty())
    result["partialFingerprints"] = json::Object{{"handoffFinding/v1", jsonText(finding.fingerprint)}};
  if (json::Array items = relatedLocations(subject, places); !items.empty())
    result["relatedLocations"] = std::move(items);
  if (json::Array items = codeFlows(subject, places); !items.empty()) result["codeFlows"] = std::move(items);
  if (json::Array items = fixes(finding, places); !items.empty()) result["fixes"] = std::move(items);
  if (options.baseline != nullptr)
    result["baselineState"] = options.baseline->contains(finding.fingerprint) ? "unchanged" : "new";
  return result;
}

json::Object suppressionObject(const SetAside& item, SarifPlaces& places) {
  const bool is_in_source = item.by == SetAside::By::kComment;
  const std::string reason = item.reason.empty() ? item.spelling : item.spelling + ": " + item.reason;
  json::Object object{{"kind", is_in_source ? "inSource" : "external"},
                      {"status", "accepted"},
                      {"justification", jsonText(reason)}};
  if (item.pos.isKnown()) object["location"] = places.location(item.pos);
  return object;
}

}  // namespace

void addSarifResults(json::Array& results, const FileReport& file, SarifPlaces& places,
                     const SarifOptions& options) {
  const auto resultFor = [&](const diagnose::Finding& finding, std::size_t kernel, bool is_silenced) {
    json::Object result = resultObject({finding, file.kernels[kernel], file}, places, options);
    // Where one result has the property, its absence from another would mean "unknown" and not "none".
    if (!is_silenced) result["suppressions"] = json::Array{};
    return result;
  };
  for (std::size_t k = 0; k < file.kernels.size(); ++k)
    for (const diagnose::Finding& finding : file.kernels[k].findings)
      if (!finding.is_repeat) results.push_back(resultFor(finding, k, false));
  for (const SetAside& item : file.set_aside) {
    const bool is_silenced = item.by != SetAside::By::kBaseline;
    if (is_silenced && options.omits_silenced) continue;
    json::Object result = resultFor(item.finding, item.kernel, is_silenced);
    if (is_silenced) result["suppressions"] = json::Array{suppressionObject(item, places)};
    results.push_back(std::move(result));
  }
}

}  // namespace handoff::report
