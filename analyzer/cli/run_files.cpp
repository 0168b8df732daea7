// SPDX-License-Identifier: Apache-2.0
// Files of a run.
#include "analyzer/cli/run_files.h"

#include <filesystem>
#include <set>
#include <utility>

namespace handoff::cli {
namespace {

/// Null when it cannot be written.
std::unique_ptr<std::ofstream> openForWriting(const std::string& path) {
  auto stream = std::make_unique<std::ofstream>(path, std::ios::binary | std::ios::trunc);
  return *stream ? std::move(stream) : nullptr;
}

Error cannotWrite(const std::string& path, const char* option) {
  return {std::string("cannot write to the file given with ") + option, {path, 0, 0}};
}

/// A file that two outputs would write to; empty when there is none.
std::string sharedFile(const CheckOptions& options) {
  std::vector<std::string> paths = {options.output, options.export_fixes};
  for (const ReportFile& report : options.reports) paths.push_back(report.path);
  std::set<std::string> known;
  for (const std::string& path : paths)
    if (!path.empty() && !known.insert(std::filesystem::path(path).lexically_normal().string()).second)
      return path;
  return "";
}

}  // namespace

Result<RunFiles> RunFiles::open(const CheckOptions& options) {
  RunFiles files;
  files.options_ = &options;
  if (const std::string path = sharedFile(options); !path.empty())
    return Error{"two outputs of this run go to this file", {path, 0, 0}};
  if (!options.baseline.empty()) {
    Result<report::Baseline> baseline = report::readBaseline(options.baseline);
    if (!baseline) return baseline.error();
    files.baseline_ = std::move(*baseline);
  }
  Result<WitnessFiles> witnesses = WitnessFiles::open(options.witness_folder, options.confirm_results);
  if (!witnesses) return witnesses.error();
  files.witnesses_ = std::move(*witnesses);
  for (const ReportFile& wanted : options.reports) {
    ExtraReport report{wanted.format, wanted.path, openForWriting(wanted.path), nullptr};
    if (!report.stream) return cannotWrite(wanted.path, "--report");
    files.reports_.push_back(std::move(report));
  }
  if (!options.export_fixes.empty()) {
    files.fixes_stream_ = openForWriting(options.export_fixes);
    if (!files.fixes_stream_) return cannotWrite(options.export_fixes, "--export-fixes");
    files.fixes_.emplace(std::filesystem::current_path().string());
  }
  return files;
}

void RunFiles::start(const report::Paths& paths, report::SourceLines& sources) {
  for (ExtraReport& report : reports_)
    report.output = makeOutput(report.format, {*options_, *report.stream, paths, sources, baseline(), true});
}

void RunFiles::add(const report::FileReport& file, const report::Paths& paths, report::SourceLines& sources) {
  for (ExtraReport& report : reports_) report.output->add(file);
  if (fixes_) fixes_->add(file, paths, sources);
}

std::vector<Error> RunFiles::finish(const report::RunEnd& end) {
  std::vector<Error> errors;
  for (ExtraReport& report : reports_) {
    report.output->finish(end);
    report.stream->close();
    if (!*report.stream) errors.push_back(cannotWrite(report.path, "--report"));
  }
  if (!fixes_) return errors;
  *fixes_stream_ << fixes_->render();
  fixes_stream_->close();
  if (!*fixes_stream_) errors.push_back(cannotWrite(options_->export_fixes, "--export-fixes"));
  return errors;
}

}  // namespace handoff::cli
