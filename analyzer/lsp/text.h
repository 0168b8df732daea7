// SPDX-License-Identifier: Apache-2.0
// The text of a document as lines, and positions in it: the protocol counts columns in UTF-16 units or in
// bytes, compilers count them in bytes from 1.
#pragma once

#include <llvm/Support/LSP/Protocol.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/support/source.h"

namespace handoff::lsp {

enum class Encoding : std::uint8_t { kUtf16, kUtf8 };

/// Never changes once it is made, so that threads may share it.
class Text {
 public:
  explicit Text(std::string content);

  const std::string& content() const { return content_; }
  std::size_t lineCount() const { return starts_.size(); }
  /// Line `index`, from 0, without its end; empty beyond the text.
  std::string_view line(std::size_t index) const;

  /// The byte that a position of the protocol means; positions behind the end of a line are its end, as the
  /// protocol says. Empty: there is no such line.
  std::optional<std::size_t> offsetOf(llvm::lsp::Position position, Encoding encoding) const;
  /// A byte of a line as a position of the protocol.
  llvm::lsp::Position positionOf(std::size_t line, std::size_t byte, Encoding encoding) const;

  /// What an editor should underline for a position of a compiler: the word or call that starts there;
  /// without a column the line without the space around. Lines beyond the text become its last one.
  llvm::lsp::Range rangeOf(std::uint32_t line, std::uint32_t column, Encoding encoding) const;

 private:
  std::string content_;
  std::vector<std::size_t> starts_;  ///< of each line
};

using SharedText = std::shared_ptr<const Text>;

/// One change of textDocument/didChange; without a range it replaces everything.
struct Change {
  std::optional<llvm::lsp::Range> range;
  std::string text;
};

/// Null when a change lies outside the text or ends before it starts: editor and server no longer mean the
/// same document.
SharedText applyChanges(const SharedText& text, const std::vector<Change>& changes, Encoding encoding);

}  // namespace handoff::lsp
