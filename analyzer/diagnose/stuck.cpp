// SPDX-License-Identifier: Apache-2.0
// Hangs: who waits for what, and why it cannot come.
#include <algorithm>
#include <bit>
#include <map>
#include <set>

#include "analyzer/diagnose/edits.h"
#include "analyzer/diagnose/misuse.h"
#include "analyzer/diagnose/rule.h"
#include "analyzer/diagnose/witness.h"

namespace handoff::diagnose {

using machine::Stuck;

namespace {

/// All threads that are stuck at one instruction.
struct Place {
  const Stuck* first = nullptr;
  std::uint32_t threads = 0;
  std::uint32_t not_arrived = 0;  ///< of them, those that have not arrived in the phase that they wait for
};

Site siteOf(const Run& run, const Stuck& stuck) {
  const machine::Op& op = run.program.ops[std::min<std::size_t>(stuck.op, run.program.ops.size() - 1)];
  const std::uint32_t warps = run.launch.warps();
  return {.instr = op.instr, .group = op.site, .cta = stuck.warp / warps, .warp = stuck.warp % warps,
          .lane = machine::lowestLane(stuck.lanes)};
}

class StuckReporter {
 public:
  StuckReporter(const Run& run, const std::map<std::uint32_t, Place>& places) : run_(run), places_(places) {}

  Diagnosis report(const Place& place) {
    const Stuck& stuck = *place.first;
    Diagnosis diagnosis;
    Finding& finding = diagnosis.finding;
    diagnosis.primary_instr = diagnosis.secondary_instr = instrOf(stuck.op);
    finding.stack = run_.program.stackOf(diagnosis.primary_instr);
    switch (stuck.kind) {
      case Stuck::Kind::kCtaBarrier: ctaBarrier(finding, place); break;
      case Stuck::Kind::kWarpBarrier:
        finding.rule = "divergent-protocol";
        finding.message = "bar.warp.sync waits for " + count(std::popcount(stuck.missing_lanes), "thread") +
                          " of the warp that never reach it";
        break;
      case Stuck::Kind::kMbarrier: mbarrier(finding, place); break;
      case Stuck::Kind::kClusterBarrier:
        finding.rule = "hang";
        finding.message = waiting(place.threads) + " at the cluster barrier for threads that never arrive";
        relateArrivals(finding, stuck, "an arrival is here");
        break;
      case Stuck::Kind::kMmaWait:
        finding.rule = "divergent-protocol";
        finding.message = waiting(place.threads) +
                          " for a multiplication that the other warps of their warpgroup never start";
        break;
      case Stuck::Kind::kRegisterPool:
        finding.rule = "hang";
        finding.message = count(place.threads, "thread") + (place.threads == 1 ? " asks" : " ask") +
                          " for more registers than the block will ever have free: setmaxnreg never returns";
        break;
      case Stuck::Kind::kFlag:
        finding.rule = "hang";
        finding.message = "the thread never leaves this loop";
        break;
    }
    finding.severity = findRule(finding.rule)->severity;
    addOthers(finding, stuck);
    const bool has_object = stuck.kind == Stuck::Kind::kMbarrier;
    finding.witness = witnessOf(run_, stuck.warp, stuck.lanes, has_object ? objectName(stuck) : "");
    diagnosis.edits = editsFor(run_, stuck);
    diagnosis.sites = {siteOf(run_, stuck)};
    return diagnosis;
  }

 private:
  std::uint32_t instrOf(machine::OpIndex op) const {
    return run_.program.ops[std::min<std::size_t>(op, run_.program.ops.size() - 1)].instr;
  }
  static std::string count(std::uint64_t n, const std::string& noun) {
    return std::to_string(n) + " " + noun + (n == 1 ? "" : "s");
  }
  static std::string waiting(std::uint64_t threads) {
    return count(threads, "thread") + (threads == 1 ? " waits" : " wait");
  }
  std::string objectName(const Stuck& stuck) const {
    return placeName(run_.program, run_.names, ptx::Space::kShared, stuck.address);
  }

