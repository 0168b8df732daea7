// SPDX-License-Identifier: Apache-2.0
// Which write each read of shared memory sees: what two programs are compared by.
//
// Without races every read sees the write that comes last before it, on every schedule. Two programs without races whose
// reads see the same writes compute the same, whatever they do to be without races.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/machine/launch.h"
#include "analyzer/machine/program.h"

namespace handoff::mutate {

struct ReadsFrom {
  /// One number a read event: of its instruction, warp, turn and place, and of the same of the writes that it sees. Sorted.
  /// Empty when the run was cut or met what is not modelled.
  std::optional<std::vector<std::uint64_t>> seen;
  bool has_left_memory = false;  ///< an access reached shared memory that the launch does not give
};

/// `origin`: by instruction of the program, the number it goes by; instructions from its end on have none.
ReadsFrom readsFrom(const machine::Program& program, const machine::Launch& launch,
                    const std::vector<std::uint32_t>& origin);

/// Bytes between the slots that each copy into shared memory fills in a run; copies that fill one slot only are left out.
std::vector<std::pair<std::uint32_t, std::int64_t>> slotBytes(const machine::Program& program, const machine::Launch& launch);

}  // namespace handoff::mutate
