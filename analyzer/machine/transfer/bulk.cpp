// SPDX-License-Identifier: Apache-2.0
// Bulk copies and asynchronous stores (PTX ISA, "cp.async.bulk", "cp.reduce.async.bulk", "st.async", "red.async", and
// the bulk-group instructions). Each active lane issues one operation of its own.
#include "analyzer/machine/transfer/bulk_operands.h"
#include "analyzer/machine/transfer/null_pointer.h"

namespace handoff::machine {

using ptx::Space;

namespace {

constexpr std::uint64_t kBulkAlignment = 16;     ///< of addresses and size, in bytes
constexpr std::uint64_t kTensorAlignment = 128;  ///< of the shared side of a tensor copy, in bytes

bool isShared(Space space) { return space == Space::kShared || space == Space::kSharedCluster; }

}  // namespace

Executor::BulkOperands Executor::bulkOperands(const Step& step) const {
  const ptx::Decoded& decoded = *step.op.decoded;
  BulkOperands operands;
  operands.is_tensor = std::holds_alternative<ptx::TensorCopy>(decoded.effect);
  operands.to_shared = isShared(decoded.spaces[0]);
  operands.from_shared = isShared(decoded.spaces[1]);
  operands.is_own_only = decoded.spaces[0] == Space::kShared && operands.to_shared;
  operands.is_multicast = decoded.has("multicast::cluster");
  operands.may_signal_peer = decoded.has("cta_group::2");
  const bool has_barrier = decoded.has("mbarrier::complete_tx::bytes");
  unsigned next = 0;
  const auto take = [&](auto&& wanted) {
    while (next < step.op.arg_count && !wanted(arg(step.op, next))) ++next;
    return next < step.op.arg_count ? next++ : BulkOperands::kNone;
  };
  const auto isAddress = [](const Arg& a) { return a.kind == Arg::Kind::kAddress; };
  const auto isMap = [](const Arg& a) { return a.kind == Arg::Kind::kVector; };
  const auto isScalar = [](const Arg& a) { return a.kind == Arg::Kind::kSlot; };
  if (operands.is_tensor && !operands.to_shared) {
    operands.map = take(isMap);
    operands.source = take(isAddress);
  } else {
    operands.destination = take(isAddress);
    (operands.is_tensor ? operands.map : operands.source) = operands.is_tensor ? take(isMap) : take(isAddress);
    if (!operands.is_tensor) operands.size = take(isScalar);
  }
  if (has_barrier) operands.barrier = take(isAddress);
  if (operands.is_multicast) operands.mask = take(isScalar);
  const bool has_shared_side = (operands.to_shared ? operands.destination : operands.source) != BulkOperands::kNone;
  operands.is_valid = has_shared_side && (!has_barrier || operands.barrier != BulkOperands::kNone) &&
                      (operands.is_tensor ? operands.map : operands.size) != BulkOperands::kNone &&
                      (!operands.is_multicast || operands.mask != BulkOperands::kNone);
  return operands;
}

void Executor::completeOnOne(const Step& step, const Named& named, EventId event, unsigned lane, std::uint64_t bytes,
                             AsyncOp& op) {
  MbarrierObject* const object = mbarrierAt(step, named, laneBit(lane));
  usePeer(step, *named.cta, event, lane, Misuse::Kind::kBarrierInitUnordered);
  if (object == nullptr) return;
  checkPhaseKnown(step, *object, named, laneBit(lane), object->phase(), event, Misuse::Kind::kEarlyArrival);
  op.completions.push_back({object->actor(), object->phase() + 1, named.cta->rank});
  op.barrier_address = reported(named);
  op.bytes = bytes;
}

// The barriers that the copy will complete on: one, or that of each CTA of a multicast.
void Executor::completeOn(const Step& step, const BulkOperands& operands, EventId event, unsigned lane, AsyncOp& op) {
  const std::uint64_t barrier = addressWords(step.warp, arg(step.op, operands.barrier)).word[lane] & 0xffffffff;
  const std::uint64_t destination = addressWords(step.warp, arg(step.op, operands.destination)).word[lane] & 0xffffffff;
  const LaneMask lanes = laneBit(lane);
  if (operands.is_multicast) {
    const Lanes& masks = value(step.warp, arg(step.op, operands.mask).slot);
    if (!masks.isKnown(lane)) return unknownCopy(step);
    const std::uint64_t mask = masks.word[lane] & 0xffff;
    for (std::uint32_t rank = 0; rank < 16; ++rank) {
      if (!((mask >> rank) & 1)) continue;
      const auto named = nameMbarrier(step, inCluster(rank, barrier), lanes);
      if (named) completeOnOne(step, *named, event, lane, op.bytes, op);
    }
    return;
  }
  const auto named = nameMbarrier(step, barrier, lanes);
  Cta* const target = run_.cluster.ctaAt(step.warp, destination);
  if (!named || target == nullptr) return;
  const bool is_same_cta = operands.from_shared && operands.to_shared && target->rank == step.warp.cta;
  const bool is_foreign = operands.is_own_only && target->rank != step.warp.cta;
  const bool is_apart = named->cta != target && !operands.may_signal_peer;
  if (is_foreign || is_apart || is_same_cta) {
    addMisuse(step, {.kind = Misuse::Kind::kWrongSpace, .event = event, .lanes = lanes,
                     .address = reportedAddress(*target, withinCta(destination)),
                     .value = is_foreign ? 0u : is_apart ? 1u : 2u, .wanted = named->cta->rank});
  }
  completeOnOne(step, *named, event, lane, op.bytes, op);
  // The bytes lie in the target, wherever the barrier that counts them is.
  if (!op.completions.empty()) op.completions.back().cta = target->rank;
}

void Executor::readBulkSource(const Step& step, const BulkOperands& operands, EventId event, unsigned lane,
                              const AsyncOp& op) {
  if (operands.source == BulkOperands::kNone) return;
  const Lanes words = addressWords(step.warp, arg(step.op, operands.source));
  const LaneMask lanes = laneBit(lane);
  const auto bytes = static_cast<std::uint32_t>(op.bytes / kBulkAlignment * kBulkAlignment);  // a bad size was told of
  const std::uint64_t alignment = operands.is_tensor ? kTensorAlignment : kBulkAlignment;
  if (!words.isKnown(lane)) {
    if (operands.from_shared) return unknownCopy(step);
    return noteUnknownGlobal(step, arg(step.op, operands.source), /*is_copy_source=*/true);
  }
  std::uint64_t address = words.word[lane];
  if (operands.from_shared) address &= 0xffffffff;
  if (address % alignment != 0) {
    addMisuse(step, {.kind = operands.from_shared ? Misuse::Kind::kMisalignedSharedSource : Misuse::Kind::kMisalignedSource,
                     .event = event, .lanes = lanes, .address = address, .wanted = alignment});
    return;
  }
  if (!operands.from_shared && isNullGlobal(path_, termAt(step.warp, arg(step.op, operands.source).slot), address)) {
    addMisuse(step, {.kind = Misuse::Kind::kWrongSpace, .event = event, .lanes = lanes, .address = address,
                     .value = static_cast<std::uint64_t>(NullOperand::kSource)});
    return;
  }
  // The other end lies in shared memory, and says that so much does not fit: following 4 GiB would only cost memory.
  if (!operands.from_shared && op.bytes > ctaOf(step).shadow->bytes()) return;
  if (!operands.from_shared) {
    noteDistance(step, arg(step.op, operands.source), lanes);
    return races_.readGlobal({nullptr, address, bytes, lanes}, event, RaceChecker::GlobalAccess::kAsyncRead);
  }
  Cta* const cta = checkSharedRange(step, address, bytes, lanes);
  if (cta != nullptr) races_.readShared({cta, withinCta(address), bytes, lanes}, event);
}

void Executor::writeBulkShared(const Step& step, const BulkOperands& operands, EventId event, unsigned lane,
                               const AsyncOp& op) {
  const std::uint64_t address = addressWords(step.warp, arg(step.op, operands.destination)).word[lane] & 0xffffffff;
  const LaneMask lanes = laneBit(lane);
  const auto bytes = static_cast<std::uint32_t>(op.bytes / kBulkAlignment * kBulkAlignment);  // a bad size was told of
  const std::uint64_t alignment = operands.is_tensor ? kTensorAlignment : kBulkAlignment;
  if (address % alignment != 0) {
    addMisuse(step, {.kind = Misuse::Kind::kMisalignedDestination, .event = event, .lanes = lanes, .address = address,
                     .wanted = alignment});
    return;
  }
  for (const AsyncOp::Completion& completion : op.completions) {
    const std::uint64_t at = operands.is_multicast ? inCluster(completion.cta, address) : address;
    Cta* const cta = checkSharedRange(step, at, bytes, lanes);
    if (cta == nullptr) continue;
    checkBarrierBytes(step, *cta, withinCta(at), bytes, lanes);
    races_.writeShared({cta, withinCta(at), bytes, lanes}, event);
    if (program_.needs_shared_contents) cta->shared.write(sharedOffset(withinCta(at)), bytes, 0, /*is_known=*/false);
    holdForCopy(*cta, event, op, /*is_source=*/false);
  }
}

// One operation, from the checks of its operands to the delivery of its bytes.
void Executor::bulkLane(const Step& step, const BulkOperands& operands, EventId event, unsigned lane, std::uint64_t bytes) {
  AsyncOp op{.event = event, .lane = lane, .bytes = bytes};
  if (operands.to_shared && !addressWords(step.warp, arg(step.op, operands.destination)).isKnown(lane)) return unknownCopy(step);
  if (operands.barrier != BulkOperands::kNone) {
    if (!addressWords(step.warp, arg(step.op, operands.barrier)).isKnown(lane)) return unknownCopy(step);
    completeOn(step, operands, event, lane, op);
  } else {
    op.group = step.warp.bulk.openGroup(lane);
    step.warp.bulk.noteCopy(laneBit(lane));
    step.warp.bulk_reads.noteCopy(laneBit(lane));
  }
  outcome_.log.addOp(op);
  readBulkSource(step, operands, event, lane, op);
  if (operands.to_shared) {
    writeBulkShared(step, operands, event, lane, op);
    // What the copy reads is in use for as long as what it writes.
    if (operands.from_shared) holdForCopy(ctaOf(step), event, op, /*is_source=*/true);
  } else if (operands.destination != BulkOperands::kNone) {
    const Lanes words = addressWords(step.warp, arg(step.op, operands.destination));
    if (!words.isKnown(lane)) {
      noteUnknownGlobal(step, arg(step.op, operands.destination), /*is_copy_source=*/false);
    } else if (isNullGlobal(path_, termAt(step.warp, arg(step.op, operands.destination).slot), words.word[lane])) {
      addMisuse(step, {.kind = Misuse::Kind::kWrongSpace, .event = event, .lanes = laneBit(lane), .address = words.word[lane],
                       .value = static_cast<std::uint64_t>(NullOperand::kDestination)});
    } else if (words.word[lane] % kBulkAlignment != 0) {
      addMisuse(step, {.kind = Misuse::Kind::kMisalignedGlobalDestination, .event = event, .lanes = laneBit(lane),
                       .address = words.word[lane], .wanted = kBulkAlignment});
    } else if (bytes <= ctaOf(step).shadow->bytes()) {  // as in readBulkSource
      noteDistance(step, arg(step.op, operands.destination), laneBit(lane));
      races_.writeGlobal({nullptr, words.word[lane], static_cast<std::uint32_t>(bytes), laneBit(lane)}, event,
                         RaceChecker::GlobalAccess::kAsyncWrite);
    }
  }
  if (!operands.to_shared) undrained_.push_back({event, lane});
  for (const AsyncOp::Completion& completion : op.completions) {
    // The barrier has the CTA-relative address that the operand names; with a multicast, in each CTA.
    const std::uint64_t barrier = addressWords(step.warp, arg(step.op, operands.barrier)).word[lane] & 0xffffffff;
    const std::uint64_t at = operands.is_multicast ? inCluster(completion.cta, barrier) : barrier;
    Cta* const cta = run_.cluster.ctaAt(step.warp, at);
    if (cta == nullptr) continue;
    if (const auto object = cta->mbarriers.find(withinCta(at)); object != cta->mbarriers.end()) {
      deliverBytes(step, object->second, {cta, withinCta(at), cta->rank != step.warp.cta}, lane,
                   static_cast<std::int64_t>(bytes), event);
    }
  }
}

void Executor::operator()(const ptx::BulkCopy& effect, const Step& step) {
  const BulkOperands operands = bulkOperands(step);
  if (!operands.is_valid) return notModelled(step);
  const Lanes& sizes = value(step.warp, arg(step.op, operands.size).slot);
  const EventId event = log(step, EventKind::kBulk, step.lanes, 0, effect.is_reduction);
  forEachLane(step.lanes, [&](unsigned lane) {
    if (!sizes.isKnown(lane)) return unknownCopy(step);
    const std::uint64_t bytes = sizes.word[lane] & 0xffffffff;
    if (bytes % kBulkAlignment != 0) {
      addMisuse(step, {.kind = Misuse::Kind::kBadBulkSize, .event = event, .lanes = laneBit(lane), .value = bytes,
                       .wanted = kBulkAlignment});
    }
    if (bytes != 0) return bulkLane(step, operands, event, lane, bytes);
    addLimit("'" + step.op.decoded->opcode + "' of no bytes: the PTX ISA does not say what it does", step.op.instr);
  });
}

void Executor::operator()(const ptx::BulkCommit&, const Step& step) {
  step.warp.bulk.commit(step.lanes);
  step.warp.bulk_reads.commit(step.lanes);
  log(step, EventKind::kBulkCommit, step.lanes, step.warp.bulk.committed(lowestLane(step.lanes)));
}

void Executor::operator()(const ptx::BulkWait& effect, const Step& step) {
  const auto pending = uniformValue(step.warp, arg(step.op, 0), step.lanes);
  if (!pending) return notModelled(step);
  const auto allowed = static_cast<std::uint32_t>(*pending);
  const EventId event = log(step, effect.is_read_only ? EventKind::kBulkReadWait : EventKind::kBulkWait, step.lanes, allowed);
  step.warp.bulk_reads.waitGroup(step.lanes, allowed, event, step.warp.clock.epoch());
  if (!effect.is_read_only) step.warp.bulk.waitGroup(step.lanes, allowed, event, step.warp.clock.epoch());
}

// st.async and red.async write another CTA's memory in the generic proxy, and complete on a barrier beside it.
void Executor::operator()(const ptx::AsyncStore& effect, const Step& step) {
  const ptx::Decoded& decoded = *step.op.decoded;
  const unsigned bytes = ptx::byteSize(decoded.type()) * std::max(decoded.vector, 1u);
  const bool is_barriered = step.op.arg_count > 2 && arg(step.op, 2).kind == Arg::Kind::kAddress;
  if (bytes == 0 || arg(step.op, 0).kind != Arg::Kind::kAddress) return notModelled(step);
  if (!is_barriered) {
    for (const Resolved& part : resolve(step, arg(step.op, 0), decoded.space())) {
      if (part.space != Space::kGlobal) return notModelled(step);  // without a barrier, only global memory is defined
      storeGlobal(step, part, bytes);
    }
    return;
  }
  const Lanes targets = addressWords(step.warp, arg(step.op, 0)), barriers = addressWords(step.warp, arg(step.op, 2));
  const EventId event = log(step, EventKind::kAsyncStore, step.lanes, 0, effect.is_reduction);
  forEachLane(step.lanes, [&](unsigned lane) {
    if (!targets.isKnown(lane) || !barriers.isKnown(lane)) return unknownCopy(step);
    const std::uint64_t target = targets.word[lane] & 0xffffffff;
    Cta* const cta = checkSharedRange(step, target, bytes, laneBit(lane));
    const auto named = nameMbarrier(step, barriers.word[lane] & 0xffffffff, laneBit(lane));
    if (cta == nullptr || !named) return;
    if (target % bytes != 0) {
      addMisuse(step, {.kind = Misuse::Kind::kMisalignedDestination, .event = event, .lanes = laneBit(lane),
                       .address = reportedAddress(*cta, withinCta(target)), .wanted = bytes});
      return;
    }
    const bool is_own_reduction = effect.is_reduction && cta->rank == step.warp.cta;
    if (named->cta != cta || is_own_reduction) {
      addMisuse(step, {.kind = Misuse::Kind::kWrongSpace, .event = event, .lanes = laneBit(lane),
                       .address = reportedAddress(*cta, withinCta(target)), .value = named->cta != cta ? 1u : 2u,
                       .wanted = named->cta->rank});
    }
    AsyncOp op{.event = event, .lane = lane, .bytes = bytes};
    completeOnOne(step, *named, event, lane, bytes, op);
    outcome_.log.addOp(op);
    checkBarrierBytes(step, *cta, withinCta(target), bytes, laneBit(lane));
    races_.writeShared({cta, withinCta(target), bytes, laneBit(lane)}, event);
    if (program_.needs_shared_contents) cta->shared.write(sharedOffset(withinCta(target)), bytes, 0, /*is_known=*/false);
    holdForCopy(*cta, event, op, /*is_source=*/false);
    if (const auto object = named->cta->mbarriers.find(named->address); object != named->cta->mbarriers.end()) {
      deliverBytes(step, object->second, *named, lane, bytes, event);
    }
  });
}

// Another CTA may learn from this store that the data is there: then the data has to be.
void Executor::checkSignal(const Step& step, EventId event, LaneMask lanes) {
  const ptx::Decoded& decoded = *step.op.decoded;
  const bool releases = decoded.sem == ptx::Sem::kRelease || decoded.sem == ptx::Sem::kAcqRel;
  forEachLane(lanes, [&](unsigned lane) {
    if (!releases && !step.warp.released_by_fence[lane]) return;
    for (const Access& store : undrained_) {
      const Order::Observer observer{step.warp, lane};
      if (!order_.isStartKnown(store, observer) || order_.isKnown(store, Part::kWrite, 0, observer)) continue;
      addMisuse(step, {.kind = Misuse::Kind::kUndrainedAtSignal, .event = event, .lanes = laneBit(lane), .other = store.event});
    }
  });
}

// st.bulk writes zeros, as ordinary stores would.
void Executor::operator()(const ptx::StoreBulk&, const Step& step) {
  const auto bytes = step.op.arg_count > 1 ? uniformValue(step.warp, arg(step.op, 1), step.lanes) : std::nullopt;
  if (!bytes) return notModelled(step);
  for (const Resolved& part : resolve(step, arg(step.op, 0), step.op.decoded->space())) {
    if (part.space != Space::kShared) continue;
    const EventId event = log(step, EventKind::kWrite, part.lanes);
    forEachLane(part.lanes, [&](unsigned lane) {
      const std::uint64_t address = part.address.word[lane];
      Cta* const cta = checkSharedRange(step, address, *bytes, laneBit(lane));
      if (cta == nullptr) return;
      usePeer(step, *cta, event, lane, Misuse::Kind::kPeerNotStarted);
      checkBarrierBytes(step, *cta, withinCta(address), *bytes, laneBit(lane));
      races_.writeShared({cta, withinCta(address), static_cast<std::uint32_t>(*bytes), laneBit(lane)}, event);
      if (program_.needs_shared_contents) {
        cta->shared.write(sharedOffset(withinCta(address)), static_cast<unsigned>(*bytes), 0, /*is_known=*/true);
      }
    });
  }
}

// try_cancel writes 16 bytes and completes as many on the barrier; what they say is not known before the launch.
void Executor::operator()(const ptx::ClusterLaunchControl& effect, const Step& step) {
  if (effect.is_query) return forgetDestinations(step);
  constexpr std::uint64_t kResponseBytes = 16;
  if (step.op.arg_count < 2) return notModelled(step);
  BulkOperands operands{.is_valid = true, .is_multicast = false, .to_shared = true, .destination = 0, .barrier = 1};
  const EventId event = log(step, EventKind::kBulk, step.lanes);
  const bool is_everywhere = step.op.decoded->has("multicast::cluster::all");
  if (is_everywhere && run_.cluster.ctas.size() > 1) return notModelled(step);
  forEachLane(step.lanes, [&](unsigned lane) { bulkLane(step, operands, event, lane, kResponseBytes); });
}

}  // namespace handoff::machine
