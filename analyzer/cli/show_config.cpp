// SPDX-License-Identifier: Apache-2.0
// Configurations instead of checks.
#include "analyzer/cli/show_config.h"

#include <iostream>
#include <set>

#include "analyzer/cli/fail.h"
#include "analyzer/cli/settings.h"
#include "analyzer/project/units.h"

namespace handoff::cli {
namespace {

/// All configurations, each mistake of which is printed.
ExitCode verify(const std::vector<std::string>& files, const CheckOptions& options) {
  ExitCode code = ExitCode::kNothingFound;
  std::set<std::string> known;
  for (const std::string& file : files) {
    const std::string path =
        options.config_file.empty() ? config::findFor(file).value_or("") : options.config_file;
    if (!known.insert(path).second || path.empty()) continue;
    const std::vector<Error> mistakes = mistakesOf(path);
    for (const Error& mistake : mistakes) code = fail(mistake);
    if (mistakes.empty() && !options.is_quiet) std::cout << path << ": right\n";
  }
  return code;
}

}  // namespace

ExitCode showConfig(const CheckOptions& options) {
  using Action = CheckOptions::ConfigAction;
  std::vector<std::string> files;
  if (options.inputs.empty() && !options.frontend.build_path) {
    files.emplace_back("any.cu");  // whatever lies here
  } else {
    const auto units = project::selectUnits(options.inputs, options.frontend);
    if (!units) return fail(units.error());
    for (const project::TranslationUnit& unit : *units) files.push_back(unit.file);
  }
  if (options.config_action == Action::kVerify) return verify(files, options);
  if (files.empty()) return fail({"there is no file that a configuration could hold for", {}});
  const auto configurations = Configurations::forFiles({files.front()}, options);
  if (!configurations) return fail(configurations.error());
  const config::Config& config = configurations->of(files.front());
  std::cout << (options.config_action == Action::kDump ? dumpConfig(options, config)
                                                       : explainConfig(options, config));
  return ExitCode::kNothingFound;
}

}  // namespace handoff::cli
