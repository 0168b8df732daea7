// SPDX-License-Identifier: Apache-2.0
// From changes of instructions to changes of lines.
//
// A line is changed only where the text leaves no doubt: an insertion needs a statement that starts (or ends) there, an
// operand needs a chain from the asm statement through the parameters of its function to an argument of the call.
#include "analyzer/explore/source_fix.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <variant>

#include "analyzer/explore/source_style.h"

namespace handoff::explore {

using diagnose::Change;
using diagnose::Edit;
using diagnose::SourceChange;

namespace {

class Fixer {
 public:
  Fixer(const machine::Program& program, const Statements& statements, const SourceText& text, const std::string& file)
      : program_(program), statements_(statements), text_(text), file_(file) {}

  bool add(const Edit& edit) {
    for (std::size_t i = 0; i < edit.changes.size(); ++i) {
      const Change& change = edit.changes[i];
      // Arrive and wait of the cluster are one statement in most sources.
      const bool is_pair = change.opcode.starts_with("barrier.cluster.arrive") && i + 1 < edit.changes.size() &&
                           edit.changes[i + 1].opcode.starts_with("barrier.cluster.wait");
      if (is_pair) {
        const std::optional<std::string> call = clusterSyncOf(text_);
        if (!insert(change, call ? *call : "asm volatile(\"barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\" ::: \"memory\");")) {
          return false;
        }
        ++i;
      } else if (!add(change)) {
        return false;
      }
    }
    return true;
  }

  std::vector<SourceChange> take() {
    std::vector<SourceChange> changes;
    for (auto& [line, at] : lines_) {
      const std::string& original = text_.line(line);
      const auto push = [&](SourceChange::Kind kind, std::string text) {
        changes.push_back({kind, {file_, line, 0}, original, std::move(text)});
      };
      std::string all = at.before;
      if (!at.before.empty() && !at.is_replaced && at.after.empty()) {
        push(SourceChange::Kind::kInsertBefore, at.before);
      } else if (at.before.empty() && !at.is_replaced) {
        push(SourceChange::Kind::kInsertAfter, at.after);
      } else {
        const std::string middle = at.is_replaced ? at.replacement : original;
        if (!middle.empty()) all += (all.empty() ? "" : "\n") + middle;
        if (!at.after.empty()) all += (all.empty() ? "" : "\n") + at.after;
        push(all.empty() ? SourceChange::Kind::kDelete : SourceChange::Kind::kReplace, all);
      }
    }
    return changes;
  }

 private:
  struct Line {
    std::string before, after, replacement;
    bool is_replaced = false;
  };

  const ptx::Instruction& instruction(std::uint32_t at) const { return program_.function.instructions[at]; }
  /// 0: not in the file that may be changed.
  std::uint32_t lineOf(std::uint32_t at) const {
    const SourceFrame* frame = statements_.ownFrame(at);
    return frame == nullptr || frame->pos.file != file_ ? 0 : frame->pos.line;
  }

  bool add(const Change& change) {
    switch (change.kind) {
      case Change::Kind::kInsertBefore:
      case Change::Kind::kInsertAfter: {
        const std::optional<std::string> statement = statementFor(change);
        return statement && insert(change, *statement);
      }
      case Change::Kind::kDelete: return remove(change);
      case Change::Kind::kMoveBefore:
      case Change::Kind::kMoveAfter: return move(change);
      case Change::Kind::kSetOperand:
      case Change::Kind::kFlipOperand:
      case Change::Kind::kCapOperand: return changeOperand(change);
      case Change::Kind::kSetOpcode: return changeOpcode(change);
      case Change::Kind::kRetry: return retry(change);
      case Change::Kind::kElect: return elect(change);
      case Change::Kind::kSplitBranch: return splitBranch(change);
      case Change::Kind::kReplace: return commitInstead(change);
      case Change::Kind::kPhaseBit: return false;
    }
    return false;
  }

