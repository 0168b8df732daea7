// SPDX-License-Identifier: Apache-2.0
// Spellings and sizes of the closed vocabularies of types.h.
#include "analyzer/ptx/types.h"

#include <algorithm>
#include <array>

namespace handoff::ptx {
namespace {

struct TypeRow {
  Type type;
  std::string_view name;
  unsigned bytes;
};

constexpr TypeRow kTypes[] = {
    {Type::kNone, "", 0},         {Type::kPred, "pred", 0},   {Type::kB8, "b8", 1},
    {Type::kB16, "b16", 2},       {Type::kB32, "b32", 4},     {Type::kB64, "b64", 8},
    {Type::kB128, "b128", 16},    {Type::kU8, "u8", 1},       {Type::kU16, "u16", 2},
    {Type::kU32, "u32", 4},       {Type::kU64, "u64", 8},     {Type::kS8, "s8", 1},
    {Type::kS16, "s16", 2},       {Type::kS32, "s32", 4},     {Type::kS64, "s64", 8},
    {Type::kF16, "f16", 2},       {Type::kF16x2, "f16x2", 4}, {Type::kBF16, "bf16", 2},
    {Type::kBF16x2, "bf16x2", 4}, {Type::kTF32, "tf32", 4},   {Type::kF32, "f32", 4},
    {Type::kF32x2, "f32x2", 8},   {Type::kF64, "f64", 8},     {Type::kOther, "", 0},
};

// Types that occur in packed and tensor arithmetic only.
constexpr std::string_view kOtherTypes[] = {
    "b1",     "b4",     "b6",     "s4",        "u4",        "s2",      "u2",     "u8x4",   "s8x4",   "u16x2",
    "s16x2",  "u32x2",  "s32x2",  "e4m3",      "e5m2",      "e2m1",    "e3m2",   "e2m3",   "ue8m0",  "ue4m3",
    "e4m3x2", "e5m2x2", "e2m1x2", "e3m2x2",    "e2m3x2",    "ue8m0x2", "e4m3x4", "e5m2x4", "e2m1x4", "e3m2x4",
    "e2m3x4", "s2f6x2", "b8x16",  "b6x16_p32", "b4x16_p64", "b6p2x16", "b4x16",  "b8x4",   "b1024",  "u16x4",
};

}  // namespace

unsigned byteSize(Type type) { return kTypes[static_cast<unsigned>(type)].bytes; }

bool isFloat(Type type) { return type >= Type::kF16 && type <= Type::kF64; }

bool isSigned(Type type) { return type >= Type::kS8 && type <= Type::kS64; }

Type parseType(std::string_view text) {
  if (!text.empty() && text.front() == '.') text.remove_prefix(1);
  if (text.empty()) return Type::kNone;
  for (const TypeRow& row : kTypes) {
    if (row.name == text) return row.type;
  }
  return std::ranges::find(kOtherTypes, text) != std::end(kOtherTypes) ? Type::kOther : Type::kNone;
}

std::string_view toString(Type type) { return kTypes[static_cast<unsigned>(type)].name; }

std::string_view toString(Space space) {
  constexpr std::array<std::string_view, 9> kNames = {"",      "reg",   "global", "shared", "shared::cluster",
                                                      "local", "param", "const",  "tex"};
  return kNames[static_cast<unsigned>(space)];
}

std::string_view toString(Sem sem) {
  constexpr std::array<std::string_view, 9> kNames = {"",        "weak",    "volatile", "mmio", "relaxed",
                                                      "acquire", "release", "acq_rel",  "sc"};
  return kNames[static_cast<unsigned>(sem)];
}

std::string_view toString(Scope scope) {
  constexpr std::array<std::string_view, 5> kNames = {"", "cta", "cluster", "gpu", "sys"};
  return kNames[static_cast<unsigned>(scope)];
}

}  // namespace handoff::ptx
