// SPDX-License-Identifier: Apache-2.0
// Checks as `handoff check` makes them, with the texts of an editor.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "analyzer/config/config.h"
#include "analyzer/lsp/checker.h"
#include "analyzer/project/check_file.h"
#include "analyzer/report/paths.h"

namespace handoff::lsp {

/// What the command line of the server and the configuration of a file say together; an error where a value
/// of the configuration makes no sense. Called from several threads.
using SettingsFor = std::function<Result<project::Settings>(const config::Config& config)>;

class ProjectChecker : public Checker {
 public:
  /// `config_file`: for all files; empty: the nearest one of each.
  ProjectChecker(SettingsFor settings_for, report::Paths paths, std::string config_file = {})
      : settings_for_(std::move(settings_for)),
        paths_(std::move(paths)),
        config_file_(std::move(config_file)) {}

  std::shared_ptr<const Checked> check(const CheckRequest& request) override;

 private:
  Result<project::Settings> settingsOf(const std::string& file) const;

  SettingsFor settings_for_;
  report::Paths paths_;
  std::string config_file_;
};

}  // namespace handoff::lsp
