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
  /// The function takes this parameter by reference, and neither writes to it nor hands it on to be written
  /// to.
  bool onlyReads(const clang::FunctionDecl& function, unsigned parameter);

  /// The function does nothing with this pointer but hand it to a launch: "void* args[]" in a wrapper.
  bool onlyLaunches(const clang::FunctionDecl& function, unsigned parameter, unsigned nesting = 0);

  struct Call {
    const clang::FunctionDecl* caller = nullptr;
    /// CallExpr or CXXConstructExpr; a LambdaExpr where the calls of the lambda are out of sight.
    const clang::Expr* call = nullptr;
  };
  /// Direct calls from functions with a body; of a template, from its instantiations.
  llvm::ArrayRef<Call> callsOf(const clang::FunctionDecl& function);
  /// Nobody outside of callsOf can call the function with arguments of their own.
  bool hasAllCallers(const clang::FunctionDecl& function);
  /// Functions whose bodies mention a variable at namespace scope.
  llvm::ArrayRef<const clang::FunctionDecl*> functionsWith(const clang::VarDecl& variable);

  /// The function by itself, without a caller. It must have a body.
  const Scope& scopeOf(const clang::FunctionDecl& definition);
  /// The body that a call in `caller` leads to; empty when it is not known, or calls nest too deeply.
  std::optional<Scope> enter(const Scope& caller, const clang::Expr* call);

  /// The scope that a variable belongs to, and the statement in it that leads to where we are: a lambda's
  /// body speaks of the variables around it.
  struct Home {
    const Scope* scope = nullptr;
    const clang::Stmt* site = nullptr;
  };
  Home homeOf(const clang::VarDecl* variable, const Scope& scope, const clang::Stmt* site);

 private:
  friend class HostScan;
  void scan();
  const clang::ParmVarDecl* readableParameter(const clang::FunctionDecl& function, unsigned index) const;

  clang::ASTContext& context_;
  bool is_scanned_ = false;
  bool has_main_ = false;
  std::map<const clang::FunctionDecl*, std::unique_ptr<LocalUses>> uses_;
  llvm::DenseSet<const clang::FunctionDecl*> being_read_;  ///< usesOf is at work on them
  std::map<const clang::FunctionDecl*, Scope> scopes_;
  llvm::DenseMap<const clang::FunctionDecl*, std::vector<Call>> calls_;
  llvm::DenseMap<const clang::FunctionDecl*, Call> lambdas_;        ///< where they stand
  llvm::DenseMap<const clang::FunctionDecl*, int> other_mentions_;  ///< those that are no calls
  llvm::DenseMap<const clang::VarDecl*, std::vector<const clang::FunctionDecl*>> mentions_;
};

/// Calls back for the call operator of a lambda, or for each instantiation of it.
void forEachCallOperator(const clang::LambdaExpr& lambda,
                         llvm::function_ref<void(const clang::FunctionDecl&)> callback);

}  // namespace handoff::frontend
