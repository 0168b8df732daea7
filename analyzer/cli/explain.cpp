// SPDX-License-Identifier: Apache-2.0
// Rule pages and the list of checks.
#include "analyzer/cli/explain.h"

#include <algorithm>
#include <vector>

#include "analyzer/cli/options.h"
#include "analyzer/cli/rule_pages.h"
#include "analyzer/diagnose/rule.h"
#include "analyzer/report/glob.h"
#include "analyzer/report/text_writer.h"
#include "analyzer/support/text.h"

namespace handoff::cli {

std::optional<std::string_view> rulePage(std::string_view rule) {
  if (rule.starts_with("handoff-")) rule.remove_prefix(8);
  for (const RulePage& page : rulePages())
    if (page.rule == rule) return page.text;
  return std::nullopt;
}

std::string listChecks(std::string_view checks) {
  const report::GlobList list(checks);
  std::size_t width = 0;
  for (const diagnose::RuleInfo& rule : diagnose::rules()) width = std::max(width, rule.name.size());
  std::string text;
  for (const diagnose::RuleInfo& rule : diagnose::rules()) {
    if (!list.contains(rule.name)) continue;
    std::string name(rule.name);
    name.resize(width + 2, ' ');
    std::string severity(report::toString(rule.severity));
    severity.resize(9, ' ');
    text += name + severity + std::string(rule.summary) + "\n";
  }
  return text;
}

std::string unknownRule(std::string_view name) {
  std::vector<std::string_view> names;
  for (const diagnose::RuleInfo& rule : diagnose::rules()) names.push_back(rule.name);
  return "no rule is called '" + std::string(name) + "'" + suggestion(name, names);
}

}  // namespace handoff::cli
