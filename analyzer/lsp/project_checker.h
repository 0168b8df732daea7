// SPDX-License-Identifier: Apache-2.0
// Checks as `handoff check` makes them, with the texts of an editor.
#pragma once

#include <functional>
#include <memory>

#include "analyzer/config/config.h"
#include "analyzer/lsp/checker.h"
#include "analyzer/project/check_file.h"
#include "analyzer/report/paths.h"

namespace handoff::lsp {

/// What the command line of the server and the configuration of a file say together. Called from several
/// threads.
using SettingsFor = std::function<project::Settings(const config::Config& config)>;

class ProjectChecker : public Checker {
 public:
  ProjectChecker(SettingsFor settings_for, report::Paths paths)
      : settings_for_(std::move(settings_for)), paths_(std::move(paths)) {}

  std::shared_ptr<const Checked> check(const CheckRequest& request) override;

 private:
  SettingsFor settings_for_;
  report::Paths paths_;
};

}  // namespace handoff::lsp
