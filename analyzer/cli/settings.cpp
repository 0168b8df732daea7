// SPDX-License-Identifier: Apache-2.0
// Merging configuration and command line.
#include "analyzer/cli/settings.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>

#include "analyzer/diagnose/rule.h"
#include "analyzer/frontend/flags.h"
#include "analyzer/support/text.h"

namespace handoff::cli {
namespace {

/// A key of the configuration and the option that it stands for.
struct Key {
  std::string_view name, option;
  std::optional<std::string> (*get)(const config::Config& config);
};

std::optional<std::string> numberText(const std::optional<unsigned>& value) {
  return value ? std::optional(std::to_string(*value)) : std::nullopt;
}

constexpr Key kKeys[] = {
    {"checks", "--checks", [](const config::Config& c) { return c.checks; }},
    {"warnings-as-errors", "--warnings-as-errors",
     [](const config::Config& c) { return c.warnings_as_errors; }},
    {"arch", "--arch", [](const config::Config& c) { return c.arch; }},
    {"frontend", "--frontend", [](const config::Config& c) { return c.frontend; }},
    {"cuda-path", "--cuda-path", [](const config::Config& c) { return c.cuda_path; }},
    {"budget.seconds", "--time-limit", [](const config::Config& c) { return numberText(c.budget.seconds); }},
    {"budget.share", "--time-share", [](const config::Config& c) { return numberText(c.budget.share); }},
    {"budget.paths", "--max-paths", [](const config::Config& c) { return numberText(c.budget.paths); }},
    {"budget.memory", "--max-memory", [](const config::Config& c) { return numberText(c.budget.memory_mb); }},
};

SourcePos positionOf(const config::Config& config, std::string_view key) {
  const auto found = config.positions.find(std::string(key));
  return found != config.positions.end() ? found->second : SourcePos{config.path, 0, 0};
}

const OptionInfo& optionCalled(std::string_view name) {
  const auto table = optionTable();
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const OptionInfo& option) { return option.name == name; });
  HANDOFF_CHECK(found != table.end());
  return *found;
}

/// Compiler flags whose relative paths start in the folder of the configuration.
Result<std::vector<std::string>> extraArgs(const config::Config& config) {
  const std::string folder = std::filesystem::absolute(config.path).parent_path().string();
  Result<frontend::Flags> flags =
      frontend::translateFlags(config.extra_args, frontend::Dialect::kClang, folder);
  if (!flags) return Error{flags.error().message, positionOf(config, "extra-arg")};
  frontend::makePathsAbsolute(flags->args, folder);
  if (!flags->arch.empty()) flags->args.push_back("--cuda-gpu-arch=" + flags->arch);
  if (!flags->cuda_path.empty()) flags->args.push_back("--cuda-path=" + flags->cuda_path);
  return std::move(flags->args);
}

/// Every rule glob of a suppression must match a rule.
std::optional<Error> mistakeIn(const config::Suppression& item) {
  std::vector<std::string_view> names;
  for (const diagnose::RuleInfo& rule : diagnose::rules()) names.push_back(rule.name);
  const auto matches = [&](std::string_view name) { return matchesGlob(name, item.rule); };
  if (std::any_of(names.begin(), names.end(), matches)) return std::nullopt;
  return Error{"no check matches '" + item.rule + "'" + suggestion(item.rule, names), item.pos};
}

/// Has the command line an option of this name?
bool isGiven(const CheckOptions& options, std::string_view option) {
  const auto end =
      std::find(options.arguments.begin(), options.arguments.end(), "--");  // then come compiler flags
  return std::any_of(options.arguments.begin(), end, [&](const std::string& argument) {
    return argument == option || argument.starts_with(std::string(option) + "=");
  });
}

