// SPDX-License-Identifier: Apache-2.0
// Counting over reports.
#include "analyzer/report/report.h"

namespace handoff::report {
namespace {

void countKernel(Totals& totals, const diagnose::KernelReport& kernel) {
  using diagnose::Severity;
  using diagnose::Verdict;
  ++totals.kernels;
  if (!kernel.has_async) ++totals.synchronous_kernels;
  switch (kernel.verdict) {
    case Verdict::kVerified:
      ++totals.verified;
      break;
    case Verdict::kBounded:
      ++totals.bounded;
      break;
    case Verdict::kViolation:
      ++totals.violations;
      break;
    case Verdict::kError:
      ++totals.unchecked;
      break;
  }
  for (const diagnose::Finding& finding : kernel.findings) {
    if (finding.is_repeat) continue;  // counted with an earlier file
    if (finding.is_for_other_launches) {
      ++totals.for_other_launches;
      continue;
    }
    switch (finding.severity) {
      case Severity::kError:
        ++totals.errors;
        break;
      case Severity::kWarning:
        ++totals.warnings;
        break;
      case Severity::kPossible:
        ++totals.possible;
        break;
      case Severity::kNote:
        ++totals.notes;
        break;
    }
  }
}

}  // namespace

bool isViolation(const diagnose::Finding& finding) {
  const bool is_certain =
      finding.severity == diagnose::Severity::kError || finding.severity == diagnose::Severity::kWarning;
  return is_certain && !finding.is_for_other_launches;
}

void Totals::add(const FileReport& file) {
  ++files;
  if (file.error) {
    ++failed_files;
    return;
  }
  if (file.kernels.empty()) ++files_without_kernel;
  const std::uint32_t unchecked_before = unchecked;
  for (const diagnose::KernelReport& kernel : file.kernels) countKernel(*this, kernel);
  for (const SetAside& item : file.set_aside) ++(item.by == SetAside::By::kBaseline ? known : silenced);
  if (!file.kernels.empty() && unchecked - unchecked_before == file.kernels.size()) ++files_unchecked;
}

}  // namespace handoff::report
