// SPDX-License-Identifier: Apache-2.0
// Front end, analysis and advice for one file.
#include "analyzer/project/check_file.h"

#include <algorithm>
#include <exception>
#include <iterator>
#include <utility>

#include "analyzer/audit/audit.h"
#include "analyzer/diagnose/rule.h"
#include "analyzer/project/kernel_cache.h"
#include "analyzer/project/memory.h"
#include "analyzer/report/glob.h"

namespace handoff::project {
namespace {

std::vector<explore::Audience> audiencesOf(const frontend::Unit& unit, const explore::Options& options) {
  std::vector<explore::Audience> audiences(options.launches.size() + options.configured.size());
  auto next = audiences.begin();
  for (std::size_t i = 0; i < options.launches.size(); ++i) (next++)->add(unit, "*", options.kernel_filter);
  for (const explore::ConfiguredLaunch& launch : options.configured)
    (next++)->add(unit, launch.kernel_glob, options.kernel_filter);
  return audiences;
}

std::vector<explore::MapAudience> mapAudiencesOf(const frontend::Unit& unit, const explore::Options& options) {
  std::vector<explore::MapAudience> audiences(options.tensor_maps.size());
  for (std::size_t i = 0; i < audiences.size(); ++i) {
    const explore::ConfiguredTensorMap& map = options.tensor_maps[i];
    audiences[i].add(unit, map.kernel_glob, options.kernel_filter, map.name);
  }
  return audiences;
}

void addAdvice(const frontend::Unit& unit, const explore::Options& options,
               std::vector<diagnose::KernelReport>& kernels) {
  for (audit::KernelAudit& audited : audit::audit(unit, options))
    for (diagnose::KernelReport& kernel : kernels)
      if (kernel.name == audited.name)
        std::move(audited.advice.begin(), audited.advice.end(), std::back_inserter(kernel.findings));
}

void describe(const frontend::Unit& unit, report::FileReport& report) {
  report.frontend = frontend::toString(unit.producer);
  report.notes = unit.notes;
  if (unit.used_bundled_headers)
    report.notes.push_back(
        {"no CUDA toolkit was found; declarations that come with handoff were used", {unit.file, 0, 0}});
  report.produce_seconds = unit.produce_seconds;
  report.parse_seconds = unit.parse_seconds;
}

std::vector<diagnose::KernelReport> analyzeKernels(const frontend::Unit& unit,
                                                   const explore::Options& options, const Memory* memory) {
  if (memory == nullptr) return explore::analyze(unit, options);
  const KernelCache kernels(memory->cache(), memory->program(), unit, options);
  return explore::analyze(
      unit, options, [&](const ptx::Function& kernel, const std::function<diagnose::KernelReport()>& run) {
        return kernels.get(kernel, run);
      });
}

void check(const std::string& file, const Settings& settings, Memory* memory, CheckedFile& result) {
  if (isCancelled(settings.frontend.cancel)) {
    result.report.error = Error{std::string(frontend::kCancelled), {file, 0, 0}};
    return;
  }
  const std::int64_t started = nowInNanoseconds();
  Result<frontend::Unit> loaded = frontend::load(file, settings.frontend);
  if (!loaded) {
    result.report.error = loaded.error();
    return;
  }
  const auto unit = std::make_shared<const frontend::Unit>(std::move(*loaded));
  if (settings.keeps_unit) result.unit = unit;
  describe(*unit, result.report);
  result.audiences = audiencesOf(*unit, settings.explore);
  result.map_audiences = mapAudiencesOf(*unit, settings.explore);
  if (std::vector<Error> mistakes = explore::commentMistakes(*unit); !mistakes.empty()) {
    // A launch that is not the one that was meant proves nothing.
    result.report.error = mistakes.front();
    result.report.more_errors.assign(mistakes.begin() + 1, mistakes.end());
    return;
  }
  result.report.kernels = analyzeKernels(*unit, settings.explore, memory);
  if (wantsAdvice(settings)) addAdvice(*unit, settings.explore, result.report.kernels);
  if (memory != nullptr) memory->keep(result, settings, *unit, started);
}

/// A file that was done before the wish to stop came is whole.
bool wasCancelled(const Settings& settings, const report::FileReport& file) {
  if (!isCancelled(settings.explore.cancel) && !isCancelled(settings.frontend.cancel)) return false;
  if (file.error) return file.error->message == frontend::kCancelled;
  return std::any_of(file.kernels.begin(), file.kernels.end(),
                     [](const diagnose::KernelReport& kernel) { return kernel.is_cut_short; });
}

}  // namespace

bool wantsAdvice(const Settings& settings) {
  const report::GlobList checks(settings.checks);
  const auto rules = diagnose::rules();
  return std::any_of(rules.begin(), rules.end(), [&](const diagnose::RuleInfo& rule) {
    return isAdvice(rule.name) && checks.contains(rule.name);
  });
}

CheckedFile checkFile(const std::string& file, const Settings& settings, Memory* memory) {
  // A unit is in no entry.
  if (memory != nullptr && !settings.keeps_unit)
    if (std::optional<CheckedFile> known = memory->recall(file, settings)) return std::move(*known);
  CheckedFile result;
  result.report.path = file;
  try {
    check(file, settings, memory, result);
  } catch (const std::exception& fault) {
    result.report.error = Error{std::string("internal error: ") + fault.what(), {file, 0, 0}};
    result.is_internal = true;
  }
  result.is_cancelled = wasCancelled(settings, result.report);
  return result;
}

}  // namespace handoff::project
