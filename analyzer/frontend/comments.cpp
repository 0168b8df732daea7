// SPDX-License-Identifier: Apache-2.0
// A scanner for comments.
#include "analyzer/frontend/comments.h"

#include <cctype>

namespace handoff::frontend {
namespace {

/// Behind the closing quote; a literal ends at the end of its line at the latest.
std::size_t skipLiteral(std::string_view text, std::size_t at) {
  const char quote = text[at++];
  while (at < text.size() && text[at] != quote && text[at] != '\n') at += text[at] == '\\' ? 2 : 1;
  return at < text.size() && text[at] == quote ? at + 1 : at;
}

}  // namespace

std::vector<SourceComment> scanComments(std::string_view text, const std::string& file) {
  std::vector<SourceComment> comments;
  std::uint32_t line = 1;
  std::size_t line_start = 0;
  for (std::size_t i = 0; i < text.size();) {
    const bool is_digit_separator =
        text[i] == '\'' && i > 0 && std::isxdigit(static_cast<unsigned char>(text[i - 1])) != 0;
    if (text[i] == '\n') {
      ++line;
      line_start = ++i;
    } else if ((text[i] == '"' || text[i] == '\'') && !is_digit_separator) {
      i = skipLiteral(text, i);
    } else if (text.substr(i, 2) == "//" || text.substr(i, 2) == "/*") {
      const bool is_line = text[i + 1] == '/';
      std::size_t end = text.find(is_line ? "\n" : "*/", i + 2);
      if (end == std::string_view::npos)
        end = text.size();
      else if (!is_line)
        end += 2;
      const std::string_view comment = text.substr(i, end - i);
      if (comment.find("NOLINT") != std::string_view::npos ||
          comment.find("handoff:") != std::string_view::npos)
        comments.push_back(
            {{file, line, static_cast<std::uint32_t>(i - line_start + 1)}, std::string(comment)});
      for (; i < end; ++i)
        if (text[i] == '\n') {
          ++line;
          line_start = i + 1;
        }
    } else {
      ++i;
    }
  }
  return comments;
}

}  // namespace handoff::frontend
