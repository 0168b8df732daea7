// SPDX-License-Identifier: Apache-2.0
// Matching findings with suppressions.
#include "analyzer/project/suppressions.h"

#include <algorithm>
#include <filesystem>

#include "analyzer/diagnose/rule.h"
#include "analyzer/explore/configured.h"
#include "analyzer/report/glob.h"
#include "analyzer/report/suppress.h"
#include "analyzer/support/text.h"

namespace handoff::project {
namespace {

namespace fs = std::filesystem;

/// As a glob of the configuration speaks of it.
std::string relativeTo(const std::string& config, const std::string& file) {
  std::error_code failed;
  const fs::path folder = fs::weakly_canonical(fs::absolute(config, failed).parent_path(), failed);
  return fs::weakly_canonical(file, failed).lexically_relative(folder).generic_string();
}

bool holdsFor(const config::Suppression& item, const diagnose::Finding& finding,
              const diagnose::KernelReport& kernel, const report::Paths& paths) {
  if (!matchesGlob(finding.rule, item.rule)) return false;
  if (!explore::isKernelCalled(item.kernel, kernel.name, kernel.pretty)) return false;
  if (item.file == "*") return true;
  return std::any_of(finding.stack.begin(), finding.stack.end(), [&](const SourceFrame& frame) {
    return frame.pos.isKnown() && paths.isUserFile(frame.pos.file) &&
           matchesGlob(relativeTo(item.pos.file, frame.pos.file), item.file);
  });
}

}  // namespace

void applySuppressions(report::FileReport& file, const std::vector<config::Suppression>& suppressions,
                       const report::Paths& paths, UsedSuppressions& used) {
  if (suppressions.empty()) return;
  for (std::size_t k = 0; k < file.kernels.size(); ++k) {
    diagnose::KernelReport& kernel = file.kernels[k];
    std::vector<diagnose::Finding> remaining;
    std::vector<diagnose::Limit> silenced;
    for (diagnose::Finding& finding : kernel.findings) {
      const auto item =
          std::find_if(suppressions.begin(), suppressions.end(), [&](const config::Suppression& suppression) {
            return holdsFor(suppression, finding, kernel, paths);
          });
      if (item == suppressions.end()) {
        remaining.push_back(std::move(finding));
        continue;
      }
      used.insert({item->pos.file, item->pos.line});
      const bool counts = finding.severity != diagnose::Severity::kNote && !finding.is_for_other_launches;
      if (counts)
        silenced.push_back(
            {"a finding of " + finding.rule + " is silenced by a suppression: " + item->reason, item->pos});
      file.set_aside.push_back(
          {k, std::move(finding), report::SetAside::By::kConfig, item->rule, item->reason, item->pos});
    }
    kernel.findings = remaining;
    for (diagnose::Limit& limit : silenced) report::dropFindings(kernel, kernel.findings, std::move(limit));
  }
}

std::vector<Error> unusedSuppressions(const config::Config& config, const std::string& checks,
                                      const UsedSuppressions& used) {
  const report::GlobList switched_on(checks);
  std::vector<Error> unused;
  for (const config::Suppression& item : config.suppressions) {
    const auto rules = diagnose::rules();
    const bool can_fire = std::any_of(rules.begin(), rules.end(), [&](const diagnose::RuleInfo& rule) {
      return matchesGlob(rule.name, item.rule) && switched_on.contains(rule.name);
    });
    if (can_fire && used.count({item.pos.file, item.pos.line}) == 0)
      unused.push_back({"the suppression of " + item.rule + " silences nothing", item.pos});
  }
  return unused;
}

}  // namespace handoff::project
