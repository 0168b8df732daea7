// SPDX-License-Identifier: Apache-2.0
// Constants in host code, as far as they can be read off the text: a little further than the language's
// constant expressions, because a launch's configuration often sits in plain locals.
//
// A local variable counts as its initialiser when nothing else in the function can change it: every other
// mention of it is a read, an access to a member that is read, or a binding to something constant. A member
// of a local struct counts as the one value assigned to it when exactly one assignment exists and it stands
// in a block around the question.
#pragma once

#include "analyzer/frontend/clang/attempt.h"

namespace handoff::frontend {

/// One step into an aggregate: a member, or an element.
struct Step {
  const clang::FieldDecl* field = nullptr;  ///< null: element `index`
  std::uint64_t index = 0;
};
using Path = llvm::SmallVector<Step, 4>;

/// All that one function body does to its locals.
class LocalUses {
 public:
  explicit LocalUses(clang::ASTContext& context, const clang::Stmt* body);

  struct Write {
    Path path;
    const clang::Expr* value = nullptr;
    const clang::Stmt* block =
        nullptr;  ///< innermost statement around it that may not run: a block, a branch, a loop
    clang::SourceLocation loc;
  };

  /// The whole variable, or something unknown in it, may change after its initialisation.
  bool mayChange(const clang::VarDecl* variable) const { return changed_.count(variable) != 0; }
  llvm::ArrayRef<Write> writesTo(const clang::VarDecl* variable) const;
  /// Is `block` around `statement`?
  bool encloses(const clang::Stmt* block, const clang::Stmt* statement) const;

 private:
  friend class UseScan;
  llvm::DenseSet<const clang::VarDecl*> changed_;
  llvm::DenseMap<const clang::VarDecl*, std::vector<Write>> writes_;
  llvm::DenseMap<const clang::Stmt*, const clang::Stmt*> parents_;
};

/// Takes `expr` apart into a variable and a path; false when it is not of that shape.
bool asPath(clang::ASTContext& context, const clang::Expr* expr, const clang::VarDecl*& variable, Path& path);

class Folder {
 public:
  /// `site` is the statement whose value is asked for: a launch.
  Folder(clang::ASTContext& context, const LocalUses& uses, const clang::Stmt* site)
      : context_(context), uses_(uses), site_(site) {}

  Folded integer(const clang::Expr* expr) { return value(expr, {}, nullptr, 0); }
  Folded member(const clang::Expr* expr, const Path& path) { return value(expr, path, nullptr, 0); }
  Folded member(const clang::VarDecl* variable, const Path& path) { return variableValue(variable, path, 0); }
  /// The expression a member of a local was given ("config.attrs"); null when there is not exactly one.
  const clang::Expr* source(const clang::VarDecl* variable, const Path& path);

 private:
  /// Arguments of the calls being looked into.
  struct Frame {
    const Frame* caller = nullptr;
    llvm::DenseMap<const clang::ParmVarDecl*, const clang::Expr*> arguments;
  };

  Folded value(const clang::Expr* expr, const Path& path, const Frame* frame, int depth);
  Folded constant(const clang::Expr* expr, const Path& path) const;
  Folded scalar(const clang::Expr* expr, const Frame* frame, int depth);
  Folded binary(const clang::BinaryOperator* expr, const Frame* frame, int depth);
  Folded unary(const clang::UnaryOperator* expr, const Path& path, const Frame* frame, int depth);
  Folded reference(const clang::DeclRefExpr* expr, const Path& path, const Frame* frame, int depth);
  Folded variableValue(const clang::VarDecl* variable, const Path& path, int depth);
  Folded list(const clang::InitListExpr* expr, const Path& path, const Frame* frame, int depth);
  Folded construct(const clang::CXXConstructExpr* expr, const Path& path, const Frame* frame, int depth);
  Folded call(const clang::CallExpr* expr, const Path& path, const Frame* frame, int depth);
  Folded converted(Folded value, clang::QualType from, clang::QualType to) const;

  clang::ASTContext& context_;
  const LocalUses& uses_;
  const clang::Stmt* site_;
};

}  // namespace handoff::frontend
