// SPDX-License-Identifier: Apache-2.0
// Where to add what, for each cause.
#include "analyzer/diagnose/edits.h"

#include "analyzer/diagnose/witness.h"

namespace handoff::diagnose {

using machine::Conflict;
using machine::EventId;
using machine::EventKind;

namespace {

bool isBarrier(EventKind kind) { return kind == EventKind::kCtaSync; }

class Editor {
 public:
  Editor(const Run& run, const Conflict& conflict) : run_(run), conflict_(conflict) {}

  std::vector<Edit> list(Cause cause) {
    // Insertions cannot repair a hand-over through an mbarrier, where a wait needs to know its phase.
    const auto isBulk = [&](machine::Access access) { return run_.outcome.log[access.event].kind == EventKind::kBulk; };
    const bool is_bulk = isBulk(conflict_.first) || isBulk(conflict_.second);
    switch (cause) {
      case Cause::kMissingProxyFence: fence(); break;
      case Cause::kNotDrained: bulkWait(/*is_read=*/false); break;
      case Cause::kWrongParity: break;
      case Cause::kPrematureOverwrite:
        if (run_.outcome.log[conflict_.first.event].kind == EventKind::kMma) {
          mmaWait();
        } else if (isReaderFirst(conflict_) && isBulk(conflict_.first)) {
          bulkWait(/*is_read=*/true);
        } else {
          barrierBeforeWriter();
        }
        break;
      case Cause::kMissingWait:
      case Cause::kBarrierOnly:
        if (!is_bulk) waitBeforeBarrier();
        break;
      case Cause::kMissingCommit: commitBeforeWait(); break;
      case Cause::kInsufficientWait: tightenWait(); break;
      case Cause::kPhaseRace: break;  // the arrival has to move, which no insertion can do
      case Cause::kMissingBarrier: barrierBeforeReader(); break;
      case Cause::kOverlap:
      case Cause::kReuseInFlight: waitBefore(instrOf(conflict_.second.event)); break;
      case Cause::kSourceOverwritten: waitAndBarrierBefore(instrOf(conflict_.second.event)); break;
    }
    return std::move(edits_);
  }

 private:
  std::uint32_t instrOf(EventId id) const { return run_.program.ops[run_.outcome.log[id].op].instr; }

  void insert(std::uint32_t at, std::string opcode, std::string what, std::string source) {
    Edit edit{.at = at, .opcode = std::move(opcode), .description = "insert " + what,
              .source_text = std::move(source)};
    if (edit.opcode == "bar.sync") edit.has_immediate = true;
    edits_.push_back(std::move(edit));
  }

  void waitBefore(std::uint32_t at) {
    insert(at, "cp.async.wait_all", "cp.async.wait_all", "asm volatile(\"cp.async.wait_all;\" ::: \"memory\");");
  }
  void barrierBefore(std::uint32_t at) { insert(at, "bar.sync", "__syncthreads()", "__syncthreads();"); }

  void waitAndBarrierBefore(std::uint32_t at) {
    waitBefore(at);
    barrierBefore(at);
  }

  // Before the hand-over to the issuer, in every thread that accessed; or right before the copy, in the issuer.
  void fence() {
    const auto insertFence = [&](std::uint32_t at) {
      insert(at, "fence.proxy.async", "fence.proxy.async", "asm volatile(\"fence.proxy.async;\" ::: \"memory\");");
    };
    const EventId handover = firstAfter(run_, conflict_.first, [](EventKind kind) {
      return kind == EventKind::kCtaSync || kind == EventKind::kCtaArrive || kind == EventKind::kMbarrierArrive ||
             kind == EventKind::kClusterArrive || kind == EventKind::kWarpSync;
    });
    if (handover != 0) insertFence(instrOf(handover));
    insertFence(instrOf(conflict_.second.event));
    insertFence(instrOf(conflict_.first.event) + 1);
  }