  void ctaBarrier(Finding& finding, const Place& place) const {
    const Stuck& stuck = *place.first;
    const std::uint32_t threads = run_.launch.threads();
    const std::string id = "barrier " + std::to_string(stuck.id);
    if (stuck.expected == 0) {
      finding.rule = "hang";
      finding.message = waiting(place.threads) + " at " + id + " for the rest of the block, which never arrives";
      return;
    }
    const bool impossible = stuck.expected > threads - std::min(run_.outcome.exited_threads, threads) ||
                            stuck.expected > stuck.arrived;
    const bool exited = run_.outcome.exited_threads != 0 && stuck.expected <= threads;
    finding.rule = exited || !impossible ? "hang" : "arrival-count-mismatch";
    finding.message = id + " waits for " + count(stuck.expected, "thread") + ", but only " + std::to_string(stuck.arrived) +
                      " arrive" + (exited ? ": " + count(run_.outcome.exited_threads, "thread") + " of the block " +
                      (run_.outcome.exited_threads == 1 ? "has" : "have") + " already left" : "");
  }

  void mbarrier(Finding& finding, const Place& place) const {
    const Stuck& stuck = *place.first;
    const std::string object = "the mbarrier '" + objectName(stuck) + "'";
    if (stuck.transactions != 0 && stuck.arrived == stuck.expected) {
      finding.rule = "tx-count-mismatch";
      finding.message = "phase " + std::to_string(stuck.id) + " of " + object + " never completes: " +
                        (stuck.transactions > 0 ? std::to_string(stuck.transactions) + " announced bytes never arrive"
                                                : std::to_string(-stuck.transactions) + " bytes came that nobody announced");
    } else if (stuck.seen + 2 <= stuck.id) {
      finding.rule = "phase-race";
      finding.message = waiting(place.threads) + " for phase " + std::to_string(stuck.seen) + " of " + object +
                        ", which is already in phase " + std::to_string(stuck.id) + ": nothing held it back, and the parity now "
                        "asks for another phase";
    } else if (stuck.arrived < stuck.expected) {
      // Threads that wait for this barrier, and have not arrived at it themselves, may wait for their own arrivals; and
      // where nothing came at all, the count is not what is wrong.
      const bool waits_for_itself = stuck.expected - stuck.arrived <= place.not_arrived;
      finding.rule = stuck.arrivals.empty() || waits_for_itself ? "hang" : "arrival-count-mismatch";
      finding.message = waiting(place.threads) + " for phase " + std::to_string(stuck.id) + " of " + object +
                        ", which needs " + count(stuck.expected, "arrival") + " and gets " + std::to_string(stuck.arrived);
    } else {
      finding.rule = "hang";
      finding.message = waiting(place.threads) + " for a phase of " + object + " that never completes";
    }
    relate(finding, stuck.init, "the barrier is initialised for " + count(stuck.expected, "arrival") + " here");
    std::set<std::uint32_t> told;
    for (const machine::EventId id : stuck.arrivals) {
      const std::uint32_t instr = instrOf(run_.outcome.log[id].op);
      if (!told.insert(instr).second || told.size() > 4) continue;
      const bool by_copy = run_.outcome.log[id].kind == machine::EventKind::kCopyArrive;
      relate(finding, id, by_copy ? "copies arrive here (without .noinc the arrival first raises the count: net zero)"
                                  : "an arrival of this phase is here");
    }
    if (told.empty()) relateLastArrivals(finding, stuck);
  }

  // No arrival in the open phase: show where arrivals of this object come from at all.
  void relateLastArrivals(Finding& finding, const Stuck& stuck) const {
    std::set<std::uint32_t> told;
    for (machine::EventId id = run_.outcome.log.end(); --id > stuck.init && told.size() < 3;) {
      const machine::EventKind kind = run_.outcome.log[id].kind;
      if (kind != machine::EventKind::kMbarrierArrive && kind != machine::EventKind::kCopyArrive) continue;
      if (told.insert(instrOf(run_.outcome.log[id].op)).second) relate(finding, id, "arrivals come from here");
    }
  }

  void relateArrivals(Finding& finding, const Stuck& stuck, const std::string& message) const {
    std::set<std::uint32_t> told;
    for (const machine::EventId id : stuck.arrivals) {
      if (told.size() < 4 && told.insert(instrOf(run_.outcome.log[id].op)).second) relate(finding, id, message);
    }
  }

