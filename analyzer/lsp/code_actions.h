// SPDX-License-Identifier: Apache-2.0
// Quick fixes: verified repairs, comments that silence, and the page of the rule.
#pragma once

#include <llvm/Support/JSON.h>
#include <llvm/Support/LSP/Protocol.h>

#include <string>
#include <vector>

#include "analyzer/lsp/diagnostics.h"

namespace handoff::lsp {

inline constexpr llvm::StringLiteral kExplainRule = "handoff.explainRule";  ///< a command; argument: the rule
inline constexpr llvm::StringLiteral kFixAll = "source.fixAll.handoff";     ///< a kind of code action

struct ActionRequest {
  std::string path;
  llvm::lsp::Range range;
  std::vector<std::string> only;      ///< kinds that are wanted; empty: all
  bool has_document_changes = false;  ///< the client takes edits with the version of their document
};

llvm::json::Array codeActions(const Documents& documents, const ActionRequest& request,
                              const Context& context);

}  // namespace handoff::lsp
