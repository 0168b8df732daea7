// SPDX-License-Identifier: Apache-2.0
// The walk over host functions.
#include "analyzer/frontend/clang/host_code.h"

namespace handoff::frontend {

using clang::FunctionDecl;
using clang::VarDecl;

class HostScan : public clang::RecursiveASTVisitor<HostScan> {
 public:
  explicit HostScan(HostCode& out) : out_(out) {}
  bool shouldVisitTemplateInstantiations() const { return true; }

  bool VisitFunctionDecl(FunctionDecl* function) {
    const bool is_device_only =
        function->hasAttr<clang::CUDAGlobalAttr>() ||
        (function->hasAttr<clang::CUDADeviceAttr>() && !function->hasAttr<clang::CUDAHostAttr>());
    if (!is_device_only && !function->isDependentContext() && function->isThisDeclarationADefinition() &&
        function->getBody() != nullptr)
      look(function, function->getBody());
    return true;
  }

 private:
  void look(const FunctionDecl* function, const clang::Stmt* stmt) {
    if (const auto* call = llvm::dyn_cast<clang::CallExpr>(stmt)) {
      if (call->getDirectCallee() != nullptr) addCall(function, call->getDirectCallee(), call);
    } else if (const auto* construct = llvm::dyn_cast<clang::CXXConstructExpr>(stmt)) {
      addCall(function, construct->getConstructor(), construct);
    } else if (const auto* ref = llvm::dyn_cast<clang::DeclRefExpr>(stmt)) {
      const auto* variable = llvm::dyn_cast<VarDecl>(ref->getDecl());
      if (variable != nullptr && !variable->isLocalVarDeclOrParm())
        addMention(function, variable->getCanonicalDecl());
    }
    for (const clang::Stmt* child : stmt->children())
      if (child != nullptr) look(function, child);
  }

  void addCall(const FunctionDecl* caller, const FunctionDecl* callee, const clang::Expr* call) {
    out_.calls_[callee->getCanonicalDecl()].push_back({caller, call});
  }

  void addMention(const FunctionDecl* function, const VarDecl* variable) {
    auto& functions = out_.mentions_[variable];
    if (functions.empty() || functions.back() != function) functions.push_back(function);
  }

  HostCode& out_;
};

const LocalUses& HostCode::usesOf(const FunctionDecl& definition) {
  std::unique_ptr<LocalUses>& uses = uses_[&definition];
  if (uses == nullptr) uses = std::make_unique<LocalUses>(context_, definition.getBody());
  return *uses;
}

void HostCode::scan() {
  if (is_scanned_) return;
  is_scanned_ = true;
  HostScan visitor(*this);
  for (clang::Decl* decl : context_.getTranslationUnitDecl()->decls())
    if (isUserCode(context_.getSourceManager(), decl->getLocation())) visitor.TraverseDecl(decl);
}

llvm::ArrayRef<HostCode::Call> HostCode::callsOf(const FunctionDecl& function) {
  scan();
  const auto found = calls_.find(function.getCanonicalDecl());
  return found == calls_.end() ? llvm::ArrayRef<Call>() : llvm::ArrayRef<Call>(found->second);
}

llvm::ArrayRef<const FunctionDecl*> HostCode::functionsWith(const VarDecl& variable) {
  scan();
  const auto found = mentions_.find(variable.getCanonicalDecl());
  return found == mentions_.end() ? llvm::ArrayRef<const FunctionDecl*>()
                                  : llvm::ArrayRef<const FunctionDecl*>(found->second);
}

}  // namespace handoff::frontend
