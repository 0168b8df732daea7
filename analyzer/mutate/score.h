// SPDX-License-Identifier: Apache-2.0
// What the analysis says to the mutants of a kernel.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "analyzer/diagnose/finding.h"
#include "analyzer/explore/analyze.h"
#include "analyzer/frontend/unit.h"
#include "analyzer/mutate/mutants.h"

namespace handoff::mutate {

enum class Fate : std::uint8_t {
  kKilled,      ///< an error or a warning
  kEquivalent,  ///< verified, and every read of shared memory sees the same write as in the kernel itself
  kPossible,    ///< not proved, with a `possible` finding
  kUnproved,    ///< neither a finding nor a proof
  kSurvived,    ///< verified, but a read sees another write
};
std::string_view toString(Fate fate);  ///< "killed", ...

struct Scored {
  Mutant mutant;
  Fate fate = Fate::kUnproved;
  std::string rule;  ///< kKilled: of the first finding
  std::string why;   ///< otherwise: the limit, what differs
  double seconds = 0;
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

/// One entry for each kernel of the unit that the options choose.
std::vector<KernelScore> score(const frontend::Unit& unit, const explore::Options& options, const Runner& runner);

}  // namespace handoff::mutate
