// SPDX-License-Identifier: Apache-2.0
// Fifth-generation tensor cores (PTX ISA, "tcgen05"): multiplications and copies that one thread issues, loads and
// stores of tensor memory by warps, and the allocation of its columns.
//
// Tensor memory has 512 columns of 128 lanes; a warp reaches the quarter of the lanes that its rank gives it. The shadow
// keeps one cell for each column and quarter, at kTensorBase in the address map. What one thread issues runs in order;
// for others an operation is over when the phase of an mbarrier says so that a later commit arrives at.
#include <algorithm>

#include "analyzer/machine/executor.h"
#include "analyzer/machine/matrix_operand.h"

namespace handoff::machine {

namespace {

constexpr std::uint32_t kColumns = 512, kQuarters = 4;
/// Operations that later commits of the thread are still applied to.
constexpr std::ptrdiff_t kRememberedOps = 64;
constexpr std::uint32_t kBytesPerColumn = 4;  ///< of one lane

std::uint64_t cellAddress(std::uint64_t column, std::uint32_t quarter) {
  return kTensorBase + (column % kColumns) * kQuarters + quarter;
}

/// Columns that one tcgen05.ld or .st moves (PTX ISA, "tcgen05.ld": shapes and .num).
std::uint32_t movedColumns(const ptx::Decoded& decoded) {
  std::uint32_t number = 1;
  for (const std::string& modifier : decoded.modifiers) {
    const bool is_count = modifier.size() > 1 && modifier[0] == 'x' && modifier[1] >= '0' && modifier[1] <= '9';
    if (is_count) number = static_cast<std::uint32_t>(std::stoul(modifier.substr(1)));
  }
  if (decoded.has("16x64b")) return 2 * number;
  if (decoded.has("16x128b")) return 4 * number;
  if (decoded.has("16x256b")) return 8 * number;
  return number;
}

/// Each lane issues an operation of its own. The last one stands for all: what covers that one covers them.
unsigned issuer(LaneMask lanes) { return 31 - static_cast<unsigned>(std::countl_zero(lanes)); }

// Calls f(cta) for the CTAs that an operation of a pair (cta_group::2) works in.
template <typename F>
void forEachOfGroup(Cluster& cluster, std::uint32_t rank_of_issuer, unsigned ctas, F&& f) {
  const std::uint32_t first = ctas == 2 ? rank_of_issuer & ~1u : rank_of_issuer;
  for (std::uint32_t rank = first; rank < first + ctas && rank < cluster.ctas.size(); ++rank) f(cluster.ctas[rank]);
}

}  // namespace

void Executor::tensorAccess(const Step& step, Cta& cta, std::uint64_t column, std::uint32_t columns, EventId event,
                            bool is_write, std::optional<std::uint32_t> quarter) {
  const bool is_of_warp = outcome_.log[event].kind != EventKind::kMma;
  const auto access = [&](std::uint64_t address, std::uint32_t cells) {
    const Range range{&cta, address, cells, laneBit(is_of_warp ? lowestLane(step.lanes) : issuer(step.lanes))};
    is_write ? races_.writeShared(range, event) : races_.readShared(range, event);
  };
  columns = std::min(columns, kColumns);
  for (std::uint32_t c = 0; c < columns; ++c) {
    if (quarter) {
      access(cellAddress(column + c, *quarter), 1);
    } else {
      access(cellAddress(column + c, 0), kQuarters);
    }
  }
}

void Executor::readTensorOperand(const Step& step, EventId event, Cta& cta, std::uint64_t descriptor, const MatrixShape& shape) {
  for (const ByteRange& range : tcgen05OperandRanges(descriptor, shape)) {
    if (checkSharedRange(step, inCluster(cta.rank, range.address), range.bytes, step.lanes) == nullptr) return;
    races_.readShared({&cta, range.address, range.bytes, laneBit(issuer(step.lanes))}, event);
  }
}

EventId Executor::startTensorOp(const Step& step) {
  const EventId event = log(step, EventKind::kMma, step.lanes);
  step.warp.pending_mma.push_back(outcome_.log.addOp({.event = event, .lane = issuer(step.lanes)}));
  return event;
}

void Executor::tensorMultiply(const Step& step) {
  const auto form = tcgen05MmaForm(program_.instruction(step.op));
  if (!form) return notModelled(step);
  const auto known = [&](unsigned operand) { return uniformValue(step.warp, arg(step.op, operand), step.lanes); };
  const Lanes targets = addressWords(step.warp, arg(step.op, 0));
  const auto idesc = known(form->idesc), b = known(Tcgen05MmaForm::kB);
  const unsigned lane = lowestLane(step.lanes);
  const auto shapes = idesc ? tcgen05MmaShapes(*form, static_cast<std::uint32_t>(*idesc)) : std::nullopt;
  if (!shapes || !b || !targets.isKnown(lane)) return unknownCopy(step);
  const EventId event = startTensorOp(step);
  const Lanes a_words = form->is_a_in_tensor_memory ? addressWords(step.warp, arg(step.op, Tcgen05MmaForm::kA)) : Lanes{};
  const auto a = form->is_a_in_tensor_memory ? std::nullopt : known(Tcgen05MmaForm::kA);
  if (!form->is_a_in_tensor_memory && !a) return unknownCopy(step);
  forEachOfGroup(run_.cluster, step.warp.cta, form->ctas, [&](Cta& cta) {
    readTensorOperand(step, event, cta, *b, shapes->b);
    if (a) readTensorOperand(step, event, cta, *a, shapes->a);
    if (form->is_a_in_tensor_memory && a_words.isKnown(lane)) {
      tensorAccess(step, cta, a_words.word[lane] & 0xffff, shapes->a.k_bytes / kBytesPerColumn, event, /*is_write=*/false, {});
    }
    tensorAccess(step, cta, targets.word[lane] & 0xffff, shapes->b.rows * form->ctas, event, /*is_write=*/true, {});
  });
}

void Executor::tensorCopy(const Step& step) {
  const auto shape = tcgen05CopyShape(program_.instruction(step.op));
  const auto descriptor = uniformValue(step.warp, arg(step.op, 1), step.lanes);
  const Lanes targets = addressWords(step.warp, arg(step.op, 0));
  const unsigned lane = lowestLane(step.lanes);
  if (!shape) return notModelled(step);
  if (!descriptor || !targets.isKnown(lane)) return unknownCopy(step);
  const EventId event = startTensorOp(step);
  forEachOfGroup(run_.cluster, step.warp.cta, step.op.decoded->has("cta_group::2") ? 2 : 1, [&](Cta& cta) {
    readTensorOperand(step, event, cta, *descriptor, *shape);
    tensorAccess(step, cta, targets.word[lane] & 0xffff, shape->k_bytes / kBytesPerColumn, event, /*is_write=*/true, {});
  });
}

// All that the thread has issued so far is over when this phase is. Operations may have been covered before, by the commit
// that frees their operands; a later one then hands over their results.
void Executor::tensorCommit(const Step& step) {
  Warp& warp = step.warp;
  const Lanes barriers = addressWords(warp, arg(step.op, 0));
  const unsigned lane = lowestLane(step.lanes);
  if (!barriers.isKnown(lane)) return unknownCopy(step);
  const std::uint64_t address = barriers.word[lane] & 0xffffffff;
  std::uint64_t mask = 0;
  if (step.op.decoded->has("multicast::cluster")) {
    const auto given = step.op.arg_count > 1 ? uniformValue(warp, arg(step.op, 1), step.lanes) : std::nullopt;
    if (!given) return unknownCopy(step);
    mask = *given & 0xffff;
  }
  const auto arrive = [&](std::uint64_t at) {
    const auto named = nameMbarrier(step, at, step.lanes);
    MbarrierObject* object = named ? mbarrierAt(step, *named, step.lanes) : nullptr;
    if (object == nullptr) return;
    const EventId event = log(step, EventKind::kCopyArrive, step.lanes, object->phase());
    checkPhaseKnown(step, *object, *named, step.lanes, object->phase(), event, Misuse::Kind::kEarlyArrival);
    warp.clock.publishTime(step.lanes, object->openClock());
    const Phase first = object->phase();
    bool completed = false;
    forEachLane(step.lanes, [&](unsigned by) {
      if (object->phase() != first) {
        checkPhaseKnown(step, *object, *named, laneBit(by), object->phase(), event, Misuse::Kind::kEarlyArrival);
      }
      for (const std::uint32_t op : warp.pending_mma) {
        if (outcome_.log.op(op).lane != by) continue;  // another thread's
        outcome_.log.op(op).completions.push_back({object->actor(), object->phase() + 1, named->cta->rank});
      }
      object->noteAsyncArrival();
      completed |= arriveLanes(step, *object, *named, laneBit(by), 1, event);
    });
    if (completed) wakePollers();
    progress();
  };
  if (mask == 0) arrive(address);
  for (std::uint32_t rank = 0; rank < 16; ++rank) {
    if ((mask >> rank) & 1) arrive(inCluster(rank, address));
  }
  if (std::ssize(warp.pending_mma) > kRememberedOps) warp.pending_mma.erase(warp.pending_mma.begin(), warp.pending_mma.end() - kRememberedOps);
}

void Executor::tensorMove(const Step& step, bool is_load) {
  forgetDestinations(step);
  const unsigned a = addressOperand(step.op);
  const Lanes words = a < step.op.arg_count ? addressWords(step.warp, arg(step.op, a)) : unknown_lanes_;
  const unsigned lane = lowestLane(step.lanes);
  if (!words.isKnown(lane)) return unknownCopy(step);
  CopyGroups& groups = is_load ? step.warp.tensor_loads : step.warp.tensor_stores;
  const EventId event = log(step, EventKind::kTensorMemory, step.lanes, is_load ? 0 : 1);
  outcome_.log.addOp({.event = event, .lane = lane, .group = groups.openGroup(lane)});
  groups.noteCopy(step.lanes);
  const auto quarter = static_cast<std::uint32_t>(step.warp.rank % kQuarters);
  checkAllocated(step, ctaOf(step), words.word[lane] & 0xffff, movedColumns(*step.op.decoded));
  tensorAccess(step, ctaOf(step), words.word[lane] & 0xffff, movedColumns(*step.op.decoded), event, !is_load, quarter);
}

void Executor::tensorAllocate(const Step& step) {
  Cta& cta = ctaOf(step);
  const auto columns = uniformValue(step.warp, arg(step.op, 1), step.lanes);
  if (!columns) return notModelled(step);
  if (cta.tensor_relinquished != 0) {
    addMisuse(step, {.kind = Misuse::Kind::kTensorMemoryAfterRelinquish, .lanes = step.lanes, .other = cta.tensor_relinquished});
  }
  std::uint64_t at = 0;
  for (const auto& [first, allocated] : cta.tensor_columns) {
    if (first >= at + *columns) break;
    at = first + allocated.columns;
  }
  if (at + *columns > kColumns) return addLimit("tensor memory of " + std::to_string(kColumns) + " columns is used up", step.op.instr);
  // The address is stored by one thread, like any word: the others need a barrier before they read it.
  const LaneMask one = laneBit(lowestLane(step.lanes));
  const EventId event = log(step, EventKind::kWrite, one);
  cta.has_allocated_columns = true;
  cta.tensor_columns[at] = {static_cast<std::uint32_t>(*columns), event};
  for (const Resolved& part : resolve(step, arg(step.op, 0), step.op.decoded->space())) {
    const std::uint64_t address = withinCta(part.address.word[lowestLane(step.lanes)]);
    if (part.space != ptx::Space::kShared || checkSharedRange(step, address, 4, one) == nullptr) continue;
    races_.writeShared({&cta, address, 4, one}, event);
    if (program_.needs_shared_contents) cta.shared.write(sharedOffset(address), 4, at, /*is_known=*/true);
  }
}

void Executor::tensorFree(const Step& step) {
  Cta& cta = ctaOf(step);
  const auto first = uniformValue(step.warp, arg(step.op, 0), step.lanes), columns = uniformValue(step.warp, arg(step.op, 1), step.lanes);
  if (!first || !columns) return unknownCopy(step);
  const EventId event = log(step, EventKind::kWrite, step.lanes);
  tensorAccess(step, cta, *first & 0xffff, static_cast<std::uint32_t>(*columns), event, /*is_write=*/true, {});
  const auto given = cta.tensor_columns.find(*first & 0xffff);
  if (given != cta.tensor_columns.end() && given->second.columns == *columns) {
    cta.tensor_columns.erase(given);
  } else if (cta.has_allocated_columns) {
    addMisuse(step, {.kind = Misuse::Kind::kTensorMemoryUnallocated, .event = event, .lanes = step.lanes, .value = *first & 0xffff,
                     .wanted = *columns});
  }
}

// Only loads and stores are asked: how far a multiplication reaches is known from above only.
void Executor::checkAllocated(const Step& step, const Cta& cta, std::uint64_t column, std::uint32_t columns) {
  if (!cta.has_allocated_columns) return;
  std::uint64_t at = column;
  for (const auto& [first, given] : cta.tensor_columns) {
    if (first <= at) at = std::max(at, first + given.columns);
  }
  if (at >= column + columns) return;
  addMisuse(step, {.kind = Misuse::Kind::kTensorMemoryUnallocated, .event = outcome_.log.end() - 1, .lanes = step.lanes,
                   .value = column, .wanted = columns});
}

void Executor::operator()(const ptx::Tcgen05& effect, const Step& step) {
  using ptx::Tcgen05Op;
  Warp& warp = step.warp;
  switch (effect.op) {
    case Tcgen05Op::kMma: return tensorMultiply(step);
    case Tcgen05Op::kCp: return tensorCopy(step);
    case Tcgen05Op::kCommit: return tensorCommit(step);
    case Tcgen05Op::kLd: return tensorMove(step, /*is_load=*/true);
    case Tcgen05Op::kSt: return tensorMove(step, /*is_load=*/false);
    case Tcgen05Op::kWaitLd:
    case Tcgen05Op::kWaitSt: {
      const bool is_load = effect.op == Tcgen05Op::kWaitLd;
      const EventId event = log(step, EventKind::kTensorWait, step.lanes, is_load ? 0 : 1);
      (is_load ? warp.tensor_loads : warp.tensor_stores).waitAll(step.lanes, event, warp.clock.epoch());
      return;
    }
    case Tcgen05Op::kAlloc: return tensorAllocate(step);
    case Tcgen05Op::kDealloc: return tensorFree(step);
    case Tcgen05Op::kRelinquish:
      ctaOf(step).tensor_relinquished = log(step, EventKind::kTensorWait, step.lanes, 2);
      return;
    // What the fences add to a synchronisation that is there anyway is for the hardware's pipelines (docs/soundness.md).
    case Tcgen05Op::kFenceBefore:
    case Tcgen05Op::kFenceAfter:
    // A shift moves rows within its columns, in order with the multiplications around it.
    case Tcgen05Op::kShift: return;
  }
}

void Executor::reportTensorLeaks() {
  for (const Cta& cta : run_.cluster.ctas) {
    for (const auto& [first, allocated] : cta.tensor_columns) {
      const Event& event = outcome_.log[allocated.event];
      const Step step{run_.cluster.warps[event.warp], 0, program_.ops[event.op], event.op, event.lanes};
      addMisuse(step, {.kind = Misuse::Kind::kTensorMemoryLeak, .event = allocated.event, .lanes = event.lanes,
                       .value = allocated.columns});
    }
  }
}

}  // namespace handoff::machine
