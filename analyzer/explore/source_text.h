// SPDX-License-Identifier: Apache-2.0
// The text of one source file, as far as a line can be changed without a parser: statements that are a line, calls and
// their arguments, and functions that are a name for one piece of inline assembly.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/frontend/unit.h"

namespace handoff::explore {

/// A piece of one line.
struct Piece {
  std::uint32_t line = 0;     ///< from 1
  std::size_t begin = 0, end = 0;
};

/// A function whose body is one asm statement, with the instruction it stands for.
struct Wrapper {
  std::string name;
  std::vector<std::string> parameters;           ///< names
  std::vector<std::string> template_parameters;  ///< names
  std::string assembly;                          ///< the string literals of all asm statements of its body, joined
  std::uint32_t first_line = 0, last_line = 0;
  unsigned statements = 0;                       ///< asm statements in its body
  bool has_loop = false;
};

/// One asm statement: its template and the source expressions behind %0, %1, ...
struct AsmStatement {
  std::string assembly;
  std::vector<std::string> operands;
  std::uint32_t first_line = 0, last_line = 0;
};

class SourceText {
 public:
  /// The text that the front end read.
  static SourceText of(const frontend::Unit& unit);
  explicit SourceText(std::vector<std::string> lines);

  bool isEmpty() const { return lines_.empty(); }
  /// Without its end; empty beyond the file.
  const std::string& line(std::uint32_t number) const;
  /// Without comments and without the space around.
  std::string code(std::uint32_t number) const;
  std::string indentOf(std::uint32_t number) const;

  /// A statement starts with this line, and is the first of no branch or loop without braces.
  bool startsStatement(std::uint32_t number) const;
  /// ... and ends with it.
  bool isStatement(std::uint32_t number) const;
  bool isLoop(std::uint32_t number) const;
  /// Of the statement that starts here; 0 when that cannot be told.
  std::uint32_t lastLineOf(std::uint32_t number) const;

  /// Arguments of the only call of `name` on the line, or of the one at `column` (from 1); with `is_template`, those in
  /// angle brackets.
  std::vector<Piece> arguments(std::uint32_t number, std::string_view name, bool is_template, std::uint32_t column = 0) const;
  std::string text(const Piece& piece) const { return line(piece.line).substr(piece.begin, piece.end - piece.begin); }

  const std::vector<Wrapper>& wrappers() const { return wrappers_; }
  const Wrapper* wrapperAround(std::uint32_t line) const;
  std::optional<AsmStatement> asmAt(std::uint32_t line) const;
  /// The word occurs outside of comments.
  bool mentions(std::string_view word) const;

 private:
  void findWrappers();

  std::vector<std::string> lines_;
  std::vector<Wrapper> wrappers_;
};

/// "a, f(b, c), d" -> {"a", "f(b, c)", "d"} as ranges of `text` that start at `begin`; stops at an unmatched closer.
std::vector<std::pair<std::size_t, std::size_t>> splitArguments(std::string_view text, std::size_t begin);
std::string_view trim(std::string_view text);
bool isIdentifier(std::string_view text);

}  // namespace handoff::explore
