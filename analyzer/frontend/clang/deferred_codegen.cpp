// SPDX-License-Identifier: Apache-2.0
// Replay of the parser's events, with the judgement about errors in between.
#include "analyzer/frontend/clang/deferred_codegen.h"

#include <clang/Sema/TemplateInstCallback.h>

#include "analyzer/frontend/clang/budget.h"
#include "analyzer/frontend/clang/facts.h"
#include "analyzer/frontend/clang/trust.h"

namespace handoff::frontend {

using clang::Decl;

void DeferredCodegen::InitializeSema(clang::Sema& sema) {
  attempt_.sema = &sema;
  sema.TemplateInstCallbacks.push_back(makeInstantiationBudget());
}

bool DeferredCodegen::HandleTopLevelDecl(clang::DeclGroupRef group) {
  events_.push_back([this, group] {
    for (Decl* decl : group)
      if (!decl->isInvalidDecl()) codegen_->HandleTopLevelDecl(clang::DeclGroupRef(decl));
  });
  return !isCancelled(attempt_.cancel);
}

void DeferredCodegen::HandleInlineFunctionDefinition(clang::FunctionDecl* decl) {
  events_.push_back([this, decl] {
    if (!decl->isInvalidDecl()) codegen_->HandleInlineFunctionDefinition(decl);
  });
}

void DeferredCodegen::HandleTagDeclDefinition(clang::TagDecl* decl) {
  shared_.relax(decl);
  events_.push_back([this, decl] {
    if (!decl->isInvalidDecl()) codegen_->HandleTagDeclDefinition(decl);
  });
}

void DeferredCodegen::HandleTagDeclRequiredDefinition(const clang::TagDecl* decl) {
  events_.push_back([this, decl] {
    if (!decl->isInvalidDecl()) codegen_->HandleTagDeclRequiredDefinition(decl);
  });
}

void DeferredCodegen::HandleCXXImplicitFunctionInstantiation(clang::FunctionDecl* decl) {
  codegen_->HandleCXXImplicitFunctionInstantiation(decl);
}

void DeferredCodegen::HandleCXXStaticMemberVarInstantiation(clang::VarDecl* decl) {
  events_.push_back([this, decl] {
    if (!decl->isInvalidDecl()) codegen_->HandleCXXStaticMemberVarInstantiation(decl);
  });
}

void DeferredCodegen::CompleteTentativeDefinition(clang::VarDecl* decl) {
  events_.push_back([this, decl] {
    if (!decl->isInvalidDecl()) codegen_->CompleteTentativeDefinition(decl);
  });
}

void DeferredCodegen::HandleVTable(clang::CXXRecordDecl* decl) {
  events_.push_back([this, decl] {
    if (!decl->isInvalidDecl()) codegen_->HandleVTable(decl);
  });
}

void DeferredCodegen::HandleTranslationUnit(clang::ASTContext& context) {
  shared_.restore();
  if (attempt_.wantsRetry()) return;  // the next parse will see more
  collectFacts(context, attempt_);
  generate(context);
}

void DeferredCodegen::generate(clang::ASTContext& context) {
  const Distrust distrust(context, attempt_);
  if (!attempt_.errors.empty()) {
    compiler_.getDiagnostics().Reset(/*soft=*/true);
    distrust.emptyMarkedBodies(context);
  }
  for (const auto& event : events_) event();
  codegen_->HandleTranslationUnit(context);
  clang::CodeGenerator* generator = action_.getCodeGenerator();
  if (generator != nullptr && generator->GetModule() != nullptr)
    collectKernels(context, attempt_, *generator, distrust);
}

}  // namespace handoff::frontend
