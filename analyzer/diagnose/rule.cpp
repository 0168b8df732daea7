// SPDX-License-Identifier: Apache-2.0
// Look-ups in the rule table.
#include "analyzer/diagnose/rule.h"

namespace handoff::diagnose {

const RuleInfo* findRule(std::string_view name) {
  for (const RuleInfo& rule : kRules) {
    if (rule.name == name) return &rule;
  }
  return nullptr;
}

std::string_view toString(Verdict verdict) {
  switch (verdict) {
    case Verdict::kVerified: return "verified";
    case Verdict::kBounded: return "bounded";
    case Verdict::kViolation: return "violation";
    case Verdict::kError: return "error";
  }
  return "error";
}

}  // namespace handoff::diagnose
