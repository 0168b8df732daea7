// SPDX-License-Identifier: Apache-2.0
#include "analyzer/explore/consequences.h"

#include <algorithm>
#include <string_view>

namespace handoff::explore {

// A thread that goes on too early also arrives too early, in whatever run that shows.
void dropConsequences(diagnose::KernelReport& report) {
  const auto isCause = [](const diagnose::Finding& finding) {
    static constexpr std::string_view kCauses[] = {"wrong-parity", "tx-count-mismatch", "uninitialized-barrier"};
    const bool is_missing_wait = finding.rule == "missing-wait" || finding.rule == "barrier-only-handoff";
    const bool is_cause = (is_missing_wait && finding.is_use_in_flight) ||
                          std::find(std::begin(kCauses), std::end(kCauses), finding.rule) != std::end(kCauses);
    return finding.severity == diagnose::Severity::kError && is_cause;
  };
  bool has_own_cause = false, has_cause = false;
  for (const diagnose::Finding& finding : report.findings) {
    if (!isCause(finding)) continue;
    has_cause = true;
    has_own_cause |= !finding.is_for_other_launches;
  }
  // What other launches bring about is no reason for what the file's own show.
  std::erase_if(report.findings, [&](const diagnose::Finding& finding) {
    return finding.may_follow && (finding.is_for_other_launches ? has_cause : has_own_cause);
  });
}

}  // namespace handoff::explore
