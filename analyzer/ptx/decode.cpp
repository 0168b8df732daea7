// SPDX-License-Identifier: Apache-2.0
// The rows of instructions.def, the memo of decoded spellings, and the facts read off the modifiers.
#include "analyzer/ptx/decode.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include "analyzer/ptx/grammar.h"
#include "analyzer/ptx/parser_impl.h"

namespace handoff::ptx {
namespace {

constexpr InstructionInfo kRows[] = {
#include "analyzer/ptx/instructions.def"
};

// No program has as many spellings; hostile text that invents more gets "unmodelled" instead of memory.
constexpr std::size_t kMaxSpellings = 1 << 16;
constexpr std::size_t kMaxModifiers = 32;

struct Row {
  Grammar grammar;
  const InstructionInfo* info;
};
using Table = std::unordered_map<std::string_view, std::vector<Row>>;

const Table& table() {
  static const Table kTable = [] {
    Table rows;
    for (const InstructionInfo& info : instructionTable()) {
      Grammar grammar(info.grammar);
      const std::string_view mnemonic = grammar.mnemonic();
      rows[mnemonic].push_back({std::move(grammar), &info});
    }
    return rows;
  }();
  return kTable;
}

std::vector<std::string_view> splitAtDots(std::string_view opcode) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t dot = opcode.find('.');
    parts.push_back(opcode.substr(0, dot));
    if (dot == std::string_view::npos) return parts;
    opcode.remove_prefix(dot + 1);
  }
}

const InstructionInfo* findRow(const std::vector<std::string_view>& modifiers) {
  if (modifiers.size() > kMaxModifiers) return nullptr;
  const auto rows = table().find(modifiers[0]);
  if (rows == table().end()) return nullptr;
  const auto row =
      std::ranges::find_if(rows->second, [&](const Row& r) { return r.grammar.matches(modifiers); });
  return row == rows->second.end() ? nullptr : row->info;
}

Sem parseSem(std::string_view word) {
  for (int sem = 1; sem <= static_cast<int>(Sem::kSc); ++sem) {
    if (toString(static_cast<Sem>(sem)) == word) return static_cast<Sem>(sem);
  }
  return Sem::kNone;
}

Scope parseScope(std::string_view word) {
  if (word == "gl") return Scope::kGpu;  // membar.gl
  for (int scope = 1; scope <= static_cast<int>(Scope::kSys); ++scope) {
    if (toString(static_cast<Scope>(scope)) == word) return static_cast<Scope>(scope);
  }
  return Scope::kNone;
}

CmpOp parseCmp(std::string_view word) {
  constexpr struct {
    std::string_view name;
    CmpOp op;
  } kNames[] = {{"eq", CmpOp::kEq}, {"ne", CmpOp::kNe}, {"lt", CmpOp::kLt}, {"le", CmpOp::kLe},
                {"gt", CmpOp::kGt}, {"ge", CmpOp::kGe}, {"lo", CmpOp::kLo}, {"ls", CmpOp::kLs},
                {"hi", CmpOp::kHi}, {"hs", CmpOp::kHs}};
  for (const auto& row : kNames) {
    if (row.name == word) return row.op;
  }
  return CmpOp::kUnorderedOrFloat;
}

unsigned parseElements(std::string_view word) {
  if (word.size() < 2 || (word[0] != 'v' && word[0] != 'x')) return 0;
  unsigned count = 0;
  const char* const end = word.data() + word.size();
  const auto [stop, code] = std::from_chars(word.data() + 1, end, count);
  return code == std::errc() && stop == end && count <= 128 ? count : 0;
}

void readModifier(Decoded& decoded, std::string_view word, bool is_barrier) {
  if (const Type type = parseType(word); type != Type::kNone) {
    if (decoded.type_count < decoded.types.size()) decoded.types[decoded.type_count++] = type;
  } else if (const unsigned elements = parseElements(word); elements != 0) {
    decoded.vector = elements;
  } else if (const auto space = parseSpace(word); space && word != "reg" && word != "tex") {
    if (decoded.space_count < decoded.spaces.size()) decoded.spaces[decoded.space_count++] = *space;
  } else if (const Sem sem = parseSem(word); sem != Sem::kNone) {
    decoded.sem = sem;
  } else if (const Scope scope = parseScope(word); scope != Scope::kNone && !is_barrier) {
    decoded.scope = scope;
  }
}

void readComparison(Decoded& decoded) {
  if (decoded.modifiers.size() > 1) decoded.cmp = parseCmp(decoded.modifiers[1]);
  if (decoded.modifiers.size() > 2) {
    const std::string& word = decoded.modifiers[2];
    decoded.bool_op = word == "and"   ? BoolOp::kAnd
                      : word == "or"  ? BoolOp::kOr
                      : word == "xor" ? BoolOp::kXor
                                      : BoolOp::kNone;
  }
  // The last type is that of the values compared.
  if (decoded.type_count > 0 && isFloat(decoded.types[decoded.type_count - 1]))
    decoded.cmp = CmpOp::kUnorderedOrFloat;
}

std::unique_ptr<Decoded> decodeAfresh(std::string_view opcode) {
  auto decoded = std::make_unique<Decoded>();
  const std::vector<std::string_view> words = splitAtDots(opcode);
  decoded->opcode = opcode;
  decoded->modifiers.assign(words.begin(), words.end());
  decoded->info = findRow(words);
  if (decoded->info != nullptr) decoded->effect = decoded->info->effect;
  const std::string_view mnemonic = words[0];
  // "barrier.cluster" and "bar.cta" name the barrier, not a scope.
  const bool is_barrier = mnemonic == "barrier" || mnemonic == "bar";
  for (std::size_t i = 1; i < words.size(); ++i) readModifier(*decoded, words[i], is_barrier);
  if (mnemonic == "setp" || mnemonic == "set") readComparison(*decoded);
  if (mnemonic.starts_with("mul") || mnemonic.starts_with("mad")) {
    decoded->mul = decoded->has("wide") ? MulMode::kWide
                   : decoded->has("hi") ? MulMode::kHi
                   : decoded->has("lo") ? MulMode::kLo
                                        : MulMode::kNone;
  }
  return decoded;
}

struct Memo {
  std::shared_mutex mutex;
  std::unordered_map<std::string_view, std::unique_ptr<Decoded>> entries;  // keys view the values' opcodes
};

Memo& memo() {
  static Memo* const kMemo = new Memo;  // never destroyed: results live as long as the program
  return *kMemo;
}

const Decoded& overflow() {
  static const Decoded kOverflow;
  return kOverflow;
}

}  // namespace

bool Decoded::has(std::string_view modifier) const {
  return modifiers.size() > 1 &&
         std::find(modifiers.begin() + 1, modifiers.end(), modifier) != modifiers.end();
}

const Decoded& decode(std::string_view opcode) {
  Memo& known = memo();
  {
    const std::shared_lock lock(known.mutex);
    if (const auto entry = known.entries.find(opcode); entry != known.entries.end()) return *entry->second;
  }
  const std::unique_lock lock(known.mutex);
  if (const auto entry = known.entries.find(opcode); entry != known.entries.end()) return *entry->second;
  if (known.entries.size() >= kMaxSpellings) return overflow();
  std::unique_ptr<Decoded> decoded = decodeAfresh(opcode);
  const std::string_view key = decoded->opcode;
  return *known.entries.emplace(key, std::move(decoded)).first->second;
}

const std::vector<InstructionInfo>& instructionTable() {
  static const std::vector<InstructionInfo> kTable(std::begin(kRows), std::end(kRows));
  return kTable;
}

}  // namespace handoff::ptx