  std::optional<std::string> statementFor(const Change& change) const {
    if (change.opcode == "bar.sync") return text_.mentions("__syncthreads") || !text_.mentions("block.sync()") ? "__syncthreads();" : "block.sync();";
    if (change.opcode == "bar.warp.sync") return "__syncwarp();";
    if (const auto call = callOfWrapper(text_, change.opcode, change.operands)) return call;
    if (change.opcode == "cp.async.wait_group" && text_.mentions("__pipeline_")) {
      return "__pipeline_wait_prior(" + std::to_string(change.operands[0].imm) + ");";
    }
    if (change.opcode == "cp.async.commit_group" && text_.mentions("__pipeline_")) return "__pipeline_commit();";
    if (change.opcode == "fence.proxy.async" && text_.mentions("fence_proxy_async")) return "cuda::ptx::fence_proxy_async();";
    const bool is_plain = std::all_of(change.operands.begin(), change.operands.end(), [](const ptx::Operand& operand) {
      return operand.kind == ptx::Operand::Kind::kImmediate;
    });
    if (is_plain) return asmOf(change.opcode, change.operands);
    return copyOfStatement(change.opcode);
  }

  // An instruction with operands that the program has elsewhere: the same statement again.
  std::optional<std::string> copyOfStatement(const std::string& opcode) const {
    for (std::uint32_t i = 0; i < program_.function.instructions.size(); ++i) {
      if (instruction(i).opcode != opcode) continue;
      const std::uint32_t line = lineOf(i);
      std::string code = text_.code(line);
      if (line == 0 || !text_.isStatement(line) || text_.isLoop(line)) return std::nullopt;
      if (const auto inner = behindCondition(code)) code = *inner;
      return code;
    }
    return std::nullopt;
  }

  /// "if (a) b;" -> "b;".
  static std::optional<std::string> behindCondition(const std::string& code) {
    if (!code.starts_with("if (") && !code.starts_with("if(")) return std::nullopt;
    int depth = 0;
    for (std::size_t i = code.find('('); i < code.size(); ++i) {
      depth += code[i] == '(' ? 1 : code[i] == ')' ? -1 : 0;
      if (depth == 0) return std::string(trim(std::string_view(code).substr(i + 1)));
    }
    return std::nullopt;
  }

  static void append(std::string& lines, const std::string& line) { lines += (lines.empty() ? "" : "\n") + line; }

  bool insert(const Change& change, const std::string& statement) {
    const std::uint32_t line = lineOf(change.at);
    if (line == 0) return false;
    if (change.kind == Change::Kind::kInsertBefore) {
      const bool is_end = text_.code(line) == "}" && std::holds_alternative<ptx::Return>(instruction(change.at).decoded->effect);
      if (is_end) return insertAtEnd(line, statement);
      if (!text_.startsStatement(line)) return false;
      append(lines_[line].before, text_.indentOf(line) + statement);
      return true;
    }
    const std::uint32_t last = text_.startsStatement(line) ? text_.lastLineOf(line) : 0;
    if (last == 0) return false;
    append(lines_[last].after, text_.indentOf(line) + statement);
    return true;
  }

  // Threads that return earlier would not come by.
  bool insertAtEnd(std::uint32_t line, const std::string& statement) {
    std::uint32_t first = line;
    while (first > 0 && text_.code(first).find("__global__") == std::string::npos) --first;
    std::uint32_t last = line - 1;
    while (last > first && text_.code(last).empty()) --last;
    for (std::uint32_t i = first; i < line; ++i) {
      const std::string code = text_.code(i);
      if (code.find("return;") != std::string::npos) return false;
    }
    append(lines_[line].before, text_.indentOf(line) + "    " + statement);
    return true;
  }

  bool remove(const Change& change) {
    const std::uint32_t line = lineOf(change.at);
    if (line == 0 || !text_.isStatement(line) || lines_[line].is_replaced) return false;
    Line& at = lines_[line];
    at.is_replaced = true;
    if (std::holds_alternative<ptx::Branch>(instruction(change.at).decoded->effect)) {
      const auto inner = behindCondition(text_.code(line));
      if (!inner) return false;
      at.replacement = text_.indentOf(line) + *inner;
    }
    return true;
  }

