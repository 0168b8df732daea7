// SPDX-License-Identifier: Apache-2.0
// Which functions must not be trusted after errors.
//
// Invariant: when the parser reported an error, a kernel is analysed only if nothing it reaches can differ
// from what the author wrote. The argument has three parts.
//  1. An error inside a function marks that function (and the functions around a lambda). An error in a
//  template's text
//     marks an instantiation unless the block it lies in was discarded by "if constexpr".
//  2. After an error Clang stays silent about what follows from it: a use of an invalid declaration is
//  dropped without
//     a word. So every function body is searched for nodes that contain errors and for uses of invalid
//     declarations, through the initialisers of variables and the members of classes.
//  3. An error outside functions marks the class or variable around it. If it destroyed a declaration
//  altogether, its
//     names are read from the text, and functions that use anything of that name are marked: an overload or a
//     specialisation may be missing.
// Kernels that reach a marked function in the call graph are reported as not checked.
#pragma once

#include "analyzer/frontend/clang/attempt.h"

namespace handoff::frontend {

class Distrust {
 public:
  /// Judges every function definition of the file. Cheap when there were no errors.
  Distrust(clang::ASTContext& context, const Attempt& attempt);

  /// Empty: the function is as its author wrote it. Else the first error it depends on.
  const Error* reasonFor(const clang::FunctionDecl* function) const;

  /// Takes the bodies of marked functions away: code generation must not meet half-built expressions.
  void emptyMarkedBodies(clang::ASTContext& context) const;

 private:
  llvm::MapVector<const clang::FunctionDecl*, Error> marked_;  ///< by canonical declaration
};

}  // namespace handoff::frontend
