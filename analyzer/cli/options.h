// SPDX-License-Identifier: Apache-2.0
// The options of `handoff check`: one table that feeds parsing, --help and docs/cli.md.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/frontend/input.h"
#include "analyzer/support/result.h"

namespace handoff::cli {

enum class Format : std::uint8_t { kText, kJson };
enum class Requirement : std::uint8_t { kNone, kChecked, kVerified };
enum class Color : std::uint8_t { kAuto, kAlways, kNever };

struct CheckOptions {
  std::vector<std::string> inputs;  ///< files and folders as given
  frontend::Options frontend;
  std::string checks = "*,-perf-*";  ///< the user's globs are appended
  std::string warnings_as_errors;
  std::string kernel;  ///< empty: all
  std::vector<std::string> launches;
  bool any_launch = false;
  /// For each kernel; empty: what .handoff.yaml says, else the default of explore::Options.
  std::optional<unsigned> max_seconds, max_paths, max_memory_mb;
  Format format = Format::kText;
  std::string witness_folder;   ///< empty: no jobs
  std::string confirm_results;  ///< a file of handoff-confirm; empty: none
  std::string output;  ///< empty: standard output
  Requirement require = Requirement::kNone;
  Color color = Color::kAuto;
  unsigned jobs = 0;  ///< 0: one a processor
  bool is_quiet = false;
  bool exits_zero = false;
  bool applies_fixes = false;
  bool show_stats = false;
  bool lists_checks = false;
  bool wants_help = false;
};

struct OptionInfo {
  std::string_view name;   ///< with its dashes
  std::string_view value;  ///< what to write for the value in --help; empty: a flag
  std::string_view group;
  std::string_view help;
  /// Takes the value ("" for a flag); returns what is wrong with it, or "".
  std::string (*set)(CheckOptions& options, std::string_view value);
};

std::span<const OptionInfo> optionTable();

/// Parses what follows `handoff check`.
Result<CheckOptions> parseCheckOptions(std::span<const std::string_view> arguments);

/// The option list of `handoff check --help`.
std::string optionHelp();

}  // namespace handoff::cli
