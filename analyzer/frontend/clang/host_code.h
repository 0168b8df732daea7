// SPDX-License-Identifier: Apache-2.0
// The host functions of the user's files, and who calls whom. Everything is looked up on demand and kept.
#pragma once

#include <map>
#include <memory>

#include "analyzer/frontend/clang/fold.h"

namespace handoff::frontend {

class HostCode {
 public:
  explicit HostCode(clang::ASTContext& context) : context_(context) {}

  const LocalUses& usesOf(const clang::FunctionDecl& definition);

  struct Call {
    const clang::FunctionDecl* caller = nullptr;
    const clang::Expr* call = nullptr;  ///< CallExpr or CXXConstructExpr
  };
  /// Direct calls from functions with a body; of a template, from its instantiations.
  llvm::ArrayRef<Call> callsOf(const clang::FunctionDecl& function);
  /// Functions whose bodies mention a variable at namespace scope.
  llvm::ArrayRef<const clang::FunctionDecl*> functionsWith(const clang::VarDecl& variable);

 private:
  friend class HostScan;
  void scan();

  clang::ASTContext& context_;
  bool is_scanned_ = false;
  std::map<const clang::FunctionDecl*, std::unique_ptr<LocalUses>> uses_;
  llvm::DenseMap<const clang::FunctionDecl*, std::vector<Call>> calls_;
  llvm::DenseMap<const clang::VarDecl*, std::vector<const clang::FunctionDecl*>> mentions_;
};

}  // namespace handoff::frontend
