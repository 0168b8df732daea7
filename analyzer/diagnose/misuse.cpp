// SPDX-License-Identifier: Apache-2.0
// Single operations that break a rule by themselves.
#include "analyzer/diagnose/misuse.h"

#include <algorithm>
#include <bit>

#include "analyzer/diagnose/rule.h"
#include "analyzer/diagnose/witness.h"

namespace handoff::diagnose {

using machine::Misuse;

namespace {

class MisuseReporter {
 public:
  MisuseReporter(const Run& run, const Misuse& misuse) : run_(run), misuse_(misuse) {}

  Diagnosis report() {
    Diagnosis diagnosis;
    Finding& finding = diagnosis.finding;
    describe(finding);
    const RuleInfo* rule = findRule(finding.rule);
    // Undefined by the letter, without an effect that anybody has seen: initialising an idle barrier again, and
    // leaving copies behind that nobody reads.
    const bool is_pedantic = misuse_.kind == Misuse::Kind::kLeakedAtExit ||
                             (misuse_.kind == Misuse::Kind::kReinitialized && misuse_.value != 0);
    finding.severity = is_pedantic ? Severity::kNote : rule->severity;
    diagnosis.primary_instr = diagnosis.secondary_instr = run_.program.ops[misuse_.op].instr;
    finding.stack = run_.program.stackOf(diagnosis.primary_instr);
    const bool has_place = misuse_.address != 0;
    const bool global = misuse_.kind == Misuse::Kind::kMisalignedSource;
    const std::string place =
        has_place ? placeName(run_.program, run_.names, global ? ptx::Space::kGlobal : ptx::Space::kShared, misuse_.address)
                  : "";
    finding.witness = witnessOf(run_, misuse_.warp, misuse_.lanes, place);
    return diagnosis;
  }

 private:
  std::string thread() const { return "thread " + threadName(run_.launch, misuse_.warp, machine::lowestLane(misuse_.lanes)); }
  std::string number(std::uint64_t n) const { return std::to_string(n); }
  std::string place(ptx::Space space) const {
    return "'" + placeName(run_.program, run_.names, space, misuse_.address) + "'";
  }

  void relate(Finding& finding, machine::EventId event, std::string message) const {
    if (event == 0) return;
    finding.related.push_back(
        {std::move(message), run_.program.stackOf(run_.program.ops[run_.outcome.log[event].op].instr)});
  }

