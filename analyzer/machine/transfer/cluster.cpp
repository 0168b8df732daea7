// SPDX-License-Identifier: Apache-2.0
// Clusters: their barrier, and the life of a CTA whose shared memory others use (PTX ISA, "barrier.cluster"; CUDA C++
// Programming Guide, "Distributed Shared Memory").
#include <algorithm>

#include "analyzer/machine/executor.h"

namespace handoff::machine {

void Executor::operator()(const ptx::ClusterBarrier& effect, const Step& step) {
  Warp& warp = step.warp;
  ClusterBarrier& barrier = run_.cluster.barrier;
  const bool is_aligned = step.op.decoded->has("aligned");
  if (is_aligned && deferred(step)) return;
  const EventId event = log(step, effect.is_arrive ? EventKind::kClusterArrive : EventKind::kClusterWait, step.lanes,
                            barrier.generation());
  if (is_aligned && step.lanes != warp.live && !warp.has_broken_join) {
    addMisuse(step, {.kind = Misuse::Kind::kDivergentBarrier, .event = event, .lanes = step.lanes, .wanted = warp.live});
  }
  if (!effect.is_arrive) {
    Fragment& fragment = warp.fragments[isolate(step)];
    fragment.state = Fragment::State::kAtClusterBarrier;
    return completeClusterBarrier();
  }
  if ((warp.at_cluster & step.lanes) != 0) {
    addMisuse(step, {.kind = Misuse::Kind::kDoubleClusterArrive, .event = event, .lanes = warp.at_cluster & step.lanes});
  }
  if (program_.has_async_proxy) warp.clock.settleLoads(step.lanes, View::kReturned);
  if (step.op.decoded->sem != ptx::Sem::kRelaxed) {
    warp.clock.publish(step.lanes, barrier.openClock());
  } else {
    warp.clock.publishTime(step.lanes, barrier.openClock());
    forEachLane(step.lanes, [&](unsigned lane) {
      if (warp.released_afar[lane]) barrier.openClock().join(*warp.released_afar[lane]);
    });
  }
  forEachLane(step.lanes, [&](unsigned lane) { warp.cluster_generation[lane] = barrier.generation() + 1; });
  warp.at_cluster |= step.lanes;
  barrier.arrive(warp.id, step.lanes, event);
  progress();
  completeClusterBarrier();
}

// fence.mbarrier_init: what the thread itself has initialised so far becomes known, and nothing else.
void Executor::releaseInits(const Warp& warp, unsigned lane, Clock& target) {
  const Cta& cta = run_.cluster.ctaOf(warp);
  for (const auto& [address, object] : cta.mbarriers) {
    const Event& init = outcome_.log[object.initEvent()];
    if (init.warp == warp.id && (init.lanes & laneBit(lane))) target.raise(object.initActor(), object.lives());
  }
}

void Executor::completeClusterBarrier() {
  ClusterBarrier& barrier = run_.cluster.barrier;
  std::vector<LaneMask> live;
  for (const Warp& warp : run_.cluster.warps) live.push_back(warp.live);
  if (barrier.isComplete(live)) {
    barrier.complete(run_.cluster.clusterActor());
    progress();
  }
  for (Warp& warp : run_.cluster.warps) {
    for (Fragment& fragment : warp.fragments) {
      if (fragment.state != Fragment::State::kAtClusterBarrier) continue;
      bool is_over = (fragment.lanes & ~warp.at_cluster) == 0;  // a wait without an arrival waits for itself
      forEachLane(fragment.lanes, [&](unsigned lane) { is_over &= warp.cluster_generation[lane] <= barrier.generation(); });
      if (!is_over) continue;
      warp.clock.learn(fragment.lanes, barrier.completedClock());
      warp.at_cluster &= ~fragment.lanes;
      fragment.state = Fragment::State::kReady;
    }
  }
}

// A thread of another CTA touches this CTA's shared memory.
void Executor::useRemote(const Step& step, Cta& cta, EventId event, unsigned lane, Misuse::Kind not_started) {
  const Clock& clock = step.warp.clock.of(lane);
  bool has_started = clock.atTime(run_.cluster.clusterActor()) != 0;
  for (std::size_t w = cta.first_warp; w < cta.first_warp + cta.warp_count && !has_started; ++w) {
    has_started = clock.reachesWarp(static_cast<ActorId>(w * kWarpSize), 1);
  }
  // Who may not use a barrier yet has been told so; the rest is about accesses to memory.
  if (!has_started && not_started != Misuse::Kind::kBarrierInitUnordered) {
    addMisuse(step, {.kind = not_started, .event = event, .lanes = laneBit(lane), .value = cta.rank});
  }
  const ActorId actor = step.warp.clock.actorOf(lane);
  cta.uses[{actor, true}] = {.event = event, .lane = lane, .is_access = true};
}

// A copy into (or out of) the CTA's memory is under way until its barrier's phase is over.
void Executor::holdForCopy(Cta& cta, EventId event, const AsyncOp& op, bool is_source) {
  for (const AsyncOp::Completion& completion : op.completions) {
    if (!is_source && completion.cta != cta.rank) continue;
    MemoryUse& use = cta.uses[{completion.barrier, false}];
    use = {.event = event, .lane = op.lane, .barrier = completion.barrier, .phases = completion.phases, .has_barrier = true,
           .is_source = is_source};
  }
}

// The CTA's memory ends with its last thread: whatever still touches it then must be known to be over by some thread of
// the CTA before that thread exits.
void Executor::reportLifetimes() {
  for (const Cta& cta : run_.cluster.ctas) {
    for (const auto& [key, use] : cta.uses) {
      const Event& event = outcome_.log[use.event];
      const bool is_known =
          (use.has_barrier && cta.exit_clock.atTime(use.barrier) >= use.phases) ||
          (use.is_access && cta.exit_clock.atTime(event.warp * kWarpSize + use.lane) >= event.epoch);
      if (is_known) continue;
      Warp& warp = run_.cluster.warps[event.warp];
      const Step step{warp, 0, program_.ops[event.op], event.op, event.lanes};
      const bool is_own = warp.cta == cta.rank && !use.is_source;
      addMisuse(step, {.kind = is_own ? Misuse::Kind::kLeakedAtExit : Misuse::Kind::kPeerMayHaveExited, .event = use.event,
                       .lanes = laneBit(use.lane), .value = cta.rank});
    }
  }
}

}  // namespace handoff::machine
