// SPDX-License-Identifier: Apache-2.0
// Paths with steps through pointers, and the functions that a tensor map passes through unharmed.
#pragma once

#include "analyzer/frontend/clang/tensor_maps.h"

namespace handoff::frontend {

inline bool isSameStep(const Step& a, const Step& b) { return a.field == b.field && a.index == b.index; }

inline bool isDeref(const Path& path) { return !path.empty() && isSameStep(path.front(), kDeref); }

/// Is `prefix` where `path` starts?
inline bool startsWith(const Path& path, const Path& prefix) {
  return prefix.size() <= path.size() && std::equal(prefix.begin(), prefix.end(), path.begin(), isSameStep);
}

inline Path withoutFirst(const Path& path, std::size_t count) {
  return Path(path.begin() + static_cast<std::ptrdiff_t>(count), path.end());
}

/// Name of the function that is called directly; empty for anything else.
llvm::StringRef calleeName(const clang::CallExpr* call);
/// std::move and its like: the result is the argument.
bool isForwarding(const clang::CallExpr* call);
/// memcpy and its like: the first argument gets what the second one points to.
bool isCopy(const clang::CallExpr* call);
/// Allocates, frees, clears, prints, launches, or changes a map's address only.
bool isHarmless(const clang::CallExpr* call);

}  // namespace handoff::frontend
