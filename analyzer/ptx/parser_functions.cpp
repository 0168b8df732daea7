// SPDX-License-Identifier: Apache-2.0
// Kernels and functions: heads, performance directives, and the statements of a body that are not
// instructions.
#include <algorithm>

#include "analyzer/ptx/parser_impl.h"

namespace handoff::ptx {
namespace {

constexpr std::uint64_t kMaxRegisterRange = 1u << 24;

}  // namespace

void Parser::parseFunction(Linkage linkage, bool is_kernel) {
  Function function;
  function.is_kernel = is_kernel;
  function.linkage = linkage;
  function_ = &function;
  names_ = std::make_unique<FunctionNames>(symbols_, function);
  pending_labels_.clear();
  pending_tables_.clear();
  skipFunctionAttributes();
  if (lexer_.isPunct('(')) parseParameters(function.returns);
  function.ptx_line = lexer_.peek().line;
  const std::string_view name = expectIdentifier();
  function.name = name;
  if (ok()) {
    symbols_[name] = {.kind = Symbol::Kind::kFunction,
                      .is_module_scope = true,
                      .index = static_cast<std::uint32_t>(module_.functions.size())};
    debug_.beginFunction(name);
  }
  if (lexer_.isPunct('(')) parseParameters(function.params);
  parseFunctionDirectives();
  if (lexer_.accept(';')) {
    function.is_declaration = true;
  } else {
    parseBody();
  }
  function_ = nullptr;
  if (ok()) module_.functions.push_back(std::move(function));
}

// ".func .attribute(...) (returns) name": the attributes say nothing about the protocol.
void Parser::skipFunctionAttributes() {
  while (isDirective(".attribute")) {
    lexer_.take();
    expect('(');
    while (!lexer_.isEnd() && !lexer_.isPunct(')')) lexer_.take();
    expect(')');
  }
}

void Parser::parseParameters(std::vector<VarId>& ids) {
  expect('(');
  while (ok() && !lexer_.isPunct(')')) {
    parseParameter(ids);
    if (!lexer_.accept(',')) break;
  }
  expect(')');
}

void Parser::parseParameter(std::vector<VarId>& ids) {
  const auto space =
      lexer_.peek().kind == TokenKind::kDirective ? parseSpace(lexer_.peek().text) : std::nullopt;
  if (space != Space::kParam && space != Space::kReg) {
    fail("a parameter starts with '.param' or '.reg'");
    return;
  }
  lexer_.take();
  Declaration declaration{.space = *space};
  if (!parseDeclaration(declaration)) return;
  const std::string_view name = lexer_.peek().text;
  auto variable = parseDeclarator(declaration);
  if (!variable || !ok()) return;
  ids.push_back(VarId{static_cast<std::uint32_t>(function_->variables.size())});
  if (*space == Space::kReg && name != "_") {
    const RegId reg = names_->declareRegister(name, variable->type);
    variable->name = function_->registers[static_cast<std::uint32_t>(reg)].name;
    function_->variables.push_back(std::move(*variable));
  } else if (name == "_") {
    function_->variables.push_back(std::move(*variable));
  } else {
    addVariable(std::move(*variable), name);
  }
}

std::uint32_t Parser::parseCount() {
  const std::uint64_t value = expectUnsigned().value_or(1);
  if (value > 0xffffffff) fail("the number is too large");
  return static_cast<std::uint32_t>(value);
}

std::array<std::uint32_t, 3> Parser::parseExtent() {
  std::array<std::uint32_t, 3> extent = {parseCount(), 1, 1};
  for (int i = 1; i < 3 && lexer_.accept(','); ++i) extent[i] = parseCount();
  return extent;
}

void Parser::parseFunctionDirectives() {
  KernelLimits& limits = function_->limits;
  while (ok() && lexer_.peek().kind == TokenKind::kDirective) {
    const std::string_view word = lexer_.take().text;
    if (word == ".maxntid") {
      limits.max_ntid = parseExtent();
    } else if (word == ".reqntid") {
      limits.req_ntid = parseExtent();
    } else if (word == ".reqnctapercluster") {
      limits.req_cluster = parseExtent();
    } else if (word == ".explicitcluster") {
      limits.is_explicit_cluster = true;
    } else if (word == ".maxclusterrank") {
      limits.max_cluster_rank = parseCount();
    } else if (word == ".maxnreg") {
      limits.max_nreg = parseCount();
    } else if (word == ".minnctapersm") {
      limits.min_nctapersm = parseCount();
    } else if (word == ".noreturn") {
      function_->is_noreturn = true;
    } else {
      // .blocksareclusters, .abi_preserve 3, .pragma "…";, .language 1: no effect on the protocol.
      while (lexer_.peek().kind == TokenKind::kNumber || lexer_.peek().kind == TokenKind::kString ||
             lexer_.isPunct(',')) {
        lexer_.take();
      }
      if (word == ".pragma") lexer_.accept(';');
    }
  }
}

void Parser::parseBody() {
  const std::uint32_t line = lexer_.peek().line;
  if (!expect('{')) return;
  std::size_t depth = 1;
  while (depth > 0 && ok()) {
    if (lexer_.isEnd()) {
      failAt(line, "the text ends inside the function '" + function_->name + "' that starts here");
    } else if (lexer_.accept('{')) {
      ++depth;
      if (!names_->enterScope()) fail("scopes nest too deeply");
    } else if (lexer_.accept('}')) {
      --depth;
      names_->leaveScope();
    } else {
      parseBodyItem();
    }
  }
  if (ok()) finishFunction();
}

void Parser::parseBodyItem() {
  if (lexer_.accept(';')) return;
  const Token token = lexer_.peek();
  if (token.kind == TokenKind::kDirective) {
    parseBodyDirective();
    return;
  }
  if (token.kind == TokenKind::kIdentifier) {
    lexer_.extendOpcode();
    if (lexer_.peek().text.size() == token.text.size()) {
      // Either a label or an opcode without modifiers ("ret", "trap").
      const Token name = lexer_.take();
      if (lexer_.accept(':')) {
        parseLabelled(name.text, name.line);
        return;
      }
      parseInstruction(name, /*guard=*/std::nullopt);
      return;
    }
    const Token opcode = lexer_.take();
    parseInstruction(opcode, /*guard=*/std::nullopt);
    return;
  }
  if (!lexer_.accept('@')) {
    expect('@');
    return;
  }
  Guard guard{.is_negated = lexer_.accept('!')};
  const std::string_view name = expectIdentifier();
  const auto symbol = ok() ? names_->find(name) : std::nullopt;
  if (!symbol || symbol->kind != Symbol::Kind::kRegister) {
    failAt(token.line, "the guard '" + std::string(name) + "' is no declared register");
    return;
  }
  guard.reg = RegId{symbol->index};
  lexer_.extendOpcode();
  const Token opcode = lexer_.peek();
  if (expectIdentifier().empty()) return;
  parseInstruction(opcode, guard);
}

// "name:" in front of a statement, or the name of a table.
void Parser::parseLabelled(std::string_view label, std::uint32_t line) {
  if (isDirective(".branchtargets")) {
    lexer_.take();
    PendingTable pending{function_->branch_tables.size(), {}, names_->scopeId(), line};
    do {
      pending.names.push_back(expectIdentifier());
    } while (lexer_.accept(','));
    expect(';');
    function_->branch_tables.push_back({std::string(label), {}});
    pending_tables_.push_back(std::move(pending));
    return;
  }
  if (isDirective(".callprototype") || isDirective(".calltargets")) {
    parseCallDeclaration(label);
    return;
  }
  const auto target = static_cast<InstrIndex>(function_->instructions.size());
  if (!names_->declareLabel(label, target)) {
    failAt(line, "the label '" + std::string(label) + "' is defined twice");
    return;
  }
  function_->labels.push_back({names_->uniqueName(label), target});
}

void Parser::parseCallDeclaration(std::string_view label) {
  std::string text;
  while (!lexer_.isEnd() && !lexer_.isPunct(';')) {
    if (lexer_.peek().kind == TokenKind::kString || lexer_.isPunct('"'))
      fail("unexpected text in a call declaration");
    if (!text.empty()) text += ' ';
    text += lexer_.take().text;
  }
  expect(';');
  function_->call_declarations.push_back({std::string(label), std::move(text)});
}

void Parser::parseBodyDirective() {
  const std::string_view word = lexer_.peek().text;
  if (word == ".reg") {
    lexer_.take();
    parseRegisters();
  } else if (word == ".loc") {
    parseLoc();
  } else if (word == ".pragma") {
    skipToSemicolon();
  } else if (word == ".file") {
    parseFileDirective();
  } else if (word == ".section") {
    parseSection();
  } else if (word == ".callprototype" || word == ".calltargets" || word == ".branchtargets") {
    fail("'" + std::string(word) + "' needs a label");
  } else {
    const Linkage linkage = word == ".extern" ? Linkage::kExtern : Linkage::kNone;
    if (word == ".extern" || word == ".visible" || word == ".weak") lexer_.take();
    const auto space =
        lexer_.peek().kind == TokenKind::kDirective ? parseSpace(lexer_.peek().text) : std::nullopt;
    if (!space) {
      fail("unexpected '" + std::string(word) + "' in a function");
      return;
    }
    lexer_.take();
    parseVariables(*space, linkage);
  }
}

// .reg .b32 %r<10>, a, b;
void Parser::parseRegisters() {
  Declaration declaration{.space = Space::kReg};
  if (!parseDeclaration(declaration)) return;
  if (declaration.type == Type::kNone) fail("a register needs a fundamental type");
  do {
    const std::string_view name = expectIdentifier();
    if (!ok()) return;
    if (lexer_.accept('<')) {
      const std::uint64_t count = expectUnsigned().value_or(0);
      expect('>');
      if (count > kMaxRegisterRange) fail("a range of " + std::to_string(count) + " registers is too large");
      if (declaration.lanes > 1) fail("a range of vector registers is not supported");
      if (ok()) names_->declareRange(name, declaration.type, count);
    } else if (declaration.lanes > 1) {
      names_->declareRegisterVector(name, declaration.type, declaration.lanes);
    } else {
      names_->declareRegister(name, declaration.type);
    }
  } while (lexer_.accept(','));
  expect(';');
}

// .loc file line column{, function_name label{+offset}, inlined_at file line column}
void Parser::parseLoc() {
  lexer_.take();
  DebugInfo::Line line;
  line.pos = {parseCount(), parseCount(), parseCount()};
  while (ok() && lexer_.accept(',')) {
    const std::string_view word = expectIdentifier();
    if (word == "function_name") {
      line.function_label = expectIdentifier();
      if (lexer_.accept('+')) line.label_offset = parseCount();
    } else if (word == "inlined_at") {
      line.is_inlined = true;
      line.inlined_at = {parseCount(), parseCount(), parseCount()};
    } else if (ok()) {
      fail("unexpected '" + std::string(word) + "' in .loc");
    }
  }
  if (ok()) debug_.addLine(line);
}

void Parser::finishFunction() {
  for (const PendingLabel& pending : pending_labels_) {
    const auto target = names_->findLabel(pending.name, pending.scope);
    if (!target) {
      failAt(pending.line, "the label '" + std::string(pending.name) + "' is not defined");
      return;
    }
    function_->instructions[pending.instruction].operands[pending.operand].target = *target;
  }
  for (const PendingTable& pending : pending_tables_) {
    for (const std::string_view name : pending.names) {
      const auto target = names_->findLabel(name, pending.scope);
      if (!target) {
        failAt(pending.line, "the label '" + std::string(name) + "' is not defined");
        return;
      }
      function_->branch_tables[pending.table].targets.push_back(*target);
    }
  }
}

}  // namespace handoff::ptx
