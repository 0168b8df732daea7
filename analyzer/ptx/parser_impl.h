// SPDX-License-Identifier: Apache-2.0
// The recursive-descent parser behind parse(); its members are spread over parser*.cpp by what they read.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyzer/ptx/debug_info.h"
#include "analyzer/ptx/decode.h"
#include "analyzer/ptx/lexer.h"
#include "analyzer/ptx/module.h"
#include "analyzer/ptx/names.h"
#include "analyzer/support/result.h"

namespace handoff::ptx {

/// After the first error every token is the end of the text, so that all loops run out by themselves.
class Parser {
 public:
  Parser(std::string_view text, std::string file);
  Result<Module> run();

 private:
  struct Declaration {
    Space space = Space::kGeneric;
    Type type = Type::kNone;
    unsigned lanes = 1;
    std::uint32_t align = 0;
    bool is_pointer = false;
    Space pointee_space = Space::kGeneric;
    std::uint32_t pointee_align = 0;
    std::string opaque_type{};
    Linkage linkage = Linkage::kNone;
  };
  struct PendingLabel {
    InstrIndex instruction;
    std::uint32_t operand;
    std::string_view name;
    std::uint32_t scope;
    std::uint32_t line;
  };
  struct PendingTable {
    std::size_t table;
    std::vector<std::string_view> names;
    std::uint32_t scope;
    std::uint32_t line;
  };

  // parser.cpp: the module.
  void parseHeader();
  void parseModuleItem();
  void parseTarget();
  void parseFileDirective();
  void parseSection();
  void parseSectionItem();
  void parseAlias();
  void skipToSemicolon();

  // parser_variables.cpp: declarations and initialisers.
  void parseVariables(Space space, Linkage linkage);
  bool parseDeclaration(Declaration& declaration);
  bool parseDeclarationWord(Declaration& declaration, std::string_view word);
  std::optional<Variable> parseDeclarator(const Declaration& declaration);
  bool parseDimensions(Variable& variable, std::uint64_t element_bytes);
  void parseInitialiser(Variable& variable);
  void parseInitialElement(Variable& variable, std::uint64_t& offset, std::uint64_t bytes);
  std::string parseSymbolicElement();
  std::string parseSymbolAddress(std::string text);
  bool reserveInitialBytes(Variable& variable, std::uint64_t bytes);
  void addVariable(Variable variable, std::string_view name);

  // parser_functions.cpp: heads, limits, bodies.
  void parseFunction(Linkage linkage, bool is_kernel);
  void skipFunctionAttributes();
  void parseParameters(std::vector<VarId>& ids);
  void parseParameter(std::vector<VarId>& ids);
  void parseFunctionDirectives();
  std::array<std::uint32_t, 3> parseExtent();
  std::uint32_t parseCount();
  void parseBody();
  void parseBodyItem();
  void parseBodyDirective();
  void parseRegisters();
  void parseLoc();
  void parseLabelled(std::string_view label, std::uint32_t line);
  void parseCallDeclaration(std::string_view label);
  void finishFunction();

  // parser_operands.cpp: instructions.
  void parseInstruction(const Token& opcode, std::optional<Guard> guard);
  void parseCall(Instruction& instruction);
  void parseLabelOperand(Instruction& instruction);
  Operand parseOperand();
  Operand parseSimpleOperand();
  Operand parseScalarOperand();
  Operand parsePlainOperand();
  Operand parseNamedOperand();
  Operand parseComponent(const Symbol& symbol, const Token& name);
  Operand parseVectorOperand();
  Operand parseListOperand();
  Operand parseAddressOperand();
  void parseAddressOffset(Operand& operand);
  void parseSecondDestination(Operand& operand);
  Operand parseImmediate();
  Operand symbolOperand(const Symbol& symbol, std::string_view name);
  const Decoded& decodeCached(std::string_view opcode);

  // constant expressions
  std::optional<std::int64_t> parseConstant(int min_precedence = 0);
  std::optional<std::int64_t> parseConstantUnary();
  std::optional<std::int64_t> parseConstantPrimary();
  bool parseConstantOperator(int min_precedence, std::string& op, int& precedence);

  bool ok() const { return !error_; }
  void fail(std::string message);
  void failAt(std::uint32_t line, std::string message);
  bool expect(char punct);
  bool isDirective(std::string_view text) const {
    return lexer_.peek().kind == TokenKind::kDirective && lexer_.peek().text == text;
  }
  std::optional<std::uint64_t> expectUnsigned();
  std::string_view expectIdentifier();

  std::string_view text_;
  Lexer lexer_;
  Module module_;
  std::optional<Error> error_;
  SymbolMap symbols_;  ///< of the module
  DebugInfo debug_;
  std::unordered_map<std::string_view, const Decoded*> decode_cache_;
  std::uint64_t initial_bytes_left_;
  int depth_ = 0;  ///< of nested constant expressions

  // The function being parsed.
  Function* function_ = nullptr;
  std::unique_ptr<FunctionNames> names_;
  bool is_known_ = false;  ///< the instruction being parsed has a row in the table
  std::vector<PendingLabel> pending_labels_;
  std::vector<PendingTable> pending_tables_;
};

/// ".global" -> kGlobal, ".shared::cta" -> kShared; nullopt when the word names no state space.
std::optional<Space> parseSpace(std::string_view word);

}  // namespace handoff::ptx
