// SPDX-License-Identifier: Apache-2.0
// Setters of the option table, and the parser over it.
#include "analyzer/cli/options.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "analyzer/cli/output.h"
#include "analyzer/diagnose/rule.h"
#include "analyzer/mutate/operators.h"
#include "analyzer/report/glob.h"
#include "analyzer/support/launch_text.h"
#include "analyzer/support/text.h"

namespace handoff::cli {
namespace {

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

template <typename T>
struct Named {
  std::string_view name;
  T value;
};

/// Sets `target` to the value called `word`; returns what is wrong.
template <typename T, typename Choices>
std::string setNamed(T& target, std::string_view word, const Choices& choices) {
  std::vector<std::string_view> names;
  std::string list;
  for (const auto& choice : choices) {
    if (choice.name == word) {
      target = choice.value;
      return "";
    }
    names.push_back(choice.name);
    list += (list.empty() ? "" : ", ") + std::string(choice.name);
  }
  return quoted(word) + " is none of " + list + suggestion(word, names);
}

template <typename Number>
std::string setUnsigned(Number& target, std::string_view text) {
  unsigned value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || end != text.data() + text.size() || value == 0)
    return quoted(text) + " is not a positive number";
  target = value;
  return "";
}

/// Every glob must match a rule, so that a misspelt name is not taken for "nothing found".
std::string checkRuleGlobs(std::string_view globs) {
  std::vector<std::string_view> names;
  for (const diagnose::RuleInfo& rule : diagnose::rules()) names.push_back(rule.name);
  const std::vector<std::string> unmatched = report::GlobList(globs).unmatched(names);
  if (unmatched.empty()) return "";
  return "no check matches " + quoted(unmatched.front()) + suggestion(unmatched.front(), names);
}

std::string setBuildPath(CheckOptions& options, std::string_view value) {
  options.frontend.build_path = std::string(value);
  return "";
}

std::string setArch(CheckOptions& options, std::string_view value) {
  const bool is_sm = value.starts_with("sm_") && value.size() > 3 && value[3] >= '1' && value[3] <= '9';
  if (!is_sm) return quoted(value) + " is no target; write it as sm_80 or sm_90a";
  options.frontend.arch = value;
  return "";
}

std::string setFrontend(CheckOptions& options, std::string_view value) {
  using frontend::Choice;
  static constexpr std::array<Named<Choice>, 3> kChoices = {
      {{"auto", Choice::kAuto}, {"clang", Choice::kClang}, {"nvcc", Choice::kNvcc}}};
  return setNamed(options.frontend.frontend, value, kChoices);
}

std::string setCudaPath(CheckOptions& options, std::string_view value) {
  options.frontend.no_toolkit = value == "none";
  options.frontend.cuda_path = value == "none" ? "" : std::string(value);
  return "";
}

std::string addExtraArg(CheckOptions& options, std::string_view value) {
  options.frontend.extra_args.emplace_back(value);
  return "";
}

std::string setCubin(CheckOptions& options, std::string_view) {
  options.reads_machine_code = true;
  return "";
}

std::string setCheckOnChange(CheckOptions& options, std::string_view) {
  options.checks_on_change = true;
  return "";
}

std::string setKernel(CheckOptions& options, std::string_view value) {
  options.kernel = value;
  return "";
}

std::string addLaunch(CheckOptions& options, std::string_view value) {
  const Result<LaunchText> launch = parseLaunchText(value, Block::kNeeded);
  if (!launch) return launch.error().message;
  options.launches.emplace_back(value);
  return "";
}

std::string setTimeLimit(CheckOptions& options, std::string_view value) {
  return setUnsigned(options.max_seconds, value);
}

std::string setTimeShare(CheckOptions& options, std::string_view value) {
  return setUnsigned(options.time_share, value);
}

std::string setMaxPaths(CheckOptions& options, std::string_view value) {
  return setUnsigned(options.max_paths, value);
}

std::string setMaxMemory(CheckOptions& options, std::string_view value) {
  return setUnsigned(options.max_memory_mb, value);
}

std::string setLaunches(CheckOptions& options, std::string_view value) {
  static constexpr std::array<Named<Launches>, 3> kChoices = {
      {{"unit", Launches::kUnit}, {"any", Launches::kAny}, {"only", Launches::kOnly}}};
  return setNamed(options.launches_explored, value, kChoices);
}

std::string setJobs(CheckOptions& options, std::string_view value) {
  return setUnsigned(options.jobs, value);
}

std::string addChecks(CheckOptions& options, std::string_view value) {
  // A list that begins with everything, or with nothing, says all of it: what --dump-config prints does.
  const std::string_view first = value.substr(0, value.find(','));
  if (first == "*" || first == "-*") options.checks.clear();
  options.checks += (options.checks.empty() ? "" : ",") + std::string(value);
  return checkRuleGlobs(value);
}

std::string setWarningsAsErrors(CheckOptions& options, std::string_view value) {
  options.warnings_as_errors = value;
  return checkRuleGlobs(value);
}

std::string setListChecks(CheckOptions& options, std::string_view) {
  options.lists_checks = true;
  return "";
}

std::string setRequire(CheckOptions& options, std::string_view value) {
  static constexpr std::array<Named<Requirement>, 2> kChoices = {
      {{"checked", Requirement::kChecked}, {"verified", Requirement::kVerified}}};
  return setNamed(options.require, value, kChoices);
}

std::string setFix(CheckOptions& options, std::string_view) {
  options.applies_fixes = true;
  return "";
}

std::string setExitZero(CheckOptions& options, std::string_view) {
  options.exits_zero = true;
  return "";
}

std::string setFormat(CheckOptions& options, std::string_view value) {
  std::vector<Named<std::string>> choices;
  for (const FormatInfo& format : formats()) choices.push_back({format.name, std::string(format.name)});
  return setNamed(options.format, value, choices);
}

std::string addReport(CheckOptions& options, std::string_view value) {
  const std::size_t colon = value.find(':');
  if (colon == std::string_view::npos || colon + 1 == value.size())
    return quoted(value) + " has no file; write it as sarif:handoff.sarif";
  CheckOptions parsed;
  if (std::string wrong = setFormat(parsed, value.substr(0, colon)); !wrong.empty()) return wrong;
  options.reports.push_back({parsed.format, std::string(value.substr(colon + 1))});
  return "";
}

std::string setBaseline(CheckOptions& options, std::string_view value) {
  options.baseline = value;
  return "";
}

std::string setExportFixes(CheckOptions& options, std::string_view value) {
  options.export_fixes = value;
  return "";
}

std::string setSuppressed(CheckOptions& options, std::string_view value) {
  static constexpr std::array<Named<bool>, 2> kChoices = {{{"include", false}, {"omit", true}}};
  return setNamed(options.omits_suppressed, value, kChoices);
}

std::string setAdd(CheckOptions& options, std::string_view) {
  options.adds_to_baseline = true;
  return "";
}

/// Of audit and baseline.
std::string setPlainFormat(CheckOptions& options, std::string_view value) {
  const std::array<Named<std::string>, 2> choices = {{{"text", "text"}, {"json", "json"}}};
  return setNamed(options.format, value, choices);
}

std::string setWitnessFolder(CheckOptions& options, std::string_view value) {
  options.witness_folder = value;
  return "";
}

std::string setWitnessAll(CheckOptions& options, std::string_view) {
  options.makes_controls = true;
  return "";
}

std::string setOperators(CheckOptions& options, std::string_view value) {
  std::vector<std::string_view> names;
  for (const mutate::Operator& op : mutate::operators()) names.push_back(op.name);
  while (true) {
    const std::size_t comma = value.find(',');
    const std::string_view name = value.substr(0, comma);
    if (std::find(names.begin(), names.end(), name) == names.end()) return quoted(name) + " is no operator" + suggestion(name, names);
    options.mutants.operators.emplace(name);
    if (comma == std::string_view::npos) return "";
    value.remove_prefix(comma + 1);
  }
}

std::string setPart(CheckOptions& options, std::string_view value) {
  const std::size_t slash = value.find('/');
  std::uint32_t part = 0, parts = 0;
  const bool is_number = slash != std::string_view::npos && setUnsigned(part, value.substr(0, slash)).empty() &&
                         setUnsigned(parts, value.substr(slash + 1)).empty();
  if (!is_number || part > parts) return quoted(value) + " is not a part as 1/4";
  options.mutants.part = part - 1;
  options.mutants.parts = parts;
  return "";
}

std::string setConfirmResults(CheckOptions& options, std::string_view value) {
  options.confirm_results = value;
  return "";
}

std::string setOutput(CheckOptions& options, std::string_view value) {
  options.output = value;
  return "";
}

std::string setConfigFile(CheckOptions& options, std::string_view value) {
  options.config_file = value;
  return "";
}

std::string setDumpConfig(CheckOptions& options, std::string_view) {
  options.config_action = CheckOptions::ConfigAction::kDump;
  return "";
}

std::string setExplainConfig(CheckOptions& options, std::string_view) {
  options.config_action = CheckOptions::ConfigAction::kExplain;
  return "";
}

std::string setVerifyConfig(CheckOptions& options, std::string_view) {
  options.config_action = CheckOptions::ConfigAction::kVerify;
  return "";
}

std::string setCacheFolder(CheckOptions& options, std::string_view value) {
  options.cache_folder = value;
  return value.empty() ? "a folder is expected" : "";
}

std::string setNoCache(CheckOptions& options, std::string_view) {
  options.uses_cache = false;
  return "";
}

std::string setChangedSince(CheckOptions& options, std::string_view value) {
  options.changed_since = value;
  return value.empty() || value.starts_with('-') ? quoted(value) + " is no revision" : "";
}

std::string setQuiet(CheckOptions& options, std::string_view) {
  options.is_quiet = true;
  return "";
}

std::string setStats(CheckOptions& options, std::string_view) {
  options.show_stats = true;
  return "";
}

std::string setColor(CheckOptions& options, std::string_view value) {
  static constexpr std::array<Named<Color>, 3> kChoices = {
      {{"auto", Color::kAuto}, {"always", Color::kAlways}, {"never", Color::kNever}}};
  return setNamed(options.color, value, kChoices);
}

/// A number of items a second.
std::string setRate(double& target, std::string_view text) {
  double value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_rate = status == std::errc() && end == text.data() + text.size() && value >= 0 && value <= lab::kMaxRate;
  if (!is_rate) return quoted(text) + " is no rate from 0 to " + lab::amountText(lab::kMaxRate);
  target = value;
  return "";
}

std::string setArrivals(CheckOptions& options, std::string_view value) {
  return setRate(options.queue.rates.arrivals, value);
}

std::string setService(CheckOptions& options, std::string_view value) {
  return setRate(options.queue.rates.service, value);
}

std::string setSteps(CheckOptions& options, std::string_view value) {
  constexpr unsigned kMostSteps = 1000;
  const std::string wrong = setUnsigned(options.queue.steps, value);
  if (!wrong.empty() || options.queue.steps <= kMostSteps) return wrong;
  return quoted(value) + " is more than " + std::to_string(kMostSteps);
}

std::string setTimeline(CheckOptions& options, std::string_view value) {
  options.queue.timeline = value;
  return "";
}

std::string setHtml(CheckOptions& options, std::string_view) {
  options.queue.makes_page = true;
  return "";
}

std::string setHelp(CheckOptions& options, std::string_view) {
  options.wants_help = true;
  return "";
}

constexpr std::size_t kHelpColumn = 30, kHelpWidth = 66;

/// Breaks a help text into lines that line up below its first one.
std::string wrapped(std::string_view help) {
  std::string text;
  while (help.size() > kHelpWidth) {
    const std::size_t space = help.rfind(' ', kHelpWidth);
    if (space == std::string_view::npos) break;
    text += std::string(help.substr(0, space)) + "\n" + std::string(kHelpColumn, ' ');
    help.remove_prefix(space + 1);
  }
  return text + std::string(help);
}

constexpr OptionInfo kOptions[] = {
#include "analyzer/cli/options.def"
};

bool isFor(const OptionInfo& option, Command command) {
  return (static_cast<unsigned>(option.command) & static_cast<unsigned>(command)) != 0;
}

/// An argument split into its option and, where it holds one, its value.
struct Spelling {
  const OptionInfo* option = nullptr;
  std::optional<std::string_view> value;
};

Spelling splitArgument(std::string_view argument, Command command) {
  for (const OptionInfo& option : kOptions) {
    if (!isFor(option, command)) continue;
    if (argument == option.name) return {&option, std::nullopt};
    if (!argument.starts_with(option.name)) continue;
    const std::string_view rest = argument.substr(option.name.size());
    if (rest.starts_with('=')) return {&option, rest.substr(1)};
    const bool is_short = option.name.size() == 2;  // -j8, -pbuild
    if (is_short && !option.value.empty()) return {&option, rest};
  }
  return {};
}

Error unknownOption(std::string_view argument, Command command) {
  std::vector<std::string_view> names;
  for (const OptionInfo& option : kOptions)
    if (isFor(option, command)) names.push_back(option.name);
  const std::string_view name = argument.substr(0, argument.find('='));
  return {"unknown option " + quoted(name) + suggestion(name, names), {}};
}

/// Applies one option; advances `next` over a value in an argument of its own.
std::optional<Error> applyOption(CheckOptions& options, std::span<const std::string_view> arguments,
                                 std::size_t& next, Command command) {
  const auto [option, attached] = splitArgument(arguments[next], command);
  if (option == nullptr) return unknownOption(arguments[next], command);
  ++next;
  std::string_view value;
  if (option->value.empty()) {
    if (attached) return Error{std::string(option->name) + " takes no value", {}};
  } else if (attached) {
    value = *attached;
  } else if (next < arguments.size() && arguments[next] != "--") {
    value = arguments[next++];
  } else {
    return Error{std::string(option->name) + " needs a value: " + std::string(option->value), {}};
  }
  const std::string wrong = option->set(options, value);
  if (!wrong.empty()) return Error{std::string(option->name) + ": " + wrong, {}};
  return std::nullopt;
}

}  // namespace

