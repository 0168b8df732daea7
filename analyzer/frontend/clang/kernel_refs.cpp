// SPDX-License-Identifier: Apache-2.0
// The search for kernels, backwards over variables, parameters, choices and calls.
#include "analyzer/frontend/clang/kernel_refs.h"

namespace handoff::frontend {

using clang::Expr;
using clang::FunctionDecl;
using clang::VarDecl;

namespace {

constexpr int kMaxSteps = 500;

class Search {
 public:
  explicit Search(HostCode& host) : host_(host) {}

  void look(const Scope& scope, clang::SourceLocation at, const Expr* expr) {
    if (expr == nullptr || ++steps_ > kMaxSteps) return;
    expr = expr->IgnoreParenCasts();
    if (const auto* e = llvm::dyn_cast<clang::UnaryOperator>(expr))
      return e->getOpcode() == clang::UO_AddrOf || e->getOpcode() == clang::UO_Deref
                 ? look(scope, at, e->getSubExpr())
                 : void();
    if (const auto* e = llvm::dyn_cast<clang::FullExpr>(expr)) return look(scope, at, e->getSubExpr());
    if (const auto* e = llvm::dyn_cast<clang::MaterializeTemporaryExpr>(expr))
      return look(scope, at, e->getSubExpr());
    if (const auto* e = llvm::dyn_cast<clang::SubstNonTypeTemplateParmExpr>(expr))
      return look(scope, at, e->getReplacement());
    if (const auto* e = llvm::dyn_cast<clang::ConditionalOperator>(expr)) {
      look(scope, at, e->getTrueExpr());
      return look(scope, at, e->getFalseExpr());
    }
    if (const auto* e = llvm::dyn_cast<clang::InitListExpr>(expr)) {
      for (const Expr* init : e->inits()) look(scope, at, init);
      return;
    }
    if (const auto* e = llvm::dyn_cast<clang::CallExpr>(expr)) return lookAtCall(scope, at, e);
    if (const auto* e = llvm::dyn_cast<clang::ArraySubscriptExpr>(expr))
      expr = e->getBase()->IgnoreParenCasts();
    const auto* ref = llvm::dyn_cast<clang::DeclRefExpr>(expr);
    if (ref == nullptr) return;
    if (const auto* function = llvm::dyn_cast<FunctionDecl>(ref->getDecl())) return add(function, at);
    if (const auto* variable = llvm::dyn_cast<VarDecl>(ref->getDecl())) lookAtVariable(scope, at, variable);
  }

  std::vector<KernelRef> take() { return std::move(found_); }

 private:
  void add(const FunctionDecl* function, clang::SourceLocation at) {
    if (!function->hasAttr<clang::CUDAGlobalAttr>()) return;
    const bool is_known = std::any_of(found_.begin(), found_.end(), [&](const KernelRef& ref) {
      return ref.kernel->getCanonicalDecl() == function->getCanonicalDecl();
    });
    if (!is_known) found_.push_back({function, at});
  }

  void lookAtCall(const Scope& scope, clang::SourceLocation at, const clang::CallExpr* call) {
    if (isForwarding(call)) return look(scope, at, call->getArg(0));
    if (const std::optional<Scope> inner = host_.enter(scope, call))
      lookAtReturns(*inner, at, inner->function->getBody());
  }

  void lookAtReturns(const Scope& scope, clang::SourceLocation at, const clang::Stmt* stmt) {
    if (stmt == nullptr || llvm::isa<clang::LambdaExpr>(stmt)) return;
    if (const auto* statement = llvm::dyn_cast<clang::ReturnStmt>(stmt))
      look(scope, at, statement->getRetValue());
    for (const clang::Stmt* child : stmt->children()) lookAtReturns(scope, at, child);
  }

  void lookAtVariable(const Scope& scope, clang::SourceLocation at, const VarDecl* variable) {
    const Scope& home = *host_.homeOf(variable, scope, nullptr).scope;
    for (const LocalUses::Write& write : home.uses->writesTo(variable)) look(home, at, write.value);
    const auto* parameter = llvm::dyn_cast<clang::ParmVarDecl>(variable);
    if (parameter == nullptr) return look(home, at, variable->getAnyInitializer());
    const Expr* argument = home.caller != nullptr ? home.arguments.lookup(parameter) : nullptr;
    if (argument != nullptr) look(*home.caller, home.site->getBeginLoc(), argument);
  }

  HostCode& host_;
  std::vector<KernelRef> found_;
  int steps_ = 0;
};

}  // namespace

std::vector<KernelRef> kernelsOf(HostCode& host, const Scope& scope, const Expr* site, const Expr* expr) {
  Search search(host);
  search.look(scope, site->getBeginLoc(), expr);
  return search.take();
}

}  // namespace handoff::frontend
