// SPDX-License-Identifier: Apache-2.0
// Null pointers as operands of copies.
#pragma once

#include "analyzer/machine/address.h"
#include "analyzer/machine/outcome.h"
#include "analyzer/machine/path.h"

namespace handoff::machine {

/// Which operand of a copy is null; stands in Misuse::value of a kWrongSpace, beside what bulk copies have there.
enum class NullOperand : std::uint64_t { kSource = 3, kDestination = 4 };

/// What a null pointer leads to lies below. The other half of the way to the first buffer is what its pointer reaches with
/// a negative index.
inline constexpr std::uint64_t kNullEnd = bufferBase(0) / 2;

/// Whether an address of global memory comes from a null pointer. One that goes by parameters does not count: a size that no
/// launch has leads anywhere. `path`: may be null; `term`: that of the address.
bool isNullGlobal(const PathLog* path, TermId term, std::uint64_t address);

/// The same for a shared address: variables begin at kSharedBase.
bool isNullShared(const PathLog* path, TermId term, std::uint64_t address);

inline bool isOfNullPointer(const Misuse& misuse) {
  return misuse.kind == Misuse::Kind::kWrongSpace && misuse.value >= static_cast<std::uint64_t>(NullOperand::kSource);
}

/// A predicate for `copy ? p : nullptr`: whether the null is taken. kConcrete where nothing chooses a null pointer, or
/// parameters do.
TermId choiceOfNull(PathLog& path, TermId address, LaneMask lanes);

}  // namespace handoff::machine
