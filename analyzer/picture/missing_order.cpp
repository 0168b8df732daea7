// SPDX-License-Identifier: Apache-2.0
// One line for each cause.
#include "analyzer/picture/missing_order.h"

#include "analyzer/machine/address.h"
#include "analyzer/picture/labels.h"

namespace handoff::picture {

using diagnose::Cause;
using machine::Conflict;
using machine::EventKind;

namespace {

std::string number(std::uint64_t value) { return std::to_string(value); }

std::string phaseWait(const diagnose::Run& run, const machine::AsyncOp& op) {
  return "no wait for the phase of '" + barrierName(run, op.barrier_address) + "' that counts this copy";
}

std::string noWait(const diagnose::Run& run, const Conflict& conflict) {
  if (conflict.space == ptx::Space::kShared && conflict.address >= machine::kTensorBase)
    return "no tcgen05 wait covers it";
  // The copy is the later one where the reader came first.
  const machine::Access copy = diagnose::isReaderFirst(conflict) ? conflict.second : conflict.first;
  const EventKind kind = run.outcome.log[copy.event].kind;
  const machine::AsyncOp* op = run.outcome.log.findOp(copy.event, copy.lane);
  if (kind == EventKind::kCopy)
    return "no cp.async.wait_group covers group " + number(run.outcome.log.groupOf(copy.event, copy.lane));
  if (kind == EventKind::kMma) return "no wgmma.wait_group covers it";
  if (op != nullptr && op->barrier_address != 0) return phaseWait(run, *op);
  if (op != nullptr && op->group != machine::AsyncOp::kNoGroup)
    return "no cp.async.bulk.wait_group covers group " + number(op->group);
  return "no wait covers it";
}

std::string noHold(const diagnose::Run& run, const Conflict& conflict) {
  const bool reader_first = diagnose::isReaderFirst(conflict);
  const machine::Access reader = reader_first ? conflict.first : conflict.second;
  switch (run.outcome.log[reader.event].kind) {
    case EventKind::kMma:
      return "no wait for the multiplication before the refill";
    case EventKind::kBulk:
      return "no cp.async.bulk.wait_group.read before the refill";
    default:
      return conflict.same_thread ? "the refill is issued before the read"
                                  : "nothing holds the refill until this read is over";
  }
}

}  // namespace

std::string missingOrder(const diagnose::Run& run, const Conflict& conflict, Cause cause) {
  switch (cause) {
    case Cause::kMissingWait:
      return noWait(run, conflict);
    case Cause::kMissingCommit:
      return "group " + number(conflict.group) + " was not committed when the wait ran";
    case Cause::kBarrierOnly:
      return noWait(run, conflict) + ": a barrier completes no copy";
    case Cause::kMissingBarrier:
      return "no barrier leads from here to the other thread";
    case Cause::kPhaseRace:
      return "the copy arrives in a later phase than the one waited for";
    case Cause::kInsufficientWait:
      return "wait_group " + number(conflict.wait ? conflict.wait->pending_allowed : 0) + " leaves group " +
             number(conflict.group) + " pending";
    case Cause::kPrematureOverwrite:
      return noHold(run, conflict);
    case Cause::kOverlap:
      return "nothing orders the two writes";
    case Cause::kReuseInFlight:
      return noWait(run, conflict) + " before the other use";
    case Cause::kSourceOverwritten:
      return "no wait for the copy before its source is written";
    case Cause::kWrongParity:
      return "the wait by parity asks for an older phase";
    case Cause::kMissingProxyFence:
      return "no fence.proxy.async between them";
    case Cause::kNotDrained:
      return "no cp.async.bulk.wait_group without .read";
  }
  return "";
}

}  // namespace handoff::picture
