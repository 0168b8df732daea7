// SPDX-License-Identifier: Apache-2.0
// The notation of instructions.def, and the matching of opcodes against it.
//
//   .name        a modifier that must stand here; ".name*" is any modifier that starts with "name"
//   .a|.b        alternatives
//   {.a.b}       optional; {.a|.b} optional alternatives; {.a|.b}* any number of them in any order
//   .type .int .bits .float .arith .vec .num .sem .scope .space .cop .level .cmp .bool .op .rnd .any classes,
//   see kClasses
//
// What follows the first blank is the operand list; it documents the row and is not matched.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace handoff::ptx {

class Grammar {
 public:
  explicit Grammar(std::string_view row);

  std::string_view mnemonic() const { return mnemonic_; }
  /// `modifiers` is the opcode split at its dots, the mnemonic included.
  bool matches(const std::vector<std::string_view>& modifiers) const;

 private:
  struct Atom {
    enum class Kind : std::uint8_t { kLiteral, kPrefix, kClass };
    Kind kind = Kind::kLiteral;
    std::string_view text;
    bool (*is_member)(std::string_view) = nullptr;
  };
  using Sequence = std::vector<Atom>;
  struct Item {
    enum class Count : std::uint8_t { kOne, kOptional, kAny };
    Count count = Count::kOne;
    std::vector<Sequence> alternatives;
  };

  static Item parseItem(std::string_view& rest);
  static Atom parseAtom(std::string_view& rest);
  bool matchFrom(std::size_t item, std::size_t modifier,
                 const std::vector<std::string_view>& modifiers) const;

  std::string_view mnemonic_;
  std::vector<Item> items_;
};

}  // namespace handoff::ptx
