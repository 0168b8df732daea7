// SPDX-License-Identifier: Apache-2.0
// Where to add what, for each cause of a conflict.
#include "analyzer/diagnose/edits.h"

#include <algorithm>

#include "analyzer/diagnose/edit_builder.h"
#include "analyzer/diagnose/edit_parts.h"
#include "analyzer/diagnose/witness.h"
#include "analyzer/machine/address.h"

namespace handoff::diagnose {

using machine::Access;
using machine::Conflict;
using machine::EventId;
using machine::EventKind;

namespace {

bool isHandover(EventKind kind) {
  return kind == EventKind::kCtaSync || kind == EventKind::kCtaArrive || kind == EventKind::kMbarrierArrive ||
         kind == EventKind::kCopyArrive || kind == EventKind::kClusterArrive || kind == EventKind::kWarpSync;
}

class Editor {
 public:
  Editor(const Run& run, const Conflict& conflict)
      : run_(run), conflict_(conflict), build_(run), first_(build_.instrOf(conflict.first.event)),
        second_(build_.instrOf(conflict.second.event)) {}

  std::vector<Edit> list(Cause cause) {
    switch (cause) {
      case Cause::kMissingProxyFence: fence(); break;
      case Cause::kNotDrained: notDrained(); break;
      case Cause::kWrongParity: parity(); break;
      case Cause::kPrematureOverwrite: premature(); break;
      case Cause::kMissingWait:
      case Cause::kBarrierOnly:
        missingWait();
        parity();
        break;
      case Cause::kMissingCommit:
        if (conflict_.wait) {
          build_.add({build_.at({build_.instrOf(conflict_.wait->event), false}, "cp.async.commit_group")}, "insert cp.async.commit_group");
        }
        missingWait();
        break;
      case Cause::kInsufficientWait: tightenWait(); break;
      case Cause::kPhaseRace:
        moveArrival();
        missingWait();
        break;
      case Cause::kMissingBarrier: missingBarrier(); break;
      case Cause::kOverlap:
      case Cause::kReuseInFlight:
      case Cause::kSourceOverwritten: overlap(); break;
    }
    return build_.take();
  }

 private:
  EventKind kindOf(Access access) const { return run_.outcome.log[access.event].kind; }
  bool isBulk(Access access) const { return kindOf(access) == EventKind::kBulk; }
  bool isSameWarp() const {
    return run_.outcome.log[conflict_.first.event].warp == run_.outcome.log[conflict_.second.event].warp;
  }
  bool isCluster() const { return run_.launch.clusterSize() > 1; }
  /// The other thread learns of the access by this.
  std::uint32_t handoverAfter(Access access) const {
    const EventId id = firstAfter(run_, access, isHandover);
    return id == 0 ? machine::kNoOp : build_.instrOf(id);
  }
  EventId handoverBefore(Access access) const { return lastOf(run_, 0, access.event, access, isHandover); }

  void synchronize(std::uint32_t earlier, std::uint32_t later) {
    build_.synchronize(build_.spotsBetween(earlier, later), isSameWarp() && !isCluster(), /*is_cluster=*/false);
  }

  // Before the hand-over to the issuer, in every thread that accessed; or right before the copy, in the issuer.
  void fence() {
    const std::string what = "insert fence.proxy.async";
    std::vector<Spot> spots;
    if (const std::uint32_t handover = handoverAfter(conflict_.first); handover != machine::kNoOp) spots.push_back({handover, false});
    spots.push_back({second_, false});
    spots.push_back({first_, true});
    for (const Spot spot : spots) build_.add({build_.fence(spot)}, what);
    for (const Spot spot : spots) build_.add({build_.fence(spot), build_.barrier(spot)}, what + " and __syncthreads()");
    for (const Spot spot : build_.spotsBetween(first_, second_)) {
      build_.add({build_.fence(spot), build_.barrier(spot)}, what + " and __syncthreads()");
    }
  }

  void bulkWaits(bool is_read) {
    const std::string what = std::string("cp.async.bulk.wait_group") + (is_read ? ".read" : "") + " 0";
    std::vector<Spot> spots;
    if (const std::uint32_t handover = handoverAfter(conflict_.first); handover != machine::kNoOp) spots.push_back({handover, false});
    const EventId commit = firstAfter(run_, conflict_.first, [](EventKind kind) { return kind == EventKind::kBulkCommit; });
    if (commit != 0) spots.insert(spots.begin(), {build_.instrOf(commit), true});
    spots.push_back({second_, false});
    for (const Spot spot : spots) build_.add({build_.bulkWait(spot, is_read)}, "insert " + what);
    // A store that no group holds: its thread commits and waits.
    build_.add({build_.at({first_, true}, "cp.async.bulk.commit_group")}, "insert cp.async.bulk.commit_group");
    build_.add({build_.at({first_, true}, "cp.async.bulk.commit_group"), build_.bulkWait({first_, true}, is_read)},
               "insert cp.async.bulk.commit_group and " + what);
  }

