// SPDX-License-Identifier: Apache-2.0
// cp.async and its groups (PTX ISA, "cp.async", "cp.async.commit_group", "cp.async.wait_group, cp.async.wait_all").
#include "analyzer/machine/address.h"
#include "analyzer/machine/executor.h"
#include "analyzer/machine/transfer/null_pointer.h"

namespace handoff::machine {

namespace {

constexpr std::uint32_t kDestination = 0, kSource = 1, kSize = 2, kOption = 3;

/// The operand after cp-size: a byte count, or a predicate that says to ignore the source.
bool isPredicate(const Program& program, const Op& op, std::uint32_t operand) {
  const ptx::Operand& o = program.instruction(op).operands[operand];
  if (o.kind != ptx::Operand::Kind::kRegister) return false;
  return program.function.registers[static_cast<std::uint32_t>(o.reg)].type == ptx::Type::kPred;
}

// Copies with equal keys put equal bytes where they overlap: same distance of source and destination, same size of the
// source, or zeros. 0: not known.
std::uint64_t contentKey(unsigned lane, const Lanes& sources, const Lanes& destinations, const Lanes* source_sizes,
                         LaneMask ignored) {
  if (source_sizes != nullptr && !source_sizes->isKnown(lane)) return 0;
  const std::uint64_t size = source_sizes != nullptr ? source_sizes->word[lane] & 0xff : 0xff;
  if (size == 0 || (ignored & laneBit(lane)) != 0) return kZeros;
  if (!sources.isKnown(lane)) return 0;
  return ((sources.word[lane] - destinations.word[lane]) & 0x00ff'ffff'ffff'ffff) | (size << 56);
}

}  // namespace

void Executor::operator()(const ptx::CpAsync&, const Step& step) {
  const Op& op = step.op;
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
      noteSourceSizes(step, static_cast<std::uint32_t>(*size));
    }
  }
  const auto parts = resolve(step, arg(op, kDestination), ptx::Space::kShared);
  Lanes sources = addressWords(step.warp, arg(op, kSource));
  for (const Resolved& part : parts) {
    copyToShared(step, static_cast<std::uint32_t>(*size), part.lanes, part.address, sources, source_sizes, ignored);
  }
}

// What of the copy's source depends on inputs: which copies bring the same bytes may depend on that.
void Executor::noteCopyTerms(const Step& step, EventId event, const Lanes* source_sizes, LaneMask lanes) {
  if (path_ == nullptr) return;
  const Arg& source = arg(step.op, kSource);
  CopyTerms terms{.source = termAt(step.warp, source.slot), .offset = source.offset};
  if (source_sizes != nullptr) terms.size = termAt(step.warp, arg(step.op, kOption).slot);
  if (step.op.arg_count > kOption && isPredicate(program_, step.op, kOption)) {
    const Slot option = arg(step.op, kOption).slot;
    terms.ignored = termAt(step.warp, option);
    forEachLane(lanes, [&](unsigned lane) { terms.ignored_lanes |= (value(step.warp, option).word[lane] & 1) != 0 ? laneBit(lane) : 0; });
  }
  const bool is_concrete = terms.source == symbolic::kConcrete && terms.size == symbolic::kConcrete && terms.ignored == symbolic::kConcrete;
  if (!is_concrete) races_.noteTerms(event, terms);
  // How many bytes a copy reads may then depend on inputs as well.
  const bool has_fixed_size = terms.size == symbolic::kConcrete && terms.ignored == symbolic::kConcrete;
  outcome_.has_moving_distances |= !has_fixed_size;
  noteDistance(step, source, lanes);
  // Whether a copy has a source at all, other inputs may decide otherwise.
  const Lanes words = addressWords(step.warp, source);
  const LaneMask known = lanes & ~words.unknown;
  const TermId is_null = choiceOfNull(*path_, terms.source, known);
  if (is_null == symbolic::kConcrete) return;
  Decision decision{.kind = Decision::Kind::kValue, .condition = is_null, .lanes = known, .instr = step.op.instr};
  forEachLane(known, [&](unsigned lane) { decision.truth |= words.word[lane] < kNullEnd ? laneBit(lane) : 0; });
  path_->add(decision);
}

// That no lane's source is larger than its copy is a decision.
void Executor::noteSourceSizes(const Step& step, std::uint32_t size) {
  const Arg& option = arg(step.op, kOption);
  const Lanes& words = value(step.warp, option.slot);
  const LaneMask known = step.lanes & ~words.unknown;
  const symbolic::TermId term = path_ == nullptr ? symbolic::kConcrete : termAt(step.warp, option.slot);
  if (term == symbolic::kConcrete || known == 0) return;
  symbolic::Terms& terms = path_->terms();
  const symbolic::TermId asked = terms.resize(terms.ofLanes(term, known), 32);
  if (terms.isAtMost(asked, size)) return;
  symbolic::TermId any = terms.constant(0, 1);
  bool is_over = false;
  forEachLane(known, [&](unsigned lane) {
    const symbolic::TermId own = terms.ofLane(asked, lane);
    if (!terms.isAtMost(own, size)) any = terms.bitOr(any, terms.less(terms.constant(size, 32), own, /*is_signed=*/false));
    is_over |= (words.word[lane] & 0xffffffff) > size;
  });
  if (terms.isConstant(any, 0)) return;
  path_->add({.condition = any, .lanes = 1, .truth = is_over ? 1u : 0u, .instr = step.op.instr});
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
  noteCopyTerms(step, event, source_sizes, lanes);
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
    if (!sources.isKnown(lane) && source_bytes != 0) {
      noteUnknownGlobal({step.warp, step.fragment, step.op, step.index, laneBit(lane)}, arg(step.op, kSource), /*is_copy_source=*/true);
    }
    if (!sources.isKnown(lane) || source_bytes == 0) return;
    const std::uint64_t source = sources.word[lane];
    if (isNullGlobal(path_, termAt(step.warp, arg(step.op, kSource).slot), source)) {
      addMisuse(step, {.kind = Misuse::Kind::kWrongSpace, .event = event, .lanes = laneBit(lane), .address = source,
                       .value = static_cast<std::uint64_t>(NullOperand::kSource)});
      return;
    }
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
  if (isNullShared(path_, termAt(step.warp, arg(step.op, kDestination).slot), destination)) {
    addMisuse(step, {.kind = Misuse::Kind::kWrongSpace, .event = event, .lanes = laneBit(lane), .address = destination,
                     .value = static_cast<std::uint64_t>(NullOperand::kDestination)});
    return;
  }
  Cta* const cta = checkSharedRange(step, destination, size, laneBit(lane));
  if (cta == nullptr) return;
  destination = withinCta(destination);
  const WriteId before = cta->shadow->at(destination - kSharedBase).write;
  if (before != 0 && eventOf(before) == event) {
    const std::uint64_t key = outcome_.log.contentKeyOf(event, lane), other = outcome_.log.contentKeyOf(event, laneOf(before));
    if (key != other) {
      addMisuse(step, {.kind = Misuse::Kind::kDuplicateDestination, .event = event,
                       .lanes = laneBit(lane) | laneBit(laneOf(before)), .address = destination, .value = size});
    } else if (key == 0) {
      addLimit("lanes copy to one place from sources that depend on data that is not known before the launch", step.op.instr);
    } else {
      races_.decideSameContent({event, laneOf(before)}, {event, lane});
    }
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
