// SPDX-License-Identifier: Apache-2.0
// What depends on data that nobody knows: addresses in shared memory, and branches around plain accesses.
//
// Such a branch is run on both sides, one after the other, and each access within counts as one that may happen, under the
// condition of its side (races_unknown.cpp). Registers take the value of the one or of the other side.
#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include "analyzer/machine/address.h"
#include "analyzer/machine/executor.h"
#include "analyzer/machine/strength.h"

namespace handoff::machine {

using ptx::Space;
using symbolic::kConcrete;
using symbolic::TermId;

namespace {

/// Cuts a term of a shared address out of whatever space it was given in; kConcrete if it may lie elsewhere.
TermId sharedAddress(symbolic::Terms& terms, TermId term, Space space) {
  if (space == Space::kShared) return terms.resize(term, 32);
  const bool is_within = terms[term].low >= kSharedWindow && terms[term].high < kSharedWindow + kWindowSize;
  return is_within ? terms.resize(terms.subtract(term, terms.constant(kSharedWindow, terms[term].width)), 32) : kConcrete;
}

/// An address as a constant for each lane and what is the same for all.
struct LaneSum { TermId rest = kConcrete, words = kConcrete; };

LaneSum lanesApart(const symbolic::Terms& terms, TermId address) {
  const symbolic::Term& term = terms[address];
  if (!term.has_lanes) return {address, kConcrete};
  if (term.op != symbolic::TermOp::kAdd) return {};
  for (const auto& [words, rest] : {std::pair(term.a, term.b), std::pair(term.b, term.a)}) {
    if (terms[words].op == symbolic::TermOp::kLaneConstant && !terms[rest].has_lanes) return {rest, words};
  }
  return {};
}

}  // namespace

// The accesses of lanes whose address is not known, or that need not happen; returns these lanes. Those of other lanes are
// left to the caller.
LaneMask Executor::accessUnknown(const Step& step, const Arg& operand, std::uint32_t bytes, bool reads, bool writes) {
  const Space space = step.op.decoded->space();
  if (space != Space::kShared && space != Space::kGeneric) return 0;
  const Lanes words = addressWords(step.warp, operand);
  LaneMask lanes = step.lanes & words.unknown;
  if (condition_ != kConcrete) {
    forEachLane(step.lanes & ~words.unknown, [&](unsigned lane) {
      if (space == Space::kShared || classify(words.word[lane]).space == Space::kShared) lanes |= laneBit(lane);
    });
  }
  if (lanes == 0) return 0;
  symbolic::Terms& terms = run_.data.terms();
  TermId address = dataTerm(step, operand.slot, lanes);
  if (address != kConcrete && operand.offset != 0) {
    address = terms.add(address, terms.constant(static_cast<std::uint64_t>(operand.offset), terms[address].width));
  }
  if (address != kConcrete) address = sharedAddress(terms, address, space);
  if (address == kConcrete && space == Space::kGeneric) return 0;  // resolve() says so
  Cta& cta = ctaOf(step);
  const bool is_strong = std::holds_alternative<ptx::Atomic>(step.op.decoded->effect) || isStrong(*step.op.decoded);
  UnknownAccess access{.event = log(step, writes ? (reads ? EventKind::kAtomic : EventKind::kWrite) : EventKind::kRead, lanes, 0, is_strong),
                       .lanes = lanes, .reads = reads, .writes = writes, .bytes = bytes, .address = address,
                       .condition = condition_};
  ShapeHasher hasher(run_.data);
  access.shape = hasher(address);
  access.shape = (access.shape * 31) ^ hasher(access.condition);
  const std::uint64_t begin = kSharedBase, end = kSharedBase + cta.shadow->bytes();
  if (end - begin < bytes) return lanes;
  access.low = ~0ull;
  std::optional<StartRange> closer;  // where bounds alone do not tell
  const LaneSum sum = address == kConcrete ? LaneSum{} : lanesApart(terms, address);
  forEachLane(lanes, [&](unsigned lane) {
    Span& span = access.spans[lane];
    if (address != kConcrete) span = spanOf(terms, terms.ofLane(address, lane));
    if ((span.low < begin || span.high > end - bytes) && sum.rest != kConcrete && !terms[access.condition].has_lanes) {
      const TermId condition = access.condition == kConcrete ? terms.constant(1, 1) : access.condition;
      if (!closer) closer = run_.questions().bounds(run_.data, sum.rest, condition);
      const std::uint64_t add = sum.words == kConcrete ? 0 : terms[terms.ofLane(sum.words, lane)].value;
      if (closer->last <= 0xffffffff - add) {
        span.low = std::max(span.low, closer->first + add);
        span.high = std::min(span.high, closer->last + add);
      }
    }
    if (span.low < begin || span.high > end - bytes) keepInside(step, access, lane, begin, end - bytes);
    span.low = std::max(span.low, begin);
    span.high = std::min(span.high, end - bytes);
    if (span.low > span.high) access.lanes &= ~laneBit(lane);
    if (span.low > span.high) return;
    access.low = std::min(access.low, span.low);
    access.high = std::max(access.high, span.high + bytes);
  });
  if (access.lanes == 0) return lanes;
  const unsigned granule = cta.shadow->granule();
  if (((std::uint64_t{bytes}) & (granule - 1)) != 0) {
    needed_granule_ = std::min(needed_granule_, 1u << std::countr_zero(bytes));
    is_stopped_ = true;
    return lanes;
  }
  access.low &= ~std::uint64_t{granule - 1};
  if (writes) overwriteUnknown(step, cta, access);
  races_.accessUnknown(cta, std::move(access));
  return lanes;
}

// Whether the access can leave shared memory.
void Executor::keepInside(const Step& step, const UnknownAccess& access, unsigned lane, std::uint64_t first, std::uint64_t last) {
  const std::vector<StartRange> outside{{0, first - 1}, {last + 1, 0xffffffff}};
  if (run_.questions().meets(run_.data, access.question(lane), outside).answer == DataQuestions::Answer::kNo) return;
  addLimit("the address of '" + step.op.decoded->opcode +
               "' depends on data that is not known before the launch: it was not shown to stay within shared memory",
           step.op.instr);
}

// What the bytes hold is no longer known; barriers among them are not to be written over.
void Executor::overwriteUnknown(const Step& step, Cta& cta, const UnknownAccess& access) {
  constexpr std::uint64_t kObjectBytes = 8;
  for (const auto& [at, object] : cta.mbarriers) {
    if (!object.isLive() || at >= access.high || at + kObjectBytes <= access.low) continue;
    forEachLane(access.lanes, [&](unsigned lane) {
      if (!access.spans[lane].mayMeet(access.bytes, at, kObjectBytes)) return;
      const StartRange starts{at - std::min<std::uint64_t>(at, access.bytes - 1), at + kObjectBytes - 1};
      const DataQuestions::Found found = run_.questions().meets(run_.data, access.question(lane), {starts});
      if (found.answer == DataQuestions::Answer::kNo) return;
      if (found.answer == DataQuestions::Answer::kUnknown) {
        return addLimit("the address of '" + step.op.decoded->opcode +
                            "' depends on data that is not known before the launch: whether it meets an mbarrier was not decided",
                        step.op.instr);
      }
      Misuse misuse{.kind = Misuse::Kind::kBarrierOverwritten, .event = access.event, .lanes = laneBit(lane),
                    .address = reportedAddress(cta, at), .other = object.initEvent(), .is_possible = true};
      for (const auto& [symbol, word] : found.values) misuse.data.push_back({run_.data.originOf(symbol).instr, word});
      addMisuse(step, std::move(misuse));
    });
  }
  if (run_.log()[access.event].is_strong && !access.reads) {
    std::erase_if(run_.cluster.flags, [&](const auto& flag) {
      return flag.first >= inCluster(cta.rank, access.low) && flag.first < inCluster(cta.rank, access.high);
    });
  }
  if (!program_.needs_shared_contents) return;
  const std::uint64_t size = std::min<std::uint64_t>(access.high - kSharedBase, cta.shared.known.size());
  for (std::uint64_t at = access.low - kSharedBase; at < size; ++at) cta.shared.known[at] = 0;
}

// A predicate that is not known, of an access or of a computation: done under that condition.
bool Executor::executeUnderUnknown(const Step& step) {
  const ptx::Effect& effect = step.op.decoded->effect;
  const auto* alu = std::get_if<ptx::Alu>(&effect);
  const bool is_access = std::holds_alternative<ptx::Load>(effect) || std::holds_alternative<ptx::Store>(effect) ||
                         std::holds_alternative<ptx::Atomic>(effect);
  if ((alu == nullptr && !is_access) || !regions_.isPlain(step.op)) return false;
  symbolic::Terms& terms = run_.data.terms();
  TermId guard = dataTerm(step, step.op.guard, step.lanes);
  if (guard != kConcrete && step.op.is_guard_negated) guard = terms.bitNot(guard);
  std::vector<SavedRegister> saved;
  for (std::uint32_t d = 0; d < step.op.dst_count; ++d) save(step.warp, arg(step.op, d), saved);
  const TermId outer = condition_;
  condition_ = under(outer, guard);
  std::visit([&](const auto& one) { (*this)(one, step); }, effect);
  if (watch_ != nullptr) watchLoad(step.warp, step.op, step.index);
  condition_ = outer;
  std::vector<SavedRegister> then = saved;
  for (SavedRegister& reg : then) reg = savedRegister(step.warp, reg.slot);
  for (std::size_t i = 0; i < saved.size(); ++i) chooseRegister(step, saved[i].slot, guard, then[i], saved[i], step.lanes);
  return true;
}

// A branch on unknown data around plain accesses.
bool Executor::runPlainRegion(const Step& step) {
  Warp& warp = step.warp;
  const Region& region = regions_.at(step.index);
  if (!region.is_plain) return false;
  const LaneMask lanes = warp.fragments[step.fragment].lanes;
  const Step whole{warp, step.fragment, step.op, step.index, lanes};
  TermId guard = dataTerm(whole, step.op.guard, lanes);
  if (guard != kConcrete && step.op.is_guard_negated) guard = run_.data.terms().bitNot(run_.data.terms().resize(guard, 1));
  std::vector<SavedRegister> before;
  for (const Slot slot : region.written) before.push_back(savedRegister(warp, slot));
  std::vector<Fragment> fragments = std::move(warp.fragments);
  std::vector<Join> joins = std::move(warp.joins);
  const TermId outer = condition_;
  const OpIndex end = step.op.reconverge;
  if (region.is_loop) {
    // What a turn changes is unknown from the start, so one turn stands for any number of them.
    const auto forget = [&] {
      for (const Slot slot : region.written) assignUnknown(warp, {.kind = Arg::Kind::kSlot, .slot = slot}, lanes);
    };
    condition_ = under(outer, kConcrete);
    for (const OpIndex start : {step.op.target, step.index + 1}) {
      forget();
      runSide(warp, start, end, step.index, lanes);
    }
    forget();
  } else {
    const auto side = [&](OpIndex start, TermId holds) {
      const LaneMask possible = holds == kConcrete ? lanes : lanesThatMay(holds, lanes);
      condition_ = under(outer, holds);
      runSide(warp, start, end, kNoOp, possible);
      std::vector<SavedRegister> after;
      for (SavedRegister& reg : before) after.push_back(savedRegister(warp, reg.slot));
      for (SavedRegister& reg : before) restore(warp, reg);
      return after;
    };
    const TermId otherwise = guard == kConcrete ? kConcrete : run_.data.terms().bitNot(run_.data.terms().resize(guard, 1));
    const std::vector<SavedRegister> taken = side(step.op.target, guard);
    const std::vector<SavedRegister> rest = side(step.index + 1, otherwise);
    for (std::size_t i = 0; i < before.size(); ++i) chooseRegister(whole, before[i].slot, guard, taken[i], rest[i], lanes);
  }
  condition_ = outer;
  warp.fragments = std::move(fragments);
  warp.joins = std::move(joins);
  branchTo(warp, step.fragment, end);
  return true;
}

// Runs lanes from `start` until all are at `end`, or at `loop`, the branch that would turn once more. Nothing waits there.
void Executor::runSide(Warp& warp, OpIndex start, OpIndex end, OpIndex loop, LaneMask lanes) {
  warp.fragments.clear();
  warp.joins.clear();
  if (lanes != 0) warp.fragments.push_back({.pc = start, .lanes = lanes});
  const bool was_on_side = std::exchange(is_on_side_, true);
  while (!warp.fragments.empty() && !is_stopped_) {
    if (arriveAtJoin(warp, 0)) continue;
    const OpIndex at = warp.fragments.front().pc;
    if (at == end || at == loop || at >= program_.ops.size()) {
      warp.fragments.erase(warp.fragments.begin());
      continue;
    }
    execute(warp, 0);
    if (isOverBudget()) break;
  }
  is_on_side_ = was_on_side;
}

}  // namespace handoff::machine