  // Where the issuer hands the memory on, or where it is used again.
  void bulkWait(bool is_read) {
    const std::string opcode = is_read ? "cp.async.bulk.wait_group.read" : "cp.async.bulk.wait_group";
    const auto insertWait = [&](std::uint32_t at) {
      Edit edit{.at = at, .opcode = opcode, .has_immediate = true, .description = "insert " + opcode + " 0",
                .source_text = "asm volatile(\"" + opcode + " 0;\" ::: \"memory\");"};
      edits_.push_back(std::move(edit));
    };
    const EventId handover = firstAfter(run_, conflict_.first, [](EventKind kind) {
      return kind == EventKind::kCtaSync || kind == EventKind::kMbarrierArrive || kind == EventKind::kWarpSync;
    });
    if (handover != 0) insertWait(instrOf(handover));
    insertWait(instrOf(conflict_.second.event));
  }

  void mmaWait() {
    const EventId release = firstAfter(run_, conflict_.first, [](EventKind kind) {
      return kind == EventKind::kMbarrierArrive || kind == EventKind::kCtaSync || kind == EventKind::kCtaArrive;
    });
    const std::uint32_t at = instrOf(release != 0 ? release : conflict_.second.event);
    edits_.push_back({.at = at, .opcode = "wgmma.wait_group.sync.aligned", .has_immediate = true,
                      .description = "insert wgmma.wait_group 0",
                      .source_text = "asm volatile(\"wgmma.wait_group.sync.aligned 0;\" ::: \"memory\");"});
  }

  // The barrier that follows the copy is where its data is meant to be handed over.
  void waitBeforeBarrier() {
    const bool copy_first = machine::isCopy(run_.outcome.log[conflict_.first.event].kind);
    if (copy_first) {
      const EventId barrier = lastOf(run_, conflict_.first.event, conflict_.second.event, conflict_.first, isBarrier);
      if (barrier != 0) waitBefore(instrOf(barrier));
    }
    waitBefore(instrOf(conflict_.second.event));
  }

  void commitBeforeWait() {
    if (conflict_.wait) {
      insert(instrOf(conflict_.wait->event), "cp.async.commit_group", "cp.async.commit_group",
             "asm volatile(\"cp.async.commit_group;\" ::: \"memory\");");
    }
    waitBeforeBarrier();
  }

  void tightenWait() {
    const std::uint32_t at = instrOf(conflict_.wait->event);
    for (std::int64_t pending = sufficientPending(conflict_); pending >= 0; --pending) {
      edits_.push_back({.kind = Edit::Kind::kSetImmediate, .at = at, .immediate = pending, .has_immediate = true,
                        .description = "let the wait leave at most " + std::to_string(pending) + " pending: cp.async.wait_group " +
                                       std::to_string(pending)});
    }
  }

  void barrierBeforeReader() {
    const bool reader_first = isReaderFirst(conflict_);
    const machine::Access reader = reader_first ? conflict_.first : conflict_.second;
    const machine::Access writer = reader_first ? conflict_.second : conflict_.first;
    // Right after the wait that retires the copy, if there is one; else right before the read.
    const EventId wait = firstAfter(run_, writer, [](EventKind kind) {
      return kind == EventKind::kWaitGroup || kind == EventKind::kWaitAll;
    });
    if (wait != 0) barrierBefore(instrOf(wait) + 1);
    barrierBefore(instrOf(reader.event));
  }

  void barrierBeforeWriter() {
    const bool reader_first = isReaderFirst(conflict_);
    const machine::Access writer = reader_first ? conflict_.second : conflict_.first;
    const machine::Access reader = reader_first ? conflict_.first : conflict_.second;
    barrierBefore(instrOf(writer.event));
    barrierBefore(instrOf(reader.event) + 1);
  }

  const Run& run_;
  const Conflict& conflict_;
  std::vector<Edit> edits_;
};

}  // namespace

std::vector<Edit> editsFor(const Run& run, const Conflict& conflict, Cause cause) {
  return Editor(run, conflict).list(cause);
}

}  // namespace handoff::diagnose
