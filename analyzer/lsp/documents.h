// SPDX-License-Identifier: Apache-2.0
// Open documents, and what the last check of each said. Guarded by the server's lock.
#pragma once

#include <llvm/Support/LSP/Protocol.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/lsp/checker.h"
#include "analyzer/lsp/text.h"

namespace handoff::lsp {

/// What a check said, and the texts that it was said of.
struct CheckResult {
  std::uint64_t generation = 0;
  std::shared_ptr<const Checked> checked;
  std::map<std::string, SharedText> texts;  ///< by path: documents that were open when it started
  /// Empty: not there yet.
  std::shared_ptr<const std::vector<audit::KernelAudit>> audits;
};

struct Document {
  llvm::lsp::URIForFile uri;
  std::int64_t version = 0;
  SharedText text;           ///< null: editor and server no longer agree about it
  std::uint64_t wanted = 0;  ///< generation of the newest check that was asked for
  std::uint64_t ended = 0;   ///< generation of the newest check that ended, with a result or without
  std::optional<CheckResult> result;

  /// A check that was asked for has not ended.
  bool isInFlight() const { return ended < wanted; }
};

/// By absolute path.
using Documents = std::map<std::string, Document>;

/// Is the file a translation unit by its name? Headers are checked where they are included.
bool isHeader(std::string_view path);

/// A line that a check spoke of, from 1, in the text that is open now. Empty: that line was changed.
std::optional<std::uint32_t> currentLine(const CheckResult& result, const Document& document,
                                         const std::string& path, std::uint32_t line);

}  // namespace handoff::lsp
