// SPDX-License-Identifier: Apache-2.0
// A consumer between the parser and Clang's code generation: it keeps every event until the file has been
// read, so that what parsing needs (relaxed classes) and what it broke (errors) can be put right before any
// code exists.
#pragma once

#include <functional>

#include "analyzer/frontend/clang/attempt.h"
#include "analyzer/frontend/clang/hooks.h"

namespace handoff::frontend {

class DeferredCodegen : public clang::SemaConsumer {
 public:
  DeferredCodegen(clang::CompilerInstance& compiler, clang::CodeGenAction& action, Attempt& attempt,
                  std::unique_ptr<clang::ASTConsumer> codegen)
      : compiler_(compiler),
        action_(action),
        attempt_(attempt),
        codegen_(std::move(codegen)),
        shared_(attempt) {}

  void Initialize(clang::ASTContext& context) override { codegen_->Initialize(context); }
  void InitializeSema(clang::Sema& sema) override;
  void ForgetSema() override { attempt_.sema = nullptr; }
  bool HandleTopLevelDecl(clang::DeclGroupRef group) override;
  void HandleInterestingDecl(clang::DeclGroupRef group) override { HandleTopLevelDecl(group); }
  void HandleInlineFunctionDefinition(clang::FunctionDecl* decl) override;
  void HandleTagDeclDefinition(clang::TagDecl* decl) override;
  void HandleTagDeclRequiredDefinition(const clang::TagDecl* decl) override;
  void HandleCXXImplicitFunctionInstantiation(clang::FunctionDecl* decl) override;
  void HandleCXXStaticMemberVarInstantiation(clang::VarDecl* decl) override;
  void CompleteTentativeDefinition(clang::VarDecl* decl) override;
  void AssignInheritanceModel(clang::CXXRecordDecl* decl) override { codegen_->AssignInheritanceModel(decl); }
  void HandleVTable(clang::CXXRecordDecl* decl) override;
  void HandleTranslationUnit(clang::ASTContext& context) override;

 private:
  void generate(clang::ASTContext& context);

  clang::CompilerInstance& compiler_;
  clang::CodeGenAction& action_;
  Attempt& attempt_;
  std::unique_ptr<clang::ASTConsumer> codegen_;
  SharedClasses shared_;
  std::vector<std::function<void()>> events_;
};

}  // namespace handoff::frontend
