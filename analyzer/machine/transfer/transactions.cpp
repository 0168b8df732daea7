// SPDX-License-Identifier: Apache-2.0
// Transaction bytes of mbarriers: announced by expect_tx, delivered by copies (PTX ISA, "Tracking asynchronous operations
// by the mbarrier object").
//
// Bytes are delivered at once, when the copy is issued: within its phase their moment is free, since the phase cannot
// complete without them. Which phase that is must not depend on the schedule, so every announcement and every copy is
// also entered under the phase that its thread means: the one after the last that it knows to be over. Announced and
// delivered bytes of a meant phase differ only if the program is wrong, whatever the schedule.
#include "analyzer/machine/executor.h"
#include "analyzer/machine/run_trace.h"

namespace handoff::machine {

namespace {

/// The range of the counter (PTX ISA, "Contents of the mbarrier object").
constexpr std::int64_t kMaxTransactions = (1 << 20) - 1;

}  // namespace

Phase Executor::meantPhase(const Step& step, const MbarrierObject& object, unsigned lane) const {
  return std::max<Phase>(object.firstPhase(), step.warp.clock.of(lane).atTime(object.actor()));
}

void Executor::expectBytes(const Step& step, MbarrierObject& object, const Named& named, unsigned lane, std::int64_t bytes,
                           EventId event) {
  const Phase meant = meantPhase(step, object, lane);
  MbarrierObject::PhaseBytes& ledger = object.bytesOf(meant);
  ledger.expected += bytes;
  if (ledger.expect == 0) ledger.expect = event;
  box_finder_.noteExpect({named.cta->rank, named.address, meant}, bytes);
  if (box_finder_.isGathering()) return;
  object.expect(bytes, event);
  const bool is_in_range = object.transactions() <= kMaxTransactions;
  if (!is_in_range) {
    addMisuse(step, {.kind = Misuse::Kind::kByteRange, .event = event, .lanes = laneBit(lane), .address = reported(named),
                     .value = static_cast<std::uint64_t>(object.transactions()), .wanted = kMaxTransactions});
  }
}

void Executor::deliverBytes(const Step& step, MbarrierObject& object, const Named& named, unsigned lane, std::int64_t bytes,
                            EventId event) {
  const Phase meant = meantPhase(step, object, lane);
  MbarrierObject::PhaseBytes& ledger = object.bytesOf(meant);
  ledger.delivered += bytes;
  if (ledger.copy == 0) ledger.copy = event;
  ledger.last_copy = event;
  ++ledger.copies;
  box_finder_.noteBytes({named.cta->rank, named.address, meant}, static_cast<std::uint64_t>(bytes));
  if (box_finder_.isGathering()) return;
  // A copy releases its own effects only; but whoever sees it complete knows what came before its issue to be past.
  step.warp.clock.publishTime(laneBit(lane), object.openClock());
  const bool completed = object.complete(bytes, event);
  progress();
  if (!completed) return;
  afterPhase(object, named);
  wakePollers();
}

void Executor::transact(const Step& step, const ptx::Mbarrier& effect, const Named& named, LaneMask lanes) {
  MbarrierObject* object = mbarrierAt(step, named, lanes);
  const Lanes& words = value(step.warp, arg(step.op, addressOperand(step.op) + 1).slot);
  if (object == nullptr) return;
  if ((words.unknown & lanes) != 0) return unknownCopy(step);
  const EventId event = log(step, EventKind::kMbarrierExpect, lanes, static_cast<std::uint32_t>(words.word[lowestLane(lanes)]));
  if (options_.trace != nullptr) options_.trace->arrivals.push_back({event, object->actor(), object->phase() + 1});
  forEachLane(lanes, [&](unsigned lane) {
    const auto count = static_cast<std::int64_t>(words.word[lane] & 0xffffffff);
    usePeer(step, *named.cta, event, lane, Misuse::Kind::kBarrierInitUnordered);
    if (effect.op == ptx::MbarrierOp::kCompleteTx) return deliverBytes(step, *object, named, lane, count, event);
    // Without knowing which phase is open, the thread may come in an earlier one; without an arrival outstanding, nothing
    // holds the phase open for it.
    checkPhaseKnown(step, *object, named, laneBit(lane), object->phase(), event, Misuse::Kind::kLateExpect);
    if (object->pending() == 0) {
      addMisuse(step, {.kind = Misuse::Kind::kLateExpect, .event = event, .lanes = laneBit(lane), .address = reported(named),
                       .other = object->initEvent()});
    }
    expectBytes(step, *object, named, lane, count, event);
    object->notePendingExpect({step.warp.id, lane, step.warp.clock.epoch(), event});
  });
  // That the thread itself arrives later is an order; for others it has to be published.
  progress();
}

void Executor::reportByteMismatches() {
  if (is_stopped_ || box_finder_.isGathering()) return;
  for (const Cta& cta : run_.cluster.ctas) {
    for (const auto& [address, object] : cta.mbarriers) {
      for (const auto& [phase, bytes] : object.bytes()) {
        if (bytes.expected == bytes.delivered) continue;
        // In a hang, copies that nobody came to issue are not the cause.
        if (bytes.copies == 0 && !outcome_.stuck.empty()) continue;
        const EventId at = bytes.expect != 0 ? bytes.expect : bytes.copy;
        const Event& event = outcome_.log[at];
        const Step step{run_.cluster.warps[event.warp], 0, program_.ops[event.op], event.op, event.lanes};
        addMisuse(step, {.kind = Misuse::Kind::kByteMismatch, .event = at, .lanes = event.lanes,
                         .address = reportedAddress(cta, address), .value = static_cast<std::uint64_t>(bytes.delivered),
                         .wanted = static_cast<std::uint64_t>(bytes.expected),
                         .other = bytes.expect != 0 ? bytes.last_copy : object.initEvent()});
      }
    }
  }
}

}  // namespace handoff::machine
