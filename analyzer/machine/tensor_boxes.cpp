// SPDX-License-Identifier: Apache-2.0
// Inference of box sizes.
#include "analyzer/machine/tensor_boxes.h"

#include <algorithm>
#include <iterator>

namespace handoff::machine {

void BoxFinder::noteLoad(PhaseKey phase, std::uint64_t map, std::uint64_t place, std::uint64_t room) {
  ++phases_[phase].copies[map];
  noteStore(map, place, room);
}

void BoxFinder::noteStore(std::uint64_t map, std::uint64_t place, std::uint64_t room) {
  Map& known = maps_[map];
  known.places.insert(place);
  known.room = std::min(known.room, room);
  places_.insert(place);
}

// Of a map that nothing is loaded through: the least distance of its own slots, or to the end of their variable. In
// dynamic shared memory a single slot says nothing.
std::uint64_t BoxFinder::ownSpacing(const Map& map) {
  std::uint64_t least = map.room, last = kAnyRoom;
  for (const std::uint64_t place : map.places) {
    if (last != kAnyRoom) least = std::min(least, place - last);
    last = place;
  }
  return least == kAnyRoom ? 0 : least;
}

// The least distance from a place of the map to the next place of any copy: more than that one box cannot fill.
std::uint64_t BoxFinder::spacing(const Map& map) const {
  std::uint64_t least = map.room;
  for (const std::uint64_t place : map.places) {
    const auto next = places_.upper_bound(place);
    if (next != places_.end()) least = std::min(least, *next - place);
  }
  return least;
}

bool BoxFinder::explains(const TensorBoxes& boxes) const {
  return std::all_of(phases_.begin(), phases_.end(), [&](const auto& phase) {
    const Contents& contents = phase.second;
    std::int64_t sum = contents.known;
    for (const auto& [map, count] : contents.copies) sum += count * static_cast<std::int64_t>(boxes.at(map));
    return contents.copies.empty() || sum == contents.expected;
  });
}

TensorBoxes BoxFinder::solve() const {
  TensorBoxes boxes;
  for (const auto& [map, known] : maps_) {
    const bool is_loaded = std::any_of(phases_.begin(), phases_.end(), [&](const auto& phase) { return phase.second.copies.contains(map); });
    boxes[map] = is_loaded ? spacing(known) : ownSpacing(known);
  }
  // A map that is alone in some phase is weighed exactly; what it weighs helps to weigh the others.
  std::set<std::uint64_t> weighed;
  for (bool found = true; found;) {
    found = false;
    for (const auto& [key, contents] : phases_) {
      std::int64_t rest = contents.expected - contents.known, count = 0;
      std::uint64_t open = 0;
      std::size_t open_maps = 0;
      for (const auto& [map, copies] : contents.copies) {
        if (weighed.contains(map)) {
          rest -= copies * static_cast<std::int64_t>(boxes.at(map));
        } else {
          open = map, count = copies, ++open_maps;
        }
      }
      if (open_maps != 1 || rest <= 0 || rest % count != 0) continue;
      boxes[open] = static_cast<std::uint64_t>(rest / count);
      weighed.insert(open);
      found = true;
    }
  }
  if (explains(boxes)) return boxes;
  // The spacing does not add up: only what was weighed is worth something.
  for (auto& [map, bytes] : boxes) {
    if (!weighed.contains(map)) bytes = 0;
  }
  return boxes;
}

}  // namespace handoff::machine
