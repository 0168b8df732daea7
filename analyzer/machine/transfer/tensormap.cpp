// SPDX-License-Identifier: Apache-2.0
// Tensor maps that the kernel itself edits (PTX ISA, "tensormap.replace", "tensormap.cp_fenceproxy", "fence.proxy").
//
// Tensor copies read a map through the tensormap proxy. An edit reaches them only by a release fence of the writer and,
// ordered after it, an acquire fence for that map on the way to the copy.
#include "analyzer/machine/executor.h"

namespace handoff::machine {

void Executor::operator()(const ptx::TensormapEdit&, const Step& step) {
  const ptx::Decoded& decoded = *step.op.decoded;
  const bool is_publication = decoded.has("cp_fenceproxy");
  for (const Resolved& part : resolve(step, arg(step.op, 0), decoded.space())) {
    if (part.space != ptx::Space::kGlobal) continue;  // a map under construction in shared memory
    const EventId event = log(step, EventKind::kTensormapEdit, part.lanes);
    const unsigned lane = lowestLane(part.lanes);
    TensormapState& map = tensormaps_[part.address.word[lane]];
    for (const Access& use : map.uses) {
      const Order::Observer observer{step.warp, lane};
      if (order_.isKnown(use, Part::kRead, step.warp.cta, observer, View::kPast)) continue;
      addMisuse(step, {.kind = Misuse::Kind::kTensormapInUse, .event = event, .lanes = laneBit(lane),
                       .address = part.address.word[lane], .other = use.event});
    }
    map.uses.clear();
    map.edit = {event, lane};
    map.is_released = is_publication;
    map.acquires.clear();
    // A warp-collective publication is followed by the release of its executing lanes.
    if (is_publication) step.warp.clock.exchange(step.lanes);
  }
}

void Executor::fenceTensormap(const Step& step) {
  const bool is_acquire = step.op.decoded->has("acquire");
  const EventId event = log(step, EventKind::kProxyFence, step.lanes);
  if (!is_acquire) {
    for (auto& [address, map] : tensormaps_) {
      const Event& edit = outcome_.log[map.edit.event];
      const bool is_own = map.edit.event != 0 && edit.warp == step.warp.id && (step.lanes & laneBit(map.edit.lane));
      map.is_released |= is_own;
    }
    forEachLane(step.lanes, [&](unsigned lane) {
      auto released = std::make_shared<Clock>();
      step.warp.clock.publish(laneBit(lane), *released);
      if (step.op.decoded->scope != ptx::Scope::kCta) step.warp.released_afar[lane] = released;
      step.warp.released_by_fence[lane] = std::move(released);
    });
    return;
  }
  forEachLane(step.lanes, [&](unsigned lane) {
    const bool is_wide = step.op.decoded->scope != ptx::Scope::kCta;
    for (auto* seen : {&step.warp.to_acquire[lane], &step.warp.to_acquire_afar[lane]}) {
      if (!*seen || (seen == &step.warp.to_acquire_afar[lane] && !is_wide)) continue;
      step.warp.clock.learn(laneBit(lane), **seen);
      seen->reset();
    }
  });
  if (addressOperand(step.op) == step.op.arg_count) return;
  const Lanes words = addressWords(step.warp, arg(step.op, addressOperand(step.op)));
  forEachLane(step.lanes & ~words.unknown, [&](unsigned lane) {
    const auto map = tensormaps_.find(words.word[lane]);
    if (map == tensormaps_.end() || map->second.edit.event == 0) return;
    // Only what the fencing thread knows to be edited can be acquired.
    if (order_.isStartKnown(map->second.edit, {step.warp, lane})) map->second.acquires.push_back({event, lane});
  });
}

void Executor::useTensormap(const Step& step, std::uint64_t address, EventId event, unsigned lane) {
  if (address >= kParamWindow || !program_.edits_tensormaps) return;
  TensormapState& map = tensormaps_[address];
  map.uses.push_back({event, lane});
  if (map.edit.event == 0) return;
  bool is_acquired = false;
  for (const Access& acquire : map.acquires) is_acquired |= order_.isStartKnown(acquire, {step.warp, lane});
  if (map.is_released && is_acquired) return;
  addMisuse(step, {.kind = Misuse::Kind::kTensormapUnfenced, .event = event, .lanes = laneBit(lane), .address = address,
                   .value = map.is_released, .other = map.edit.event});
}

}  // namespace handoff::machine
