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

#include "analyzer/diagnose/edit_builder.h"
#include "analyzer/explore/source_operand.h"
#include "analyzer/explore/source_style.h"

namespace handoff::explore {

using diagnose::Change;
using diagnose::Edit;
using diagnose::SourceChange;

namespace {

class Fixer {
 public:
  Fixer(const machine::Program& program, const Statements& statements, const SourceText& text, const std::string& file)
      : program_(program), statements_(statements), text_(text), file_(file), operands_(program, statements, text, file) {}

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
      if (!at.pieces.empty() && !at.replacePieces(original)) return {};
      const bool is_same = at.is_replaced && at.replacement == original;
      if (is_same) at.is_replaced = false;
      if (is_same && at.before.empty() && at.after.empty()) continue;
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
    std::vector<std::pair<Piece, std::string>> pieces;  ///< what takes the place of each
    bool is_replaced = false;

    /// False: the line is replaced as a whole, too, or two pieces overlap.
    bool replacePieces(const std::string& original) {
      if (is_replaced) return false;
      std::sort(pieces.begin(), pieces.end(), [](const auto& a, const auto& b) { return a.first.begin > b.first.begin; });
      replacement = original;
      for (std::size_t i = 0; i < pieces.size(); ++i) {
        if (i > 0 && pieces[i].first.end > pieces[i - 1].first.begin) return false;
        replacement.replace(pieces[i].first.begin, pieces[i].first.end - pieces[i].first.begin, pieces[i].second);
      }
      return is_replaced = true;
    }
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
      case Change::Kind::kPhaseBit: return keepPhase(change);
      case Change::Kind::kMapOperand: return mapOperand(change);
      case Change::Kind::kSplitCopy: return splitCopy(change);
      case Change::Kind::kInsertTaken: return insertTaken(change);
      case Change::Kind::kAddToOperand:
      case Change::Kind::kDropGuard:
      case Change::Kind::kNegateGuard: return false;  // of mutants; no repair has them
      case Change::Kind::kWaitBefore:
      case Change::Kind::kWaitAfter: {
        const auto wait = operands_.waitFor(change.to, change.operand, change.opcode, change.value, lineOf(change.at));
        return wait && insert(change, *wait);
      }
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
    if (change.kind == Change::Kind::kInsertBefore || change.kind == Change::Kind::kWaitBefore) {
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
    if (std::holds_alternative<ptx::Branch>(instruction(change.at).decoded->effect)) return moveBranch(change.kind, from, to);
    if (from == 0 || to == 0 || from == to || !text_.isStatement(from) || text_.isLoop(from)) return false;
    if (behindCondition(text_.code(from)) || lines_[from].is_replaced || !text_.startsStatement(to)) return false;
    if (!operands_.isInScope(text_.code(from), from, to)) return false;
    const std::uint32_t last = text_.lastLineOf(to);
    const bool is_before = change.kind == Change::Kind::kMoveBefore;
    if (!is_before && last == 0) return false;
    lines_[from].is_replaced = true;
    const std::string moved = text_.indentOf(to) + std::string(trim(text_.line(from)));
    append(is_before ? lines_[to].before : lines_[last].after, moved);
    return true;
  }

  // "if (...) {" further down; the lines between run whatever it says.
  bool moveBranch(Change::Kind kind, std::uint32_t from, std::uint32_t to) {
    const std::string head = text_.code(from);
    const std::uint32_t last = text_.lastLineOf(to);
    const bool fits = kind == Change::Kind::kMoveAfter && from != 0 && to > from && last != 0 && head.starts_with("if (") &&
                      head.ends_with("{") && text_.startsStatement(from) && !lines_[from].is_replaced;
    if (!fits) return false;
    lines_[from].is_replaced = true;
    append(lines_[last].after, text_.indentOf(from) + head);
    return true;
  }

  // "if (...) return;" with a statement before the return.
  bool insertTaken(const Change& change) {
    const std::uint32_t line = lineOf(change.at), from = lineOf(change.to);
    if (line == 0 || from == 0 || !text_.isStatement(line) || !text_.isStatement(from) || text_.isLoop(from)) return false;
    const std::string code = text_.code(line), statement = text_.code(from);
    if (behindCondition(code) != std::optional<std::string>("return;") || behindCondition(statement)) return false;
    if (!operands_.isInScope(statement, from, line) || lines_[line].is_replaced) return false;
    lines_[line].is_replaced = true;
    const std::size_t leave = code.rfind("return;");
    lines_[line].replacement = text_.indentOf(line) + code.substr(0, leave) + "{ " + statement + " return; }";
    return true;
  }