  void notDrained() {
    // The wait may be there, for the reads of the source only.
    const EventId wait = firstAfter(run_, conflict_.first, [](EventKind kind) { return kind == EventKind::kBulkReadWait; });
    if (wait != 0) {
      const std::uint32_t at = build_.instrOf(wait);
      build_.add({build_.setOpcode(at, EditBuilder::without(build_.instruction(at).opcode, ".read"))},
                 "wait for the writes, too: cp.async.bulk.wait_group without .read");
    }
    bulkWaits(/*is_read=*/false);
  }

  void premature() {
    const bool reader_first = isReaderFirst(conflict_);
    const Access reader = reader_first ? conflict_.first : conflict_.second;
    const Access writer = reader_first ? conflict_.second : conflict_.first;
    const std::uint32_t read = build_.instrOf(reader.event), write = build_.instrOf(writer.event);
    if (kindOf(reader) == EventKind::kMma) mmaWait(reader, read);
    if (isBulk(reader)) bulkWaits(/*is_read=*/true);
    if (kindOf(reader) == EventKind::kMma || isBulk(reader)) return;
    releaseLater(reader, read);
    synchronize(read, write);
    synchronize(write, read);
    // The refill belongs behind the use, and behind a barrier that says that all have come to it.
    build_.add({build_.moveBefore(read, write), build_.barrier({write, false})},
               "move the use of the old contents before the copy, and a __syncthreads() between");
    build_.add({build_.moveBehind(write, read)}, "move the copy behind the use of the old contents");
    build_.add({build_.barrier({read, true}), build_.moveBehind(write, read)},
               "move the copy behind the use of the old contents and a __syncthreads()");
    tightenWait();
  }

  // What tells the writer that the slot is free comes before the reader has read it.
  void releaseLater(Access reader, std::uint32_t read) {
    EventId release = handoverBefore(reader);
    if (release == 0 || run_.outcome.log[release].kind != EventKind::kMbarrierArrive) return;
    const std::uint32_t at = build_.instrOf(release);
    build_.add({build_.moveBehind(at, read)}, "release the slot behind its last use");
    build_.add({build_.fence({read, true}), build_.moveBehind(at, read)},
               "release the slot behind its last use, with a fence.proxy.async between");
  }

  void mmaWait(Access reader, std::uint32_t read) {
    const std::string_view opcode = build_.instruction(read).opcode;
    const std::uint32_t release = handoverAfter(reader);
    if (opcode.starts_with("tcgen05")) return commitInstead(release);
    for (const Spot spot : {Spot{release != machine::kNoOp ? release : second_, false}, Spot{second_, false}}) {
      build_.add({build_.at(spot, "wgmma.wait_group.sync.aligned", {EditBuilder::immediate(0)})}, "insert wgmma.wait_group 0");
      build_.add({build_.at(spot, "wgmma.commit_group.sync.aligned"),
                  build_.at(spot, "wgmma.wait_group.sync.aligned", {EditBuilder::immediate(0)})},
                 "insert wgmma.commit_group and wgmma.wait_group 0");
    }
  }

  // An ordinary arrival says nothing about operations of the tensor cores that its thread has started.
  void commitInstead(std::uint32_t arrival) {
    if (arrival == machine::kNoOp || !build_.instruction(arrival).opcode.starts_with("mbarrier.arrive")) return;
    for (const ptx::Operand& operand : build_.instruction(arrival).operands) {
      if (operand.kind != ptx::Operand::Kind::kAddress) continue;
      Change change = build_.ofKind(Change::Kind::kReplace, arrival);
      change.opcode = "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64";
      change.operands = {operand};
      build_.add({change}, "let tcgen05.commit arrive in place of the thread");
      return;
    }
  }

