// SPDX-License-Identifier: Apache-2.0
// Names of one function while it is parsed: nested scopes, register ranges, labels.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analyzer/ptx/module.h"

namespace handoff::ptx {

struct Symbol {
  enum class Kind : std::uint8_t { kRegister, kRegisterVector, kVariable, kFunction };
  Kind kind = Kind::kVariable;
  std::uint8_t lanes = 0;  ///< of a register vector: its components follow each other from `index`
  bool is_module_scope = false;
  std::uint32_t index = 0;  ///< RegId or VarId
};

using SymbolMap = std::unordered_map<std::string_view, Symbol>;

/// The names live as views into the parsed text. Registers of a range such as "%r<10>" come into being when
/// they are first used: a declaration costs nothing, so hostile counts cannot exhaust memory and unused
/// registers do not exist.
class FunctionNames {
 public:
  FunctionNames(const SymbolMap& module_symbols, Function& function);

  bool enterScope();  ///< false when scopes nest too deeply
  bool leaveScope();  ///< false at function scope
  bool isNested() const { return scopes_.size() > 1; }

  RegId declareRegister(std::string_view name, Type type);
  void declareRegisterVector(std::string_view name, Type type, unsigned lanes);
  void declareRange(std::string_view prefix, Type type, std::uint64_t count);
  void declareVariable(std::string_view name, VarId id);
  /// False when this scope has the label already.
  bool declareLabel(std::string_view name, InstrIndex target);

  std::optional<Symbol> find(std::string_view name);
  /// The scope a forward reference was made in, for findLabel once the body is complete.
  std::uint32_t scopeId() const { return scopes_.back().id; }
  std::optional<InstrIndex> findLabel(std::string_view name, std::uint32_t scope_id) const;
  /// `name`, with a suffix when the function uses it already.
  std::string uniqueName(std::string_view name);

 private:
  struct Undo {
    std::string_view name;
    std::optional<Symbol> previous;
  };
  struct Range {
    std::string_view prefix;
    Type type = Type::kNone;
    std::uint64_t count = 0;
    std::unordered_map<std::uint64_t, RegId> used;
    std::optional<std::size_t> shadowed;  ///< the range of that prefix in an outer scope
  };
  struct Scope {
    std::uint32_t id;
    std::size_t undo_begin;
    std::size_t range_begin;
  };

  void bind(std::string_view name, Symbol symbol);
  RegId newRegister(std::string_view name, Type type);
  std::optional<Symbol> findInRange(std::string_view name);

  const SymbolMap& module_symbols_;
  Function& function_;
  SymbolMap symbols_;
  bool hides_ranges_ = false;  ///< some name is declared on its own that looks like a register of a range
  std::vector<Undo> undo_;
  std::vector<Range> ranges_;
  std::unordered_map<std::string_view, std::size_t> visible_ranges_;
  std::vector<Scope> scopes_;
  std::vector<std::uint32_t> scope_parents_;
  std::unordered_map<std::uint32_t, std::unordered_map<std::string_view, InstrIndex>> labels_;
  std::unordered_set<std::string> used_names_;
  std::unordered_map<std::string, std::uint32_t> next_suffix_;
};

}  // namespace handoff::ptx
