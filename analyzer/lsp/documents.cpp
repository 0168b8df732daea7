// SPDX-License-Identifier: Apache-2.0
// Names and lines.
#include "analyzer/lsp/documents.h"

#include <algorithm>
#include <array>

#include "analyzer/lsp/line_map.h"

namespace handoff::lsp {

bool isHeader(std::string_view path) {
  constexpr std::array<std::string_view, 6> kEndings = {".cuh", ".h", ".hh", ".hpp", ".hxx", ".inl"};
  return std::any_of(kEndings.begin(), kEndings.end(),
                     [&](std::string_view ending) { return path.ends_with(ending); });
}

std::optional<std::uint32_t> currentLine(const CheckResult& result, const Document& document,
                                         const std::string& path, std::uint32_t line) {
  if (document.text == nullptr) return std::nullopt;
  const auto checked = result.texts.find(path);
  // A header that was not open was read from the disk; so was the text that opened since.
  if (checked == result.texts.end())
    return line <= document.text->lineCount() ? std::optional(line) : std::nullopt;
  return LineMap(*checked->second, *document.text).toNow(line);
}

}  // namespace handoff::lsp
