// SPDX-License-Identifier: Apache-2.0
// Where a source file writes the operand of an instruction, and what can be written elsewhere.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/explore/source_text.h"
#include "analyzer/explore/statement.h"

namespace handoff::explore {

class SourceOperands {
 public:
  SourceOperands(const machine::Program& program, const Statements& statements, const SourceText& text, const std::string& file)
      : program_(program), statements_(statements), text_(text), file_(file) {}

  /// An argument of the call at the statement's own frame: the value of a register or an immediate.
  std::optional<Piece> valueOf(std::uint32_t at, std::uint32_t operand) const;
  /// ... the address that it is computed from.
  std::optional<std::string> addressOf(std::uint32_t at, std::uint32_t operand) const;
  /// The call of the file's waiting function for the phase with that parity of the mbarrier that an operand of `named`
  /// names. `line`: where it is to stand.
  std::optional<std::string> waitFor(std::uint32_t named, std::uint32_t operand, const std::string& poll, std::int64_t parity,
                                     std::uint32_t line) const;
  /// What the names of `code`, written at line `from`, mean there they mean at `to`, too, as far as indentation tells.
  bool isInScope(const std::string& code, std::uint32_t from, std::uint32_t to) const;

 private:
  struct Argument {
    Piece piece;
    std::string converter;  ///< a function that the wrapper applies to it
  };
  std::optional<Argument> argumentOf(std::uint32_t at, std::uint32_t operand, bool is_address) const;
  std::optional<Piece> intrinsicArgument(std::uint32_t line, std::uint32_t at) const;

  const machine::Program& program_;
  const Statements& statements_;
  const SourceText& text_;
  const std::string& file_;
};

}  // namespace handoff::explore
