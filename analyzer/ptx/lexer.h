// SPDX-License-Identifier: Apache-2.0
// PTX text -> tokens, one token ahead, without copying.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace handoff::ptx {

enum class TokenKind : std::uint8_t { kEnd, kIdentifier, kDirective, kNumber, kString, kPunct };

/// A piece of the text. Punctuation is one character; the parser joins "<<" and the like.
struct Token {
  TokenKind kind = TokenKind::kEnd;
  char punct = 0;           ///< of kPunct
  std::string_view text{};  ///< kDirective with its dot, kString without its quotes
  std::uint32_t line = 1;
};

/// An integer or a float literal.
struct NumberValue {
  std::int64_t bits = 0;  ///< two's complement, or the pattern of the float
  bool is_float = false;
  bool is_single = false;  ///< "0f…": 32 bits
};
/// nullopt when the spelling is no PTX literal or does not fit 64 bits.
std::optional<NumberValue> parseNumber(std::string_view text);

class Lexer {
 public:
  explicit Lexer(std::string_view text);

  const Token& peek() const { return token_; }
  Token take();
  bool isPunct(char c) const { return token_.kind == TokenKind::kPunct && token_.punct == c; }
  bool isEnd() const { return token_.kind == TokenKind::kEnd; }
  /// Takes the token if it is this character.
  bool accept(char c);
  /// Joins the modifiers that follow the current identifier into it: "ld" becomes "ld.global.v4.f32".
  void extendOpcode();
  /// True when no blank separates the current token from the one before.
  bool isAdjacent() const { return token_.text.data() == previous_end_; }
  /// True when the current token lies between the compiler's "begin inline asm" and "end inline asm"
  /// comments.
  bool isInlineAsm() const { return is_inline_asm_; }
  /// Skips to behind the '}' that closes the '{' at the current token; false when there is none.
  bool skipBraces();
  /// From now on every token is kEnd.
  void stop();

 private:
  void advance();
  void skipBlanks();
  void lexNumber();
  void noteComment(std::string_view comment);

  const char* cursor_;
  const char* end_;
  const char* previous_end_ = nullptr;
  std::uint32_t line_ = 1;
  bool is_inline_asm_ = false;
  Token token_;
};

}  // namespace handoff::ptx
