// SPDX-License-Identifier: Apache-2.0
// From analysed files to the output and the exit code.
#include "analyzer/cli/reporter.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <utility>

#include "analyzer/cli/check.h"
#include "analyzer/cli/fix.h"
#include "analyzer/project/suppressions.h"
#include "analyzer/report/text.h"

namespace handoff::cli {
namespace {

/// Why --require=verified is not met: "k() is bounded: no launch fixes 'n' (a.cu:3)".
std::string shortfall(const diagnose::KernelReport& kernel, const report::Paths& paths) {
  std::string text = (kernel.pretty.empty() ? kernel.name : kernel.pretty) + ": " +
                     std::string(diagnose::toString(kernel.verdict)) + ": ";
  SourcePos pos;
  const auto finding = std::find_if(kernel.findings.begin(), kernel.findings.end(), report::isViolation);
  if (finding != kernel.findings.end()) {
    text += finding->message;
    pos = paths.ownPos(finding->stack);
  } else if (!kernel.limits.empty()) {
    text += kernel.limits.front().reason;
    pos = kernel.limits.front().pos;
  } else {
    text += kernel.error.empty() ? "no limit is named" : kernel.error;
  }
  return pos.isKnown() ? text + " (" + paths.shorten(pos.file) + ":" + std::to_string(pos.line) + ")" : text;
}

}  // namespace

Reporter::Reporter(const CheckOptions& options, RunFiles& files, std::ostream& out, project::Memory* memory, Output* output)
    : options_(options),
      files_(files),
      out_(out),
      memory_(memory),
      paths_(std::filesystem::current_path().string(), toolkitFolders(options)),
      own_output_(output != nullptr
                      ? nullptr
                      : makeOutput(options.format, {options_, out_, paths_, sources_, files.baseline()})),
      output_(output != nullptr ? output : own_output_.get()) {
  files_.start(paths_, sources_);
}

void Reporter::add(project::CheckedFile checked, const project::Settings& settings) {
  report::FileReport& file = checked.report;
  if (checked.is_cancelled) {
    end_.is_interrupted = true;
    end_.unchecked_files.push_back(paths_.shorten(file.path));
    if (file.error) return;  // nothing is known of it
  }
  if (checked.is_recalled) ++end_.recalled_files;
  const std::size_t weight = weightOf(file);
  has_internal_ |= checked.is_internal;
  project::filterReport(file, settings, paths_, sources_, &used_suppressions_);
  if (files_.baseline() != nullptr) report::applyBaseline(file, *files_.baseline(), paths_);
  repeats_.mark(file, paths_);
  if (files_.witnesses().isWanted()) addWitnesses(file);
  end_.totals.add(file);
  for (const diagnose::KernelReport& kernel : file.kernels)
    if (kernel.verdict != diagnose::Verdict::kVerified) shortfalls_.push_back(shortfall(kernel, paths_));
  files_.add(file, paths_, sources_);
  if (options_.applies_fixes && !checked.is_cancelled) fix(file, weight, settings);

  const bool is_seen = output_->isForPeople() && options_.output.empty();
  if (!is_seen && (file.error || file.kernels.empty()))
    std::cerr << report::renderText(file, paths_, sources_, {.is_quiet = true});
  output_->add(std::move(file));
}

void Reporter::addUnusedSuppressions(const Configurations& configurations) {
  if (end_.is_interrupted) return;
  for (const auto& [config, settings] : configurations.all())
    for (Error& error : project::unusedSuppressions(*config, settings->checks, used_suppressions_))
      end_.notes.push_back(std::move(error));
}

ExitCode Reporter::finish(ExitCode at_least) {
  const ExitCode found = has_internal_ ? ExitCode::kInternal : exitCodeFor(end_.totals, options_);
  ExitCode code = std::max({found, at_least, has_failed_write_ ? ExitCode::kBadInput : ExitCode::kNothingFound});
  if (end_.is_interrupted) code = ExitCode::kInterrupted;
  end_.exit_code = static_cast<int>(code);
  end_.repeats = repeats_.repeats();
  output_->finish(end_);
  out_.flush();
  for (const Error& error : files_.finish(end_)) {
    code = std::max(code, ExitCode::kBadInput);
    std::cerr << toString(error) << "\n";
  }
  printFailures();
  if (!out_) {
    code = std::max(code, ExitCode::kBadInput);
    std::cerr << "handoff: error: cannot write the report\n";
  }
  return code;
}

void Reporter::printFailures() {
  if (!options_.kernel.empty() && end_.totals.kernels == 0 && end_.totals.failed_files == 0)
    std::cerr << "handoff: error: no kernel matches --kernel=" << options_.kernel << "\n";
  if (options_.require != Requirement::kVerified) return;
  for (const std::string& text : shortfalls_)
    std::cerr << "handoff: error: --require=verified is not met by " << text << "\n";
}

void Reporter::addWitnesses(report::FileReport& file) {
  const Result<unsigned> done = files_.witnesses().add(file, paths_);
  if (done) return;
  has_failed_write_ = true;
  std::cerr << toString(done.error()) << "\n";
}

void Reporter::fix(const report::FileReport& file, std::size_t weight, const project::Settings& settings) {
  const Result<std::string> done =
      fixFile(file, weight, [&] { return project::checkFile(file.path, settings, memory_).report; });
  if (!done) {
    has_failed_write_ = true;
    std::cerr << toString(done.error()) << "\n";
  } else if (!done->empty()) {
    std::cerr << *done << "\n";
  }
}

}  // namespace handoff::cli
