// SPDX-License-Identifier: Apache-2.0
// What the syntax tree knows beside the code: kernels, launches, inline assembly.
#pragma once

#include "analyzer/frontend/clang/attempt.h"

namespace handoff::frontend {

class Distrust;
class HostCode;

/// Launch sites, asm statements and lost kernels of the user's files, into attempt.output.
void collectFacts(clang::ASTContext& context, Attempt& attempt);

/// Kernels of the generated module, with the errors they reach, and kernels of the source that are not in it.
void collectKernels(clang::ASTContext& context, Attempt& attempt, clang::CodeGenerator& generator,
                    const Distrust& distrust);

/// Launches in one function body, into attempt.output.launches and tensor_maps.
void collectLaunches(clang::ASTContext& context, Attempt& attempt, HostCode& host,
                     const clang::FunctionDecl& function);

/// The declaration as a kernel: names, fields, attributes.
KernelDecl describeKernel(clang::ASTContext& context, const Attempt& attempt,
                          const clang::FunctionDecl& kernel);

/// Mangled as in the PTX.
std::string mangledName(clang::ASTContext& context, const clang::FunctionDecl& function);

}  // namespace handoff::frontend
