// SPDX-License-Identifier: Apache-2.0
// Which kernels a host expression stands for: a kernel's name, or a pointer to one on its way to a launch.
#pragma once

#include "analyzer/frontend/clang/host_code.h"

namespace handoff::frontend {

/// Kernel pointers may be chosen at run time: all that the text offers counts, and each is launched by a site
/// of its own.
struct KernelRef {
  const clang::FunctionDecl* kernel = nullptr;
  /// In the launch's own function the launch, else the call that hands the kernel on.
  clang::SourceLocation named_at;
};

/// `site` is the launch in `scope`. Empty when nothing is known; the same kernel comes once.
std::vector<KernelRef> kernelsOf(HostCode& host, const Scope& scope, const clang::Expr* site,
                                 const clang::Expr* expr);

}  // namespace handoff::frontend
