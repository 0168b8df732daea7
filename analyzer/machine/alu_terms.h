// SPDX-License-Identifier: Apache-2.0
// The operations of alu.h on terms.
#pragma once

#include <optional>
#include <span>

#include "analyzer/ptx/decode.h"
#include "analyzer/symbolic/term.h"

namespace handoff::machine {

/// What alu.h's evaluate() computes, for operands given as terms of any width (registers are zero-extended); nothing
/// for operations that terms do not have. `second` as there: the complement of "setp p|q", when asked for.
struct AluTerms { symbolic::TermId first = 0, second = 0; };
std::optional<AluTerms> evaluateTerms(symbolic::Terms& terms, const ptx::Decoded& decoded, ptx::AluOp op,
                                      std::span<const symbolic::TermId> sources);

}  // namespace handoff::machine
