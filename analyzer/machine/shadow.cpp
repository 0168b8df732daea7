// SPDX-License-Identifier: Apache-2.0
// Sets of readers.
#include "analyzer/machine/shadow.h"

namespace handoff::machine {

ReadSetId ReadSets::make(Node node, ReadSetId next) {
  node.next = next;
  node.owners = 1;
  if (free_ == 0) {
    nodes_.push_back(node);
    return static_cast<ReadSetId>(nodes_.size() - 1);
  }
  const ReadSetId id = free_;
  free_ = nodes_[id].next;
  nodes_[id] = node;
  return id;
}

void ReadSets::release(ReadSetId set) {
  if (isSingle(set)) return;
  while (set != 0 && --nodes_[set].owners == 0) {
    const ReadSetId next = nodes_[set].next;
    nodes_[set].next = free_;
    free_ = set;
    set = next;
  }
}

// Moves what `added` makes redundant out of `old`; false when nothing of `old` is left.
bool ReadSets::absorb(Node& old, Node& added, const Event& fresh) const {
  if (old.event == added.event) {
    added.lanes |= old.lanes;
    added.repeated |= old.repeated;
    return false;
  }
  const Event& before = log_[old.event];
  if (before.warp != fresh.warp || before.kind != fresh.kind) return true;
  // Copies complete by barriers of their own: that a later one is over says nothing of an earlier one.
  if (fresh.kind == EventKind::kBulk || fresh.kind == EventKind::kAsyncStore) return true;
  if (!before.is_strong && fresh.is_strong) return true;  // a strong write races with the weak read only
  // Reading again within one epoch is the same visit to the tile; after a synchronisation it is another one.
  const LaneMask again = old.lanes & added.lanes;
  if (before.site == fresh.site && before.epoch < fresh.epoch) added.repeated |= again;
  added.repeated |= old.repeated & again;
  old.lanes &= ~added.lanes;
  old.repeated &= old.lanes;
  return old.lanes != 0;
}

// What lies behind the last node that changes is shared.
ReadSetId ReadSets::with(ReadSetId set, EventId event, LaneMask lanes) {
  Node added{.event = event, .lanes = lanes};
  const Event& fresh = log_[event];
  changed_.clear();
  std::size_t changed = 0;
  ReadSetId rest = isSingle(set) ? 0 : set;
  const auto look = [&](const Node& old, ReadSetId next) {
    Node node = old;
    if (!absorb(node, added, fresh)) node.lanes = 0;
    changed_.push_back(node);
    if (node.lanes == old.lanes && node.repeated == old.repeated && !isSingle(set)) return;
    changed = changed_.size();
    rest = next;
  };
  if (isSingle(set)) look(singleNode(set), 0);
  for (ReadSetId id = isSingle(set) ? 0 : set; id != 0; id = nodes_[id].next) look(nodes_[id], nodes_[id].next);
  retain(rest);
  ReadSetId kept = rest;
  for (std::size_t i = changed; i-- > 0;) {
    if (changed_[i].lanes != 0) kept = make(changed_[i], kept);
  }
  const bool is_single = kept == 0 && added.repeated == 0 && std::has_single_bit(added.lanes);
  return is_single ? kSingleBit | makeWrite(event, lowestLane(added.lanes)) : make(added, kept);
}

ReadSetId ReadSets::add(ReadSetId set, EventId event, LaneMask lanes) {
  if (last_.set == set && last_.event == event && last_.lanes == lanes) {
    release(set);
  } else {
    const ReadSetId result = with(set, event, lanes);
    release(last_.set);
    release(last_.result);
    last_ = {.set = set, .result = result, .event = event, .lanes = lanes};
  }
  retain(last_.result);
  return last_.result;
}

}  // namespace handoff::machine
