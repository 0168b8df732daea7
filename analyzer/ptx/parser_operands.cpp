// SPDX-License-Identifier: Apache-2.0
// Instructions and their operands, with names resolved.
#include "analyzer/ptx/parser_impl.h"

namespace handoff::ptx {

const Decoded& Parser::decodeCached(std::string_view opcode) {
  const auto [entry, is_new] = decode_cache_.try_emplace(opcode, nullptr);
  if (is_new) entry->second = &decode(opcode);
  return *entry->second;
}

// `opcode` has been taken. Blanks before modifiers are legal ("ld .global .u32") and rare.
void Parser::parseInstruction(const Token& opcode, std::optional<Guard> guard) {
  function_->instructions.emplace_back();
  Instruction instruction;
  instruction.guard = guard;
  instruction.ptx_line = opcode.line;
  instruction.loc = debug_.current();
  instruction.is_inline_asm = lexer_.isInlineAsm();
  instruction.opcode = opcode.text;
  if (lexer_.peek().kind == TokenKind::kDirective) {
    while (lexer_.peek().kind == TokenKind::kDirective) instruction.opcode += lexer_.take().text;
    instruction.decoded = &decode(instruction.opcode);
  } else {
    instruction.decoded = &decodeCached(opcode.text);
  }
  const Effect& effect = instruction.decoded->effect;
  is_known_ = instruction.decoded->info != nullptr;
  if (std::holds_alternative<Call>(effect)) {
    parseCall(instruction);
  } else if (std::holds_alternative<Branch>(effect)) {
    parseLabelOperand(instruction);
  } else if (!lexer_.isPunct(';')) {
    instruction.operands.reserve(4);
    do {
      instruction.operands.push_back(parseOperand());
    } while (ok() && lexer_.accept(','));
  }
  expect(';');
  function_->instructions.back() = std::move(instruction);
}

void Parser::parseLabelOperand(Instruction& instruction) {
  const Token name = lexer_.peek();
  expectIdentifier();
  const auto index = static_cast<InstrIndex>(function_->instructions.size() - 1);
  pending_labels_.push_back({index, static_cast<std::uint32_t>(instruction.operands.size()), name.text,
                             names_->scopeId(), name.line});
  instruction.operands.push_back({.kind = Operand::Kind::kLabel});
}

// call{.uni} {(returns),} callee{, (arguments)}{, prototype}: always stored with both lists.
void Parser::parseCall(Instruction& instruction) {
  Operand returns{.kind = Operand::Kind::kList};
  Operand arguments{.kind = Operand::Kind::kList};
  if (lexer_.isPunct('(')) {
    returns = parseListOperand();
    expect(',');
  }
  const std::string_view name = expectIdentifier();
  if (!ok()) return;
  Operand callee{.kind = Operand::Kind::kFunction};
  const auto symbol = names_->find(name);
  if (symbol && symbol->kind == Symbol::Kind::kRegister) {
    callee = symbolOperand(*symbol, name);
  } else {
    callee.text = name;
  }
  std::optional<Operand> prototype;
  while (ok() && lexer_.accept(',')) {
    if (lexer_.isPunct('(')) {
      arguments = parseListOperand();
    } else {
      prototype = Operand{.kind = Operand::Kind::kSymbol};
      prototype->text = expectIdentifier();
    }
  }
  instruction.operands = {std::move(returns), std::move(callee), std::move(arguments)};
  if (prototype) instruction.operands.push_back(std::move(*prototype));
}

Operand Parser::parseListOperand() {
  Operand list{.kind = Operand::Kind::kList};
  expect('(');
  while (ok() && !lexer_.isPunct(')')) {
    list.elements.push_back(parseScalarOperand());
    if (!lexer_.accept(',')) break;
  }
  expect(')');
  return list;
}

Operand Parser::parseOperand() {
  Operand operand;
  if (lexer_.isPunct('{')) {
    operand = parseVectorOperand();
    // "{a, b}|p": the predicate is the last element.
    if (lexer_.accept('|')) {
      operand.elements.push_back(parseScalarOperand());
      operand.text = "|";
    }
  } else if (lexer_.isPunct('[')) {
    operand = parseAddressOperand();
    if (isDirective(".unified")) operand.text = lexer_.take().text;
  } else {
    operand = parseSimpleOperand();
    if (lexer_.isPunct('|')) parseSecondDestination(operand);
  }
  return operand;
}

void Parser::parseSecondDestination(Operand& operand) {
  lexer_.take();
  operand.elements.push_back(parseScalarOperand());
}

Operand Parser::parseVectorOperand() {
  Operand vector{.kind = Operand::Kind::kVector};
  expect('{');
  while (ok() && !lexer_.isPunct('}')) {
    Operand element = parseSimpleOperand();
    if (element.kind == Operand::Kind::kVector) {
      for (Operand& lane : element.elements) vector.elements.push_back(std::move(lane));
    } else {
      vector.elements.push_back(std::move(element));
    }
    if (!lexer_.accept(',')) break;
  }
  expect('}');
  return vector;
}

Operand Parser::parseSimpleOperand() {
  if (lexer_.accept('!')) {
    Operand operand = parsePlainOperand();
    operand.is_negated = true;
    return operand;
  }
  return parsePlainOperand();
}

// As above, where a vector register cannot stand.
Operand Parser::parseScalarOperand() {
  const std::uint32_t line = lexer_.peek().line;
  Operand operand = parseSimpleOperand();
  if (operand.kind == Operand::Kind::kVector) failAt(line, "a vector register cannot stand here");
  return operand;
}

// A register, a name, "_" or a constant.
Operand Parser::parsePlainOperand() {
  const Token& token = lexer_.peek();
  if (token.kind == TokenKind::kIdentifier && token.text != "WARP_SZ") return parseNamedOperand();
  if (token.kind == TokenKind::kDirective && !is_known_) {
    Operand operand{.kind = Operand::Kind::kSymbol};
    operand.text = lexer_.take().text;
    return operand;
  }
  return parseImmediate();
}

Operand Parser::parseNamedOperand() {
  const Token name = lexer_.take();
  if (name.text == "_") return Operand{.kind = Operand::Kind::kSink};
  const bool has_component = lexer_.peek().kind == TokenKind::kDirective && lexer_.isAdjacent();
  const auto symbol = names_->find(name.text);
  const bool is_vector = symbol && symbol->kind == Symbol::Kind::kRegisterVector;
  if (symbol && (is_vector || !has_component)) {
    if (has_component) return parseComponent(*symbol, name);
    Operand operand = symbolOperand(*symbol, name.text);
    if (operand.kind == Operand::Kind::kVariable) parseAddressOffset(operand);
    return operand;
  }
  std::string special(name.text);
  if (has_component) special += lexer_.take().text;
  if (const auto known = parseSpecial(special)) {
    Operand operand{.kind = Operand::Kind::kSpecial, .special = *known};
    if (*known == Special::kOther) operand.text = std::move(special);
    return operand;
  }
  for (const BranchTable& table : function_->branch_tables) {
    if (table.name == name.text) return Operand{.kind = Operand::Kind::kSymbol, .text = std::move(special)};
  }
  if (is_known_) failAt(name.line, "the name '" + special + "' is not declared");
  return Operand{.kind = Operand::Kind::kSymbol, .text = std::move(special)};
}

// "v.y" of ".reg .v4 .f32 v".
Operand Parser::parseComponent(const Symbol& symbol, const Token& name) {
  const std::string_view component = lexer_.take().text;
  const std::size_t lane = component.size() == 2 ? std::string_view("xyzwrgba").find(component[1]) : 8;
  if (lane >= 8 || lane % 4 >= symbol.lanes) {
    failAt(name.line, "'" + std::string(name.text) + "' has no component '" + std::string(component) + "'");
    return {};
  }
  return Operand{.kind = Operand::Kind::kRegister,
                 .reg = RegId{symbol.index + static_cast<std::uint32_t>(lane % 4)}};
}

Operand Parser::symbolOperand(const Symbol& symbol, std::string_view name) {
  Operand operand;
  switch (symbol.kind) {
    case Symbol::Kind::kRegister:
      operand.kind = Operand::Kind::kRegister;
      operand.reg = RegId{symbol.index};
      break;
    case Symbol::Kind::kRegisterVector:
      operand.kind = Operand::Kind::kVector;
      for (std::uint32_t lane = 0; lane < symbol.lanes; ++lane) {
        operand.elements.push_back({.kind = Operand::Kind::kRegister, .reg = RegId{symbol.index + lane}});
      }
      break;
    case Symbol::Kind::kVariable:
      operand.kind = Operand::Kind::kVariable;
      operand.var = VarId{symbol.index};
      operand.is_module_scope = symbol.is_module_scope;
      break;
    case Symbol::Kind::kFunction:
      operand.kind = Operand::Kind::kFunction;
      operand.text = name;
      break;
  }
  return operand;
}

// "+4", "-8", "+-8" behind a register or a variable.
void Parser::parseAddressOffset(Operand& operand) {
  while (ok() && (lexer_.isPunct('+') || lexer_.isPunct('-'))) {
    const bool is_minus = lexer_.take().punct == '-';
    constexpr int kTighterThanSums = 10;
    const auto value = static_cast<std::uint64_t>(parseConstant(kTighterThanSums).value_or(0));
    operand.imm =
        static_cast<std::int64_t>(static_cast<std::uint64_t>(operand.imm) + (is_minus ? 0 - value : value));
  }
}

// [reg], [reg+imm], [var+imm], [imm], [map, {c0, c1}]
Operand Parser::parseAddressOperand() {
  expect('[');
  Operand base = parseScalarOperand();
  Operand address{.kind = Operand::Kind::kAddress};
  switch (base.kind) {
    case Operand::Kind::kRegister:
      address.base = Operand::Base::kRegister;
      address.reg = base.reg;
      break;
    case Operand::Kind::kVariable:
      address.base = Operand::Base::kVariable;
      address.var = base.var;
      address.is_module_scope = base.is_module_scope;
      address.imm = base.imm;
      break;
    case Operand::Kind::kImmediate:
      address.imm = base.imm;
      break;
    default:
      address.elements.push_back(std::move(base));
      break;
  }
  parseAddressOffset(address);
  if (lexer_.isPunct(',')) {
    Operand tensor{.kind = Operand::Kind::kTensorAddress};
    tensor.elements.push_back(std::move(address));
    while (ok() && lexer_.accept(',')) {
      Operand part = lexer_.isPunct('{') ? parseVectorOperand() : parseSimpleOperand();
      const bool is_last_list = tensor.elements.size() == 1 && part.kind == Operand::Kind::kVector;
      if (!is_last_list) {
        tensor.elements.push_back(std::move(part));
        continue;
      }
      for (Operand& coordinate : part.elements) tensor.elements.push_back(std::move(coordinate));
    }
    address = std::move(tensor);
  }
  expect(']');
  return address;
}

}  // namespace handoff::ptx
