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
  if (std::holds_alternative<ptx::Collective>(step.op.decoded->effect)) {
    const auto mask = uniformValue(step.warp, arg(step.op, step.op.arg_count - 1), step.lanes);
    if (mask) wanted &= static_cast<LaneMask>(*mask);
  }
  return (wanted & ~step.lanes) != 0 && deferred(step);
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
  if (barrier.isActive() && barrier.expectedThreads() != *count) {
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
    log(part, EventKind::kWarpSync, same, wanted);
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
    warp.clock.exchange(arrived);
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
    // barrier hands this on (transfer/cluster.cpp).
    case ptx::FenceKind::kMbarrierInit: warp.fenced_inits |= step.lanes; return;
    case ptx::FenceKind::kThread: break;
  }
  forEachLane(step.lanes, [&](unsigned lane) {
    if (!warp.to_acquire[lane]) return;
    warp.clock.learn(laneBit(lane), *warp.to_acquire[lane]);
    warp.to_acquire[lane].reset();
  });
  // A fence is its thread's own: it releases what that lane knows, not what its neighbours do.
  forEachLane(step.lanes, [&](unsigned lane) {
    auto released = std::make_shared<Clock>();
    warp.clock.publish(laneBit(lane), *released);
    warp.released_by_fence[lane] = std::move(released);
  });
}

}  // namespace handoff::machine
