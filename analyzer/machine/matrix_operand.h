// SPDX-License-Identifier: Apache-2.0
// What an asynchronous matrix instruction reads of shared memory: from its spelling and the 64-bit matrix descriptors
// to byte ranges.
//
// PTX ISA: "Asynchronous Warpgroup Level Matrix Shared Memory Layout", "Matrix Descriptor Format", "tcgen05 Shared
// Memory Descriptor", "Instruction Descriptor". The addresses are those of CuTe's canonical layouts.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/ptx/module.h"

namespace handoff::machine {

/// Bytes of shared memory, at an address of the shared::cta window.
struct ByteRange {
  std::uint64_t address = 0;
  std::uint32_t bytes = 0;
  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

/// The part of a matrix that one instruction reads.
struct MatrixShape {
  unsigned rows = 0;           ///< extent that is not K: M for A, N for B
  unsigned k_bytes = 32;       ///< bytes of one row along K
  unsigned element_bytes = 2;  ///< as stored; sub-byte elements only occur K-major, where this has no meaning: 1
  bool is_mn_major = false;    ///< consecutive elements of M or N are adjacent in memory, not those of K
  friend bool operator==(const MatrixShape&, const MatrixShape&) = default;
};

/// Sorted, disjoint, and with gaps between them. Empty: a layout that the manual does not define. Pure.
std::vector<ByteRange> wgmmaOperandRanges(std::uint64_t descriptor, const MatrixShape& shape);
std::vector<ByteRange> tcgen05OperandRanges(std::uint64_t descriptor, const MatrixShape& shape);

/// wgmma.mma_async d, a, b, ...: A is a vector of registers or the register of a descriptor.
struct WgmmaForm {
  static constexpr unsigned kAccumulators = 0, kA = 1, kB = 2;  ///< operand indices
  unsigned n = 0;
  unsigned k = 0;  ///< elements
  bool is_sparse = false;
  bool is_a_in_registers = false;
  MatrixShape a;  ///< meaningless when A is in registers
  MatrixShape b;
};
/// nullopt: not a wgmma.mma_async, or not one whose operands can be told.
std::optional<WgmmaForm> wgmmaForm(const ptx::Instruction& instruction);

/// tcgen05.mma [d], a, b, {[metadata], }idesc, ...: A is [tensor memory] or the register of a descriptor.
struct Tcgen05MmaForm {
  static constexpr unsigned kA = 1, kB = 2;  ///< operand indices
  unsigned idesc = 3;                        ///< operand index of the instruction descriptor, a 32-bit word
  unsigned ctas = 1;                         ///< 2: the pair, each with half of the rows of A and of B
  bool is_sparse = false;
  bool is_a_in_tensor_memory = false;
  unsigned element_bytes = 1;
  bool is_packed_fp4 = false;  ///< .kind::mxf4, .kind::mxf4nvf4: the descriptor may ask for a longer K
};
std::optional<Tcgen05MmaForm> tcgen05MmaForm(const ptx::Instruction& instruction);

/// Operand parts in the shared memory of one CTA; with Tcgen05MmaForm::ctas = 2 each of the two has these.
struct MmaShapes {
  MatrixShape a;  ///< meaningless when A is in tensor memory
  MatrixShape b;
};
/// nullopt: no such M or N.
std::optional<MmaShapes> tcgen05MmaShapes(const Tcgen05MmaForm& form, std::uint32_t idesc);

/// tcgen05.cp [d], descriptor: what the descriptor, operand 1, selects.
std::optional<MatrixShape> tcgen05CopyShape(const ptx::Instruction& instruction);

}  // namespace handoff::machine
