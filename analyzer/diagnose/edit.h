// SPDX-License-Identifier: Apache-2.0
// Changes of a program that may repair a finding, in terms of its statements.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/ptx/module.h"

namespace handoff::diagnose {

/// One step of an edit. `at` and `to` are instructions of Program::function and stand for the source statements that they
/// come from: a change goes to every copy of its statement, as a change of the source would.
struct Change {
  enum class Kind : std::uint8_t {
    kInsertBefore, kInsertAfter,  ///< `opcode` with `operands`, beside the statement
    kDelete,
    kMoveBefore, kMoveAfter,      ///< the instruction, to the statement of `to`
    kSetOperand,                  ///< operand number `operand` becomes `value`
    kFlipOperand,                 ///< ... becomes itself xor 1
    kCapOperand,                  ///< ... becomes the smaller of itself and `value`
    kAddToOperand,                ///< ... becomes itself plus `value`; an address moves by so many bytes
    kDropGuard, kNegateGuard,     ///< the instruction is for all threads, for those that did not execute it
    kPhaseBit,                    ///< ... becomes a bit, one for each mbarrier, that starts at `value` and flips behind the statement
    kSetOpcode,                   ///< `opcode` with the operands that are there
    kReplace,                     ///< `opcode` with `operands`
    kRetry,                       ///< the poll is asked again until it is true
    kElect,                       ///< one lane of the warp executes the instruction
    kSplitBranch,                 ///< the branch `at` ends before `to` and is asked again behind it
    kMapOperand,                  ///< the address becomes that in the CTA that `to`, a mapa, maps to
    kSplitCopy,                   ///< the cp.async copies the same bytes in pieces of `value`
    kInsertTaken,                 ///< `opcode` with `operands` before the branch `at`, for the threads that take it
    kWaitBefore, kWaitAfter,      ///< beside the statement: `opcode`, a poll, until the phase of parity `value` of the mbarrier
                                  ///< that operand number `operand` of `to` names is over
  };
  Kind kind = Kind::kInsertBefore;
  std::uint32_t at = 0;
  std::uint32_t to = 0;
  std::string opcode{};
  std::vector<ptx::Operand> operands{};
  std::uint32_t operand = 0;
  std::int64_t value = 0;
};

/// Whoever offers one must have run it (explore/repair).
struct Edit {
  std::vector<Change> changes{};
  std::string description{};  ///< "insert __syncthreads()"
  /// It takes away or weakens something: an arrival, a branch, a count; or it may hold a thread back for ever. Where other
  /// findings stay, that proves nothing.
  bool is_bold = false;
};

}  // namespace handoff::diagnose