  // A variable of the kernel in place of the constant.
  bool keepPhase(const Change& change) {
    const std::optional<Piece> piece = operands_.valueOf(change.at, change.operand);
    const std::uint32_t line = lineOf(change.at);
    if (!piece || piece->line != line || !text_.isStatement(line) || text_.isLoop(line) || behindCondition(text_.code(line))) return false;
    // A barrier of an array has the bit of its index.
    const std::optional<std::string> barrier = operands_.addressOf(change.at, change.operand - 1);
    if (!barrier) return false;
    const std::size_t open = barrier->find('[');
    const bool is_array = open != std::string::npos && barrier->ends_with(']');
    const std::string index = is_array ? barrier->substr(open + 1, barrier->size() - open - 2) : std::string();
    std::string name = is_array ? "phases" : "phase";
    while (text_.mentions(name)) name += "_bit";
    std::uint32_t head = line;
    while (head > 0 && text_.code(head).find("__global__") == std::string::npos) --head;
    while (head > 0 && head < line && !text_.code(head).ends_with("{")) ++head;
    if (head == 0 || head >= line) return false;
    const std::string start = change.value == 0 ? "0" : is_array ? "~0u" : "1";
    append(lines_[head].after, text_.indentOf(head) + "    uint32_t " + name + " = " + start + ";");
    const std::string shift = isIdentifier(index) ? index : "(" + index + ")";
    append(lines_[line].after, text_.indentOf(line) + name + " ^= " + (is_array ? "1u << " + shift : "1") + ";");
    return replacePiece(*piece, is_array ? "(" + name + " >> " + shift + ") & 1" : name);
  }

  // "map(x, rank)" for one argument makes "convert(y)" another "map(y, rank)".
  bool mapOperand(const Change& change) {
    const auto argument = operands_.valueOf(change.at, change.operand);
    const auto other = operands_.valueOf(change.at, change.operand == 0 ? lastAddress(change.at) : 0);
    if (!argument || !other) return false;
    const std::string from = text_.text(*argument), like = text_.text(*other);
    const std::size_t open = from.find('('), begin = like.find('(');
    if (open == std::string::npos || begin == std::string::npos || !from.ends_with(')') || !isIdentifier(from.substr(0, open))) return false;
    const auto parts = splitArguments(like, begin + 1);
    if (parts.size() != 2) return false;
    const auto own = splitArguments(from, open + 1);
    if (own.empty() || own.size() > 2 || (own.size() == 2 && from.substr(0, open) != like.substr(0, begin))) return false;
    const std::string inner = from.substr(own[0].first, own[0].second - own[0].first), rank = like.substr(parts[1].first, parts[1].second - parts[1].first);
    return replacePiece(*argument, like.substr(0, begin) + "(" + inner + ", " + rank + ")");
  }

  std::uint32_t lastAddress(std::uint32_t at) const {
    std::uint32_t found = 0;
    for (std::uint32_t i = 0; i < instruction(at).operands.size(); ++i) {
      if (instruction(at).operands[i].kind == ptx::Operand::Kind::kAddress) found = i;
    }
    return found;
  }

  // In the asm template: each piece is addressed from the same two registers.
  bool splitCopy(const Change& change) {
    if (!isOnlyUse(change.at)) return false;
    const std::string& opcode = instruction(change.at).opcode;
    const std::uint32_t line = program_.stackOf(change.at)[0].pos.line;
    const std::size_t begin = text_.line(line).find(opcode + " "), end = text_.line(line).find(';', begin);
    if (begin == std::string::npos || end == std::string::npos) return false;
    const std::string list = text_.line(line).substr(0, end) + ")";
    std::vector<std::string> operands;
    for (const auto& [from, to] : splitArguments(list, begin + opcode.size() + 1)) operands.push_back(list.substr(from, to - from));
    if (operands.size() != 3 || !operands[0].ends_with(']') || !operands[1].ends_with(']')) return false;
    const std::int64_t bytes = instruction(change.at).operands[2].imm;
    if (operands[2] != std::to_string(bytes)) return false;
    const auto behind = [](const std::string& address, std::int64_t offset) {
      return offset == 0 ? address : address.substr(0, address.size() - 1) + "+" + std::to_string(offset) + "]";
    };
    std::string copies;
    for (std::int64_t done = 0; done < bytes; done += change.value) {
      copies += (done == 0 ? "" : "; ") + diagnose::EditBuilder::replaced(opcode, "cp.async.cg", "cp.async.ca") + " " + behind(operands[0], done) +
                ", " + behind(operands[1], done) + ", " + std::to_string(change.value);
    }
    return replacePiece({line, begin, end}, copies);
  }

  bool replacePiece(const Piece& piece, const std::string& by) {
    Line& at = lines_[piece.line];
    if (at.is_replaced) return false;
    // The copies of a statement that the compiler made say the same.
    const bool is_known = std::any_of(at.pieces.begin(), at.pieces.end(), [&](const auto& other) {
      return other.first.begin == piece.begin && other.first.end == piece.end && other.second == by;
    });
    if (!is_known) at.pieces.emplace_back(piece, by);
    return true;
  }

  bool changeOperand(const Change& change) {
    const std::optional<Piece> piece = operands_.valueOf(change.at, change.operand);
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
  SourceOperands operands_;
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
