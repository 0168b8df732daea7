// SPDX-License-Identifier: Apache-2.0
// cp.async and its groups (PTX ISA, "cp.async", "cp.async.commit_group", "cp.async.wait_group, cp.async.wait_all").
#include "analyzer/machine/address.h"
#include "analyzer/machine/executor.h"

namespace handoff::machine {

namespace {

/// The operand after cp-size: a byte count, or a predicate that says to ignore the source.
bool isPredicate(const Program& program, const Op& op, std::uint32_t operand) {
  const ptx::Operand& o = program.instruction(op).operands[operand];
  if (o.kind != ptx::Operand::Kind::kRegister) return false;
  return program.function.registers[static_cast<std::uint32_t>(o.reg)].type == ptx::Type::kPred;
}

}  // namespace

void Executor::operator()(const ptx::CpAsync&, const Step& step) {
  const Op& op = step.op;
  constexpr std::uint32_t kDestination = 0, kSource = 1, kSize = 2, kOption = 3;
  if (op.arg_count <= kSize) return notModelled(step);
  const auto size = uniformValue(step.warp, arg(op, kSize), step.lanes);
  const bool is_valid_size = size && (*size == 16 || (!op.decoded->has("cg") && (*size == 4 || *size == 8)));
  if (!is_valid_size) {
    addMisuse(step, {.kind = Misuse::Kind::kBadCopySize, .lanes = step.lanes, .value = size.value_or(0)});
    return;
  }
  const std::uint32_t options = op.arg_count - kOption - (op.decoded->has("L2::cache_hint") ? 1 : 0);
  const Lanes* source_sizes = nullptr;
  LaneMask ignored = 0;
  if (op.arg_count > kOption && options > 0) {
    const Lanes& option = value(step.warp, arg(op, kOption).slot);
    if (isPredicate(program_, op, kOption)) {
      forEachLane(step.lanes & ~option.unknown, [&](unsigned lane) {
        if ((option.word[lane] & 1) != arg(op, kOption).is_negated) ignored |= laneBit(lane);
      });
    } else {
      source_sizes = &option;
    }
  }
  const auto parts = resolve(step, arg(op, kDestination), ptx::Space::kShared);
  Lanes sources = addressWords(step.warp, arg(op, kSource));
  for (const Resolved& part : parts) {
    copyToShared(step, static_cast<std::uint32_t>(*size), part.lanes, part.address, sources, source_sizes, ignored);
  }
}

// Copies with equal keys put equal bytes where they overlap: same distance of source and destination, same size of the
// source. 0: not known.
std::uint64_t Executor::contentKey(unsigned lane, const Lanes& sources, const Lanes& destinations,
                                   const Lanes* source_sizes, LaneMask ignored) const {
  if (!sources.isKnown(lane) || (source_sizes != nullptr && !source_sizes->isKnown(lane))) return 0;
  const std::uint64_t size = source_sizes != nullptr ? source_sizes->word[lane] & 0xff : 0xff;
  const std::uint64_t zeroed = (ignored >> lane) & 1;
  return ((sources.word[lane] - destinations.word[lane]) & 0x00ff'ffff'ffff'ffff) ^ (size << 56) ^ (zeroed << 55);
}

void Executor::copyToShared(const Step& step, std::uint32_t size, LaneMask lanes, const Lanes& destinations,
                            const Lanes& sources, const Lanes* source_sizes, LaneMask ignored) {
  CopyGroups& groups = step.warp.copies;
  const std::uint32_t group = groups.openGroup(lowestLane(lanes));
  const EventId event = log(step, EventKind::kCopy, lanes, group);
  std::array<std::uint32_t, kWarpSize> by_lane{};
  EventLog::ByLane from{}, keys{};
  bool differs = false;
  forEachLane(lanes, [&](unsigned lane) {
    by_lane[lane] = groups.openGroup(lane);
    differs |= by_lane[lane] != group;
    if (sources.isKnown(lane)) from[lane] = sources.word[lane];
    keys[lane] = contentKey(lane, sources, destinations, source_sizes, ignored);
  });
  if (differs) outcome_.log.setGroups(event, by_lane);
  outcome_.log.setSources(event, from, keys);
  groups.noteCopy(lanes);
  forEachLane(lanes, [&](unsigned lane) {
    std::uint32_t source_bytes = size;
    if (source_sizes != nullptr && source_sizes->isKnown(lane)) {
      source_bytes = static_cast<std::uint32_t>(source_sizes->word[lane] & 0xffffffff);
    }
    if (source_bytes > size) {
      addMisuse(step, {.kind = Misuse::Kind::kBadCopySize, .event = event, .lanes = laneBit(lane),
                       .value = source_bytes, .wanted = size});
      source_bytes = size;
    }
    if (ignored & laneBit(lane)) source_bytes = 0;
    copyLane(step, event, lane, destinations.word[lane], size);
    if (!sources.isKnown(lane) && source_bytes != 0) races_.noteUnknownGlobal(/*is_copy_source=*/true);
    if (!sources.isKnown(lane) || source_bytes == 0) return;
    const std::uint64_t source = sources.word[lane];
    if (source % size != 0) {
      addMisuse(step, {.kind = Misuse::Kind::kMisalignedSource, .event = event, .lanes = laneBit(lane),
                       .address = source, .wanted = size});
    }
    races_.readGlobal({nullptr, source, source_bytes, laneBit(lane)}, event, RaceChecker::GlobalAccess::kAsyncRead);
  });
}

void Executor::copyLane(const Step& step, EventId event, unsigned lane, std::uint64_t destination, std::uint32_t size) {
  if (destination % size != 0) {
    addMisuse(step, {.kind = Misuse::Kind::kMisalignedDestination, .event = event, .lanes = laneBit(lane),
                     .address = destination, .wanted = size});
    return;
  }
  Cta* const cta = checkSharedRange(step, destination, size, laneBit(lane));
  if (cta == nullptr) return;
  destination = withinCta(destination);
  const WriteId before = cta->shadow->at(destination - kSharedBase).write;
  if (before != 0 && eventOf(before) == event &&
      outcome_.log.contentKeyOf(event, laneOf(before)) != outcome_.log.contentKeyOf(event, lane)) {
    addMisuse(step, {.kind = Misuse::Kind::kDuplicateDestination, .event = event,
                     .lanes = laneBit(lane) | laneBit(laneOf(before)), .address = destination, .value = size});
  }
  checkBarrierBytes(step, *cta, destination, size, laneBit(lane));
  races_.writeShared({cta, destination, size, laneBit(lane)}, event);
  if (program_.needs_shared_contents) cta->shared.write(sharedOffset(destination), size, 0, /*is_known=*/false);
}

void Executor::operator()(const ptx::CpAsyncCommit&, const Step& step) {
  step.warp.copies.commit(step.lanes);
  log(step, EventKind::kCommit, step.lanes, step.warp.copies.committed(lowestLane(step.lanes)));
}

void Executor::operator()(const ptx::CpAsyncWaitGroup&, const Step& step) {
  const auto pending = uniformValue(step.warp, arg(step.op, 0), step.lanes);
  if (!pending) return notModelled(step);
  const auto allowed = static_cast<std::uint32_t>(*pending);
  const EventId event = log(step, EventKind::kWaitGroup, step.lanes, allowed);
  step.warp.copies.waitGroup(step.lanes, allowed, event, step.warp.clock.epoch());
}

void Executor::operator()(const ptx::CpAsyncWaitAll&, const Step& step) {
  const EventId event = log(step, EventKind::kWaitAll, step.lanes);
  step.warp.copies.waitAll(step.lanes, event, step.warp.clock.epoch());
}

}  // namespace handoff::machine
