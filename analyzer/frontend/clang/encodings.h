// SPDX-License-Identifier: Apache-2.0
// Calls of cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col.
#pragma once

#include "analyzer/frontend/clang/fold.h"

namespace handoff::frontend {

/// Told by their parameters, so that function pointers from cudaGetDriverEntryPoint and wrappers count as
/// well.
bool isTensorMapEncoding(const clang::CallExpr* call);

/// Box, element size and strides; empty when they do not fold, or the driver would refuse them.
std::optional<TensorMapFact> foldEncoding(Folder& folder, const clang::CallExpr* call);

}  // namespace handoff::frontend
