// SPDX-License-Identifier: Apache-2.0
// The verdict above each kernel, and the text behind it.
#pragma once

#include <llvm/Support/JSON.h>

#include <optional>
#include <string>

#include "analyzer/lsp/diagnostics.h"

namespace handoff::lsp {

inline constexpr llvm::StringLiteral kShowKernel =
    "handoff.showKernel";  ///< a command; arguments: URI, line from 1

/// One for each line with a kernel; instances of a template share it.
llvm::json::Array codeLenses(const Documents& documents, const std::string& path, const Context& context);

/// Verdict, what it holds for, launches and all limits of the kernels at this line, as Markdown; empty: no
/// kernel is there.
std::optional<std::string> describeKernels(const Documents& documents, const std::string& path,
                                           std::uint32_t line, const Context& context);

}  // namespace handoff::lsp