  void missingWait() {
    if (conflict_.space == ptx::Space::kShared && conflict_.address >= machine::kTensorBase) return tensorWait();
    const bool copy_first = machine::isCopy(kindOf(conflict_.first)) && !conflict_.first_reads;
    const bool is_bulk = isBulk(conflict_.first) || isBulk(conflict_.second);
    if (!is_bulk) {
      std::vector<Spot> spots;
      // The barrier that follows the copy is where its data is meant to be handed over.
      if (copy_first) {
        const EventId barrier = lastOf(run_, conflict_.first.event, conflict_.second.event, conflict_.first,
                                       [](EventKind kind) { return kind == EventKind::kCtaSync; });
        if (barrier != 0) spots.push_back({build_.instrOf(barrier), false});
        if (const std::uint32_t handover = handoverAfter(conflict_.first); handover != machine::kNoOp) spots.push_back({handover, false});
      }
      spots.push_back({second_, false});
      for (const Spot spot : spots) build_.add({build_.waitAll(spot)}, "insert cp.async.wait_all");
      for (const Spot spot : build_.spotsBetween(first_, second_)) {
        build_.add({build_.waitAll(spot), build_.barrier(spot)}, "insert cp.async.wait_all and __syncthreads()");
      }
    }
    // A poll is no wait: its answer may be false.
    if (is_bulk) build_.retryPolls();
    // Some threads have waited, and a barrier takes the others along.
    synchronize(copy_first ? first_ : second_, copy_first ? second_ : first_);
  }

  void tensorWait() {
    const std::string_view first = build_.instruction(first_).opcode;
    const bool is_load = first.starts_with("tcgen05.ld"), is_store = first.starts_with("tcgen05.st");
    if (is_load || is_store) {
      const std::string opcode = is_load ? "tcgen05.wait::ld.sync.aligned" : "tcgen05.wait::st.sync.aligned";
      const std::string what = std::string("insert tcgen05.wait::") + (is_load ? "ld" : "st");
      build_.add({build_.at({first_, true}, opcode)}, what);
      build_.add({build_.at({second_, false}, opcode)}, what);
    } else {
      const std::uint32_t handover = handoverAfter(conflict_.first);
      commitInstead(handover);
      if (handover == machine::kNoOp || !build_.instruction(handover).opcode.starts_with("tcgen05.commit")) return;
      // The commit tells of the end, and nobody waits for it.
      const EventId phase = firstAfter(run_, conflict_.first, isHandover);
      const EventId barrier = lastOf(run_, 0, conflict_.second.event, conflict_.second, [](EventKind kind) { return kind == EventKind::kCtaSync; });
      if (barrier != 0) addWait(build_, {build_.instrOf(barrier), true}, handover, run_.outcome.log[phase].value);
      addWait(build_, {second_, false}, handover, run_.outcome.log[phase].value);
    }
  }

  void tightenWait() {
    const auto tighten = [&](EventId wait, std::int64_t pending) {
      const std::uint32_t at = build_.instrOf(wait);
      const std::vector<ptx::Operand>& operands = build_.instruction(at).operands;
      if (operands.empty()) return;
      for (; pending >= 0; --pending) {
        build_.add({build_.setOperand(at, 0, pending)}, "let the wait leave at most " + std::to_string(pending) + " pending: " +
                                                             build_.instruction(at).opcode + " " + std::to_string(pending));
      }
    };
    if (conflict_.wait) tighten(conflict_.wait->event, sufficientPending(conflict_));
    const EventId later = firstAfter(run_, conflict_.first, [](EventKind kind) { return kind == EventKind::kWaitGroup; });
    if (later != 0) tighten(later, static_cast<std::int64_t>(run_.outcome.log[later].value) - 1);
  }

  void missingBarrier() {
    const bool reader_first = isReaderFirst(conflict_);
    const Access reader = reader_first ? conflict_.first : conflict_.second;
    const Access writer = reader_first ? conflict_.second : conflict_.first;
    const std::uint32_t read = build_.instrOf(reader.event), write = build_.instrOf(writer.event);
    strengthenHandover(writer);
    moveArrival();
    // A warp that hands over by one of its lanes has to meet first.
    if (const std::uint32_t handover = handoverAround(writer); handover != machine::kNoOp) {
      for (const Spot spot : build_.spotsBetween(write, handover)) build_.add({build_.syncWarp(spot)}, "insert __syncwarp()");
    }
    if (isSameWarp() && !isCluster()) build_.add({build_.syncWarp({read, false})}, "insert __syncwarp()");
    // Right after the wait that retires the copy, if there is one; else right before the read.
    const EventId wait = firstAfter(run_, writer, [](EventKind kind) {
      return kind == EventKind::kWaitGroup || kind == EventKind::kWaitAll;
    });
    if (wait != 0) build_.add({build_.barrier({build_.instrOf(wait), true})}, "insert __syncthreads()");
    synchronize(write, read);
    tightenWait();
    for (const Spot spot : build_.spotsBetween(write, read)) {
      build_.add({build_.waitAll(spot), build_.barrier(spot)}, "insert cp.async.wait_all and __syncthreads()");
    }
  }

