// SPDX-License-Identifier: Apache-2.0
// From an opcode's spelling to what it means: the match against instructions.def.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/ptx/effect.h"
#include "analyzer/ptx/types.h"

namespace handoff::ptx {

/// One row of instructions.def.
struct InstructionInfo {
  std::string_view grammar;  ///< in the notation of the PTX ISA manual: "cp.async.wait_group N"
  unsigned min_ptx;          ///< 70 for PTX ISA 7.0; 0 if older than the versions we read
  unsigned min_sm;           ///< 80 for sm_80; 0 if every target has it
  Effect effect;
};

/// How integer multiplication keeps its product.
enum class MulMode : std::uint8_t { kNone, kLo, kHi, kWide };

/// The meaning of one opcode spelling. Immutable, shared by all instructions spelled alike.
struct Decoded {
  const InstructionInfo* info = nullptr;  ///< null when no row matches (effect is Unmodelled)
  Effect effect;
  std::string opcode;                  ///< full spelling
  std::vector<std::string> modifiers;  ///< opcode split at dots; [0] is the mnemonic

  std::array<Type, 4> types{};  ///< in order of appearance: "cvt.u32.u64" has {kU32, kU64}
  unsigned type_count = 0;
  unsigned vector = 1;            ///< 1, 2, 4, 8 elements (.v2 .v4 .v8), or ldmatrix .x1 .x2 .x4
  std::array<Space, 2> spaces{};  ///< in order of appearance: cp.async.bulk has {destination, source}
  unsigned space_count = 0;
  Sem sem = Sem::kNone;
  Scope scope = Scope::kNone;
  CmpOp cmp = CmpOp::kNone;
  BoolOp bool_op = BoolOp::kNone;
  MulMode mul = MulMode::kNone;

  /// True when the opcode carries this modifier, spelled without the dot ("noinc", "cc", "wrap").
  bool has(std::string_view modifier) const;
  Type type() const { return types[0]; }  ///< the only or the destination type
  Space space() const { return space_count ? spaces[0] : Space::kGeneric; }
};

/// Decodes one spelling. The result lives as long as the program and is shared; safe from any thread.
const Decoded& decode(std::string_view opcode);

/// All rows, for documentation and for tests.
const std::vector<InstructionInfo>& instructionTable();

/// Number of leading operands that the instruction writes (0 for stores, branches, barriers); a vector counts
/// as one.
unsigned destinationCount(const Decoded& decoded, std::size_t operand_count);

}  // namespace handoff::ptx
