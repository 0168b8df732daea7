// SPDX-License-Identifier: Apache-2.0
// Barriers among threads (bar, barrier, bar.warp.sync) and fences. They order threads; none completes a copy.
#include <algorithm>

#include "analyzer/machine/executor.h"
#include "analyzer/machine/run_trace.h"

namespace handoff::machine {

namespace {

/// Arrivals that complete a round by themselves order nothing, and a thread that comes to wait meets the next round.
bool isCompleteUnawaited(const CtaBarrier& barrier, const Cta& cta) {
  const std::vector<CtaBarrier::Arrival>& arrivals = barrier.arrivals();
  return std::none_of(arrivals.begin(), arrivals.end(), [](const CtaBarrier::Arrival& a) { return a.waits; }) &&
         barrier.isComplete(cta.live);
}

Misuse countMismatch(EventId event, LaneMask lanes, std::uint64_t count, const CtaBarrier& barrier) {
  return {.kind = Misuse::Kind::kBarrierCountMismatch, .event = event, .lanes = lanes, .value = count,
          .wanted = barrier.expectedThreads(), .other = barrier.arrivals().front().event};
}

}  // namespace

std::size_t Executor::isolate(const Step& step) {
  Warp& warp = step.warp;
  Fragment& fragment = warp.fragments[step.fragment];
  if (fragment.lanes == step.lanes) return step.fragment;
  warp.joins.push_back({.pc = step.index + 1, .expected = fragment.lanes, .parent = fragment.join});
  const int join = static_cast<int>(warp.joins.size()) - 1;
  Fragment apart = fragment;
  apart.lanes = step.lanes;
  apart.join = join;
  fragment.lanes &= ~step.lanes;
  fragment.join = join;
  warp.fragments.push_back(apart);
  return warp.fragments.size() - 1;
}

// Compilers send lanes on different ways to an instruction that the warp executes together; they meet there, not only
// where the ways join for good. True: the step is to be taken again, by more lanes or later.
bool Executor::gather(const Step& step) {
  LaneMask wanted = step.warp.live;
  const bool has_mask = std::holds_alternative<ptx::Collective>(step.op.decoded->effect) && step.op.decoded->has("sync");
  const auto mask = has_mask ? uniformValue(step.warp, arg(step.op, step.op.arg_count - 1), step.lanes) : std::nullopt;
  if (mask) wanted &= static_cast<LaneMask>(*mask);
  if ((wanted & ~step.lanes) == 0) return false;
  if (deferred(step)) return true;
  // Each lane of the mask that has not exited is waited for.
  if (mask && !step.warp.has_broken_join) {
    addMisuse(step, {.kind = Misuse::Kind::kDivergentBarrier, .lanes = step.lanes, .wanted = wanted});
  }
  return false;
}

// Lanes that are missing at an aligned barrier may be about to exit: let them, before anything is said about them.
bool Executor::deferred(const Step& step) {
  auto& fragments = step.warp.fragments;
  Fragment& fragment = fragments[step.fragment];
  for (std::size_t f = 0; f < fragments.size(); ++f) {
    const Fragment& other = fragments[f];
    const bool waits_here = f != step.fragment && other.state == Fragment::State::kDeferred && other.pc == step.index &&
                            other.join == fragment.join;
    if (!waits_here) continue;
    fragment.lanes |= other.lanes;
    fragment.pc = step.index;
    fragment.has_deferred = false;
    fragments.erase(fragments.begin() + static_cast<std::ptrdiff_t>(f));
    return true;
  }
  const bool others_may_come = std::any_of(step.warp.fragments.begin(), step.warp.fragments.end(), [&](const Fragment& f) {
    return &f != &fragment && f.state != Fragment::State::kDeferred;
  });
  if (step.lanes == step.warp.live || fragment.has_deferred || !others_may_come) {
    fragment.has_deferred = false;
    return false;
  }
  fragment.state = Fragment::State::kDeferred;
  fragment.has_deferred = true;
  fragment.pc = step.index;
  return true;
}

void Executor::operator()(const ptx::CtaBarrier& effect, const Step& step) {
  const Op& op = step.op;
  Warp& warp = step.warp;
  const bool is_red = effect.op == ptx::BarrierOp::kRed;
  const unsigned sources = op.arg_count - op.dst_count;
  if (sources == 0) return notModelled(step);
  const auto id = uniformValue(warp, arg(op, op.dst_count), step.lanes);
  const bool has_count = sources > (is_red ? 2u : 1u);
  const auto count = has_count ? uniformValue(warp, arg(op, op.dst_count + 1), step.lanes) : std::optional<std::uint64_t>(0);
  forgetDestinations(step);
  if (!id || !count || *id >= kBarriersPerCta) {
    addLimit("the number or the thread count of '" + op.decoded->opcode + "' is unknown or out of range", op.instr);
    return;
  }
  // A barrier with a count of its own counts warps as they started; the whole CTA does not wait for exited threads.
  const LaneMask wanted = *count != 0 ? warp.started : warp.live;
  if (effect.is_aligned && *count == 0 && deferred(step)) return;
  const bool waits = effect.op != ptx::BarrierOp::kArrive;
  const EventId event = log(step, waits ? EventKind::kCtaSync : EventKind::kCtaArrive, step.lanes,
                            static_cast<std::uint32_t>(*id));
  // ".aligned" asks for all threads of the warp to execute the same barrier; exited threads do not execute anything.
  // Lanes that come alone because the others hang are a consequence.
  if (effect.is_aligned && step.lanes != wanted && !warp.has_broken_join) {
    addMisuse(step, {.kind = Misuse::Kind::kDivergentBarrier, .event = event, .lanes = step.lanes, .value = *id,
                     .wanted = wanted});
  }
  Cta& cta = ctaOf(step);
  CtaBarrier& barrier = cta.barriers[*id];
  if (*count % kWarpSize != 0) {
    addMisuse(step, {.kind = Misuse::Kind::kBadBarrierCount, .event = event, .lanes = step.lanes, .value = *count});
  }
  // Whoever does not know the previous generation to be complete may arrive in it on another schedule. Where all know, each
  // round has the same arrivals on every schedule, those of a warp that makes several among them.
  forEachLane(step.lanes, [&](unsigned lane) {
    if (warp.clock.of(lane).at(run_.cluster.generationActor(cta, static_cast<unsigned>(*id))) >= barrier.generation()) return;
    addMisuse(step, {.kind = Misuse::Kind::kAmbiguousGeneration, .event = event, .lanes = laneBit(lane), .value = *id});
  });
  // Without a count it is all threads of the block.
  const auto threads = [&](std::uint64_t given) { return given != 0 ? given : launch_.warps() * std::uint64_t{kWarpSize}; };
  if (barrier.isActive() && threads(barrier.expectedThreads()) != threads(*count)) {
    addMisuse(step, countMismatch(event, step.lanes, *count, barrier));
  }
  if (options_.trace != nullptr) {
    const ActorId rounds = run_.cluster.generationActor(cta, static_cast<unsigned>(*id));
    options_.trace->arrivals.push_back({event, rounds, barrier.generation() + 1});
  }
  if (is_red) reduceAt(step, barrier);
  // Whoever arrives has the values of its loads.
  if (program_.has_async_proxy) warp.clock.settleLoads(step.lanes, View::kReturned);
  warp.clock.publish(step.lanes, barrier.clock());
  barrier.arrive({warp.rank, step.lanes, waits, event}, static_cast<std::uint32_t>(*count));
  if (isCompleteUnawaited(barrier, cta)) addMisuse(step, countMismatch(event, step.lanes, *count, barrier));
  if (waits) {
    Fragment& fragment = warp.fragments[isolate(step)];
    fragment.state = Fragment::State::kAtCtaBarrier;
    fragment.barrier = static_cast<std::uint32_t>(*id);
  }
  completeBarriers(cta);
}

// bar.red: the predicate is the last source.
void Executor::reduceAt(const Step& step, CtaBarrier& barrier) {
  const Arg& source = arg(step.op, step.op.arg_count - 1);
  const Lanes& predicate = value(step.warp, source.slot);
  CtaBarrier::Reduction& reduction = barrier.reduction();
  reduction.is_known &= (predicate.unknown & step.lanes) == 0;
  forEachLane(step.lanes, [&](unsigned lane) {
    const bool holds = (predicate.word[lane] & 1) != source.is_negated;
    reduction.all &= holds;
    reduction.any |= holds;
    reduction.count += holds;
  });
}

// The barrier is complete: a fragment that waited in a bar.red gets its result.
void Executor::assignReduction(Warp& warp, const Fragment& fragment, const CtaBarrier::Reduction& reduction) {
  const Op& op = program_.ops[fragment.pc - 1];
  const auto* effect = std::get_if<ptx::CtaBarrier>(&op.decoded->effect);
  if (effect == nullptr || effect->op != ptx::BarrierOp::kRed || op.dst_count == 0 || !reduction.is_known) return;
  const bool is_count = op.decoded->has("popc");
  Lanes result;
  result.word.fill(is_count ? reduction.count : op.decoded->has("and") ? reduction.all : reduction.any);
  assign(warp, arg(op, 0), result, fragment.lanes);
}

void Executor::completeBarriers(Cta& cta) {
  for (unsigned id = 0; id < kBarriersPerCta; ++id) {
    if (cta.barriers[id].isComplete(cta.live)) completeBarrier(cta, id);
  }
}

void Executor::completeBarrier(Cta& cta, unsigned id) {
  CtaBarrier& barrier = cta.barriers[id];
  const ClockRef clock = barrier.releaseClock();
  barrier.clock().raise(run_.cluster.generationActor(cta, id), barrier.generation() + 1);
  const CtaBarrier::Reduction reduction = barrier.reduction();
  barrier.reset();
  for (std::size_t w = cta.first_warp; w < cta.first_warp + cta.warp_count; ++w) {
    Warp& warp = run_.cluster.warps[w];
    for (Fragment& fragment : warp.fragments) {
      if (fragment.state != Fragment::State::kAtCtaBarrier || fragment.barrier != id) continue;
      warp.clock.adopt(fragment.lanes, clock);
      assignReduction(warp, fragment, reduction);
      fragment.state = Fragment::State::kReady;
    }
  }
  progress();
}

void Executor::operator()(const ptx::WarpBarrier&, const Step& step) {
  Warp& warp = step.warp;
  const Lanes masks = value(warp, arg(step.op, 0).slot);
  if ((masks.unknown & step.lanes) != 0) addLimit("the mask of 'bar.warp.sync' is not known before the launch", step.op.instr);
  LaneMask rest = step.lanes;
  while (rest != 0) {
    // Lanes with different masks (parts of a warp) synchronise apart.
    const unsigned first = lowestLane(rest);
    LaneMask same = 0;
    forEachLane(rest, [&](unsigned lane) { same |= masks.word[lane] == masks.word[first] ? laneBit(lane) : 0; });
    rest &= ~same;
    const LaneMask wanted = masks.isKnown(first) ? static_cast<LaneMask>(masks.word[first]) : same;
    const Step part{warp, step.fragment, step.op, step.index, same};
    const EventId event = log(part, EventKind::kWarpSync, same, wanted);
    if ((same & ~wanted) != 0) {
      addMisuse(part, {.kind = Misuse::Kind::kOutsideMask, .event = event, .lanes = same & ~wanted, .wanted = wanted});
    }
    Fragment& fragment = warp.fragments[isolate(part)];
    fragment.state = Fragment::State::kAtWarpBarrier;
    fragment.barrier = wanted;
  }
  releaseWarpBarrier(warp);
}

void Executor::releaseWarpBarrier(Warp& warp) {
  for (const Fragment& first : warp.fragments) {
    if (first.state != Fragment::State::kAtWarpBarrier) continue;
    const LaneMask mask = first.barrier;
    LaneMask arrived = 0;
    for (const Fragment& fragment : warp.fragments) {
      if (fragment.state == Fragment::State::kAtWarpBarrier && fragment.barrier == mask) arrived |= fragment.lanes;
    }
    if ((mask & warp.live & ~arrived) != 0) continue;
    warp.clock.exchange(arrived & mask);
    for (Fragment& fragment : warp.fragments) {
      if (fragment.state == Fragment::State::kAtWarpBarrier && fragment.barrier == mask) {
        fragment.state = Fragment::State::kReady;
      }
    }
    progress();
  }
}

void Executor::operator()(const ptx::Fence& effect, const Step& step) {
  Warp& warp = step.warp;
  switch (effect.kind) {
    case ptx::FenceKind::kProxyAsync: {
      const bool is_global = step.op.decoded->space() == ptx::Space::kGlobal;
      const bool is_all = step.op.decoded->space_count == 0;
      log(step, EventKind::kProxyFence, step.lanes);
      if (is_global || is_all) warp.clock.fence(step.lanes, View::kFencedGlobal);
      if (!is_global) warp.clock.fence(step.lanes, View::kFencedShared);
      return;
    }
    case ptx::FenceKind::kProxyAsyncGeneric:
      // The one-way pair of a hand-over within a cluster: for shared memory only.
      log(step, EventKind::kProxyFence, step.lanes);
      warp.clock.fence(step.lanes, View::kFencedShared);
      break;
    case ptx::FenceKind::kProxyTensormap: return fenceTensormap(step);
    case ptx::FenceKind::kProxyAlias: return;
    // Every clock carries which objects are initialised; what the fence adds is that a relaxed arrival at the cluster
    // barrier hands this on (transfer/cluster.cpp), of the objects that are by now.
    case ptx::FenceKind::kMbarrierInit:
      forEachLane(step.lanes, [&](unsigned lane) {
        std::shared_ptr<Clock>& released = warp.released_afar[lane];
        released = released ? std::make_shared<Clock>(*released) : std::make_shared<Clock>();
        releaseInits(warp, lane, *released);
      });
      return;
    case ptx::FenceKind::kThread: break;
  }
  fenceThread(step);
}

// Relaxed operations before an acquire fence acquire, those after a release fence release, as far as its scope goes: to and
// from other CTAs, which a cluster has, takes one of cluster scope (PTX ISA, "Release and Acquire Patterns"). A fence is its
// thread's own: it releases what that lane knows, not what its neighbours do.
void Executor::fenceThread(const Step& step) {
  Warp& warp = step.warp;
  const ptx::Sem sem = step.op.decoded->sem;
  const bool is_wide = step.op.decoded->scope != ptx::Scope::kCta;
  forEachLane(sem == ptx::Sem::kRelease ? 0 : step.lanes, [&](unsigned lane) {
    const auto acquire = [&](std::shared_ptr<Clock>& seen) {
      if (seen) warp.clock.learn(laneBit(lane), *seen);
      seen.reset();
    };
    acquire(warp.to_acquire[lane]);
    if (is_wide) acquire(warp.to_acquire_afar[lane]);
  });
  forEachLane(sem == ptx::Sem::kAcquire ? 0 : step.lanes, [&](unsigned lane) {
    auto released = std::make_shared<Clock>();
    warp.clock.publish(laneBit(lane), *released);
    if (is_wide) warp.released_afar[lane] = released;
    warp.released_by_fence[lane] = std::move(released);
  });
}

}  // namespace handoff::machine
