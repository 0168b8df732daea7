// SPDX-License-Identifier: Apache-2.0
// `handoff check`. Files are analysed by a pool of threads; results are filtered and printed by this thread
// in the order of the inputs, so the output does not depend on -j.
#include "analyzer/cli/check.h"

#include <llvm/Support/ThreadPool.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <future>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <thread>
#include <utility>

#include "analyzer/audit/audit.h"
#include "analyzer/cli/fix.h"
#include "analyzer/cli/given.h"
#include "analyzer/cli/inputs.h"
#include "analyzer/cli/version.h"
#include "analyzer/cli/witness_files.h"
#include "analyzer/diagnose/rule.h"
#include "analyzer/explore/analyze.h"
#include "analyzer/report/glob.h"
#include "analyzer/report/json.h"
#include "analyzer/report/paths.h"
#include "analyzer/report/suppress.h"
#include "analyzer/report/text.h"

namespace handoff::cli {
namespace {

std::vector<explore::Audience> audiencesOf(const frontend::Unit& unit, const explore::Options& options) {
  std::vector<explore::Audience> audiences(options.launches.size() + options.configured.size());
  auto next = audiences.begin();
  for (std::size_t i = 0; i < options.launches.size(); ++i) (next++)->add(unit, "*", options.kernel_filter);
  for (const explore::ConfiguredLaunch& launch : options.configured)
    (next++)->add(unit, launch.kernel_glob, options.kernel_filter);
  return audiences;
}

/// Removes findings of switched-off checks. What they say about the kernel does not vanish with them: it is
/// bounded.
void filterFindings(diagnose::KernelReport& kernel, const report::GlobList& checks) {
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

/// Advice is no defect, whatever the user calls an error: it never changes the exit code.
bool isAdvice(std::string_view rule) {
  const diagnose::RuleInfo* const info = diagnose::findRule(rule);
  return info != nullptr && info->group == "perf";
}

void promoteFindings(diagnose::KernelReport& kernel, const report::GlobList& as_errors) {
  for (diagnose::Finding& finding : kernel.findings) {
    if (!as_errors.contains(finding.rule) || isAdvice(finding.rule)) continue;
    finding.severity = diagnose::Severity::kError;
    if (report::isViolation(finding)) kernel.verdict = diagnose::Verdict::kViolation;
  }
}

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

unsigned jobsFor(const CheckOptions& options, std::size_t files) {
  const unsigned wanted =
      options.jobs != 0 ? options.jobs : std::max(1u, std::thread::hardware_concurrency());
  return static_cast<unsigned>(std::min<std::size_t>(wanted, std::max<std::size_t>(files, 1)));
}

/// Everything between the pool and the exit code.
class Printer {
 public:
  Printer(const CheckOptions& options, WitnessFiles& witnesses, std::ostream& out)
      : options_(options),
        witnesses_(witnesses),
        out_(out),
        paths_(std::filesystem::current_path().string(), toolkitFolders(options)),
        text_{usesColor(options), options.is_quiet, options.show_stats} {}

  void add(CheckedFile checked) {
    report::FileReport& file = checked.report;
    const std::size_t weight = weightOf(file);
    has_internal_ |= checked.is_internal;
    const report::GlobList checks(options_.checks);
    for (diagnose::KernelReport& kernel : file.kernels) {
      if (options_.any_launch)
        for (diagnose::Finding& finding : kernel.findings) finding.is_for_other_launches = false;
      filterFindings(kernel, checks);
      promoteFindings(kernel, report::GlobList(options_.warnings_as_errors));
    }
    if (!file.error) report::applySuppressions(file, paths_, {checks, options_.kernel.empty()}, sources_);
    if (witnesses_.isWanted()) addWitnesses(file);
    totals_.add(file);
    for (const diagnose::KernelReport& kernel : file.kernels)
      if (kernel.verdict != diagnose::Verdict::kVerified) shortfalls_.push_back(shortfall(kernel, paths_));
    if (options_.applies_fixes) fix(file, weight);

    const bool is_shown = options_.format == Format::kText && options_.output.empty();
    if (!is_shown && (file.error || file.kernels.empty()))
      std::cerr << report::renderText(file, paths_, sources_, {.is_quiet = true});
    if (options_.format == Format::kText) {
      out_ << report::renderText(file, paths_, sources_, text_) << std::flush;
    } else {
      report_.files.push_back(std::move(file));
    }
  }

  ExitCode finish() {
    if (options_.format == Format::kText) {
      out_ << report::renderSummary(totals_, text_);
    } else {
      out_ << report::renderJson(report_, paths_, {std::string(kVersion), options_.show_stats});
    }
    out_.flush();
    if (!options_.kernel.empty() && totals_.kernels == 0 && totals_.failed_files == 0)
      std::cerr << "handoff: error: no kernel matches --kernel=" << options_.kernel << "\n";
    if (options_.require == Requirement::kVerified)
      for (const std::string& text : shortfalls_)
        std::cerr << "handoff: error: --require=verified is not met by " << text << "\n";
    if (!out_) {
      std::cerr << "handoff: error: cannot write the report\n";
      return ExitCode::kBadInput;
    }
    const ExitCode code = has_internal_ ? ExitCode::kInternal : exitCodeFor(totals_, options_);
    return has_failed_write_ ? std::max(code, ExitCode::kBadInput) : code;
  }

 private:
  void addWitnesses(report::FileReport& file) {
    const Result<unsigned> done = witnesses_.add(file, paths_);
    if (done) return;
    has_failed_write_ = true;
    std::cerr << toString(done.error()) << "\n";
  }

  void fix(const report::FileReport& file, std::size_t weight) {
    const Result<std::string> done =
        fixFile(file, weight, [&] { return checkFile(file.path, options_).report; });
    if (!done) {
      has_failed_write_ = true;
      std::cerr << toString(done.error()) << "\n";
    } else if (!done->empty()) {
      std::cerr << *done << "\n";
    }
  }

  const CheckOptions& options_;
  WitnessFiles& witnesses_;
  std::ostream& out_;
  report::Paths paths_;
  report::TextOptions text_;
  report::SourceLines sources_;
  report::Report report_;
  report::Totals totals_;
  std::vector<std::string> shortfalls_;  ///< of kernels that are not verified
  bool has_internal_ = false, has_failed_write_ = false;
};

ExitCode fail(const Error& error) {
  if (error.pos.file.empty()) std::cerr << "handoff: ";
  std::cerr << toString(error) << "\n";
  return ExitCode::kBadInput;
}

}  // namespace

explore::Options exploreOptions(const CheckOptions& options, const config::Config& config) {
  explore::Options result;
  const config::Budget& budget = config.budget;
  result.max_seconds = options.max_seconds.value_or(budget.seconds.value_or(result.max_seconds));
  result.max_paths = options.max_paths.value_or(budget.paths.value_or(result.max_paths));
  result.max_memory_mb = options.max_memory_mb.value_or(budget.memory_mb.value_or(result.max_memory_mb));
  result.kernel_filter = options.kernel;
  result.launches = options.launches;
  result.any_launch = options.any_launch;
  result.makes_jobs = !options.witness_folder.empty() || !options.confirm_results.empty();
  for (const config::Launch& launch : config.launches)
    result.configured.push_back({launch.kernel, launch.launch, launch.pos});
  return result;
}

bool usesColor(const CheckOptions& options) {
  if (options.color != Color::kAuto) return options.color == Color::kAlways;
  const char* no_color = std::getenv("NO_COLOR");
  return options.output.empty() && (no_color == nullptr || *no_color == '\0') && isatty(STDOUT_FILENO) == 1;
}

std::vector<std::string> toolkitFolders(const CheckOptions& options) {
  std::vector<std::string> folders = {options.frontend.cuda_path};
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* value = std::getenv(variable)) folders.emplace_back(value);
  return folders;
}

namespace {

/// Advice takes runs of its own, so it is looked for only when it is asked for.
bool wantsAdvice(const CheckOptions& options) {
  const report::GlobList checks(options.checks);
  const auto rules = diagnose::rules();
  return std::any_of(rules.begin(), rules.end(),
                     [&](const diagnose::RuleInfo& rule) { return isAdvice(rule.name) && checks.contains(rule.name); });
}

void addAdvice(const frontend::Unit& unit, const explore::Options& options,
               std::vector<diagnose::KernelReport>& kernels) {
  for (audit::KernelAudit& audited : audit::audit(unit, options))
    for (diagnose::KernelReport& kernel : kernels)
      if (kernel.name == audited.name)
        std::move(audited.advice.begin(), audited.advice.end(), std::back_inserter(kernel.findings));
}

}  // namespace

CheckedFile checkFile(const std::string& file, const CheckOptions& options, const config::Config& config) {
  CheckedFile result;
  result.report.path = file;
  try {
    Result<frontend::Unit> unit = frontend::load(file, options.frontend);
    if (!unit) {
      result.report.error = unit.error();
      return result;
    }
    result.report.frontend = frontend::toString(unit->producer);
    result.report.notes = unit->notes;
    if (unit->used_bundled_headers)
      result.report.notes.push_back(
          {"no CUDA toolkit was found; declarations that come with handoff were used", {file, 0, 0}});
    result.report.produce_seconds = unit->produce_seconds;
    result.report.parse_seconds = unit->parse_seconds;
    const explore::Options explore_options = exploreOptions(options, config);
    result.audiences = audiencesOf(*unit, explore_options);
    if (std::vector<Error> mistakes = explore::commentMistakes(*unit); !mistakes.empty()) {
      // A launch that is not the one that was meant proves nothing.
      result.report.error = mistakes.front();
      result.report.more_errors.assign(mistakes.begin() + 1, mistakes.end());
      return result;
    }
    result.report.kernels = explore::analyze(*unit, explore_options);
    if (wantsAdvice(options)) addAdvice(*unit, explore_options, result.report.kernels);
  } catch (const std::exception& fault) {
    result.report.error = Error{std::string("internal error: ") + fault.what(), {file, 0, 0}};
    result.is_internal = true;
  }
  return result;
}

ExitCode exitCodeFor(const report::Totals& totals, const CheckOptions& options) {
  const bool requires_checked = options.require != Requirement::kNone;
  if (totals.failed_files != 0 || totals.files_unchecked != 0) return ExitCode::kBadInput;
  if (requires_checked && (totals.files_without_kernel != 0 || totals.unchecked != 0))
    return ExitCode::kBadInput;
  if (!options.kernel.empty() && totals.kernels == 0) return ExitCode::kBadInput;
  if (options.exits_zero) return ExitCode::kNothingFound;
  if (totals.errors + totals.warnings != 0) return ExitCode::kFindings;
  if (options.require == Requirement::kVerified && totals.bounded != 0) return ExitCode::kFindings;
  return ExitCode::kNothingFound;
}

ExitCode runCheck(const CheckOptions& options) {
  const Result<std::vector<std::string>> files = expandInputs(options);
  if (!files) return fail(files.error());
  const Result<Configurations> configurations = Configurations::forFiles(*files);
  if (!configurations) return fail(configurations.error());

  Result<WitnessFiles> witnesses = WitnessFiles::open(options.witness_folder, options.confirm_results);
  if (!witnesses) return fail(witnesses.error());

  std::ofstream output;
  if (!options.output.empty()) {
    output.open(options.output);
    if (!output) return fail({"cannot write to the file given with --output", {options.output, 0, 0}});
  }
  Printer printer(options, *witnesses, options.output.empty() ? std::cout : output);

  llvm::DefaultThreadPool pool(llvm::hardware_concurrency(jobsFor(options, files->size())));
  std::vector<std::shared_future<std::shared_ptr<CheckedFile>>> results;
  results.reserve(files->size());
  for (const std::string& file : *files)
    results.push_back(pool.async([&options, &file, &config = configurations->of(file)] {
      return std::make_shared<CheckedFile>(checkFile(file, options, config));
    }));
  GivenLaunches given(options);
  for (std::size_t i = 0; i < results.size(); ++i) {
    const std::shared_ptr<CheckedFile> checked = results[i].get();
    given.add(checked->audiences, configurations->of((*files)[i]));
    printer.add(std::move(*checked));
    results[i] = {};  // a report is printed once and may be large
  }
  const ExitCode code = printer.finish();
  const bool is_given_right = given.reportMistakes();
  return is_given_right ? code : std::max(code, ExitCode::kBadInput);
}

}  // namespace handoff::cli
