// SPDX-License-Identifier: Apache-2.0
// What the SARIF log says about Handoff itself: every rule, fired or not, and every kind of notification.
#include <llvm/ADT/StringExtras.h>

#include <cctype>
#include <utility>

#include "analyzer/diagnose/rule.h"
#include "analyzer/report/json_text.h"
#include "analyzer/report/sarif_parts.h"

namespace handoff::report {

namespace json = llvm::json;

namespace {

constexpr std::pair<std::string_view, std::string_view> kNotices[] = {
    {"input", "an input could not be read, compiled or checked"},
    {"note", "what a reader of the report should know about an input"},
    {"bounded", "what keeps a kernel from being verified: findings beyond this limit may be missing"},
    {"unchecked", "a kernel that was not checked"},
    {"interrupted", "the run was interrupted, and the report is not complete"},
};

json::Object textObject(std::string_view text) { return json::Object{{"text", jsonText(text)}}; }

/// "MissingWait" of "missing-wait".
std::string upperCamel(std::string_view rule) {
  std::string name;
  bool is_first = true;
  for (const char c : rule) {
    if (c != '-') name += is_first ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    is_first = c == '-';
  }
  return name;
}

std::string sentence(std::string_view text) {
  std::string result(text);
  if (!result.empty()) result[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(result[0])));
  return result + ".";
}

/// Links between the pages lead nowhere from a log, so that only their words are left.
std::string withoutRelativeLinks(std::string_view page) {
  std::string text;
  for (std::size_t at = 0; at < page.size();) {
    const std::size_t open = page.find('[', at);
    const std::size_t middle = open == std::string_view::npos ? open : page.find("](", open);
    const std::size_t close = middle == std::string_view::npos ? middle : page.find(')', middle);
    if (close == std::string_view::npos) return text.append(page.substr(at));
    const std::string_view words = page.substr(open + 1, middle - open - 1);
    const std::string_view target = page.substr(middle + 2, close - middle - 2);
    const bool is_link =
        words.find_first_of("[]\n") == std::string_view::npos && target.find(".md") != std::string_view::npos;
    const bool leads_to_folder = is_link || target.starts_with("../");
    if (!leads_to_folder || target.find("://") != std::string_view::npos) {
      text.append(page.substr(at, open + 1 - at));
      at = open + 1;
      continue;
    }
    text.append(page.substr(at, open - at)).append(words);
    at = close + 1;
  }
  return text;
}

std::string_view levelOf(diagnose::Severity severity) {
  switch (severity) {
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

json::Object ruleObject(const diagnose::RuleInfo& rule, const SarifOptions& options) {
  const std::string description =
      sentence(rule.summary) + " It rests on the PTX ISA: " + std::string(rule.reference) + ".";
  json::Object help = textObject(description + " `handoff explain " + std::string(rule.name) +
                                 "` prints the page of this rule.");
  if (options.rule_page)
    if (const std::optional<std::string_view> page = options.rule_page(rule.name))
      help["markdown"] = jsonText(withoutRelativeLinks(*page));
  const std::string_view level = levelOf(rule.severity);
  json::Object configuration{{"level", jsonText(level)}};
  if (rule.group == "perf") configuration["enabled"] = false;
  json::Object object{
      {"id", jsonText(rule.name)},
      {"shortDescription", textObject(sentence(rule.summary))},
      {"fullDescription", textObject(description)},
      {"help", std::move(help)},
      {"defaultConfiguration", std::move(configuration)},
      {"properties",
       json::Object{{"tags", json::Array{"cuda", "concurrency", jsonText(rule.group)}},
                    {"precision", level == "error" ? "very-high" : "high"},
                    {"problem.severity", jsonText(level == "note" ? "recommendation" : level)}}}};
  // A name that is the id in other letters is against the standard.
  if (rule.name.find('-') != std::string_view::npos) object["name"] = upperCamel(rule.name);
  if (!options.docs_uri.empty())
    object["helpUri"] = options.docs_uri + "/rules/" + std::string(rule.name) + ".md";
  return object;
}

}  // namespace

json::Object sarifDriver(const SarifOptions& options) {
  json::Array rules, notices;
  for (const diagnose::RuleInfo& rule : diagnose::rules()) rules.push_back(ruleObject(rule, options));
  for (const auto& [id, text] : kNotices)
    notices.push_back(json::Object{{"id", jsonText(id)},
                                   {"shortDescription", textObject(sentence(text))},
                                   {"fullDescription", textObject(sentence(text))},
                                   {"help", textObject("docs/verdicts.md says what limits a verdict.")}});
  json::Object driver{{"name", "handoff"},
                      {"fullName", "Handoff, a static verifier of asynchronous copies in CUDA kernels"},
                      {"rules", std::move(rules)},
                      {"notifications", std::move(notices)}};
  if (!options.tool_version.empty()) {
    driver["version"] = jsonText(options.tool_version);
    driver["semanticVersion"] = jsonText(options.tool_version);
  }
  if (!options.docs_uri.empty()) driver["informationUri"] = options.docs_uri + "/quickstart.md";
  return driver;
}

std::int64_t sarifRuleIndex(std::string_view rule) {
  std::int64_t index = 0;
  for (const diagnose::RuleInfo& info : diagnose::rules()) {
    if (info.name == rule) return index;
    ++index;
  }
  return -1;
}

json::Object sarifNotice(SarifNotice notice) {
  const auto index = static_cast<std::size_t>(notice);
  return json::Object{{"id", jsonText(kNotices[index].first)}, {"index", static_cast<std::int64_t>(index)}};
}

}  // namespace handoff::report
