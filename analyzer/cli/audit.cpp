// SPDX-License-Identifier: Apache-2.0
// `handoff audit`. As in `handoff check`, a pool of threads does the work, and this thread prints in the order of the
// inputs.
#include "analyzer/cli/audit.h"

#include <llvm/Support/ThreadPool.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <fstream>
#include <future>
#include <iostream>
#include <memory>
#include <thread>

#include "analyzer/audit/audit.h"
#include "analyzer/cli/check.h"
#include "analyzer/cli/fail.h"
#include "analyzer/cli/settings.h"
#include "analyzer/cli/version.h"
#include "analyzer/diagnose/names.h"
#include "analyzer/project/units.h"
#include "analyzer/report/suppress.h"

namespace handoff::cli {
namespace {

// NOLINT comments silence advice as they silence findings; that they silence nothing is for the check to say.
void silence(report::AuditedFile& file, const report::Paths& paths, report::SourceLines& sources) {
  report::FileReport as_report;
  as_report.path = file.path;
  for (audit::KernelAudit& kernel : file.kernels) {
    diagnose::KernelReport& report = as_report.kernels.emplace_back();
    report.name = kernel.name;
    report.findings = std::move(kernel.advice);
  }
  const report::GlobList rules("perf-*");
  report::applySuppressions(as_report, paths, {rules, /*is_whole_file=*/false}, sources);
  for (std::size_t i = 0; i < file.kernels.size(); ++i) file.kernels[i].advice = std::move(as_report.kernels[i].findings);
}

void readMachineCode(report::AuditedFile& file, const CheckOptions& options, const project::Settings& settings) {
  const Result<std::string> text = frontend::loadSass(file.path, settings.frontend);
  if (!text) {
    file.error = text.error();
    return;
  }
  file.sass = audit::parseSass(*text);
  std::erase_if(*file.sass, [&](const audit::SassFunction& function) {
    return !diagnose::isNamed(function.name, options.kernel);
  });
}

}  // namespace

report::AuditedFile auditFile(const std::string& file, const CheckOptions& options, const project::Settings& settings) {
  report::AuditedFile result;
  result.path = file;
  try {
    if (options.reads_machine_code) readMachineCode(result, options, settings);
    if (result.error || file.ends_with(".cubin")) {
      if (!result.error && !result.sass) result.error = Error{"a cubin is machine code: audit it with --cubin", {file, 0, 0}};
      return result;
    }
    Result<frontend::Unit> unit = frontend::load(file, settings.frontend);
    if (!unit) {
      result.error = unit.error();
      return result;
    }
    result.frontend = frontend::toString(unit->producer);
    result.notes = unit->notes;
    if (unit->used_bundled_headers)
      result.notes.push_back({"no CUDA toolkit was found; declarations that come with handoff were used", {file, 0, 0}});
    if (const std::vector<Error> mistakes = explore::commentMistakes(*unit); !mistakes.empty()) {
      result.error = mistakes.front();
      return result;
    }
    result.kernels = audit::audit(*unit, settings.explore);
    for (audit::KernelAudit& kernel : result.kernels)
      if (const audit::SassFunction* sass = report::sassOf(result, kernel)) audit::adviseOnSass(kernel, *sass);
  } catch (const std::exception& fault) {
    result.error = Error{std::string("internal error: ") + fault.what(), {file, 0, 0}};
  }
  return result;
}

ExitCode runAudit(const CheckOptions& options) {
  const auto units = project::selectUnits(options.inputs, options.frontend);
  if (!units) return fail(units.error());
  std::vector<std::string> files;
  for (const project::TranslationUnit& unit : *units) files.push_back(unit.file);
  const Result<Configurations> configurations = Configurations::forFiles(files, options);
  if (!configurations) return fail(configurations.error());
  std::ofstream output;
  if (!options.output.empty()) {
    output.open(options.output);
    if (!output) return fail({"cannot write to the file given with --output", {options.output, 0, 0}});
  }
  std::ostream& out = options.output.empty() ? std::cout : output;

  const unsigned wanted = options.jobs != 0 ? options.jobs : std::max(1u, std::thread::hardware_concurrency());
  llvm::DefaultThreadPool pool(llvm::hardware_concurrency(std::min<unsigned>(wanted, static_cast<unsigned>(std::max<std::size_t>(units->size(), 1)))));
  std::vector<std::shared_future<std::shared_ptr<report::AuditedFile>>> results;
  for (const project::TranslationUnit& unit : *units)
    results.push_back(pool.async([&options, &unit, &settings = configurations->settings(unit.file)] {
      project::Settings own = settings;
      own.frontend = project::optionsOf(unit, own.frontend);
      return std::make_shared<report::AuditedFile>(auditFile(unit.file, options, own));
    }));

  const report::Paths paths(std::filesystem::current_path().string(), toolkitFolders(options));
  report::SourceLines sources;
  report::AuditTotals totals;
  std::vector<report::AuditedFile> audited;
  std::size_t kernels = 0;
  for (const auto& result : results) {
    report::AuditedFile file = std::move(*result.get());
    silence(file, paths, sources);
    totals.add(file);
    kernels += file.kernels.size() + (file.sass ? file.sass->size() : 0);
    const bool is_text = options.format == "text";
    if (is_text) out << report::renderAudit(file, paths, sources, {usesColor(options), options.is_quiet, false}) << std::flush;
    if (file.error && (!is_text || !options.output.empty()))
      std::cerr << report::renderAudit(file, paths, sources, {.is_quiet = true});
    if (!is_text) audited.push_back(std::move(file));
  }
  if (options.format == "text") {
    out << report::renderAuditSummary(totals);
  } else {
    out << report::renderAuditJson(audited, paths, {std::string(kVersion), false});
  }
  out.flush();
  if (!out) return fail({"cannot write the report", {}});
  if (!options.kernel.empty() && kernels == 0 && totals.failed_files == 0)
    return fail({"no kernel matches --kernel=" + options.kernel, {}});
  return totals.failed_files + totals.failed_kernels == 0 ? ExitCode::kNothingFound : ExitCode::kBadInput;
}

}  // namespace handoff::cli