  bool move(const Change& change) {
    const std::uint32_t from = lineOf(change.at), to = lineOf(change.to);
    if (from == 0 || to == 0 || from == to || !text_.isStatement(from) || text_.isLoop(from)) return false;
    if (behindCondition(text_.code(from)) || lines_[from].is_replaced || !text_.startsStatement(to)) return false;
    const std::uint32_t last = text_.lastLineOf(to);
    const bool is_before = change.kind == Change::Kind::kMoveBefore;
    if (!is_before && last == 0) return false;
    lines_[from].is_replaced = true;
    const std::string moved = text_.indentOf(to) + std::string(trim(text_.line(from)));
    append(is_before ? lines_[to].before : lines_[last].after, moved);
    return true;
  }

  /// The operands of `opcode` in an asm template, as written.
  static std::vector<std::string> operandsIn(const std::string& assembly, const std::string& opcode) {
    const std::size_t at = assembly.find(opcode + " ");
    if (at == std::string::npos) return {};
    const std::size_t begin = at + opcode.size() + 1;
    const std::string list = assembly.substr(begin, assembly.find(';', begin) - begin) + ")";
    std::vector<std::string> operands;
    for (const auto& [from, to] : splitArguments(list, 0)) operands.push_back(list.substr(from, to - from));
    return operands;
  }

  static std::string simpleName(const std::string& function) {
    const std::size_t end = function.find_first_of("(<");
    const std::string_view name = std::string_view(function).substr(0, end);
    const std::size_t begin = name.find_last_of(": *&");
    return std::string(begin == std::string_view::npos ? name : name.substr(begin + 1));
  }

  /// Where the value of an operand is written: an argument of the call at the statement's own frame.
  std::optional<Piece> pieceOf(std::uint32_t at, std::uint32_t operand) const {
    const SourceStack& stack = program_.stackOf(at);
    if (stack.empty()) return std::nullopt;
    const std::size_t own = statements_.frameOf(at);
    if (own == 0) return intrinsicArgument(stack[0].pos.line, at);
    if (stack[0].pos.file != file_) return own < stack.size() ? intrinsicArgument(stack[own].pos.line, at) : std::nullopt;
    const std::optional<AsmStatement> statement = text_.asmAt(stack[0].pos.line);
    if (!statement) return std::nullopt;
    const std::vector<std::string> operands = operandsIn(statement->assembly, instruction(at).opcode);
    if (operand >= operands.size() || operands[operand].size() < 2 || operands[operand][0] != '%') return std::nullopt;
    const std::size_t number = std::strtoul(operands[operand].c_str() + 1, nullptr, 10);
    if (number >= statement->operands.size()) return std::nullopt;
    std::string expression = statement->operands[number];
    for (std::size_t level = 0; level < own; ++level) {
      const Wrapper* wrapper = text_.wrapperAround(stack[level].pos.line);
      if (wrapper == nullptr) return std::nullopt;
      const auto find = [&](const std::vector<std::string>& names) { return std::find(names.begin(), names.end(), expression) - names.begin(); };
      const auto plain = static_cast<std::size_t>(find(wrapper->parameters)), angle = static_cast<std::size_t>(find(wrapper->template_parameters));
      const bool is_template = plain == wrapper->parameters.size();
      if (is_template && angle == wrapper->template_parameters.size()) return std::nullopt;
      const std::vector<Piece> arguments = text_.arguments(stack[level + 1].pos.line, wrapper->name, is_template);
      const std::size_t index = is_template ? angle : plain;
      if (index >= arguments.size()) return std::nullopt;
      if (level + 1 == own) return arguments[index];
      expression = text_.text(arguments[index]);
    }
    return std::nullopt;
  }

