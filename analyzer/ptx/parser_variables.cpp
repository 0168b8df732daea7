// SPDX-License-Identifier: Apache-2.0
// Variable declarations: attributes, array dimensions and initialisers.
#include <algorithm>
#include <bit>

#include "analyzer/ptx/parser_impl.h"

namespace handoff::ptx {
namespace {

// No address space of a GPU is larger; keeps every product below from overflowing.
constexpr std::uint64_t kMaxVariableBytes = std::uint64_t{1} << 48;

bool isOpaqueType(std::string_view word) {
  return word == ".texref" || word == ".samplerref" || word == ".surfref";
}

/// The bits of an initial element: decimal constants become floats of the variable's type.
std::int64_t initialBits(Type type, const Operand& element) {
  if (element.text == "0f" || (type != Type::kF32 && type != Type::kF64)) return element.imm;
  const double value =
      element.is_float ? std::bit_cast<double>(element.imm) : static_cast<double>(element.imm);
  if (type == Type::kF64) return std::bit_cast<std::int64_t>(value);
  return std::bit_cast<std::int32_t>(static_cast<float>(value));
}

unsigned lanesOf(std::string_view word) {
  return word == ".v2" ? 2 : word == ".v4" ? 4 : word == ".v8" ? 8 : 0;
}

}  // namespace

void Parser::parseVariables(Space space, Linkage linkage) {
  Declaration declaration{.space = space, .linkage = linkage};
  if (!parseDeclaration(declaration)) return;
  if (declaration.is_pointer) fail("'.ptr' belongs to kernel parameters");
  do {
    const std::string_view name = lexer_.peek().text;
    auto variable = parseDeclarator(declaration);
    if (!variable) return;
    if (lexer_.accept('=')) {
      // "{ filter_mode = nearest }" of a sampler: texture state is not tracked.
      if (variable->opaque_type.empty()) {
        parseInitialiser(*variable);
      } else if (!lexer_.skipBraces()) {
        fail("the initialiser does not end");
      }
    }
    addVariable(std::move(*variable), name);
  } while (lexer_.accept(','));
  expect(';');
}

void Parser::addVariable(Variable variable, std::string_view name) {
  if (!ok()) return;
  std::vector<Variable>& variables = function_ != nullptr ? function_->variables : module_.variables;
  const auto index = static_cast<std::uint32_t>(variables.size());
  if (function_ != nullptr) {
    variable.name = names_->uniqueName(name);
    names_->declareVariable(name, VarId{index});
  } else {
    symbols_[name] = {.kind = Symbol::Kind::kVariable, .is_module_scope = true, .index = index};
  }
  variables.push_back(std::move(variable));
}

// The words between the state space and the name, in any order.
bool Parser::parseDeclaration(Declaration& declaration) {
  while (lexer_.peek().kind == TokenKind::kDirective) {
    const std::string_view word = lexer_.take().text;
    if (!parseDeclarationWord(declaration, word)) {
      fail("'" + std::string(word) + "' is not part of a declaration");
      return false;
    }
  }
  if (declaration.type == Type::kNone && declaration.opaque_type.empty()) {
    fail("a declaration needs a type");
    return false;
  }
  if (declaration.type == Type::kPred && declaration.space != Space::kReg) {
    fail("only registers can be predicates");
    return false;
  }
  return ok();
}

bool Parser::parseDeclarationWord(Declaration& declaration, std::string_view word) {
  if (word == ".align") {
    const std::uint64_t align = expectUnsigned().value_or(1);
    if (align == 0 || align > (1u << 20) || (align & (align - 1)) != 0)
      fail("an alignment must be a power of two");
    (declaration.is_pointer ? declaration.pointee_align : declaration.align) =
        static_cast<std::uint32_t>(align);
  } else if (word == ".ptr") {
    declaration.is_pointer = true;
  } else if (const auto space = parseSpace(word); space && declaration.is_pointer) {
    declaration.pointee_space = *space;
  } else if (word == ".attribute") {
    expect('(');
    for (int depth = 1; depth > 0 && !lexer_.isEnd();) {
      depth += lexer_.isPunct('(') ? 1 : lexer_.isPunct(')') ? -1 : 0;
      lexer_.take();
    }
  } else if (const unsigned lanes = lanesOf(word); lanes != 0) {
    declaration.lanes = lanes;
  } else if (const Type type = parseType(word); type != Type::kNone && type != Type::kOther) {
    declaration.type = type;
  } else if (isOpaqueType(word)) {
    declaration.opaque_type = word.substr(1);
  } else {
    return false;
  }
  return true;
}

std::optional<Variable> Parser::parseDeclarator(const Declaration& declaration) {
  Variable variable;
  variable.ptx_line = lexer_.peek().line;
  variable.name = expectIdentifier();
  variable.space = declaration.space;
  variable.type = declaration.opaque_type.empty() ? declaration.type : Type::kB64;
  variable.opaque_type = declaration.opaque_type;
  variable.linkage = declaration.linkage;
  variable.is_extern = declaration.linkage == Linkage::kExtern;
  variable.is_pointer = declaration.is_pointer;
  variable.pointee_space = declaration.pointee_space;
  variable.pointee_align = declaration.pointee_align;
  const std::uint64_t bytes = std::uint64_t{byteSize(variable.type)} * declaration.lanes;
  variable.align = declaration.align != 0 ? declaration.align
                                          : static_cast<std::uint32_t>(std::max<std::uint64_t>(bytes, 1));
  if (!ok() || !parseDimensions(variable, bytes)) return std::nullopt;
  return variable;
}

bool Parser::parseDimensions(Variable& variable, std::uint64_t element_bytes) {
  variable.size = element_bytes;
  if (variable.is_pointer && lexer_.isPunct('[')) fail("a '.ptr' parameter is no array");
  bool is_sized = true;
  while (lexer_.accept('[')) {
    if (lexer_.accept(']')) {
      is_sized = false;
      continue;
    }
    const std::int64_t count = parseConstant().value_or(0);
    if (!expect(']')) return false;
    if (count < 0 ||
        (variable.size != 0 && static_cast<std::uint64_t>(count) > kMaxVariableBytes / variable.size)) {
      fail("the array is too large");
      return false;
    }
    variable.size *= static_cast<std::uint64_t>(count);
  }
  if (!is_sized) variable.size = 0;
  return true;
}

bool Parser::reserveInitialBytes(Variable& variable, std::uint64_t bytes) {
  if (bytes <= variable.init.size()) return true;
  const std::uint64_t more = bytes - variable.init.size();
  if (more > initial_bytes_left_) {
    fail("the initialiser is too large");
    return false;
  }
  initial_bytes_left_ -= more;
  variable.init.resize(bytes);
  return true;
}

// Nested braces are flattened: every compiler we read pads its rows itself.
void Parser::parseInitialiser(Variable& variable) {
  const std::uint64_t bytes = std::max(1u, byteSize(variable.type));
  std::uint64_t offset = 0;
  if (!lexer_.isPunct('{')) {
    parseInitialElement(variable, offset, bytes);
    if (ok() && offset > variable.size) fail("an array needs a list of initial values");
    return;
  }
  std::uint32_t depth = 0;
  do {
    if (lexer_.accept('{')) {
      ++depth;
    } else if (lexer_.accept('}')) {
      --depth;
    } else if (!lexer_.accept(',')) {
      parseInitialElement(variable, offset, bytes);
    }
  } while (ok() && depth > 0 && !lexer_.isEnd());
  if (depth > 0) fail("the initialiser does not end");
  // An unsized array takes its size from the initialiser.
  if (variable.size == 0) variable.size = offset;
  if (ok() && offset > variable.size) fail("more initial values than elements");
}

void Parser::parseInitialElement(Variable& variable, std::uint64_t& offset, std::uint64_t bytes) {
  std::int64_t value = 0;
  if (lexer_.peek().kind == TokenKind::kIdentifier && lexer_.peek().text != "WARP_SZ") {
    variable.has_symbolic_init = true;
    variable.symbolic_init.push_back({offset, parseSymbolicElement()});
  } else {
    const Operand element = parseImmediate();
    value = initialBits(variable.type, element);
  }
  if (!ok() || !reserveInitialBytes(variable, offset + bytes)) return;
  for (std::uint64_t i = 0; i < bytes; ++i) {
    variable.init[offset + i] =
        i < 8 ? static_cast<std::uint8_t>(static_cast<std::uint64_t>(value) >> (8 * i)) : 0;
  }
  offset += bytes;
}

// "symbol", "symbol+4", "generic(symbol)+4", "mask(0xff, symbol)": kept as text, the bytes are unknown.
std::string Parser::parseSymbolicElement() {
  std::string text(expectIdentifier());
  if (text == "mask" && lexer_.accept('(')) {
    text += "(" + std::to_string(parseConstant().value_or(0)) + ", ";
    expect(',');
    text += parseSymbolAddress(std::string(expectIdentifier())) + ")";
    expect(')');
    return text;
  }
  return parseSymbolAddress(std::move(text));
}

std::string Parser::parseSymbolAddress(std::string text) {
  if (text == "generic" && lexer_.accept('(')) {
    text += "(" + std::string(expectIdentifier()) + ")";
    expect(')');
  }
  Operand offset;
  parseAddressOffset(offset);
  if (offset.imm != 0) text += (offset.imm > 0 ? "+" : "") + std::to_string(offset.imm);
  return text;
}

}  // namespace handoff::ptx