/// Sets what the configuration says; its mistakes.
std::vector<Error> apply(const config::Config& config, CheckOptions& options) {
  std::vector<Error> mistakes;
  for (const Key& key : kKeys) {
    const std::optional<std::string> value = key.get(config);
    if (!value) continue;
    const std::string wrong = optionCalled(key.option).set(options, *value);
    if (!wrong.empty()) mistakes.push_back({std::string(key.name) + ": " + wrong, positionOf(config, key.name)});
  }
  if (!config.extra_args.empty()) {
    Result<std::vector<std::string>> args = extraArgs(config);
    if (args)
      options.frontend.extra_args = std::move(*args);
    else
      mistakes.push_back(args.error());
  }
  for (const config::Suppression& item : config.suppressions)
    if (std::optional<Error> mistake = mistakeIn(item)) mistakes.push_back(std::move(*mistake));
  return mistakes;
}

}  // namespace

std::vector<Error> mistakesOf(const std::string& path) {
  const Result<config::Config> config = config::load(path);
  if (!config) return {config.error()};
  CheckOptions options;
  return apply(*config, options);
}

Result<CheckOptions> mergedOptions(const CheckOptions& options, const config::Config& config) {
  CheckOptions below;
  if (const std::vector<Error> mistakes = apply(config, below); !mistakes.empty()) return mistakes.front();
  const std::vector<std::string_view> arguments(options.arguments.begin(), options.arguments.end());
  return parseCheckOptions(arguments, options.command, below);
}

project::Settings settingsFor(const CheckOptions& options, const config::Config& config) {
  const Result<CheckOptions> read = mergedOptions(options, config);
  const CheckOptions& merged = read ? *read : options;
  project::Settings settings{.frontend = merged.frontend,
                             .explore = {},
                             .checks = merged.checks,
                             .warnings_as_errors = merged.warnings_as_errors,
                             .suppressions = config.suppressions};
  explore::Options& result = settings.explore;
  result.max_seconds = merged.max_seconds.value_or(result.max_seconds);
  result.max_share = merged.time_share.value_or(0) / 100.0;
  result.max_paths = merged.max_paths.value_or(result.max_paths);
  result.max_memory_mb = merged.max_memory_mb.value_or(result.max_memory_mb);
  result.kernel_filter = merged.kernel;
  result.launches = merged.launches;
  result.any_launch = merged.launches_explored == Launches::kAny;
  result.explores_other_launches = merged.launches_explored != Launches::kOnly;
  result.makes_jobs = !merged.witness_folder.empty() || !merged.confirm_results.empty();
  result.makes_controls = merged.makes_controls;
  result.makes_pictures =
      merged.format == "html" || std::any_of(merged.reports.begin(), merged.reports.end(),
                                             [](const ReportFile& file) { return file.format == "html"; });
  for (const config::Launch& launch : config.launches)
    result.configured.push_back({launch.kernel, launch.launch, launch.pos});
  for (const config::TensorMap& map : config.tensor_maps)
    result.tensor_maps.push_back({map.kernel, map.map, map.box, map.pos});
  return settings;
}

Result<Configurations> Configurations::forFiles(const std::vector<std::string>& files,
                                                const CheckOptions& options) {
  Configurations all;
  for (const std::string& file : files) {
    const std::string path =
        options.config_file.empty() ? config::findFor(file).value_or("") : options.config_file;
    all.path_of_[file] = path;
    if (all.by_path_.count(path) != 0) continue;
    Result<config::Config> config =
        path.empty() ? Result<config::Config>(config::Config{}) : config::load(path);
    if (!config) return config.error();
    if (const auto merged = mergedOptions(options, *config); !merged) return merged.error();
    project::Settings settings = settingsFor(options, *config);
    all.by_path_.emplace(path, Item{std::move(*config), std::move(settings)});
  }
  return all;
}

const config::Config& Configurations::of(const std::string& file) const {
  return by_path_.at(path_of_.at(file)).config;
}

const project::Settings& Configurations::settings(const std::string& file) const {
  return by_path_.at(path_of_.at(file)).settings;
}

