// SPDX-License-Identifier: Apache-2.0
// How many bytes a tensor copy moves, when the launch does not describe its tensor map.
//
// A map made by host code that was not seen can still be weighed: a barrier that expects E bytes for the copies of a
// phase says what they add up to, and the slots that a map fills lie no closer than one box. What comes out is an
// assumption and reported as one; then every other rule can be checked.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <tuple>

namespace handoff::machine {

/// Bytes of one box, by the generic address of the map. 0: nothing could be inferred.
using TensorBoxes = std::map<std::uint64_t, std::uint64_t>;

class BoxFinder {
 public:
  /// A phase of one mbarrier: rank of its CTA, address, phase.
  using PhaseKey = std::tuple<std::uint32_t, std::uint64_t, std::uint32_t>;

  static constexpr std::uint64_t kAnyRoom = ~0ull;

  void noteExpect(PhaseKey phase, std::int64_t bytes) { phases_[phase].expected += bytes; }
  /// A copy of known size.
  void noteBytes(PhaseKey phase, std::uint64_t bytes) { phases_[phase].known += static_cast<std::int64_t>(bytes); }
  /// A copy through a map of unknown box; `place` is its shared::cta address, `room` the bytes of the variable from there.
  void noteLoad(PhaseKey phase, std::uint64_t map, std::uint64_t place, std::uint64_t room);
  /// The same for a store, which no barrier counts. `room` may be kAnyRoom.
  void noteStore(std::uint64_t map, std::uint64_t place, std::uint64_t room);

  /// A map without a box was met: this run only gathers what the next one needs.
  bool isGathering() const { return !maps_.empty(); }
  TensorBoxes solve() const;

 private:
  struct Map {
    std::set<std::uint64_t> places;
    std::uint64_t room = kAnyRoom;   ///< least bytes to the end of a variable it fills
  };
  struct Contents {
    std::int64_t expected = 0, known = 0;
    std::map<std::uint64_t, std::int64_t> copies;  ///< by map
  };
  std::uint64_t spacing(const Map& map) const;
  static std::uint64_t ownSpacing(const Map& map);
  bool explains(const TensorBoxes& boxes) const;

  std::map<PhaseKey, Contents> phases_;
  std::map<std::uint64_t, Map> maps_;
  std::set<std::uint64_t> places_;   ///< of all copies
};

}  // namespace handoff::machine
