// SPDX-License-Identifier: Apache-2.0
// The launches of configurations and command line, which are judged when all files have been read.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "analyzer/cli/options.h"
#include "analyzer/config/config.h"
#include "analyzer/explore/given_check.h"

namespace handoff::cli {

/// A launch given for many kernels is wrong when it names a parameter that none of them has, in whatever file
/// they are.
class GivenLaunches {
 public:
  explicit GivenLaunches(const CheckOptions& options);

  /// `audiences`: one for each launch of the command line, then one for each launch of the file's
  /// configuration.
  void add(const std::vector<explore::Audience>& audiences, const config::Config& config);
  /// Prints what is wrong to standard error; true when nothing is.
  bool reportMistakes() const;

 private:
  struct Item {
    std::string text;
    SourcePos pos;  ///< unknown for the command line
    explore::Audience audience;
  };
  std::vector<Item> of_command_line_;
  std::map<std::string, std::vector<Item>> of_configs_;  ///< by path of the configuration
};

}  // namespace handoff::cli
