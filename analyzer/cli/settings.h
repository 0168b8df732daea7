// SPDX-License-Identifier: Apache-2.0
// From defaults, .handoff.yaml and the command line to the settings of each file, and where each value comes
// from.
//
// A key of .handoff.yaml is the option of the same meaning, set before the command line is read: one setter
// judges both.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/cli/options.h"
#include "analyzer/config/config.h"
#include "analyzer/project/check_file.h"

namespace handoff::cli {

/// The options with what the configuration says below what the command line says. Fails where a value of the
/// configuration is none of its option, with its line.
Result<CheckOptions> mergedOptions(const CheckOptions& options, const config::Config& config);

/// What is wrong in a file: all values that are none of their option, or the first of what is no configuration.
std::vector<Error> mistakesOf(const std::string& path);

/// For a configuration that mergedOptions takes; of another one, only the launches and suppressions count.
project::Settings settingsFor(const CheckOptions& options, const config::Config& config);

/// The configuration of each file, read once: that of --config-file, else the nearest .handoff.yaml.
class Configurations {
 public:
  /// The first mistake in any of them is the error.
  static Result<Configurations> forFiles(const std::vector<std::string>& files, const CheckOptions& options);

  const config::Config& of(const std::string& file) const;
  const project::Settings& settings(const std::string& file) const;
  std::vector<std::pair<const config::Config*, const project::Settings*>> all() const;

 private:
  struct Item {
    config::Config config;
    project::Settings settings;
  };
  std::map<std::string, Item> by_path_;
  std::map<std::string, std::string> path_of_;  ///< of the configuration, by input; "" for none
};

/// For --dump-config: what holds for a file, as a .handoff.yaml that says all of it.
std::string dumpConfig(const CheckOptions& options, const config::Config& config);
/// For --explain-config: one line a key, with its value and where it comes from.
std::string explainConfig(const CheckOptions& options, const config::Config& config);

}  // namespace handoff::cli
