// SPDX-License-Identifier: Apache-2.0
// The rule table: the single source of every rule's name, severity, group and one-line summary.
#pragma once

#include <span>
#include <string_view>

#include "analyzer/diagnose/finding.h"

namespace handoff::diagnose {

struct RuleInfo {
  std::string_view name;      ///< kebab case, stable
  Severity severity;
  std::string_view group;     ///< "order", "count", "shape", "source"
  std::string_view summary;   ///< what fires, one line
  std::string_view reference; ///< PTX ISA section titles the rule rests on
};

inline constexpr RuleInfo kRules[] = {
#include "analyzer/diagnose/rules.def"
};

inline std::span<const RuleInfo> rules() { return kRules; }
/// Null when no rule has this name.
const RuleInfo* findRule(std::string_view name);

}  // namespace handoff::diagnose
