// SPDX-License-Identifier: Apache-2.0
// A reader of CUDA C++ that knows brackets, strings and comments, and gives up on everything else.
#include "analyzer/explore/source_text.h"

#include <algorithm>
#include <cctype>
#include <sstream>

namespace handoff::explore {

namespace {

bool isWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// The end of the string literal that starts at `at`.
std::size_t skipString(std::string_view text, std::size_t at) {
  for (std::size_t i = at + 1; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == text[at]) {
      return i + 1;
    }
  }
  return text.size();
}

std::string withoutComments(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == '"') {
      const std::size_t end = skipString(text, i);
      result += text.substr(i, end - i);
      i = end;
    } else if (text.substr(i, 2) == "//") {
      break;
    } else if (text.substr(i, 2) == "/*") {
      const std::size_t end = text.find("*/", i + 2);
      if (end == std::string_view::npos) break;
      i = end + 2;
    } else {
      result += text[i++];
    }
  }
  return result;
}

/// Position of `word` as a whole word, from `from` on.
std::size_t findWord(std::string_view text, std::string_view word, std::size_t from = 0) {
  for (std::size_t at = text.find(word, from); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const bool starts = at == 0 || !isWord(text[at - 1]);
    const bool ends = at + word.size() >= text.size() || !isWord(text[at + word.size()]);
    if (starts && ends) return at;
  }
  return std::string_view::npos;
}

/// The name that a parameter declares: its last word, before a default value.
std::string declaredName(std::string_view parameter) {
  parameter = trim(parameter.substr(0, parameter.find('=')));
  std::size_t begin = parameter.size();
  while (begin > 0 && isWord(parameter[begin - 1])) --begin;
  return std::string(parameter.substr(begin));
}

std::vector<std::string> declaredNames(std::string_view text, std::size_t begin) {
  std::vector<std::string> names;
  for (const auto& [from, to] : splitArguments(text, begin)) {
    std::string name = declaredName(text.substr(from, to - from));
    if (!name.empty()) names.push_back(std::move(name));
  }
  return names;
}

std::string literalsOf(std::string_view text) {
  std::string joined;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] != '"') {
      ++i;
      continue;
    }
    const std::size_t end = skipString(text, i);
    joined += text.substr(i + 1, end - i - 2);
    i = end;
  }
  return joined;
}

/// Template, outputs, inputs, clobbers: what stands between the colons outside of brackets and strings.
std::vector<std::string> asmParts(std::string_view text, std::size_t begin) {
  int depth = 0;
  std::vector<std::string> parts(1);
  for (std::size_t i = begin; i < text.size(); ++i) {
    if (text[i] == '"') {
      const std::size_t end = skipString(text, i);
      parts.back() += text.substr(i, end - i);
      i = end - 1;
      continue;
    }
    depth += text[i] == '(' || text[i] == '[' ? 1 : text[i] == ')' || text[i] == ']' ? -1 : 0;
    if (depth < 0) break;
    if (text[i] == ':' && depth == 0) {
      parts.emplace_back();
    } else {
      parts.back() += text[i];
    }
  }
  return parts;
}

}  // namespace

std::string_view trim(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.remove_suffix(1);
  return text;
}

bool isIdentifier(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), isWord) && std::isdigit(static_cast<unsigned char>(text[0])) == 0;
}

std::vector<std::pair<std::size_t, std::size_t>> splitArguments(std::string_view text, std::size_t begin) {
  std::vector<std::pair<std::size_t, std::size_t>> pieces;
  int depth = 0;
  std::size_t start = begin;
  const auto close = [&](std::size_t end) {
    const std::string_view piece = text.substr(start, end - start);
    const std::string_view inner = trim(piece);
    if (!inner.empty()) {
      const auto from = static_cast<std::size_t>(inner.data() - text.data());
      pieces.emplace_back(from, from + inner.size());
    }
    start = end + 1;
  };
  for (std::size_t i = begin; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      i = skipString(text, i) - 1;
    } else if (c == '(' || c == '[' || c == '{') {
      ++depth;
    } else if (c == ')' || c == ']' || c == '}') {
      if (depth-- == 0) {
        close(i);
        return pieces;
      }
    } else if (c == ',' && depth == 0) {
      close(i);
    }
  }
  return {};  // the list does not end here
}

