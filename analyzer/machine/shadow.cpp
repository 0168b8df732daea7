// SPDX-License-Identifier: Apache-2.0
// Interning of reader sets.
#include "analyzer/machine/shadow.h"

namespace handoff::machine {

ReadSetId ReadSets::intern(const Node& node) {
  const auto [it, is_new] = ids_.try_emplace(node, static_cast<ReadSetId>(nodes_.size()));
  if (is_new) nodes_.push_back(node);
  return it->second;
}

ReadSetId ReadSets::add(ReadSetId set, EventId event, LaneMask lanes) {
  // Neighbouring cells mostly make the same step.
  if (last_.set == set && last_.event == event && last_.lanes == lanes) return last_.result;
  const ReadSetId result = build(set, event, lanes);
  last_ = {set, event, lanes, result};
  return result;
}

ReadSetId ReadSets::build(ReadSetId set, EventId event, LaneMask lanes) {
  const Event& fresh = log_[event];
  Node added{.next = 0, .event = event, .lanes = lanes, .repeated = 0};
  std::vector<Node> kept;
  for (ReadSetId id = set; id != 0; id = nodes_[id].next) {
    Node node = nodes_[id];
    const Event& old = log_[node.event];
    if (node.event == event) {
      added.lanes |= node.lanes;
      added.repeated |= node.repeated;
      continue;
    }
    if (old.warp == fresh.warp && old.kind == fresh.kind && old.kind != EventKind::kCopy) {
      // Reading again within one epoch is the same visit to the tile; after a synchronisation it is another one.
      if (old.op == fresh.op && old.epoch < fresh.epoch) added.repeated |= node.lanes & lanes;
      node.lanes &= ~lanes;
      node.repeated &= node.lanes;
      if (node.lanes == 0) continue;
    }
    kept.push_back(node);
  }
  ReadSetId result = 0;
  for (auto it = kept.rbegin(); it != kept.rend(); ++it) {
    it->next = result;
    result = intern(*it);
  }
  added.next = result;
  return intern(added);
}

}  // namespace handoff::machine
