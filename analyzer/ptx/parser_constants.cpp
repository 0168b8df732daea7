// SPDX-License-Identifier: Apache-2.0
// Constant expressions (PTX ISA, "Constant Expressions"), evaluated in 64 bits as the manual asks.
#include <algorithm>
#include <limits>

#include "analyzer/ptx/parser_impl.h"

namespace handoff::ptx {
namespace {

constexpr int kMaxDepth = 64;

struct OperatorRow {
  std::string_view text;
  int precedence;
};
// Longer spellings first.
constexpr OperatorRow kOperators[] = {
    {"||", 1}, {"&&", 2}, {"==", 6}, {"!=", 6}, {"<<", 8}, {">>", 8}, {"<=", 7}, {">=", 7}, {"|", 3},
    {"^", 4},  {"&", 5},  {"<", 7},  {">", 7},  {"+", 9},  {"-", 9},  {"*", 10}, {"/", 10}, {"%", 10},
};

std::optional<std::int64_t> apply(std::string_view op, std::int64_t a, std::int64_t b) {
  const auto ua = static_cast<std::uint64_t>(a);
  const auto ub = static_cast<std::uint64_t>(b);
  if (op == "/" || op == "%") {
    if (b == 0 || (b == -1 && a == std::numeric_limits<std::int64_t>::min())) return std::nullopt;
    return op == "/" ? a / b : a % b;
  }
  if (op == "+") return static_cast<std::int64_t>(ua + ub);
  if (op == "-") return static_cast<std::int64_t>(ua - ub);
  if (op == "*") return static_cast<std::int64_t>(ua * ub);
  if (op == "&") return a & b;
  if (op == "|") return a | b;
  if (op == "^") return a ^ b;
  if (op == "<<") return ub > 63 ? 0 : static_cast<std::int64_t>(ua << ub);
  if (op == ">>") return a >> std::min<std::uint64_t>(ub, 63);
  if (op == "==") return a == b;
  if (op == "!=") return a != b;
  if (op == "<") return a < b;
  if (op == ">") return a > b;
  if (op == "<=") return a <= b;
  if (op == ">=") return a >= b;
  if (op == "&&") return a != 0 && b != 0;
  return a != 0 || b != 0;
}

}  // namespace

// A float, or a constant expression.
Operand Parser::parseImmediate() {
  Operand operand{.kind = Operand::Kind::kImmediate};
  if (lexer_.peek().kind == TokenKind::kNumber) {
    const auto number = parseNumber(lexer_.peek().text);
    if (number && number->is_float) {
      lexer_.take();
      operand.imm = number->bits;
      operand.is_float = true;
      operand.text = number->is_single ? "0f" : "0d";
      return operand;
    }
  }
  operand.imm = parseConstant().value_or(0);
  return operand;
}

// The lexer knows single characters only; two that touch may form one operator.
bool Parser::parseConstantOperator(int min_precedence, std::string& op, int& precedence) {
  if (lexer_.peek().kind != TokenKind::kPunct) return false;
  const char* const begin = lexer_.peek().text.data();
  const std::string_view rest(
      begin, std::min<std::size_t>(2, static_cast<std::size_t>(text_.data() + text_.size() - begin)));
  const auto* row =
      std::ranges::find_if(kOperators, [&](const OperatorRow& r) { return rest.starts_with(r.text); });
  if (row == std::end(kOperators) || row->precedence < min_precedence) return false;
  op = row->text;
  precedence = row->precedence;
  lexer_.take();
  if (op.size() == 2) lexer_.take();
  return true;
}

std::optional<std::int64_t> Parser::parseConstant(int min_precedence) {
  if (++depth_ > kMaxDepth) {
    fail("the constant expression nests too deeply");
    --depth_;
    return std::nullopt;
  }
  auto value = parseConstantUnary();
  std::string op;
  int precedence = 0;
  while (value && ok() && parseConstantOperator(min_precedence, op, precedence)) {
    const std::string current = op;
    const auto right = parseConstant(precedence + 1);
    if (!right) break;
    value = apply(current, *value, *right);
    if (!value) fail("the constant expression divides by zero");
  }
  if (value && ok() && min_precedence == 0 && lexer_.accept('?')) {
    const auto yes = parseConstant();
    expect(':');
    const auto no = parseConstant();
    value = *value != 0 ? yes : no;
  }
  --depth_;
  return value;
}

std::optional<std::int64_t> Parser::parseConstantUnary() {
  // Collected first: a chain of signs must not recurse.
  std::string signs;
  while (lexer_.isPunct('-') || lexer_.isPunct('+') || lexer_.isPunct('~') || lexer_.isPunct('!')) {
    signs += lexer_.take().punct;
  }
  auto value = parseConstantPrimary();
  if (!value) return std::nullopt;
  auto bits = static_cast<std::uint64_t>(*value);
  for (auto sign = signs.rbegin(); sign != signs.rend(); ++sign) {
    if (*sign == '-') bits = 0 - bits;
    if (*sign == '~') bits = ~bits;
    if (*sign == '!') bits = bits == 0;
  }
  return static_cast<std::int64_t>(bits);
}

std::optional<std::int64_t> Parser::parseConstantPrimary() {
  if (lexer_.peek().kind == TokenKind::kIdentifier && lexer_.peek().text == "WARP_SZ") {
    lexer_.take();
    return 32;
  }
  if (lexer_.accept('(')) {
    // "(.s64)" and "(.u64)" are casts between types of one width.
    if (lexer_.peek().kind == TokenKind::kDirective) {
      lexer_.take();
      expect(')');
      return parseConstant(/*min_precedence=*/11);
    }
    const auto value = parseConstant();
    expect(')');
    return value;
  }
  const auto value = expectUnsigned();
  return value ? std::optional(static_cast<std::int64_t>(*value)) : std::nullopt;
}

}  // namespace handoff::ptx