  void relate(Finding& finding, machine::EventId event, std::string message) const {
    if (event == 0) return;
    finding.related.push_back({std::move(message), run_.program.stackOf(instrOf(run_.outcome.log[event].op))});
  }

  void addOthers(Finding& finding, const Stuck& stuck) const {
    for (const auto& [op, place] : places_) {
      if (op == stuck.op) continue;
      finding.related.push_back({waiting(place.threads) + " here meanwhile", run_.program.stackOf(instrOf(op))});
    }
  }

  const Run& run_;
  const std::map<std::uint32_t, Place>& places_;
};

// Threads wait for each other's fresh barriers, each for the first phase: one side has to start with the other parity,
// for which a fresh barrier holds nobody back.
bool reportDeadStart(const Run& run, std::vector<Diagnosis>& result) {
  std::map<std::uint64_t, const Stuck*> barriers;
  for (const Stuck& stuck : run.outcome.stuck) {
    if (stuck.kind != Stuck::Kind::kMbarrier || !stuck.is_first_phase || stuck.seen != 0) return false;
    barriers.emplace(stuck.address, &stuck);
  }
  if (barriers.size() < 2) return false;
  // Whoever fills the slots is mostly a single thread, and is the one to start.
  const Stuck* first = barriers.begin()->second;
  for (const auto& [address, stuck] : barriers) {
    if (std::popcount(stuck->lanes) < std::popcount(first->lanes)) first = stuck;
  }
  const auto instrOf = [&](const Stuck& stuck) { return run.program.ops[stuck.op].instr; };
  Diagnosis diagnosis;
  Finding& finding = diagnosis.finding;
  diagnosis.primary_instr = diagnosis.secondary_instr = instrOf(*first);
  finding.rule = "wrong-parity";
  finding.severity = findRule(finding.rule)->severity;
  finding.stack = run.program.stackOf(diagnosis.primary_instr);
  const std::string object = placeName(run.program, run.names, ptx::Space::kShared, first->address);
  finding.message = "all threads wait for the first phase of a fresh mbarrier, and none arrives: whoever comes first must wait with "
                    "parity 1, which '" + object + "' satisfies at once";
  for (const auto& [address, stuck] : barriers) {
    if (stuck == first || finding.related.size() > 3) continue;
    finding.related.push_back({"threads wait here for '" + placeName(run.program, run.names, ptx::Space::kShared, address) + "'",
                               run.program.stackOf(instrOf(*stuck))});
  }
  finding.witness = witnessOf(run, first->warp, first->lanes, object);
  diagnosis.edits = editsFor(run, *first);
  diagnosis.sites = {siteOf(run, *first)};
  result.push_back(std::move(diagnosis));
  return true;
}

}  // namespace

void reportStuck(const Run& run, std::vector<Diagnosis>& result) {
  if (run.outcome.has_trapped) return;  // a trap ends the grid, whoever waits
  if (run.outcome.has_unmodelled) return;  // the limit that names it says why nothing is known
  // Wrong bytes of a barrier have been told of, and are why its waiters, and those who wait for them, hang.
  for (const machine::Misuse& misuse : run.outcome.misuses) {
    if (misuse.kind == machine::Misuse::Kind::kByteMismatch) return;
  }
  if (reportDeadStart(run, result)) return;
  std::map<std::uint32_t, Place> places;
  for (const Stuck& stuck : run.outcome.stuck) {
    Place& place = places[stuck.op];
    if (place.first == nullptr) place.first = &stuck;
    place.threads += static_cast<std::uint32_t>(std::popcount(stuck.lanes));
    machine::LaneMask arrived = 0;
    for (const machine::EventId id : stuck.arrivals) {
      const machine::Event& event = run.outcome.log[id];
      if (event.warp == stuck.warp) arrived |= event.lanes;
    }
    place.not_arrived += static_cast<std::uint32_t>(std::popcount(stuck.lanes & ~arrived));
  }
  StuckReporter reporter(run, places);
  for (const auto& [op, place] : places) result.push_back(reporter.report(place));
}

}  // namespace handoff::diagnose