  /// The first arrival at an mbarrier behind the write that its warp makes, by whatever lane.
  std::uint32_t handoverAround(Access access) const {
    const machine::EventLog& log = run_.outcome.log;
    for (EventId id = access.event + 1; id < log.end(); ++id) {
      if (log[id].warp == log[access.event].warp && log[id].kind == EventKind::kMbarrierArrive) return build_.instrOf(id);
    }
    return machine::kNoOp;
  }

  // An arrival that is relaxed, or of a scope that leaves out the reader, hands over nothing.
  void strengthenHandover(Access writer) {
    const std::uint32_t at = handoverAfter(writer);
    if (at == machine::kNoOp) return;
    const std::string& opcode = build_.instruction(at).opcode;
    const std::string scope = isCluster() ? ".cluster" : ".cta";
    if (opcode.find(".relaxed") != std::string::npos) {
      std::string released = EditBuilder::replaced(opcode, ".relaxed", ".release");
      build_.add({build_.setOpcode(at, released)}, "let the arrival release: " + released);
      released = EditBuilder::replaced(released, ".cta", scope);
      build_.add({build_.setOpcode(at, released)}, "let the arrival release: " + released);
    }
    if (isCluster() && opcode.find(".cta.") != std::string::npos) {
      const std::string wider = EditBuilder::replaced(opcode, ".cta.", ".cluster.");
      build_.add({build_.setOpcode(at, wider)}, "let the arrival release to the cluster: " + wider);
    }
  }

  // The writer arrives, and writes only then.
  void moveArrival() {
    for (const Access access : {conflict_.first, conflict_.second}) {
      const EventId arrival = handoverBefore(access);
      if (arrival == 0) continue;
      const EventKind kind = run_.outcome.log[arrival].kind;
      if (kind != EventKind::kMbarrierArrive && kind != EventKind::kCopyArrive && kind != EventKind::kCtaArrive) continue;
      const std::uint32_t at = build_.instrOf(arrival), use = build_.instrOf(access.event);
      build_.add({build_.moveBehind(at, use)}, "move the arrival behind the access that it hands over");
      build_.add({build_.moveBefore(use, at)}, "move the access before the arrival that hands it over");
    }
  }

  void overlap() {
    if (isBulk(conflict_.first)) bulkWaits(/*is_read=*/conflict_.first_reads);
    if (!isBulk(conflict_.first) && !isBulk(conflict_.second)) {
      build_.add({build_.waitAll({second_, false})}, "insert cp.async.wait_all");
    }
    synchronize(first_, second_);
    for (const Spot spot : build_.spotsBetween(first_, second_)) {
      build_.add({build_.waitAll(spot), build_.barrier(spot)}, "insert cp.async.wait_all and __syncthreads()");
    }
    for (const Spot spot : build_.spotsBetween(first_, second_)) {
      build_.add({build_.fence(spot), build_.barrier(spot)}, "insert fence.proxy.async and __syncthreads()");
    }
  }

  void parity() {
    std::vector<std::uint32_t> waits;
    const auto remember = [&](EventId wait) {
      if (wait == 0) return;
      const std::uint32_t at = build_.instrOf(wait);
      if (std::find(waits.begin(), waits.end(), at) == waits.end()) waits.push_back(at);
    };
    const auto isWait = [](EventKind kind) { return kind == EventKind::kMbarrierWait; };
    remember(staleWait(conflict_, run_.outcome));
    remember(lastOf(run_, 0, conflict_.second.event, conflict_.second, isWait));
    remember(lastOf(run_, 0, conflict_.first.event, conflict_.first, isWait));
    for (const std::uint32_t at : waits) build_.changeParity(at);
  }

  const Run& run_;
  const Conflict& conflict_;
  EditBuilder build_;
  std::uint32_t first_, second_;
};

}  // namespace

std::vector<Edit> editsFor(const Run& run, const Conflict& conflict, Cause cause) {
  return Editor(run, conflict).list(cause);
}

}  // namespace handoff::diagnose
