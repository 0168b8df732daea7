// SPDX-License-Identifier: Apache-2.0
// Shadow memory: who wrote each cell last, who has read it since, and the same for the contents before; with earlier
// writes that the last one is not ordered behind.
//
// A cell stands for `granule` bytes, the narrowest access the kernel makes, so that neighbours never share one. It
// holds five ids; cells share their sets of readers, because a tile is read by the same few warps all over.
//
// The contents before the last write are kept because a race between a read and a refill can be met in either order:
// only what came before tells whether the reader wanted the old tile (refilled too early) or the new one.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/machine/event.h"

namespace handoff::machine {

/// An event and the lane that wrote: (event << 5) | lane; 0: never written.
using WriteId = std::uint32_t;
/// Index into ReadSets; 0: nobody.
using ReadSetId = std::uint32_t;

inline constexpr WriteId makeWrite(EventId event, unsigned lane) { return (event << 5) | lane; }
inline constexpr EventId eventOf(WriteId write) { return write >> 5; }
inline constexpr unsigned laneOf(WriteId write) { return write & 31; }

struct Cell {
  WriteId write = 0;
  ReadSetId reads = 0;
  ReadSetId unordered = 0;  ///< writes before the last one, over which nobody need be known to have won
  WriteId previous_write = 0;
  ReadSetId previous_reads = 0;

  /// The same accesses count.
  bool isLike(const Cell& other) const {
    return write == other.write && reads == other.reads && unordered == other.unordered && previous_reads == other.previous_reads;
  }
};

/// Sets of readers (and of writers that nothing orders). A single reading thread is its own id; others are lists from a
/// pool. Lists never change, so that cells of a tile share them: whoever holds an id owns a reference.
class ReadSets {
 public:
  struct Node {
    ReadSetId next = 0;
    EventId event = 0;
    LaneMask lanes = 0;
    LaneMask repeated = 0;  ///< lanes for which this was not the first read of these contents by this statement
    std::uint32_t owners = 0;
  };
  /// Ids of single readers hold the event in the bits above the lane.
  static constexpr EventId kMaxEvents = 1u << 26;

  explicit ReadSets(const EventLog& log) : log_(log) { nodes_.emplace_back(); }

  /// Calls f(node) for each event with readers; f returns false to stop.
  template <typename F>
  void forEach(ReadSetId id, F&& f) const {
    if (isSingle(id)) {
      f(singleNode(id));
      return;
    }
    for (; id != 0; id = nodes_[id].next) {
      if (!f(nodes_[id])) return;
    }
  }

  /// Consumes `set`; returns it with a read by `lanes` of `event`. A thread's later read replaces its earlier ones:
  /// whoever is ordered after the later one is ordered after all.
  ReadSetId add(ReadSetId set, EventId event, LaneMask lanes);
  void release(ReadSetId set);
  /// Consumes `set`; returns what is left of it when each node keeps only the lanes that keep(node) names.
  template <typename F>
  ReadSetId filter(ReadSetId set, F&& keep) {
    if (set == 0) return 0;
    if (isSingle(set)) return keep(singleNode(set)) != 0 ? set : 0;
    std::vector<Node> left;
    bool is_whole = true;
    for (ReadSetId id = set; id != 0; id = nodes_[id].next) {
      Node node = nodes_[id];
      const LaneMask lanes = node.lanes & keep(node);
      is_whole &= lanes == node.lanes;
      node.lanes = lanes;
      node.repeated &= lanes;
      if (lanes != 0) left.push_back(node);
    }
    if (is_whole) return set;
    ReadSetId result = 0;
    for (auto node = left.rbegin(); node != left.rend(); ++node) result = make(*node, result);
    release(set);
    return result;
  }

 private:
  static constexpr ReadSetId kSingleBit = 0x80000000u;
  static bool isSingle(ReadSetId id) { return (id & kSingleBit) != 0; }
  static Node singleNode(ReadSetId id) {
    return {.next = 0, .event = (id & ~kSingleBit) >> 5, .lanes = laneBit(id & 31), .repeated = 0};
  }
  /// Takes over the reference to `next`.
  ReadSetId make(Node node, ReadSetId next);
  void retain(ReadSetId set) {
    if (set != 0 && !isSingle(set)) ++nodes_[set].owners;
  }
  ReadSetId with(ReadSetId set, EventId event, LaneMask lanes);
  bool absorb(Node& old, Node& added, const Event& fresh) const;

  const EventLog& log_;
  std::vector<Node> nodes_;
  ReadSetId free_ = 0;
  std::vector<Node> changed_;  ///< room of with()
  /// The last set that was added to, and what became of it: neighbouring cells mostly have the same readers.
  struct Added {
    ReadSetId set = 0, result = 0;
    EventId event = 0;
    LaneMask lanes = 0;
  } last_;
};

/// The shadow of one linear range (the shared memory of a CTA).
class Shadow {
 public:
  Shadow(std::uint64_t bytes, unsigned granule) : granule_(granule), bytes_(bytes), cells_((bytes + granule - 1) / granule) {}

  unsigned granule() const { return granule_; }
  std::uint64_t bytes() const { return bytes_; }
  Cell& at(std::uint64_t offset) { return cells_[offset / granule_]; }
  const std::vector<Cell>& cells() const { return cells_; }
  bool contains(std::uint64_t offset, std::uint64_t size) const {
    return offset < bytes() && size <= bytes() - offset;
  }

 private:
  unsigned granule_;
  std::uint64_t bytes_;  ///< the last cell may reach beyond
  std::vector<Cell> cells_;
};

/// The shadow of global memory, by pages that something touched.
class PagedShadow {
 public:
  static constexpr unsigned kGranule = 4;  ///< bytes; the narrowest cp.async
  Cell& at(std::uint64_t address) {
    const std::uint64_t number = address >> kPageShift;
    if (last_page_ == nullptr || number != last_number_) {
      auto& page = pages_[number];
      if (!page) page = std::make_unique<Page>();
      last_page_ = page.get();
      last_number_ = number;
    }
    return last_page_->cells[(address >> 2) & (kCells - 1)];
  }

 private:
  static constexpr unsigned kPageShift = 12;
  static constexpr unsigned kCells = 1u << (kPageShift - 2);
  struct Page { Cell cells[kCells]; };
  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
  Page* last_page_ = nullptr;
  std::uint64_t last_number_ = 0;
};

}  // namespace handoff::machine
