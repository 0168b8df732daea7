// SPDX-License-Identifier: Apache-2.0
// Paths with steps through pointers, and the functions that a tensor map passes through unharmed.
#pragma once

#include "analyzer/frontend/clang/tensor_maps.h"

namespace handoff::frontend {

inline bool isDeref(const Path& path) { return !path.empty() && isSameStep(path.front(), kDeref); }

/// memcpy and its like: the first argument gets what the second one points to.
bool isCopy(const clang::CallExpr* call);
/// Allocates, frees, clears, prints, launches, or changes a map's address only.
bool isHarmless(const clang::CallExpr* call);

}  // namespace handoff::frontend
