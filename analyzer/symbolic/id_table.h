// SPDX-License-Identifier: Apache-2.0
// Finds what a store holds already: a hash table of indices, so that the items lie in the store alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace handoff::symbolic {

class IdTable {
 public:
  /// The index with this hash for which isItem(index) holds, else insert()'s, which is new.
  template <typename IsItem, typename Insert>
  std::uint32_t findOrInsert(std::uint64_t hash, IsItem&& isItem, Insert&& insert) {
    if (2 * (size_ + 1) > slots_.size()) grow();
    for (std::size_t at = hash & (slots_.size() - 1);; at = (at + 1) & (slots_.size() - 1)) {
      if (slots_[at].is_used && slots_[at].hash == static_cast<std::uint32_t>(hash >> 32) && isItem(slots_[at].id)) return slots_[at].id;
      if (slots_[at].is_used) continue;
      const std::uint32_t id = insert();
      slots_[at] = {id, static_cast<std::uint32_t>(hash >> 32), static_cast<std::uint32_t>(hash), true};
      ++size_;
      return id;
    }
  }

 private:
  struct Slot {
    std::uint32_t id = 0, hash = 0, place = 0;  ///< upper and lower half of the hash
    bool is_used = false;
  };

  void grow() {
    const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(slots_.empty() ? 64 : 2 * slots_.size()));
    for (const Slot& slot : old) {
      if (!slot.is_used) continue;
      std::size_t at = slot.place & (slots_.size() - 1);
      while (slots_[at].is_used) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = slot;
    }
  }

  std::vector<Slot> slots_;
  std::size_t size_ = 0;
};

}  // namespace handoff::symbolic
