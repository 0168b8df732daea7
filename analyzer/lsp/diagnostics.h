// SPDX-License-Identifier: Apache-2.0
// Notices of all results, placed into the documents that are open, in the terms of the protocol.
#pragma once

#include <llvm/Support/JSON.h>
#include <llvm/Support/LSP/Protocol.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/lsp/documents.h"
#include "analyzer/lsp/notices.h"

namespace handoff::lsp {

/// What does not change after initialize.
struct Context {
  report::Paths paths;
  Encoding encoding = Encoding::kUtf16;
  std::function<std::string(std::string_view rule)> rule_link;  ///< "": there is no page to link to
};

/// A diagnostic in a document. Pointers are good as long as the documents are not changed.
struct Shown {
  llvm::json::Object diagnostic;
  llvm::lsp::Range range;
  const Document* owner = nullptr;             ///< whose check it comes from
  const diagnose::Finding* finding = nullptr;  ///< null: it is about no finding
};

/// What the results of all documents say of one, in the order of its lines; what two of them say alike counts
/// once.
std::vector<Shown> shownIn(const Documents& documents, const std::string& path, const Context& context);

/// Range and URI of a position that may be in a file that is not open.
llvm::json::Object locationOf(const Documents& documents, const CheckResult& result, const SourcePos& pos,
                              const Context& context);

}  // namespace handoff::lsp
