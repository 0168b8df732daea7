// SPDX-License-Identifier: Apache-2.0
// Single operations that break a rule by themselves.
#include "analyzer/diagnose/misuse.h"

#include <algorithm>
#include <bit>
#include <set>

#include "analyzer/diagnose/edits.h"
#include "analyzer/diagnose/rule.h"
#include "analyzer/diagnose/witness.h"
#include "analyzer/machine/transfer/null_pointer.h"

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
    const bool is_cp_async = misuse_.event != 0 && run_.outcome.log[misuse_.event].kind == machine::EventKind::kCopy;
    const bool is_pedantic = (misuse_.kind == Misuse::Kind::kLeakedAtExit && is_cp_async) ||
                             (misuse_.kind == Misuse::Kind::kReinitialized && misuse_.value != 0);
    finding.severity = is_pedantic ? Severity::kNote : isUnawaited() ? Severity::kWarning : rule->severity;
    diagnosis.primary_instr = diagnosis.secondary_instr = run_.program.ops[misuse_.op].instr;
    finding.stack = run_.program.stackOf(diagnosis.primary_instr);
    const bool has_place = misuse_.address != 0 && !machine::isOfNullPointer(misuse_);
    const bool global = misuse_.kind == Misuse::Kind::kMisalignedSource ||
                        misuse_.kind == Misuse::Kind::kMisalignedGlobalDestination ||
                        misuse_.kind == Misuse::Kind::kTensormapUnfenced || misuse_.kind == Misuse::Kind::kTensormapInUse;
    const std::string place =
        has_place ? placeName(run_.program, run_.names, global ? ptx::Space::kGlobal : ptx::Space::kShared, misuse_.address)
                  : "";
    finding.witness = witnessOf(run_, misuse_.warp, misuse_.lanes, place);
    diagnosis.edits = editsFor(run_, misuse_);
    if (misuse_.is_possible) makePossible(run_, finding, misuse_.data);
    for (const machine::EventId event : {misuse_.other, misuse_.event}) {
      if (event != 0) diagnosis.sites.push_back(siteOf(run_, {event, machine::lowestLane(run_.outcome.log[event].lanes)}));
    }
    diagnosis.space = global ? ptx::Space::kGlobal : ptx::Space::kShared;
    diagnosis.address = misuse_.address;
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
      case Misuse::Kind::kMisalignedDestination: misaligned(finding, "destination", ptx::Space::kShared); break;
      case Misuse::Kind::kMisalignedSource: misaligned(finding, "source", ptx::Space::kGlobal); break;
      case Misuse::Kind::kMisalignedSharedSource: misaligned(finding, "source", ptx::Space::kShared); break;
      case Misuse::Kind::kMisalignedGlobalDestination: misaligned(finding, "destination", ptx::Space::kGlobal); break;
      case Misuse::Kind::kBadBulkSize:
        finding.rule = "misaligned-copy";
        finding.message = "a bulk copy moves a multiple of 16 bytes, not " + number(misuse_.value);
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
        if (isUnawaited()) return unawaited(finding);
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
      case Misuse::Kind::kBarrierOverwritten:
        finding.rule = "uninitialized-barrier";
        finding.message = "bytes of the live mbarrier " + place(ptx::Space::kShared) + " are written by " + thread() +
                          ": only mbarrier operations may touch them";
        relate(finding, misuse_.other, "the barrier is initialised here");
        break;
      case Misuse::Kind::kTensorMemoryLeak:
        finding.rule = "cluster-lifetime";
        finding.message = "the block exits with " + number(misuse_.value) + " columns of tensor memory still allocated";
        break;
      case Misuse::Kind::kTensorMemoryAfterRelinquish:
        finding.rule = "cluster-lifetime";
        finding.message = "tensor memory is allocated after the block has given up the right to";
        relate(finding, misuse_.other, "it is given up here");
        break;
      case Misuse::Kind::kTensorMemoryUnallocated:
        finding.rule = "cluster-lifetime";
        finding.message = "no allocation that still lasts has given the block the " + number(misuse_.wanted) +
                          " columns of tensor memory from " + number(misuse_.value) + " on, which " + thread() + " uses or frees here";
        break;
      case Misuse::Kind::kMisalignedBarrier:
        finding.rule = "uninitialized-barrier";
        finding.message = "no mbarrier can lie at " + place(ptx::Space::kShared) + ": the address is not a multiple of " +
                          number(misuse_.wanted) + " bytes";
        break;
      case Misuse::Kind::kBarrierInUse:
        finding.rule = "uninitialized-barrier";
        finding.message = thread() + " ends the mbarrier " + place(ptx::Space::kShared) +
                          " or initialises it again, and no barrier orders its use by other warps before that";
        relate(finding, misuse_.other, "it was initialised here");
        break;
      case Misuse::Kind::kBadArrivalCount:
        finding.rule = "arrival-count-mismatch";
        finding.message = "an mbarrier counts 1 to " + number(misuse_.wanted) + " arrivals, not " + number(misuse_.value);
        break;
      case Misuse::Kind::kOutsideMask:
        finding.rule = "divergent-protocol";
        finding.message = thread() + " executes a warp barrier whose mask leaves it out: it is not ordered with the others";
        break;
      case Misuse::Kind::kSplitRegisters:
        finding.rule = "divergent-protocol";
        finding.message = "warp " + number(misuse_.value) + " of the block does not execute this setmaxnreg, which all warps of its "
                          "warpgroup have to execute together";
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
      case Misuse::Kind::kByteMismatch:
      case Misuse::Kind::kLateExpect:
      case Misuse::Kind::kByteRange:
      case Misuse::Kind::kLappedWait:
      case Misuse::Kind::kRemoteBarrierOp:
      case Misuse::Kind::kCompletingNoComplete:
      case Misuse::Kind::kEmptyExpectedCount: barrier(finding); break;
      case Misuse::Kind::kWrongSpace:
      case Misuse::Kind::kNoSuchPeer:
      case Misuse::Kind::kPeerNotStarted:
      case Misuse::Kind::kPeerMayHaveExited:
      case Misuse::Kind::kDoubleClusterArrive: cluster(finding); break;
      case Misuse::Kind::kUndrainedAtExit:
        finding.rule = misuse_.value != 0 ? "missing-commit" : "store-not-drained";
        finding.message = "the block may exit while this bulk store of " + thread() + " still reads shared memory: " +
                          (misuse_.value != 0 ? "its thread waits, but had never committed it" : "no wait_group.read covers it");
        break;
      case Misuse::Kind::kUndrainedAtSignal:
        finding.rule = "store-not-drained";
        finding.message = thread() + " announces data that a bulk store may still be writing: only wait_group without .read "
                                     "says that the destination is written";
        relate(finding, misuse_.other, "the bulk store is here");
        break;
      case Misuse::Kind::kSplitWarpgroup:
        finding.rule = "divergent-protocol";
        finding.message = "only " + number(std::popcount(misuse_.lanes)) + " of 32 threads of warp " + number(misuse_.warp) +
                          " execute this warpgroup instruction";
        break;
      case Misuse::Kind::kWarpgroupMismatch:
        finding.rule = "divergent-protocol";
        finding.message = "the warps of one warpgroup execute different multiplications, or with different descriptors";
        relate(finding, misuse_.other, "another warp of the warpgroup executes this one");
        break;
      case Misuse::Kind::kTensormapUnfenced:
        finding.rule = "missing-proxy-fence";
        finding.message = "the tensor map " + place(ptx::Space::kGlobal) + " is used by " + thread() + " after an edit that " +
                          (misuse_.value != 0 ? "no fence.proxy.tensormap acquire before the copy makes visible to it"
                                              : "no fence.proxy.tensormap release publishes");
        relate(finding, misuse_.other, "the map is edited here");
        break;
      case Misuse::Kind::kTensormapInUse:
        finding.rule = "source-overwritten";
        finding.message = "the tensor map " + place(ptx::Space::kGlobal) + " is edited by " + thread() +
                          " while a copy through it may still read it";
        relate(finding, misuse_.other, "the copy is here");
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

  void misaligned(Finding& finding, const std::string& side, ptx::Space space) const {
    const bool is_bulk = misuse_.event != 0 && run_.outcome.log[misuse_.event].kind == machine::EventKind::kBulk;
    finding.rule = "misaligned-copy";
    finding.message = "the " + side + " " + place(space) + " of a " + (is_bulk ? "bulk" : number(misuse_.wanted) + "-byte") +
                      " copy of " + thread() + " is not a multiple of " + number(misuse_.wanted) + " bytes";
  }

  void barrier(Finding& finding) const {
    const std::string object = "the mbarrier " + place(ptx::Space::kShared);
    switch (misuse_.kind) {
      case Misuse::Kind::kByteMismatch: {
        finding.rule = "tx-count-mismatch";
        const bool is_expect = misuse_.wanted != 0;
        finding.message = object + " expects " + number(misuse_.wanted) + " bytes in a phase, but the copies of that phase bring " +
                          number(misuse_.value) +
                          (misuse_.wanted > misuse_.value ? ": the phase never completes"
                           : is_expect                    ? ": it may complete before all of them have come"
                                                          : ": nobody announced them");
        relate(finding, misuse_.other, is_expect ? "a copy of that phase is here" : "the barrier is initialised here");
        return;
      }
      case Misuse::Kind::kLateExpect:
        finding.rule = "phase-race";
        finding.message = (isTracking() ? "nothing orders this arrival for the copies of " : "nothing orders these expected bytes of ") +
                          thread() + " before the last arrival of the phase of " + object + ": the phase may complete without them";
        return;
      case Misuse::Kind::kByteRange:
        finding.rule = "tx-count-mismatch";
        finding.message = object + " would have to count " + number(misuse_.value) + " bytes; its range ends at " + number(misuse_.wanted);
        return;
      case Misuse::Kind::kLappedWait:
        finding.rule = "phase-race";
        finding.message = "while " + thread() + " waits here for " +
                          (static_cast<std::int32_t>(misuse_.value) < 0 ? std::string("the phase before the first")
                                                                        : "phase " + number(misuse_.value)) + " of " + object +
                          ", nothing holds back the phase after it: when that one is over, too, the wait asks for the wrong phase";
        relate(finding, misuse_.other, "the next phase completes here");
        return;
      case Misuse::Kind::kRemoteBarrierOp:
        finding.rule = "illegal-barrier-op";
        finding.message = object + " belongs to another CTA than " + thread() +
                          ": only arrivals without a state and transaction counts may go there";
        return;
      case Misuse::Kind::kCompletingNoComplete:
        finding.rule = "arrival-count-mismatch";
        finding.message = "an arrival with .noComplete and count " + number(misuse_.value) + " may complete the phase of " + object +
                          ", which waits for " + number(misuse_.wanted) + " more";
        relate(finding, misuse_.other, "the barrier is initialised here");
        return;
      default:
        finding.rule = "arrival-count-mismatch";
        finding.message = "arrive_drop takes the last of " + number(misuse_.wanted) + " expected arrivals from " + object;
        relate(finding, misuse_.other, "the barrier is initialised here");
    }
  }

  /// cp.async.mbarrier.arrive, which no count waits for.
  bool isTracking() const { return run_.outcome.log[misuse_.event].kind == machine::EventKind::kCopyArrive; }

  /// A shuffle, a vote or elect.sync, which wait for the lanes of their mask.
  bool isCollective() const { return std::holds_alternative<ptx::Collective>(run_.program.ops[misuse_.op].decoded->effect); }

  /// Equal counts: the participants agree, but all of them only arrive.
  bool isUnawaited() const { return misuse_.kind == Misuse::Kind::kBarrierCountMismatch && misuse_.value == misuse_.wanted; }

  void unawaited(Finding& finding) const {
    finding.message = "the " + threads(misuse_.value) + " that barrier " + number(run_.outcome.log[misuse_.event].value) +
                      " counts have all only arrived: nobody waits, and a later wait is for the next round";
    if (misuse_.other != misuse_.event) relate(finding, misuse_.other, "the first of them arrives here");
  }

  void nullPointer(Finding& finding) const {
    const bool is_source = misuse_.value == static_cast<std::uint64_t>(machine::NullOperand::kSource);
    finding.message = std::string("the ") + (is_source ? "source" : "destination") + " of the copy of " + thread() +
                      " is a null pointer: no variable lies at address " + number(misuse_.address);
  }

  void cluster(Finding& finding) const {
    const std::string peer = "CTA " + number(misuse_.value);
    switch (misuse_.kind) {
      case Misuse::Kind::kWrongSpace:
        finding.rule = "wrong-space";
        if (machine::isOfNullPointer(misuse_)) return nullPointer(finding);
        finding.message = misuse_.value == 0   ? "a copy to .shared::cta names memory of another CTA, " + place(ptx::Space::kShared)
                          : misuse_.value == 1 ? "the mbarrier lies in CTA " + number(misuse_.wanted) + ", not beside the destination " +
                                                     place(ptx::Space::kShared)
                                               : "a copy from shared memory to the cluster names its own CTA's " + place(ptx::Space::kShared) +
                                                     ": it has to go to another CTA";
        return;
      case Misuse::Kind::kNoSuchPeer:
        finding.rule = "wrong-space";
        finding.message = "an address names " + peer + " of a cluster of " + number(misuse_.wanted);
        return;
      case Misuse::Kind::kPeerNotStarted:
        finding.rule = "cluster-lifetime";
        finding.message = thread() + " accesses shared memory of " + peer + ", and nothing says that this CTA has started";
        return;
      case Misuse::Kind::kDoubleClusterArrive:
        finding.rule = "phase-race";
        finding.message = thread() + " arrives twice at the cluster barrier without a wait between";
        return;
      default:
        finding.rule = "cluster-lifetime";
        finding.message = peer + " may exit before this access of " + thread() + " to its shared memory is over";
    }
  }

  static std::string threads(std::uint64_t count) {
    return count == 0 ? "all threads of the block" : std::to_string(count) + " threads";
  }

  void divergent(Finding& finding) const {
    finding.rule = "divergent-protocol";
    const auto missing = static_cast<machine::LaneMask>(misuse_.wanted) & ~misuse_.lanes;
    finding.message = "only " + number(std::popcount(misuse_.lanes)) + " of " + number(std::popcount(misuse_.wanted)) +
                      " threads of warp " + number(misuse_.warp) + " reach this " + (isCollective() ? "instruction" : "barrier") + ": thread " +
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
    if (diagnosis.finding.severity == Severity::kPossible) return false;
    return rule == "missing-wait" || rule == "missing-commit" || rule == "insufficient-wait" ||
           rule == "barrier-only-handoff" || rule == "leaked-copy";
  };
  const bool has_wait_finding = std::any_of(result.begin(), result.end(), isAboutWaits);
  const auto isAboutPhases = [](Misuse::Kind kind) {
    return kind == Misuse::Kind::kEarlyArrival || kind == Misuse::Kind::kEarlyWait || kind == Misuse::Kind::kLappedWait;
  };
  for (const Misuse& misuse : run.outcome.misuses) {
    if (misuse.kind == Misuse::Kind::kLeakedAtExit && has_wait_finding) continue;
    result.push_back(MisuseReporter(run, misuse).report());
    // What is found out at the end rests on all of the run.
    const bool is_at_end = misuse.kind == Misuse::Kind::kLeakedAtExit || misuse.kind == Misuse::Kind::kUndrainedAtExit ||
                           misuse.kind == Misuse::Kind::kPeerMayHaveExited || misuse.kind == Misuse::Kind::kByteMismatch ||
                           misuse.kind == Misuse::Kind::kTensorMemoryLeak || misuse.kind == Misuse::Kind::kLappedWait;
    result.back().last_event = is_at_end ? 0 : std::max<machine::EventId>(misuse.at, 1);
    result.back().finding.may_follow = isAboutPhases(misuse.kind);
  }
}

}  // namespace handoff::diagnose