SourceText SourceText::of(const frontend::Unit& unit) {
  std::vector<std::string> lines;
  std::istringstream stream(unit.text);
  for (std::string line; std::getline(stream, line);) {
    if (line.ends_with('\r')) line.pop_back();
    lines.push_back(std::move(line));
  }
  return SourceText(std::move(lines));
}

SourceText::SourceText(std::vector<std::string> lines) : lines_(std::move(lines)) { findWrappers(); }

const std::string& SourceText::line(std::uint32_t number) const {
  static const std::string kNone;
  return number == 0 || number > lines_.size() ? kNone : lines_[number - 1];
}

std::string SourceText::code(std::uint32_t number) const { return std::string(trim(withoutComments(line(number)))); }

std::string SourceText::indentOf(std::uint32_t number) const {
  const std::string& text = line(number);
  return text.substr(0, text.find_first_not_of(" \t"));
}

bool SourceText::isLoop(std::uint32_t number) const {
  const std::string text = code(number);
  return text.starts_with("for ") || text.starts_with("for(") || text.starts_with("while ") || text.starts_with("while(");
}

bool SourceText::startsStatement(std::uint32_t number) const {
  const std::string text = code(number);
  if (text.empty() || text.starts_with("else") || text.starts_with("#") || text.starts_with("case ") || text.starts_with("{")) return false;
  for (std::uint32_t before = number - 1; before > 0; --before) {
    const std::string previous = code(before);
    if (previous.empty() || previous.starts_with("#")) continue;
    const char last = previous.back();
    return last == ';' || last == '{' || last == '}' || last == ':';
  }
  return false;
}

std::uint32_t SourceText::lastLineOf(std::uint32_t number) const {
  constexpr std::uint32_t kMaxLines = 6;
  int depth = 0;
  for (std::uint32_t at = number; at < number + kMaxLines && at <= lines_.size(); ++at) {
    const std::string text = code(at);
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '"') i = skipString(text, i) - 1;
      if (i >= text.size()) break;
      depth += text[i] == '(' || text[i] == '{' ? 1 : text[i] == ')' || text[i] == '}' ? -1 : 0;
    }
    if (depth < 0) return 0;
    if (depth == 0 && !text.empty() && text.back() == ';') return at;
  }
  return 0;
}

bool SourceText::isStatement(std::uint32_t number) const { return startsStatement(number) && lastLineOf(number) == number; }

std::vector<Piece> SourceText::arguments(std::uint32_t number, std::string_view name, bool is_template, std::uint32_t column) const {
  const std::string& text = line(number);
  std::size_t at = findWord(text, name);
  if (at == std::string::npos) return {};
  if (findWord(text, name, at + 1) != std::string::npos) {
    if (column == 0 || findWord(text, name, column - 1) != column - 1) return {};
    at = column - 1;
  }
  std::size_t open = at + name.size();
  std::vector<Piece> pieces;
  if (open < text.size() && text[open] == '<') {
    const std::size_t close = text.find('>', open);
    if (close == std::string::npos) return {};
    if (is_template) {
      const std::string inner = text.substr(0, close) + ")";
      for (const auto& [from, to] : splitArguments(inner, open + 1)) pieces.push_back({number, from, to});
      return pieces;
    }
    open = close + 1;
  }
  if (is_template || open >= text.size() || text[open] != '(') return {};
  for (const auto& [from, to] : splitArguments(text, open + 1)) pieces.push_back({number, from, to});
  return pieces;
}

const Wrapper* SourceText::wrapperAround(std::uint32_t number) const {
  for (const Wrapper& wrapper : wrappers_) {
    if (number >= wrapper.first_line && number <= wrapper.last_line) return &wrapper;
  }
  return nullptr;
}