  // Functions of the toolkit whose argument is the operand.
  std::optional<Piece> intrinsicArgument(std::uint32_t line, std::uint32_t at) const {
    if (instruction(at).opcode != "cp.async.wait_group") return std::nullopt;
    const std::vector<Piece> arguments = text_.arguments(line, "__pipeline_wait_prior", /*is_template=*/false);
    return arguments.size() == 1 ? std::optional(arguments[0]) : std::nullopt;
  }

  bool replacePiece(const Piece& piece, const std::string& by) {
    Line& at = lines_[piece.line];
    if (at.is_replaced) return false;
    at.is_replaced = true;
    at.replacement = text_.line(piece.line);
    at.replacement.replace(piece.begin, piece.end - piece.begin, by);
    return true;
  }

  bool changeOperand(const Change& change) {
    const std::optional<Piece> piece = pieceOf(change.at, change.operand);
    if (!piece) return changeTemplate(change);
    const std::string old = text_.text(*piece);
    switch (change.kind) {
      case Change::Kind::kSetOperand: return replacePiece(*piece, std::to_string(change.value));
      case Change::Kind::kCapOperand: return replacePiece(*piece, "min(" + old + ", " + std::to_string(change.value) + ")");
      default: break;
    }
    if (old == "0" || old == "1") return replacePiece(*piece, old == "0" ? "1" : "0");
    const std::string_view suffix = " ^ 1";
    if (old.ends_with(suffix) && old.front() == '(' && old[old.size() - suffix.size() - 1] == ')') {
      return replacePiece(*piece, old.substr(1, old.size() - suffix.size() - 2));
    }
    const bool is_word = isIdentifier(old);
    return replacePiece(*piece, (is_word ? old : "(" + old + ")") + " ^ 1");
  }

  /// The asm statement of the instruction is in the file and is reached by this statement only.
  bool isOnlyUse(std::uint32_t at) const {
    const SourceStack& stack = program_.stackOf(at);
    if (stack.empty() || stack[0].pos.file != file_) return false;
    const std::vector<std::uint32_t> twins = statements_.twinsOf(at);
    for (std::uint32_t i = 0; i < program_.function.instructions.size(); ++i) {
      const SourceStack& other = program_.stackOf(i);
      const bool same = !other.empty() && other[0].pos.line == stack[0].pos.line && other[0].pos.file == file_ &&
                        instruction(i).opcode == instruction(at).opcode;
      if (same && std::find(twins.begin(), twins.end(), i) == twins.end()) return false;
    }
    return true;
  }

  // A number in the asm template itself.
  bool changeTemplate(const Change& change) {
    if (change.kind != Change::Kind::kSetOperand || !isOnlyUse(change.at)) return false;
    const std::uint32_t line = program_.stackOf(change.at)[0].pos.line;
    const std::string& text = text_.line(line);
    const std::string& opcode = instruction(change.at).opcode;
    const std::size_t at = text.find(opcode + " ");
    if (at == std::string::npos) return false;
    const std::size_t begin = at + opcode.size() + 1, end = text.find(';', begin);
    if (end == std::string::npos) return false;
    const std::string list = text.substr(0, end) + ")";
    const auto pieces = splitArguments(list, begin);
    if (change.operand >= pieces.size()) return false;
    const auto [from, to] = pieces[change.operand];
    const std::string old = list.substr(from, to - from);
    if (!std::all_of(old.begin(), old.end(), [](unsigned char c) { return std::isdigit(c) != 0; })) return false;
    return replacePiece({line, from, to}, std::to_string(change.value));
  }

  bool renameCall(std::uint32_t at, const Wrapper& from, const Wrapper& to) {
    const std::uint32_t line = lineOf(at);
    const std::string& text = text_.line(line);
    const std::size_t found = text.find(from.name);
    if (line == 0 || found == std::string::npos || text.find(from.name, found + 1) != std::string::npos) return false;
    return replacePiece({line, found, found + from.name.size()}, to.name);
  }

  const Wrapper* wrapperOf(std::uint32_t at) const {
    const SourceStack& stack = program_.stackOf(at);
    const bool is_called = stack.size() > 1 && stack[0].pos.file == file_ && statements_.frameOf(at) == 1;
    return is_called ? text_.wrapperAround(stack[0].pos.line) : nullptr;
  }