std::vector<std::pair<const config::Config*, const project::Settings*>> Configurations::all() const {
  std::vector<std::pair<const config::Config*, const project::Settings*>> all;
  for (const auto& [path, item] : by_path_) all.emplace_back(&item.config, &item.settings);
  return all;
}

namespace {

std::string frontendName(frontend::Choice choice) {
  return choice == frontend::Choice::kAuto ? "auto" : choice == frontend::Choice::kClang ? "clang" : "nvcc";
}

/// All values, also those that nobody gave.
config::Config effectiveConfig(const CheckOptions& options, const config::Config& config) {
  const project::Settings settings = settingsFor(options, config);
  config::Config all;
  all.path = config.path;
  all.checks = settings.checks;
  if (!settings.warnings_as_errors.empty()) all.warnings_as_errors = settings.warnings_as_errors;
  if (!settings.frontend.arch.empty()) all.arch = settings.frontend.arch;
  all.frontend = frontendName(settings.frontend.frontend);
  if (settings.frontend.no_toolkit) all.cuda_path = "none";
  if (!settings.frontend.cuda_path.empty()) all.cuda_path = settings.frontend.cuda_path;
  all.extra_args = settings.frontend.extra_args;
  for (const std::string& launch : options.launches) all.launches.push_back({"*", launch, {}});
  if (options.launches.empty()) all.launches = config.launches;
  all.tensor_maps = config.tensor_maps;
  all.suppressions = config.suppressions;
  all.budget = {.seconds = static_cast<unsigned>(settings.explore.max_seconds), .paths = settings.explore.max_paths, .memory_mb = settings.explore.max_memory_mb};
  if (settings.explore.max_share != 0) all.budget.share = static_cast<unsigned>(std::lround(100 * settings.explore.max_share));
  return all;
}

}  // namespace

std::string dumpConfig(const CheckOptions& options, const config::Config& config) {
  return config::toYaml(effectiveConfig(options, config));
}

std::string explainConfig(const CheckOptions& options, const config::Config& config) {
  const config::Config all = effectiveConfig(options, config);
  std::string text;
  const auto add = [&](std::string_view name, const std::string& value,
                       const std::vector<std::string>& origins) {
    text += std::string(name) + ": " + (value.empty() ? "-" : value) + "\n";
    for (const std::string& origin : origins) text += "  from " + origin + "\n";
  };
  const auto place = [](const SourcePos& pos) { return pos.file + ":" + std::to_string(pos.line); };
  for (const Key& key : kKeys) {
    const bool is_list = key.name == "checks";  // each adds to what is below it
    const bool is_given = isGiven(options, key.option);
    const bool is_configured = key.get(config).has_value();
    std::vector<std::string> origins;
    if (is_list || (!is_given && !is_configured)) origins.emplace_back("the defaults");
    if (is_configured && (is_list || !is_given)) origins.push_back(place(positionOf(config, key.name)));
    if (is_given) origins.push_back("the command line (" + std::string(key.option) + ")");
    add(key.name, key.get(all).value_or(""), origins);
  }
  for (const std::string& arg : all.extra_args) {
    const bool is_ours = std::find(options.frontend.extra_args.begin(), options.frontend.extra_args.end(),
                                   arg) != options.frontend.extra_args.end();
    add("extra-arg", arg, {is_ours ? "the command line" : place(positionOf(config, "extra-arg"))});
  }
  for (const config::Launch& launch : all.launches)
    add("launch of " + launch.kernel, launch.launch,
        {launch.pos.isKnown() ? place(launch.pos) : "the command line (--launch)"});
  for (const config::TensorMap& map : all.tensor_maps)
    add("tensor map " + map.map + " of " + map.kernel, map.box, {place(map.pos)});
  for (const config::Suppression& item : all.suppressions)
    add("suppression", item.rule + " in " + item.file + ", kernel " + item.kernel + ": " + item.reason,
        {place(item.pos)});
  return text;
}

}  // namespace handoff::cli
