// SPDX-License-Identifier: Apache-2.0
// Integer, logic, predicate and conversion operations on 32 concrete lanes.
#pragma once

#include <array>
#include <span>

#include "analyzer/machine/lanes.h"
#include "analyzer/ptx/decode.h"

namespace handoff::machine {

/// Evaluates `op` for all 32 lanes; the caller keeps the words of inactive lanes. `unknown` is exact where the result
/// does not depend on an unknown source (`and` with 0, `selp` by a known predicate), else the union of the sources'.
/// Operations that the machine does not evaluate give unknown lanes, never a wrong word.
/// `second`, when given, receives the complement predicate of "setp p|q".
Lanes evaluate(const ptx::Decoded& decoded, ptx::AluOp op, std::span<const Lanes* const> sources, Lanes* second = nullptr);

/// Bits of a type's register; 1 for predicates.
unsigned bitWidth(ptx::Type type);

}  // namespace handoff::machine