std::span<const OptionInfo> optionTable() { return kOptions; }

Result<CheckOptions> parseCheckOptions(std::span<const std::string_view> arguments, Command command,
                                       CheckOptions defaults) {
  CheckOptions options = std::move(defaults);
  options.arguments.assign(arguments.begin(), arguments.end());
  options.command = command;
  std::size_t next = 0;
  while (next < arguments.size()) {
    const std::string_view argument = arguments[next];
    if (argument == "--") {
      options.frontend.has_fixed_flags = true;
      for (const std::string_view flag : arguments.subspan(next + 1))
        options.frontend.extra_args.emplace_back(flag);
      break;
    }
    if (!argument.starts_with('-') || argument == "-") {
      options.inputs.emplace_back(argument);
      ++next;
      continue;
    }
    if (const std::optional<Error> error = applyOption(options, arguments, next, command)) return *error;
  }
  return options;
}

std::string optionHelp(Command command) {
  std::string text;
  std::string_view group;
  for (const OptionInfo& option : kOptions) {
    if (!isFor(option, command)) continue;
    if (option.group != group) text += "\n" + std::string(option.group) + ":\n";
    group = option.group;
    std::string left = "  " + std::string(option.name);
    const bool is_short = option.name.size() == 2;
    if (!option.value.empty()) left += (is_short ? " " : "=") + std::string(option.value);
    if (left.size() >= kHelpColumn) left += "\n" + std::string(kHelpColumn, ' ');
    left.resize(std::max(left.size(), kHelpColumn), ' ');
    text += left + wrapped(option.help) + "\n";
  }
  return text;
}

}  // namespace handoff::cli
