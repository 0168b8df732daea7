// SPDX-License-Identifier: Apache-2.0
// Which write each read of shared memory sees: what two programs are compared by.
//
// Without races every read sees the write that comes last before it, on every schedule. Two programs without races whose
// reads see the same writes compute the same, whatever they do to be without races.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/machine/launch.h"
#include "analyzer/machine/program.h"
#include "analyzer/machine/used_reads.h"

namespace handoff::mutate {

/// A read event.
struct Seen {
  std::uint64_t reader = 0;  ///< number of its instruction, warp and turn
  std::uint64_t writes = 0;  ///< number of its places and of the instructions, warps and turns of the writes that it sees there
  machine::ReadInstance read;

  friend bool operator==(const Seen& a, const Seen& b) { return a.reader == b.reader && a.writes == b.writes; }
  friend auto operator<=>(const Seen& a, const Seen& b) {
    return a.reader != b.reader ? a.reader <=> b.reader : a.writes <=> b.writes;
  }
};

struct ReadsFrom {
  /// Sorted. Empty when the run was cut or met what is not modelled.
  std::optional<std::vector<Seen>> seen;
  bool has_left_memory = false;  ///< an access reached shared memory that the launch does not give
};

/// `origin`: by instruction of the program, the number it goes by; instructions from its end on have none.
ReadsFrom readsFrom(const machine::Program& program, const machine::Launch& launch,
                    const std::vector<std::uint32_t>& origin);

/// The reads of `these` of which the others have none that sees the same. Both are sorted.
std::vector<machine::ReadInstance> readsOnlyIn(const std::vector<Seen>& these, const std::vector<Seen>& others);

/// Bytes between the slots that each copy into shared memory fills in a run; copies that fill one slot only are left out.
std::vector<std::pair<std::uint32_t, std::int64_t>> slotBytes(const machine::Program& program, const machine::Launch& launch);

}  // namespace handoff::mutate
