// SPDX-License-Identifier: Apache-2.0
// From Clang's unoptimised module to PTX whose every position carries its whole inline chain.
#pragma once

#include "analyzer/frontend/clang/attempt.h"

namespace handoff::frontend {

/// Fills output.ptx and output.locations, or output.failure. Consumes the module.
void lowerToPtx(clang::CompilerInstance& compiler, std::unique_ptr<llvm::Module> module, const PathMap& paths,
                ClangOutput& output);

}  // namespace handoff::frontend
