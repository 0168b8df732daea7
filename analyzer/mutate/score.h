// SPDX-License-Identifier: Apache-2.0
// What the analysis says to the mutants of a kernel.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "analyzer/diagnose/finding.h"
#include "analyzer/explore/analyze.h"
#include "analyzer/frontend/unit.h"
#include "analyzer/mutate/mutants.h"
#include "analyzer/mutate/selection.h"

namespace handoff::mutate {

enum class Fate : std::uint8_t {
  kKilled,      ///< an error or a warning
  /// Verified, and every read of shared memory sees the same write as in the kernel itself; of a kernel that is bounded
  /// itself, bounded for no other reason.
  kEquivalent,
  kPossible,    ///< not proved, with a `possible` finding that the kernel itself does not have
  kNoted,       ///< not proved, with a note of a rule that the kernel itself has none of
  kUnproved,    ///< neither a finding nor a proof
  kSurvived,    ///< verified, but a read sees another write
  kOutside,     ///< no finding, and an access leaves shared memory: that is no kernel
};
inline constexpr std::array kFates = {Fate::kKilled,   Fate::kEquivalent, Fate::kPossible, Fate::kNoted,
                                      Fate::kUnproved, Fate::kSurvived,   Fate::kOutside};
std::string_view toString(Fate fate);  ///< "killed", ...

struct Scored {
  Mutant mutant;
  std::uint32_t number = 0;  ///< among all mutants of the kernel, from 1, whatever the selection is
  Fate fate = Fate::kUnproved;
  std::string rule;  ///< kKilled: of the first finding
  std::string why;   ///< otherwise: the limit, what differs
  double seconds = 0;
  /// For handoff-confirm, with Options::makes_jobs: of the errors and warnings of kKilled; with Options::makes_controls, too: of
  /// kEquivalent, with every perturbation, under which nothing may differ from the kernel itself.
  struct Job {
    std::string rule;  ///< "none" of a control
    std::shared_ptr<const diagnose::WitnessJob> content;
  };
  std::vector<Job> jobs;
};

struct KernelScore {
  std::string name, pretty;
  SourcePos pos;
  diagnose::Verdict verdict = diagnose::Verdict::kError;  ///< of the kernel itself
  std::string skipped;        ///< why it has no mutants: findings of its own, no asynchronous operations
  std::vector<Scored> mutants;
};

/// Runs jobs that may run at the same time, and returns when all are done.
using Runner = std::function<void(std::vector<std::function<void()>>)>;

/// One entry for each kernel of the unit that the options choose, with the mutants of the selection. Jobs of findings compare
/// a mutant with the kernel itself.
std::vector<KernelScore> score(const frontend::Unit& unit, const explore::Options& options, const Runner& runner,
                               const Selection& selection = {});

}  // namespace handoff::mutate
