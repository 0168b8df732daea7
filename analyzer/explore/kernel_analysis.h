// SPDX-License-Identifier: Apache-2.0
// One analysis of one kernel, with some words in memory as inputs.
#pragma once

#include <set>

#include "analyzer/explore/analyze.h"
#include "analyzer/explore/trial.h"
#include "analyzer/machine/path.h"

namespace handoff::explore {

struct Analysed {
  diagnose::KernelReport report;
  std::set<machine::Instructions> wanted_words;  ///< Outcome::wanted_words of all runs
};

/// `input_words`: loads of words that are inputs.
Analysed analyzeOnce(const frontend::Unit& unit, const ptx::Function& kernel, const Options& options, const Trial& trial,
                     const machine::Instructions& input_words);

}  // namespace handoff::explore