// The position of an asm statement may be any of its lines.
std::optional<AsmStatement> SourceText::asmAt(std::uint32_t number) const {
  constexpr std::uint32_t kMaxLines = 12;
  std::uint32_t first = number;
  while (first > 0 && first + kMaxLines > number && findWord(code(first), "asm") == std::string::npos) --first;
  if (first == 0 || findWord(code(first), "asm") == std::string::npos) return std::nullopt;
  std::string text;
  AsmStatement statement{.first_line = first, .last_line = first};
  std::size_t open = std::string::npos;
  for (std::uint32_t at = first; at < first + kMaxLines && at <= lines_.size(); ++at) {
    text += (text.empty() ? "" : " ") + code(at);
    open = text.find('(', findWord(text, "asm"));
    if (open != std::string::npos && !splitArguments(text, open + 1).empty()) {
      statement.last_line = at;
      break;
    }
  }
  if (open == std::string::npos) return std::nullopt;
  const std::vector<std::string> parts = asmParts(text, open + 1);
  statement.assembly = literalsOf(parts[0]);
  for (std::size_t part = 1; part < std::min<std::size_t>(parts.size(), 3); ++part) {
    const std::string list = parts[part] + ")";
    for (const auto& [from, to] : splitArguments(list, 0)) {
      const std::string operand = list.substr(from, to - from);
      const std::size_t begin = operand.find('(');
      statement.operands.push_back(begin == std::string::npos ? "" : std::string(trim(operand.substr(begin + 1, operand.rfind(')') - begin - 1))));
    }
  }
  return statement;
}

bool SourceText::mentions(std::string_view word) const {
  for (std::uint32_t i = 1; i <= lines_.size(); ++i) {
    if (withoutComments(line(i)).find(word) != std::string::npos) return true;
  }
  return false;
}

void SourceText::findWrappers() {
  constexpr std::uint32_t kMaxLines = 16;
  for (std::uint32_t first = 1; first <= lines_.size(); ++first) {
    const std::string head = code(first);
    if (findWord(head, "__device__") == std::string::npos || findWord(head, "__global__") != std::string::npos) continue;
    const std::size_t open = head.find('(', findWord(head, "__device__"));
    if (open == std::string::npos) continue;
    std::size_t begin = open;
    while (begin > 0 && isWord(head[begin - 1])) --begin;
    Wrapper wrapper{.name = head.substr(begin, open - begin), .first_line = first};
    // The body: until its brackets match.
    std::string body;
    int depth = 0;
    bool is_open = false;
    for (std::uint32_t at = first; at < first + kMaxLines && at <= lines_.size() && wrapper.last_line == 0; ++at) {
      const std::string text = code(at);
      for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '"') {
          const std::size_t end = skipString(text, i);
          body += text.substr(i, end - i);
          i = end - 1;
          continue;
        }
        body += text[i];
        depth += text[i] == '{' ? 1 : text[i] == '}' ? -1 : 0;
        is_open |= text[i] == '{';
        if (is_open && depth == 0) wrapper.last_line = at;
      }
      body += ' ';
    }
    if (wrapper.last_line == 0) continue;
    for (std::size_t at = findWord(body, "asm"); at != std::string::npos; at = findWord(body, "asm", at + 1)) {
      const std::size_t begin = body.find('(', at);
      if (begin == std::string::npos) break;
      ++wrapper.statements;
      wrapper.assembly += literalsOf(asmParts(body, begin + 1)[0]);
    }
    if (wrapper.statements == 0) continue;
    const std::size_t parameters = body.find('(', body.find(wrapper.name));
    wrapper.parameters = declaredNames(body, parameters + 1);
    const std::string before = first > 1 ? code(first - 1) : "";
    const std::string& declaration = head.starts_with("template") ? head : before;
    if (declaration.starts_with("template")) {
      const std::size_t end = declaration.find('>'), angle = declaration.find('<');
      if (end != std::string::npos && angle != std::string::npos) {
        wrapper.template_parameters = declaredNames(declaration.substr(0, end) + ")", angle + 1);
      }
    }
    wrapper.has_loop = findWord(body, "while") != std::string::npos || findWord(body, "for") != std::string::npos ||
                       wrapper.assembly.find("bra") != std::string::npos;
    wrappers_.push_back(std::move(wrapper));
  }
}

}  // namespace handoff::explore
