// SPDX-License-Identifier: Apache-2.0
// What an editor shows for a line under the pointer: the trace of a finding, and what an asynchronous call
// became.
#pragma once

#include <llvm/Support/LSP/Protocol.h>

#include <optional>
#include <string>

#include "analyzer/lsp/diagnostics.h"

namespace handoff::lsp {

/// Markdown; empty: there is nothing to say of this line. `line` from 0, as the protocol counts.
std::optional<llvm::lsp::Hover> hoverOf(const Documents& documents, const std::string& path, int line,
                                        const Context& context);

}  // namespace handoff::lsp
