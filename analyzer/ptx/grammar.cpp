// SPDX-License-Identifier: Apache-2.0
// A backtracking matcher; rows are short and results are memoised, so its worst case does not matter.
#include "analyzer/ptx/grammar.h"

#include <algorithm>

#include "analyzer/ptx/parser_impl.h"
#include "analyzer/ptx/types.h"
#include "analyzer/support/check.h"

namespace handoff::ptx {
namespace {

bool isOneOf(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

bool isType(std::string_view word) { return parseType(word) != Type::kNone; }
bool isInt(std::string_view word) {
  const Type type = parseType(word);
  return type >= Type::kU8 && type <= Type::kS64;
}
bool isBits(std::string_view word) {
  const Type type = parseType(word);
  return type >= Type::kPred && type <= Type::kB128;
}
bool isFloatWord(std::string_view word) { return isFloat(parseType(word)); }
bool isArith(std::string_view word) { return isFloatWord(word) || parseType(word) == Type::kOther; }
bool isVec(std::string_view word) { return isOneOf(word, {"v2", "v4", "v8"}); }
bool isNum(std::string_view word) {
  return isOneOf(word, {"x1", "x2", "x4", "x8", "x16", "x32", "x64", "x128"});
}
bool isSem(std::string_view word) {
  return isOneOf(word, {"weak", "volatile", "mmio", "relaxed", "acquire", "release", "acq_rel", "sc"});
}
bool isScope(std::string_view word) { return isOneOf(word, {"cta", "cluster", "gpu", "sys"}); }
bool isSpace(std::string_view word) { return word != "reg" && word != "tex" && parseSpace(word).has_value(); }
bool isCop(std::string_view word) { return isOneOf(word, {"ca", "cg", "cs", "lu", "cv", "wb", "wt"}); }
bool isLevel(std::string_view word) { return word.starts_with("L1::") || word.starts_with("L2::"); }
bool isCmp(std::string_view word) {
  return isOneOf(word, {"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ", "neu", "ltu",
                        "leu", "gtu", "geu", "num", "nan"});
}
bool isBool(std::string_view word) { return isOneOf(word, {"and", "or", "xor"}); }
bool isOp(std::string_view word) {
  return isOneOf(word, {"add", "and", "or", "xor", "exch", "cas", "inc", "dec", "min", "max"});
}
bool isRnd(std::string_view word) {
  return isOneOf(word, {"rn", "rz", "rm", "rp", "rna", "rs", "rni", "rzi", "rmi", "rpi", "approx", "full"});
}
bool isAny(std::string_view) { return true; }

constexpr struct {
  std::string_view name;
  bool (*is_member)(std::string_view);
} kClasses[] = {
    {"type", isType},   {"int", isInt}, {"bits", isBits},   {"float", isFloatWord}, {"vec", isVec},
    {"num", isNum},     {"sem", isSem}, {"scope", isScope}, {"space", isSpace},     {"cop", isCop},
    {"level", isLevel}, {"cmp", isCmp}, {"bool", isBool},   {"op", isOp},           {"rnd", isRnd},
    {"arith", isArith}, {"any", isAny},
};

bool isAtomChar(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == ':';
}

}  // namespace

Grammar::Grammar(std::string_view row) {
  std::string_view rest = row.substr(0, row.find(' '));
  const std::size_t end = std::min(rest.find_first_of(".{"), rest.size());
  mnemonic_ = rest.substr(0, end);
  rest.remove_prefix(end);
  while (!rest.empty()) items_.push_back(parseItem(rest));
}

Grammar::Atom Grammar::parseAtom(std::string_view& rest) {
  HANDOFF_CHECK(!rest.empty() && rest.front() == '.');
  std::size_t end = 1;
  while (end < rest.size() && isAtomChar(rest[end])) ++end;
  Atom atom{.text = rest.substr(1, end - 1)};
  HANDOFF_CHECK(!atom.text.empty());
  rest.remove_prefix(end);
  if (!rest.empty() && rest.front() == '*') {
    rest.remove_prefix(1);
    atom.kind = Atom::Kind::kPrefix;
    return atom;
  }
  for (const auto& row : kClasses) {
    if (row.name != atom.text) continue;
    atom.kind = Atom::Kind::kClass;
    atom.is_member = row.is_member;
  }
  return atom;
}

Grammar::Item Grammar::parseItem(std::string_view& rest) {
  Item item;
  const bool is_braced = rest.front() == '{';
  if (is_braced) rest.remove_prefix(1);
  bool is_open = true;
  while (is_open) {
    Sequence sequence = {parseAtom(rest)};
    while (is_braced && !rest.empty() && rest.front() == '.') sequence.push_back(parseAtom(rest));
    item.alternatives.push_back(std::move(sequence));
    is_open = !rest.empty() && rest.front() == '|';
    if (is_open) rest.remove_prefix(1);
  }
  if (!is_braced) return item;
  HANDOFF_CHECK(!rest.empty() && rest.front() == '}');
  rest.remove_prefix(1);
  item.count = Item::Count::kOptional;
  if (!rest.empty() && rest.front() == '*') {
    item.count = Item::Count::kAny;
    rest.remove_prefix(1);
  }
  return item;
}

bool Grammar::matches(const std::vector<std::string_view>& modifiers) const {
  return !modifiers.empty() && modifiers[0] == mnemonic_ && matchFrom(0, 1, modifiers);
}

bool Grammar::matchFrom(std::size_t item, std::size_t modifier,
                        const std::vector<std::string_view>& modifiers) const {
  if (item == items_.size()) return modifier == modifiers.size();
  const Item& now = items_[item];
  for (const Sequence& sequence : now.alternatives) {
    if (modifiers.size() - modifier < sequence.size()) continue;
    const bool fits = std::equal(sequence.begin(), sequence.end(),
                                 modifiers.begin() + static_cast<std::ptrdiff_t>(modifier),
                                 [](const Atom& atom, std::string_view word) {
                                   switch (atom.kind) {
                                     case Atom::Kind::kLiteral:
                                       return word == atom.text;
                                     case Atom::Kind::kPrefix:
                                       return word.starts_with(atom.text);
                                     case Atom::Kind::kClass:
                                       return atom.is_member(word);
                                   }
                                   return false;
                                 });
    if (!fits) continue;
    const std::size_t next = now.count == Item::Count::kAny ? item : item + 1;
    if (matchFrom(next, modifier + sequence.size(), modifiers)) return true;
  }
  return now.count != Item::Count::kOne && matchFrom(item + 1, modifier, modifiers);
}

}  // namespace handoff::ptx
