// SPDX-License-Identifier: Apache-2.0
// Tries candidate repairs by running the changed program.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "analyzer/diagnose/diagnose.h"
#include "analyzer/explore/apply_edit.h"
#include "analyzer/explore/statement.h"

namespace handoff::explore {

/// What one run of a kernel starts from.
struct Input {
  machine::Launch launch;
  machine::RunOptions options;
  diagnose::Names names;
};

/// Repairs of one kernel. Every input that the kernel was explored with belongs in `inputs`: a repair is offered only
/// when it holds under all of them.
class Repairer {
 public:
  struct Budget {
    double seconds = 2.0;          ///< wall time for all findings of the kernel
    std::size_t tries = 40;        ///< candidates a finding
  };

  /// `file` is the source file that repairs may change; empty: none.
  Repairer(const machine::Program& program, std::vector<Input> inputs, std::string file, Budget budget);

  /// The first of the diagnosis' edits under which no input shows this finding, nor any finding or limit that was not
  /// there before. `input` is the one that showed it.
  std::optional<diagnose::Repair> repair(const diagnose::Diagnosis& diagnosis, std::size_t input);

 private:
  /// What a finding is about, in terms that survive an edit.
  using Key = std::tuple<std::string, std::uint32_t, std::uint32_t>;
  struct Baseline {
    std::set<Key> findings;
    std::set<std::string> limits;
  };

  const Baseline& baseline(std::size_t input);
  bool helps(const Edited& edited, const diagnose::Diagnosis& diagnosis, std::size_t first);

  const machine::Program& program_;
  std::vector<Input> inputs_;
  Statements statements_;
  Budget budget_;
  double spent_ = 0;
  std::vector<std::optional<Baseline>> baselines_;
};

}  // namespace handoff::explore