  bool changeOpcode(const Change& change) {
    const std::string& old = instruction(change.at).opcode;
    if (const Wrapper* wrapper = wrapperOf(change.at)) {
      for (const Wrapper& other : text_.wrappers()) {
        const bool fits = other.assembly.find(change.opcode + " ") != std::string::npos || other.assembly.find(change.opcode + ";") != std::string::npos;
        if (fits && other.statements == 1 && other.parameters.size() == wrapper->parameters.size() &&
            other.template_parameters.size() == wrapper->template_parameters.size()) {
          return renameCall(change.at, *wrapper, other);
        }
      }
    }
    if (!isOnlyUse(change.at)) return false;
    const std::optional<AsmStatement> statement = text_.asmAt(program_.stackOf(change.at)[0].pos.line);
    for (std::uint32_t line = statement ? statement->first_line : 1; statement && line <= statement->last_line; ++line) {
      const std::size_t found = text_.line(line).find(old);
      if (found != std::string::npos) return replacePiece({line, found, found + old.size()}, change.opcode);
    }
    return false;
  }

  bool retry(const Change& change) {
    const Wrapper* wrapper = wrapperOf(change.at);
    if (wrapper == nullptr) return false;
    for (const Wrapper& other : text_.wrappers()) {
      const bool fits = other.has_loop && other.assembly.find(instruction(change.at).opcode) != std::string::npos;
      if (fits && other.parameters.size() == wrapper->parameters.size()) return renameCall(change.at, *wrapper, other);
    }
    return false;
  }

  bool elect(const Change& change) {
    const std::uint32_t line = lineOf(change.at);
    if (line == 0 || !text_.isStatement(line) || text_.isLoop(line) || behindCondition(text_.code(line))) return false;
    std::string condition = "threadIdx.x % 32 == 0";
    for (const Wrapper& wrapper : text_.wrappers()) {
      if (wrapper.assembly.find("elect.sync") != std::string::npos && wrapper.parameters.empty()) condition = wrapper.name + "()";
    }
    lines_[line].is_replaced = true;
    lines_[line].replacement = text_.indentOf(line) + "if (" + condition + ") " + std::string(trim(text_.line(line)));
    return true;
  }

  bool splitBranch(const Change& change) {
    const std::uint32_t branch = lineOf(change.at), line = lineOf(change.to);
    const std::string head = text_.code(branch);
    if (branch == 0 || line == 0 || !head.starts_with("if (") || !head.ends_with("{") || !text_.isStatement(line)) return false;
    if (text_.indentOf(branch).size() >= text_.indentOf(line).size()) return false;
    const std::string indent = text_.indentOf(branch);
    lines_[line].is_replaced = true;
    lines_[line].replacement = indent + "}\n" + indent + std::string(trim(text_.line(line))) + "\n" + indent + head;
    return true;
  }

  // tcgen05.commit with the address that the arrival had.
  bool commitInstead(const Change& change) {
    const Wrapper* wrapper = wrapperOf(change.at);
    if (wrapper == nullptr || wrapper->parameters.size() != 1) return false;
    for (const Wrapper& other : text_.wrappers()) {
      const bool fits = other.statements == 1 && other.parameters.size() == 1 && other.assembly.find("tcgen05.commit") != std::string::npos;
      if (fits) return renameCall(change.at, *wrapper, other);
    }
    return false;
  }

  const machine::Program& program_;
  const Statements& statements_;
  const SourceText& text_;
  const std::string& file_;
  std::map<std::uint32_t, Line> lines_;
};

}  // namespace

std::vector<SourceChange> sourceChanges(const machine::Program& program, const Statements& statements, const SourceText& text,
                                        const std::string& file, const Edit& edit) {
  if (text.isEmpty()) return {};
  Fixer fixer(program, statements, text, file);
  if (!fixer.add(edit)) return {};
  return fixer.take();
}

}  // namespace handoff::explore
