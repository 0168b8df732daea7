// SPDX-License-Identifier: Apache-2.0
// Interning of reader sets.
#include "analyzer/machine/shadow.h"

namespace handoff::machine {

ReadSetId ReadSets::intern(const Node& node) {
  const bool is_single = node.next == 0 && node.repeated == 0 && std::has_single_bit(node.lanes);
  if (is_single) return kSingleBit | makeWrite(node.event, lowestLane(node.lanes));
  const auto [it, is_new] = ids_.try_emplace(node, static_cast<ReadSetId>(nodes_.size()));
  if (is_new) nodes_.push_back(node);
  return it->second;
}

// Moves what `added` makes redundant out of `old`; false when nothing of `old` is left.
bool ReadSets::absorb(Node& old, Node& added, const Event& fresh) const {
  if (old.event == added.event) {
    added.lanes |= old.lanes;
    added.repeated |= old.repeated;
    return false;
  }
  const Event& before = log_[old.event];
  if (before.warp != fresh.warp || before.kind != fresh.kind || before.kind == EventKind::kCopy) return true;
  // Reading again within one epoch is the same visit to the tile; after a synchronisation it is another one.
  if (before.site == fresh.site && before.epoch < fresh.epoch) added.repeated |= old.lanes & added.lanes;
  old.lanes &= ~added.lanes;
  old.repeated &= old.lanes;
  return old.lanes != 0;
}

ReadSetId ReadSets::add(ReadSetId set, EventId event, LaneMask lanes) {
  Node added{.next = 0, .event = event, .lanes = lanes, .repeated = 0};
  if (set == 0) return intern(added);
  const Event& fresh = log_[event];
  std::vector<Node> kept;
  forEach(set, [&](Node node) {
    if (absorb(node, added, fresh)) kept.push_back(node);
    return true;
  });
  // A single reader becomes a node of its own once it has company.
  ReadSetId rest = 0;
  for (auto it = kept.rbegin(); it != kept.rend(); ++it) {
    it->next = rest;
    const auto [place, is_new] = ids_.try_emplace(*it, static_cast<ReadSetId>(nodes_.size()));
    if (is_new) nodes_.push_back(*it);
    rest = place->second;
  }
  added.next = rest;
  return intern(added);
}

}  // namespace handoff::machine
