// SPDX-License-Identifier: Apache-2.0
// Which instructions belong to one statement.
#include "analyzer/explore/statement.h"

#include <algorithm>
#include <optional>
#include <set>
#include <variant>

namespace handoff::explore {

namespace {

/// A function around that few different operations is a name for an instruction, and is called where it is meant.
constexpr std::size_t kMaxWrapped = 2;

bool isControl(const ptx::Effect& effect) {
  return std::holds_alternative<ptx::Branch>(effect) || std::holds_alternative<ptx::BranchIndexed>(effect);
}

/// Of a jump to a label.
std::optional<std::uint32_t> targetOf(const ptx::Instruction& instruction) {
  if (!isControl(instruction.decoded->effect)) return std::nullopt;
  for (const ptx::Operand& operand : instruction.operands)
    if (operand.kind == ptx::Operand::Kind::kLabel) return operand.target;
  return std::nullopt;
}

}  // namespace

Statements::Statements(const machine::Program& program, std::string file, const SourceText& text)
    : program_(program), file_(std::move(file)), text_(text) {}

bool Statements::hasEffect(std::uint32_t instr) const {
  const ptx::Decoded& decoded = *program_.function.instructions[instr].decoded;
  const ptx::Effect& effect = decoded.effect;
  // Of one thread, and for it alone; or the same for all, and read wherever the compiler likes.
  if (decoded.space() == ptx::Space::kLocal || decoded.space() == ptx::Space::kParam) return false;
  return !std::holds_alternative<ptx::Alu>(effect) && !std::holds_alternative<ptx::Opaque>(effect) &&
         !std::holds_alternative<ptx::Hint>(effect) && !std::holds_alternative<ptx::Collective>(effect);
}

std::size_t Statements::frameOf(std::uint32_t instr) const {
  const SourceStack& stack = program_.stackOf(instr);
  if (stack.empty()) return 0;
  std::size_t level = 0;
  while (level + 1 < stack.size()) {
    if (!file_.empty() && stack[level].pos.file != file_) {
      ++level;
      continue;
    }
    // Everything that the call at level + 1 brings.
    std::set<std::pair<std::string, std::uint32_t>> wrapped;
    const std::size_t callers = stack.size() - level - 1;
    for (std::uint32_t i = 0; i < program_.function.instructions.size() && wrapped.size() <= kMaxWrapped; ++i) {
      if (!hasEffect(i) || isControl(program_.function.instructions[i].decoded->effect)) continue;
      const SourceStack& other = program_.stackOf(i);
      if (other.size() <= callers) continue;
      const bool same = std::equal(stack.end() - static_cast<std::ptrdiff_t>(callers), stack.end(),
                                   other.end() - static_cast<std::ptrdiff_t>(callers));
      if (same) wrapped.insert({program_.function.instructions[i].opcode, other.front().pos.line});
    }
    if (wrapped.size() > kMaxWrapped) break;
    ++level;
  }
  return level;
}

const SourceFrame* Statements::ownFrame(std::uint32_t instr) const {
  const SourceStack& stack = program_.stackOf(instr);
  return stack.empty() ? nullptr : &stack[frameOf(instr)];
}

bool Statements::isOn(std::uint32_t instr, const SourcePos& line, bool with_column) const {
  const SourceStack& stack = program_.stackOf(instr);
  return std::any_of(stack.begin(), stack.end(), [&](const SourceFrame& frame) {
    return frame.pos.line == line.line && frame.pos.file == line.file &&
           (!with_column || frame.pos.column == line.column);
  });
}

/// Where it gets its operands ready.
std::uint32_t Statements::startOf(const Copy& copy) const {
  std::uint32_t start = copy.first;
  while (start > 0 && !hasEffect(start - 1)) --start;
  return start;
}

// The loop of a wait starts where it gets its operands ready.
void Statements::includeLoopHead(Copy& copy) const {
  const std::vector<ptx::Instruction>& instructions = program_.function.instructions;
  const std::uint32_t start = startOf(copy);
  for (std::uint32_t i = copy.first; i <= copy.last; ++i) {
    const std::optional<std::uint32_t> target = targetOf(instructions[i]);
    if (target && *target >= start && *target < copy.first) copy.first = *target;
  }
}

/// The copy is run in each turn of a loop around it that is more than the copy: it jumps back to before itself, or what
/// follows it jumps back to it.
bool Statements::isTurn(const Copy& copy) const {
  const std::vector<ptx::Instruction>& instructions = program_.function.instructions;
  const std::uint32_t start = startOf(copy);
  for (std::uint32_t i = copy.first; i < instructions.size(); ++i) {
    const std::optional<std::uint32_t> target = targetOf(instructions[i]);
    if (!target || *target > copy.first) continue;
    if (i <= copy.last ? *target < start : *target >= start) return true;
  }
  return false;
}

bool Statements::isLoopLine(const SourceFrame& frame) const { return frame.pos.file == file_ && text_.isLoop(frame.pos.line); }

bool Statements::endsStatement(std::uint32_t instr, const Copy& copy) const {
  const SourceFrame* frame = ownFrame(instr);
  if (frame == nullptr || !isLoopLine(*frame)) return true;
  for (std::uint32_t i = copy.first; i <= copy.last; ++i) {
    const std::optional<std::uint32_t> target = targetOf(program_.function.instructions[i]);
    if (target && *target >= copy.first && *target <= i) return true;
  }
  return false;
}

std::vector<Copy> Statements::copiesOf(std::uint32_t instr) const {
  const SourceFrame* frame = ownFrame(instr);
  if (frame == nullptr) return {{instr, instr}};
  std::vector<Copy> copies;
  std::set<std::pair<std::string, ptx::LocId>> seen;  // of the open copy
  bool is_open = false;
  const bool is_loop = isLoopLine(*frame);
  const auto count = static_cast<std::uint32_t>(program_.function.instructions.size());
  for (std::uint32_t i = 0; i < count; ++i) {
    if (!hasEffect(i)) continue;
    if (!isOn(i, frame->pos, /*with_column=*/false)) {
      is_open = false;
      continue;
    }
    const ptx::Instruction& instruction = program_.function.instructions[i];
    const auto key = std::pair(instruction.opcode, instruction.loc);
    // A loop that is a line is one statement with all its turns.
    if (is_open && (is_loop || !seen.contains(key))) {
      copies.back().last = i;
    } else {
      seen.clear();
      copies.push_back({i, i});
      is_open = true;
    }
    seen.insert(key);
  }
  if (copies.empty()) copies.push_back({instr, instr});
  for (Copy& copy : copies) includeLoopHead(copy);
  if (is_loop) std::erase_if(copies, [&](const Copy& copy) { return isTurn(copy); });
  return copies;
}

std::vector<std::uint32_t> Statements::twinsOf(std::uint32_t instr) const {
  const SourceFrame* frame = ownFrame(instr);
  if (frame == nullptr) return {instr};
  std::vector<std::uint32_t> twins;
  const ptx::Instruction& wanted = program_.function.instructions[instr];
  for (std::uint32_t i = 0; i < program_.function.instructions.size(); ++i) {
    const ptx::Instruction& other = program_.function.instructions[i];
    if (i == instr || (other.opcode == wanted.opcode && isOn(i, frame->pos, /*with_column=*/true))) twins.push_back(i);
  }
  return twins;
}

}  // namespace handoff::explore
