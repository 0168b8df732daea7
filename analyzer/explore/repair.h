// SPDX-License-Identifier: Apache-2.0
// Tries candidate repairs by running the changed program.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "analyzer/diagnose/diagnose.h"
#include "analyzer/explore/apply_edit.h"
#include "analyzer/explore/source_text.h"
#include "analyzer/explore/statement.h"
#include "analyzer/support/thread_clock.h"

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
    /// Executed warp instructions for all findings of the kernel; the same on every machine.
    std::uint64_t steps = 1'000'000;
    double seconds = 10;           ///< wall time, for runs whose steps are slow
    std::size_t tries = 40;        ///< candidates a finding
  };

  /// `file` is the source file that repairs may change; empty: none.
  Repairer(const machine::Program& program, std::vector<Input> inputs, std::string file, SourceText text, Budget budget);

  struct Open {
    diagnose::Diagnosis diagnosis;
    std::size_t input = 0;  ///< that showed it
    /// For a finding that no run shows: whether the changed program is without it.
    std::function<bool(const Edited&)> is_gone{};
  };
  /// A repair for each finding, if there is one: an edit under which no input shows the finding, nor any finding or limit
  /// that was not there before. An edit that leaves no finding at all is taken before one that leaves others, and for all
  /// findings; one that takes something away (Edit::is_bold) has to leave none.
  std::vector<std::optional<diagnose::Repair>> repairAll(const std::vector<Open>& findings);

  const SourceText& text() const { return text_; }
  const Statements& statements() const { return statements_; }
  const std::vector<Input>& inputs() const { return inputs_; }
  /// Time, and not the number of steps, kept it from trying more.
  bool wasCutShort() const { return was_cut_short_; }

 private:
  enum class Result : std::uint8_t { kFails, kLeavesOthers, kClean };
  /// What a finding is about, in terms that survive an edit.
  using Key = std::tuple<std::string, std::uint32_t, std::uint32_t>;
  struct Baseline {
    std::set<Key> findings;
    std::set<std::string> limits;
    std::uint64_t steps = 0;
    bool is_cut = false;  ///< the run did not come to its end within the budget: it says nothing about repairs
  };

  const Baseline& baseline(std::size_t input);
  Result check(const diagnose::Edit& edit, const Open& open);
  bool isSpent();
  /// Counts what a run of an input costs; no run may take more than is left.
  machine::Outcome runCounted(const machine::Program& program, const Input& input, std::uint64_t max_steps);
  diagnose::Repair repairBy(const diagnose::Edit& edit, const Open& open, Result result);

  const machine::Program& program_;
  std::vector<Input> inputs_;
  std::string file_;
  SourceText text_;
  Statements statements_;
  Budget budget_;
  std::uint64_t steps_ = 0;
  ThreadClock::time_point start_ = ThreadClock::now();
  bool was_cut_short_ = false;
  std::vector<std::optional<Baseline>> baselines_;
};

/// A repair has to hold under the inputs that show a finding, and under as many others as a try can run: the shortest, by
/// the steps of their runs. Leaves these, in their order, and adjusts Open::input.
void keepRepresentatives(std::vector<Input>& inputs, const std::vector<std::uint64_t>& steps, std::vector<Repairer::Open>& findings);

/// `second`, of the same kernel, with the repairs that `first` has for the same findings.
diagnose::KernelReport withRepairsOf(const diagnose::KernelReport& first, diagnose::KernelReport second);

}  // namespace handoff::explore
