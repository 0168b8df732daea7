// SPDX-License-Identifier: Apache-2.0
// Source statements as sets of PTX instructions: what a change of a source line reaches.
//
// A change of the source reaches every copy that the compiler made of a statement: the turns of an unrolled loop, every
// inlined call of its function. So a repair is tried on all of them, or it is not the repair that its text promises.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/explore/source_text.h"
#include "analyzer/machine/program.h"

namespace handoff::explore {

/// Consecutive instructions of one copy of a statement; those between that compute only may belong to others.
struct Copy {
  std::uint32_t first = 0, last = 0;  ///< its first and last instruction with an effect; the head of a loop counts
};

class Statements {
 public:
  /// `file` is the source file that may be changed, with its text; empty: none, then positions are compared as they are.
  Statements(const machine::Program& program, std::string file, const SourceText& text);

  /// The level of the instruction's inline stack at which its statement is written: the call of a function that wraps
  /// this one instruction, where there is one.
  std::size_t frameOf(std::uint32_t instr) const;
  const SourceFrame* ownFrame(std::uint32_t instr) const;

  /// All copies of the source line that `instr` comes from. Of a line that opens a loop, only those by which the loop is
  /// entered: what stands before it in the source runs once, and not in each turn. None: no place in the program is like
  /// the place before that line.
  std::vector<Copy> copiesOf(std::uint32_t instr) const;
  /// What comes behind the copy comes behind its line in the source, too: not so where the line opens a loop whose turns
  /// come then.
  bool endsStatement(std::uint32_t instr, const Copy& copy) const;
  /// The instructions that are copies of this very one: same opcode, same call.
  std::vector<std::uint32_t> twinsOf(std::uint32_t instr) const;

  /// False: the instruction only computes values.
  bool hasEffect(std::uint32_t instr) const;

 private:
  void includeLoopHead(Copy& copy) const;
  std::uint32_t startOf(const Copy& copy) const;
  bool isTurn(const Copy& copy) const;
  bool isLoopLine(const SourceFrame& frame) const;
  bool isOn(std::uint32_t instr, const SourcePos& line, bool with_column) const;

  const machine::Program& program_;
  std::string file_;
  const SourceText& text_;
};

}  // namespace handoff::explore
