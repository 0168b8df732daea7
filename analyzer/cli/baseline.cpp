// SPDX-License-Identifier: Apache-2.0
// Baselines are made and compared by the same run as `handoff check`, whose files go to a collector.
#include "analyzer/cli/baseline.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/cli/check.h"
#include "analyzer/cli/fail.h"
#include "analyzer/report/baseline.h"
#include "analyzer/report/glob.h"
#include "analyzer/support/text.h"

namespace handoff::cli {
namespace {

constexpr const char* kDefaultFile = ".handoff-baseline.json";

std::string plural(std::size_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

/// Takes the place of a report.
class Collector : public Output {
 public:
  explicit Collector(const CheckOptions& options)
      : paths_(std::filesystem::current_path().string(), toolkitFolders(options)),
        is_whole_(options.kernel.empty()),
        coverage_([checks = report::GlobList(options.checks)](std::string_view rule) {
          return checks.contains(rule);
        }) {}

  void add(report::FileReport file) override {
    found_.add(report::baselineEntries(file, paths_, sources_));
    coverage_.add(file, paths_, is_whole_);
  }
  void finish(const report::RunEnd&) override {}

  const report::Baseline& found() const { return found_; }
  report::BaselineDiff since(const report::Baseline& before) {
    coverage_.addMissing(before, paths_.root());
    return report::compare(before, found_,
                           [this](const report::BaselineEntry& entry) { return coverage_.covers(entry); });
  }

 private:
  report::Paths paths_;
  report::SourceLines sources_;
  bool is_whole_;
  report::Coverage coverage_;
  report::Baseline found_;
};

/// Findings are what a baseline is made of: only failures count for the exit code.
ExitCode collect(const CheckOptions& options, Collector& collector) {
  const ExitCode code = runCheck(options, &collector);
  return code == ExitCode::kFindings ? ExitCode::kNothingFound : code;
}

/// In one step where it can be: nobody reads half a baseline.
std::optional<Error> writeBaseline(const std::string& path, const report::Baseline& baseline) {
  namespace fs = std::filesystem;
  std::error_code failed;
  const bool is_special = fs::exists(path, failed) && !fs::is_regular_file(path, failed);
  const std::string target = is_special ? path : path + ".new";
  std::ofstream stream(target, std::ios::binary | std::ios::trunc);
  stream << report::printBaseline(baseline);
  stream.close();
  if (stream && !is_special) fs::rename(target, path, failed);
  if (stream && !failed) return std::nullopt;
  if (!is_special) fs::remove(target, failed);
  return Error{"cannot write the baseline", {path, 0, 0}};
}

ExitCode create(CheckOptions options) {
  const std::string path = options.output.empty() ? kDefaultFile : options.output;
  if (std::filesystem::is_regular_file(path))
    return fail({"there is a baseline already; `handoff baseline update` changes it", {path, 0, 0}});
  Collector collector(options);
  const ExitCode code = collect(options, collector);
  if (const std::optional<Error> error = writeBaseline(path, collector.found())) return fail(*error);
  std::cerr << path << ": " << plural(collector.found().entries.size(), "finding") << "\n";
  return code;
}

/// The first operand: the baseline. The others are inputs.
std::string takeBaseline(CheckOptions& options) {
  if (options.inputs.empty()) return "";
  const std::string path = options.inputs.front();
  options.inputs.erase(options.inputs.begin());
  return path;
}

ExitCode update(CheckOptions options) {
  const std::string path = takeBaseline(options);
  if (path.empty()) return fail({"update needs the file of the baseline", {}});
  Result<report::Baseline> baseline = report::readBaseline(path);
  if (!baseline) return fail(baseline.error());
  Collector collector(options);
  const ExitCode code = collect(options, collector);
  const report::BaselineDiff diff = collector.since(*baseline);
  const std::string before = report::printBaseline(*baseline);

  report::Baseline after;
  after.add(diff.unchanged);  // as they are now: a comment on the line may have changed
  after.add(diff.unjudged);
  if (options.adds_to_baseline) after.add(diff.added);
  if (report::printBaseline(after) != before)
    if (const std::optional<Error> error = writeBaseline(path, after)) return fail(*error);
  std::cerr << path << ": " << plural(after.entries.size(), "finding") << ", " << diff.gone.size()
            << " removed";
  if (options.adds_to_baseline)
    std::cerr << ", " << diff.added.size() << " added";
  else if (!diff.added.empty())
    std::cerr << "; " << plural(diff.added.size(), "new finding") << " not added: --add does";
  std::cerr << "\n";
  return code;
}

ExitCode print(const report::BaselineDiff& diff, const CheckOptions& options) {
  const std::string text = options.format == "json" ? report::renderDiffJson(diff) : report::renderDiff(diff);
  if (options.output.empty()) {
    std::cout << text;
  } else {
    std::ofstream stream(options.output, std::ios::binary | std::ios::trunc);
    stream << text;
    stream.close();
    if (!stream) return fail({"cannot write to the file given with --output", {options.output, 0, 0}});
  }
  return diff.added.empty() ? ExitCode::kNothingFound : ExitCode::kFindings;
}

bool isBaselineFile(const std::string& path) { return path.ends_with(".json"); }

ExitCode diff(CheckOptions options) {
  const std::string path = takeBaseline(options);
  if (path.empty()) return fail({"diff needs the file of a baseline", {}});
  const Result<report::Baseline> before = report::readBaseline(path);
  if (!before) return fail(before.error());
  if (options.inputs.size() == 1 && isBaselineFile(options.inputs.front())) {
    const Result<report::Baseline> after = report::readBaseline(options.inputs.front());
    if (!after) return fail(after.error());
    return print(report::compare(*before, *after, [](const auto&) { return true; }), options);
  }
  Collector collector(options);
  const ExitCode code = collect(options, collector);
  return std::max(code, print(collector.since(*before), options));
}

struct Action {
  std::string_view name;
  ExitCode (*run)(CheckOptions options);
};
constexpr Action kActions[] = {{"create", create}, {"update", update}, {"diff", diff}};

}  // namespace

ExitCode runBaseline(std::span<const std::string_view> arguments) {
  std::vector<std::string_view> names;
  for (const Action& action : kActions) names.push_back(action.name);
  if (arguments.empty()) return fail({"baseline needs one of create, update, diff", {}});
  const auto action = std::find_if(std::begin(kActions), std::end(kActions),
                                   [&](const Action& item) { return item.name == arguments[0]; });
  if (action == std::end(kActions))
    return fail({"'" + std::string(arguments[0]) + "' is none of create, update, diff" +
                     suggestion(arguments[0], names),
                 {}});
  const Result<CheckOptions> options = parseCheckOptions(arguments.subspan(1), Command::kBaseline);
  if (!options) return fail(options.error());
  if (options->adds_to_baseline && action->name != "update") return fail({"--add is for update only", {}});
  return action->run(*options);
}

}  // namespace handoff::cli
