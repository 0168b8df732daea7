// SPDX-License-Identifier: Apache-2.0
// The closed vocabularies of PTX: types, state spaces, memory-consistency qualifiers.
#pragma once

#include <cstdint>
#include <string_view>

namespace handoff::ptx {

/// Fundamental and packed types (PTX ISA, "Types"). kNone: the position holds no type.
enum class Type : std::uint8_t {
  kNone,
  kPred,
  kB8,
  kB16,
  kB32,
  kB64,
  kB128,
  kU8,
  kU16,
  kU32,
  kU64,
  kS8,
  kS16,
  kS32,
  kS64,
  kF16,
  kF16x2,
  kBF16,
  kBF16x2,
  kTF32,
  kF32,
  kF32x2,
  kF64,
  kOther,  ///< a type only tensor or packed arithmetic uses (e4m3, s4, ...): opaque data
};

/// Size in bytes of one element; 0 for kNone, kPred and kOther.
unsigned byteSize(Type type);
bool isFloat(Type type);
bool isSigned(Type type);
/// ".u32" -> kU32 (the dot is optional); kNone when the text names no type.
Type parseType(std::string_view text);
std::string_view toString(Type type);  ///< without the dot

/// State spaces (PTX ISA, "State Spaces"). kGeneric: no space is spelled on the instruction.
enum class Space : std::uint8_t {
  kGeneric,
  kReg,
  kGlobal,
  kShared,
  kSharedCluster,
  kLocal,
  kParam,
  kConst,
  kTex,
};
std::string_view toString(Space space);

/// Memory-ordering qualifier as spelled; kNone when the instruction spells none.
enum class Sem : std::uint8_t { kNone, kWeak, kVolatile, kMmio, kRelaxed, kAcquire, kRelease, kAcqRel, kSc };
std::string_view toString(Sem sem);

/// Scope as spelled; kNone when the instruction spells none.
enum class Scope : std::uint8_t { kNone, kCta, kCluster, kGpu, kSys };
std::string_view toString(Scope scope);

}  // namespace handoff::ptx
