// SPDX-License-Identifier: Apache-2.0
// NOLINT comments: `// NOLINT(handoff-missing-wait)`, NOLINTNEXTLINE, NOLINTBEGIN and NOLINTEND.
//
// Only names that start with "handoff-" are ours (globs are allowed: handoff-*). A bare NOLINT silences
// nothing here: it was written for another tool, and a race must not vanish because of it. Comments are read
// from the source lines rather than from a front end, so that they work alike for Clang, nvcc and PTX. Text
// behind the parentheses is the reason, and goes into the reports: `// NOLINT(handoff-hang): the host sets
// the flag`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/report/glob.h"
#include "analyzer/report/paths.h"
#include "analyzer/report/report.h"
#include "analyzer/report/source_lines.h"

namespace handoff::report {

/// One comment, or one BEGIN/END pair, with the lines that it covers.
struct Suppression {
  SourcePos pos;                        ///< where the comment stands; without a file
  std::uint32_t first = 0, last = 0;    ///< lines that it silences
  std::vector<std::string> rule_globs;  ///< without "handoff-"
  std::string spelling;                 ///< "NOLINTNEXTLINE(handoff-hang)", for messages
  std::string reason;                   ///< what stands behind it
  bool is_used = false;

  bool covers(std::uint32_t number, std::string_view rule) const;
};

struct SuppressionList {
  std::vector<Suppression> items;
  std::vector<Error> problems;  ///< unknown rules, BEGIN without END; positions without a file
};

/// Reads the comments of one file.
SuppressionList readSuppressions(const std::vector<std::string>& lines);

/// Moves silenced findings to `set_aside`, adjusts verdicts (a kernel with a silenced finding is at best
/// `bounded`, with a limit that names the comment), and adds notes for problems and for comments that silence
/// nothing. A comment in a header is never called unused: another file may need it.
struct SuppressOptions {
  GlobList checks = {};       ///< rules that are switched on; a comment about others is not called unused
  bool is_whole_file = true;  ///< false: kernels were left out, so unused comments are not reported
};
void applySuppressions(FileReport& file, const Paths& paths, const SuppressOptions& options,
                       SourceLines& sources);

/// The verdict that the remaining findings justify: one that none of them makes a violation becomes bounded,
/// with `reason` as a limit.
void dropFindings(diagnose::KernelReport& kernel, std::vector<diagnose::Finding> remaining,
                  diagnose::Limit reason);

}  // namespace handoff::report
