// SPDX-License-Identifier: Apache-2.0
// Checks that are switched off, comments that silence, warnings that count as errors.
#include <algorithm>
#include <map>

#include "analyzer/diagnose/rule.h"
#include "analyzer/project/check_file.h"
#include "analyzer/project/suppressions.h"
#include "analyzer/report/fingerprint.h"
#include "analyzer/report/glob.h"
#include "analyzer/report/suppress.h"

namespace handoff::project {
namespace {

/// Removes findings of switched-off checks. What they say about the kernel does not vanish with them: it is
/// bounded.
void dropSwitchedOff(diagnose::KernelReport& kernel, const report::GlobList& checks) {
  std::vector<diagnose::Finding> remaining;
  std::map<std::string, unsigned> dropped;
  for (diagnose::Finding& finding : kernel.findings) {
    if (checks.contains(finding.rule)) {
      remaining.push_back(std::move(finding));
    } else if (finding.severity != diagnose::Severity::kNote && !finding.is_for_other_launches) {
      ++dropped[finding.rule];
    }
  }
  kernel.findings = remaining;
  for (const auto& [rule, count] : dropped) {
    const std::string reason = std::to_string(count) + (count == 1 ? " finding" : " findings") + " of " +
                               rule + " not shown: the check is switched off";
    report::dropFindings(kernel, remaining, {reason, kernel.pos});
  }
}

void promote(diagnose::KernelReport& kernel, const report::GlobList& as_errors) {
  for (diagnose::Finding& finding : kernel.findings) {
    if (!as_errors.contains(finding.rule) || isAdvice(finding.rule)) continue;
    finding.severity = diagnose::Severity::kError;
    if (report::isViolation(finding)) kernel.verdict = diagnose::Verdict::kViolation;
  }
}

}  // namespace

bool isAdvice(std::string_view rule) {
  const diagnose::RuleInfo* const info = diagnose::findRule(rule);
  return info != nullptr && info->group == "perf";
}

void filterReport(report::FileReport& file, const Settings& settings, const report::Paths& paths,
                  report::SourceLines& sources, UsedSuppressions* used) {
  const report::GlobList checks(settings.checks);
  report::addFingerprints(file, paths, sources);
  for (diagnose::KernelReport& kernel : file.kernels) {
    if (settings.explore.any_launch)
      for (diagnose::Finding& finding : kernel.findings) finding.is_for_other_launches = false;
    dropSwitchedOff(kernel, checks);
    promote(kernel, report::GlobList(settings.warnings_as_errors));
  }
  if (file.error) return;
  report::applySuppressions(file, paths, {checks, settings.explore.kernel_filter.empty()}, sources);
  UsedSuppressions unasked;
  applySuppressions(file, settings.suppressions, paths, used != nullptr ? *used : unasked);
}

}  // namespace handoff::project