  void describe(Finding& finding) const {
    switch (misuse_.kind) {
      case Misuse::Kind::kMisalignedDestination:
        finding.rule = "misaligned-copy";
        finding.message = "the destination " + place(ptx::Space::kShared) + " of a " + number(misuse_.wanted) +
                          "-byte copy of " + thread() + " is not a multiple of " + number(misuse_.wanted) + " bytes";
        break;
      case Misuse::Kind::kMisalignedSource:
        finding.rule = "misaligned-copy";
        finding.message = "the source " + place(ptx::Space::kGlobal) + " of a " + number(misuse_.wanted) +
                          "-byte copy of " + thread() + " is not a multiple of " + number(misuse_.wanted) + " bytes";
        break;
      case Misuse::Kind::kBadCopySize:
        finding.rule = "misaligned-copy";
        finding.message = misuse_.wanted != 0
                              ? "the source size " + number(misuse_.value) + " exceeds the copy size " + number(misuse_.wanted)
                              : "cp.async copies 4, 8 or 16 bytes (.cg: 16 only), not " + number(misuse_.value);
        break;
      case Misuse::Kind::kOutOfRange: break;
      case Misuse::Kind::kDivergentBarrier: divergent(finding); break;
      case Misuse::Kind::kBarrierCountMismatch:
        finding.rule = "arrival-count-mismatch";
        finding.message = "this participant expects " + threads(misuse_.value) + " at the barrier, an earlier one " +
                          threads(misuse_.wanted);
        relate(finding, misuse_.other, "the earlier participant is here");
        break;
      case Misuse::Kind::kBadBarrierCount:
        finding.rule = "arrival-count-mismatch";
        finding.message = "a barrier counts whole warps: " + number(misuse_.value) + " is not a multiple of 32 threads";
        break;
      case Misuse::Kind::kAmbiguousGeneration:
        finding.rule = "phase-race";
        finding.message = thread() + " arrives at barrier " + number(misuse_.value) +
                          " without knowing its previous round to be over: the arrival may count for that one";
        break;
      case Misuse::Kind::kUninitializedBarrier:
        finding.rule = "uninitialized-barrier";
        finding.message = "the mbarrier " + place(ptx::Space::kShared) + " is used by " + thread() +
                          ", and its initialisation is not ordered before that, or it has ended";
        break;
      case Misuse::Kind::kBarrierInitUnordered:
        finding.rule = "uninitialized-barrier";
        finding.message = "the mbarrier " + place(ptx::Space::kShared) + " is used by " + thread() +
                          ", and no barrier orders its initialisation before that";
        relate(finding, misuse_.other, "the barrier is initialised here");
        break;
      case Misuse::Kind::kReinitialized:
        finding.rule = "uninitialized-barrier";
        finding.message = "the mbarrier " + place(ptx::Space::kShared) + " is initialised again without mbarrier.inval";
        relate(finding, misuse_.other, "it was initialised here");
        break;
      case Misuse::Kind::kOverArrival:
        finding.rule = "arrival-count-mismatch";
        finding.message = "an arrival with count " + number(misuse_.value) + " meets an mbarrier that waits for " +
                          number(misuse_.wanted) + " more";
        relate(finding, misuse_.other, "the barrier is initialised here");
        break;
      case Misuse::Kind::kEarlyArrival:
        finding.rule = "phase-race";
        finding.message = "this arrival of " + thread() + " is meant for phase " + number(misuse_.value) +
                          " of the mbarrier, but nothing makes it wait for phase " + number(misuse_.value - 1) +
                          ": it may count for that one";
        relate(finding, misuse_.other, "the barrier is initialised here");
        break;
      case Misuse::Kind::kEarlyWait:
        finding.rule = "phase-race";
        finding.message = "this wait of " + thread() + " is meant for phase " + number(misuse_.value) +
                          " of the mbarrier, but by its parity the phase two turns earlier would satisfy it as well: " +
                          "nothing orders phase " + number(misuse_.value - 1) + " before the wait";
        relate(finding, misuse_.other, "the barrier is initialised here");
        break;
      case Misuse::Kind::kLeakedAtExit:
        finding.rule = "leaked-copy";
        finding.message = "the block may exit while this copy of " + thread() + " is in flight: nothing waits for it";
        break;
      case Misuse::Kind::kDuplicateDestination:
        finding.rule = "overlapping-copies";
        finding.message = number(std::popcount(misuse_.lanes)) + " threads of one warp copy different sources to " +
                          place(ptx::Space::kShared);
        break;
    }
  }

  static std::string threads(std::uint64_t count) {
    return count == 0 ? "all threads of the block" : std::to_string(count) + " threads";
  }

  void divergent(Finding& finding) const {
    finding.rule = "divergent-protocol";
    const auto missing = static_cast<machine::LaneMask>(misuse_.wanted) & ~misuse_.lanes;
    finding.message = "only " + number(std::popcount(misuse_.lanes)) + " of " + number(std::popcount(misuse_.wanted)) +
                      " threads of warp " + number(misuse_.warp) + " reach this barrier: thread " +
                      threadName(run_.launch, misuse_.warp, machine::lowestLane(missing)) + " skips it";
  }

  const Run& run_;
  const Misuse& misuse_;
};

}  // namespace

void reportMisuses(const Run& run, std::vector<Diagnosis>& result) {
  // A copy that some finding about waits is about needs no second one about the exit.
  const auto isAboutWaits = [](const Diagnosis& diagnosis) {
    const std::string& rule = diagnosis.finding.rule;
    return rule == "missing-wait" || rule == "missing-commit" || rule == "insufficient-wait" ||
           rule == "barrier-only-handoff" || rule == "leaked-copy";
  };
  const bool has_wait_finding = std::any_of(result.begin(), result.end(), isAboutWaits);
  for (const Misuse& misuse : run.outcome.misuses) {
    if (misuse.kind == Misuse::Kind::kLeakedAtExit && has_wait_finding) continue;
    result.push_back(MisuseReporter(run, misuse).report());
  }
}

}  // namespace handoff::diagnose
