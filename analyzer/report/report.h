// SPDX-License-Identifier: Apache-2.0
// What all reporters read: one FileReport an input, in the order in which the user named them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/diagnose/finding.h"
#include "analyzer/support/result.h"

namespace handoff::report {

/// A finding that was taken out of the report, and why. It is remembered, so that nothing vanishes silently.
struct SetAside {
  enum class By : std::uint8_t {
    kComment,   ///< a NOLINT comment
    kConfig,    ///< a suppression of .handoff.yaml
    kBaseline,  ///< it was there before
  };
  std::size_t kernel = 0;  ///< number in FileReport::kernels
  diagnose::Finding finding;
  By by = By::kComment;
  std::string spelling;  ///< what takes it out, as written: "NOLINT(handoff-hang)"; empty for a baseline
  std::string reason;    ///< what the user says about it; may be empty
  SourcePos pos;         ///< of the comment or the entry; unknown for a baseline
};

struct FileReport {
  std::string path;      ///< as the user named it
  std::string frontend;  ///< "clang", "nvcc", "ptx"; empty when the file could not be loaded
  std::vector<diagnose::KernelReport> kernels;
  std::vector<SetAside> set_aside;  ///< in the order of the kernels
  std::vector<Error> notes;        ///< what the user should know about this input; no failure
  std::optional<Error> error;      ///< why the file could not be loaded
  std::vector<Error> more_errors;  ///< after `error`: what else is wrong with it
  double produce_seconds = 0;      ///< from the input to PTX text
  double parse_seconds = 0;        ///< from PTX text to the module
};

/// Does the finding by itself make a violation of its kernel?
bool isViolation(const diagnose::Finding& finding);

/// Counts over one or many files.
struct Totals {
  std::uint32_t files = 0, failed_files = 0, files_without_kernel = 0, files_unchecked = 0;
  std::uint32_t kernels = 0, synchronous_kernels = 0;  ///< without any asynchronous operation
  std::uint32_t verified = 0, bounded = 0, violations = 0, unchecked = 0;
  std::uint32_t errors = 0, warnings = 0, possible = 0, notes = 0;  ///< findings by severity
  std::uint32_t for_other_launches = 0;                             ///< findings that are not among them
  std::uint32_t silenced = 0, known = 0;  ///< taken out by comments and configuration, and by a baseline

  void add(const FileReport& file);
};

/// A finding that several files of a run have, at the first of them.
struct Repeat {
  std::size_t file = 0, kernel = 0, finding = 0;  ///< indices, files in the order of the report
  std::string rule;
  SourcePos pos;
  std::vector<std::string> files;  ///< as they are printed, the first one too
};

/// What is known once all files have been read.
struct RunEnd {
  Totals totals;
  int exit_code = 0;                         ///< of the process
  std::vector<Repeat> repeats;
  std::vector<Error> notes;        ///< about the run rather than one file: suppressions that silence nothing
  std::uint32_t recalled_files = 0;  ///< that were not analysed again, as nothing had changed
  bool is_interrupted = false;               ///< by the user: what is reported is not all
  std::vector<std::string> unchecked_files;  ///< that an interrupted run did not come to, or not to the end of
};

struct Report {
  std::vector<FileReport> files;
  RunEnd end;
};

}  // namespace handoff::report
