// SPDX-License-Identifier: Apache-2.0
// The reports of `handoff audit`, for people and for programs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/audit/audit_report.h"
#include "analyzer/audit/sass.h"
#include "analyzer/report/json.h"
#include "analyzer/report/paths.h"
#include "analyzer/report/source_lines.h"
#include "analyzer/report/text.h"

namespace handoff::report {

struct AuditedFile {
  std::string path;      ///< as the user named it
  std::string frontend;  ///< "clang", "nvcc", "ptx"; empty when there is machine code only
  std::vector<audit::KernelAudit> kernels;
  std::vector<Error> notes;
  std::optional<Error> error;                           ///< why there is no audit
  std::optional<std::vector<audit::SassFunction>> sass; ///< with --cubin
};

/// What was counted over one or many files.
struct AuditTotals {
  std::uint32_t files = 0, failed_files = 0, kernels = 0, failed_kernels = 0;
  std::uint32_t calls = 0, plain_calls = 0, advice = 0;

  void add(const AuditedFile& file);
};

std::string renderAudit(const AuditedFile& file, const Paths& paths, SourceLines& sources, const TextOptions& options);
std::string renderAuditSummary(const AuditTotals& totals);
std::string renderAuditJson(const std::vector<AuditedFile>& files, const Paths& paths, const JsonOptions& options);

/// The function of the machine code that is this kernel; null when there is none.
const audit::SassFunction* sassOf(const AuditedFile& file, const audit::KernelAudit& kernel);

}  // namespace handoff::report
