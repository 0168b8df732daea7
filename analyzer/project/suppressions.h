// SPDX-License-Identifier: Apache-2.0
// Suppressions of .handoff.yaml: what one of them silences is set aside and named, and its kernel is at best
// bounded.
#pragma once

#include <string>
#include <vector>

#include "analyzer/config/config.h"
#include "analyzer/project/check_file.h"

namespace handoff::project {

void applySuppressions(report::FileReport& file, const std::vector<config::Suppression>& suppressions,
                       const report::Paths& paths, UsedSuppressions& used);

/// Those of the configuration that silenced nothing although their rule is switched on.
std::vector<Error> unusedSuppressions(const config::Config& config, const std::string& checks,
                                      const UsedSuppressions& used);

}  // namespace handoff::project
