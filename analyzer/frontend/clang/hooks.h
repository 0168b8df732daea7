// SPDX-License-Identifier: Apache-2.0
// What watches and repairs a parse: the diagnostics, the tokens, and the classes that stand in shared memory.
#pragma once

#include <memory>

#include "analyzer/frontend/clang/attempt.h"

namespace handoff::frontend {

/// Records errors with the functions they belong to, and the repairs that would avoid them.
std::unique_ptr<clang::DiagnosticConsumer> makeDiagnosticConsumer(Attempt& attempt);

/// Installs what works on tokens: inline asm as nvcc reads it, CUTLASS's switch against Clang, missing
/// headers,
/// "__global__" and comments.
void watchTokens(clang::Preprocessor& preprocessor, Attempt& attempt);

/// Lets classes with a constructor stand in __shared__ memory, as nvcc does: while the file is parsed their
/// default constructor and destructor claim to be trivial; before code is generated they get their flags
/// back, so that locals of the same class are constructed and destroyed as ever.
class SharedClasses {
 public:
  explicit SharedClasses(const Attempt& attempt) : attempt_(attempt) {}
  void relax(clang::TagDecl* tag);
  void restore();

 private:
  bool isWanted(const clang::CXXRecordDecl& record) const;
  void relax(clang::CXXMethodDecl* method);

  const Attempt& attempt_;
  std::vector<clang::CXXMethodDecl*> relaxed_;
};

}  // namespace handoff::frontend
