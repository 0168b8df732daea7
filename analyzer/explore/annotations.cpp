// SPDX-License-Identifier: Apache-2.0
// Finding annotations in the comments that the front end kept.
#include "analyzer/explore/annotations.h"

#include <algorithm>
#include <iterator>

namespace handoff::explore {

namespace {

/// Comments within this many lines above a kernel speak of it.
constexpr std::uint32_t kCommentReach = 12;
constexpr std::string_view kMark = "handoff:";

bool isBlank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/// What follows "handoff:" when the word stands there.
bool takeWord(std::string_view& text, std::string_view word) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return text.empty() || isBlank(text.front());
}

}  // namespace

bool speaksOf(const frontend::SourceComment& comment, const frontend::KernelDecl& decl) {
  return comment.pos.file == decl.pos.file && comment.pos.line <= decl.pos.line &&
         comment.pos.line + kCommentReach >= decl.pos.line;
}

std::vector<const frontend::KernelDecl*> kernelsBelow(const frontend::Unit& unit,
                                                      const frontend::SourceComment& comment) {
  std::vector<const frontend::KernelDecl*> kernels;
  for (const frontend::KernelDecl& decl : unit.kernels)
    if (speaksOf(comment, decl)) kernels.push_back(&decl);
  return kernels;
}

std::vector<Annotation> annotationsIn(const frontend::SourceComment& comment, std::string_view word) {
  std::vector<Annotation> found;
  const std::string_view all = comment.text;
  for (std::size_t at = all.find(kMark); at != std::string_view::npos;) {
    const std::size_t next = all.find(kMark, at + kMark.size());
    std::string_view text = all.substr(0, next).substr(at + kMark.size());
    if (takeWord(text, word)) {
      text = text.substr(0, text.find_first_of("\r\n"));
      if (text.ends_with("*/")) text.remove_suffix(2);
      SourcePos pos = comment.pos;
      pos.line += static_cast<std::uint32_t>(
          std::count(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
      found.push_back({std::string(text), pos});
    }
    at = next;
  }
  return found;
}

std::vector<Annotation> annotationsAbove(const frontend::Unit& unit, const frontend::KernelDecl* decl,
                                         std::string_view word) {
  std::vector<Annotation> found;
  if (decl == nullptr) return found;
  for (const frontend::SourceComment& comment : unit.comments) {
    if (!speaksOf(comment, *decl)) continue;
    std::vector<Annotation> here = annotationsIn(comment, word);
    std::move(here.begin(), here.end(), std::back_inserter(found));
  }
  return found;
}

}  // namespace handoff::explore
