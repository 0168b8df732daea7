// SPDX-License-Identifier: Apache-2.0
// Scopes as one map with an undo log: entering is free, leaving costs what the scope declared.
#include "analyzer/ptx/names.h"

#include <charconv>

namespace handoff::ptx {
namespace {

constexpr std::size_t kMaxScopeDepth = 256;
constexpr std::uint32_t kNoParent = 0xffffffff;
constexpr std::string_view kComponents[] = {"x", "y", "z", "w", "4", "5", "6", "7"};

bool isDigit(char c) { return c >= '0' && c <= '9'; }

/// "%r12": what compilers declare by ranges only.
bool looksLikeRange(std::string_view name) { return name.front() == '%' && isDigit(name.back()); }

}  // namespace

FunctionNames::FunctionNames(const SymbolMap& module_symbols, Function& function)
    : module_symbols_(module_symbols), function_(function) {
  scopes_.push_back({.id = 0, .undo_begin = 0, .range_begin = 0});
  scope_parents_.push_back(kNoParent);
}

bool FunctionNames::enterScope() {
  if (scopes_.size() >= kMaxScopeDepth) return false;
  const auto id = static_cast<std::uint32_t>(scope_parents_.size());
  scope_parents_.push_back(scopes_.back().id);
  scopes_.push_back({.id = id, .undo_begin = undo_.size(), .range_begin = ranges_.size()});
  return true;
}

bool FunctionNames::leaveScope() {
  if (scopes_.size() == 1) return false;
  const Scope scope = scopes_.back();
  scopes_.pop_back();
  for (; undo_.size() > scope.undo_begin; undo_.pop_back()) {
    const Undo& undo = undo_.back();
    if (undo.previous) {
      symbols_[undo.name] = *undo.previous;
    } else {
      symbols_.erase(undo.name);
    }
  }
  for (; ranges_.size() > scope.range_begin; ranges_.pop_back()) {
    const Range& range = ranges_.back();
    if (range.shadowed) {
      visible_ranges_[range.prefix] = *range.shadowed;
    } else {
      visible_ranges_.erase(range.prefix);
    }
  }
  return true;
}

void FunctionNames::bind(std::string_view name, Symbol symbol) {
  hides_ranges_ = hides_ranges_ || looksLikeRange(name);
  const auto [entry, is_new] = symbols_.try_emplace(name, symbol);
  undo_.push_back({name, is_new ? std::nullopt : std::optional(entry->second)});
  entry->second = symbol;
}

std::string FunctionNames::uniqueName(std::string_view name) {
  std::string candidate(name);
  // A nested name printed at function scope must not hide a variable or function of the module.
  const bool hides_module_name = isNested() && module_symbols_.contains(name);
  if (!hides_module_name && used_names_.insert(candidate).second) return candidate;
  std::uint32_t& suffix = next_suffix_[candidate];
  do {
    candidate = std::string(name) + "$" + std::to_string(++suffix);
  } while (module_symbols_.contains(candidate) || !used_names_.insert(candidate).second);
  return candidate;
}

RegId FunctionNames::newRegister(std::string_view name, Type type) {
  const RegId id{static_cast<std::uint32_t>(function_.registers.size())};
  function_.registers.push_back({uniqueName(name), type});
  return id;
}

RegId FunctionNames::declareRegister(std::string_view name, Type type) {
  const RegId id = newRegister(name, type);
  bind(name, {.kind = Symbol::Kind::kRegister, .index = static_cast<std::uint32_t>(id)});
  return id;
}

void FunctionNames::declareRegisterVector(std::string_view name, Type type, unsigned lanes) {
  const auto first = static_cast<std::uint32_t>(function_.registers.size());
  for (unsigned lane = 0; lane < lanes; ++lane) {
    newRegister(std::string(name) + "_" + std::string(kComponents[lane]), type);
  }
  bind(name,
       {.kind = Symbol::Kind::kRegisterVector, .lanes = static_cast<std::uint8_t>(lanes), .index = first});
}

void FunctionNames::declareRange(std::string_view prefix, Type type, std::uint64_t count) {
  const std::size_t index = ranges_.size();
  const auto [entry, is_new] = visible_ranges_.try_emplace(prefix, index);
  ranges_.push_back({.prefix = prefix,
                     .type = type,
                     .count = count,
                     .used = {},
                     .shadowed = is_new ? std::nullopt : std::optional(entry->second)});
  entry->second = index;
}

void FunctionNames::declareVariable(std::string_view name, VarId id) {
  bind(name, {.kind = Symbol::Kind::kVariable, .index = static_cast<std::uint32_t>(id)});
}

bool FunctionNames::declareLabel(std::string_view name, InstrIndex target) {
  return labels_[scopeId()].try_emplace(name, target).second;
}

std::optional<InstrIndex> FunctionNames::findLabel(std::string_view name, std::uint32_t scope_id) const {
  for (std::uint32_t scope = scope_id; scope != kNoParent; scope = scope_parents_[scope]) {
    const auto labels = labels_.find(scope);
    if (labels == labels_.end()) continue;
    if (const auto label = labels->second.find(name); label != labels->second.end()) return label->second;
  }
  return std::nullopt;
}

std::optional<Symbol> FunctionNames::findInRange(std::string_view name) {
  std::size_t split = name.size();
  while (split > 1 && isDigit(name[split - 1])) --split;
  for (; split < name.size(); ++split) {
    const auto visible = visible_ranges_.find(name.substr(0, split));
    if (visible == visible_ranges_.end()) continue;
    const std::string_view digits = name.substr(split);
    if (digits.size() > 1 && digits[0] == '0') continue;
    std::uint64_t number = 0;
    if (std::from_chars(digits.data(), digits.data() + digits.size(), number).ec != std::errc()) continue;
    Range& range = ranges_[visible->second];
    if (number >= range.count) continue;
    const auto [entry, is_new] = range.used.try_emplace(number);
    if (is_new) entry->second = newRegister(name, range.type);
    return Symbol{.kind = Symbol::Kind::kRegister, .index = static_cast<std::uint32_t>(entry->second)};
  }
  return std::nullopt;
}

std::optional<Symbol> FunctionNames::find(std::string_view name) {
  const bool may_skip_own = !hides_ranges_ && looksLikeRange(name);
  if (may_skip_own) {
    if (auto in_range = findInRange(name)) return in_range;
  }
  if (const auto own = symbols_.find(name); own != symbols_.end()) return own->second;
  if (auto in_range = findInRange(name)) return in_range;
  if (const auto outer = module_symbols_.find(name); outer != module_symbols_.end()) return outer->second;
  return std::nullopt;
}

}  // namespace handoff::ptx
