// SPDX-License-Identifier: Apache-2.0
// The launches of configurations and command line, and the tensor maps of configurations, which are judged when all files have been read.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "analyzer/cli/options.h"
#include "analyzer/config/config.h"
#include "analyzer/explore/given_check.h"
#include "analyzer/project/check_file.h"

namespace handoff::cli {

/// What is given for many kernels is wrong when it names what none of them has, in whatever file they are.
class Given {
 public:
  explicit Given(const CheckOptions& options);

  /// What a file says about the launches of the command line, and about its configuration.
  void add(const project::CheckedFile& file, const config::Config& config);
  /// Prints what is wrong to standard error; true when nothing is.
  bool reportMistakes() const;

 private:
  void addLaunches(const std::vector<explore::Audience>& audiences, const config::Config& config);
  void addMaps(const std::vector<explore::MapAudience>& audiences, const config::Config& config);

  struct Item {
    std::string text;
    SourcePos pos;  ///< unknown for the command line
    explore::Audience audience;
  };
  struct MapItem {
    std::string name;
    SourcePos pos;
    explore::MapAudience audience;
  };
  std::vector<Item> of_command_line_;
  std::map<std::string, std::vector<Item>> of_configs_;  ///< by path of the configuration
  std::map<std::string, std::vector<MapItem>> maps_;     ///< likewise
};

}  // namespace handoff::cli
