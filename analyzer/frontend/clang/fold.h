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
  /// Every reference to the variable, in the order of the text.
  llvm::ArrayRef<const clang::DeclRefExpr*> mentionsOf(const clang::VarDecl* variable) const;
  /// The statement right around this one; null for the body itself.
  const clang::Stmt* parent(const clang::Stmt* stmt) const { return parents_.lookup(stmt); }

 private:
  friend class UseScan;
  llvm::DenseMap<const clang::VarDecl*, std::vector<const clang::DeclRefExpr*>> mentions_;
  llvm::DenseSet<const clang::VarDecl*> changed_;
  llvm::DenseMap<const clang::VarDecl*, std::vector<Write>> writes_;
  llvm::DenseMap<const clang::Stmt*, const clang::Stmt*> parents_;
};

/// Takes `expr` apart into a variable and a path; false when it is not of that shape.
bool asPath(clang::ASTContext& context, const clang::Expr* expr, const clang::VarDecl*& variable, Path& path);

/// "[&]", "[x]": the body, which is looked at as well, calls the variable by its own name.
bool isPlainCapture(const clang::LambdaExpr& lambda, const clang::Expr* expr);

/// What the parameters of a function stand for in one call of it.
using Arguments = llvm::DenseMap<const clang::ParmVarDecl*, const clang::Expr*>;

class Folder {
 public:
  /// `site` is the statement whose value is asked for: a launch.
  Folder(clang::ASTContext& context, const LocalUses& uses, const clang::Stmt* site)
      : context_(context), uses_(uses), site_(site) {}
  /// The same inside `callee`, which the place where `caller` folds calls with these arguments.
  Folder(clang::ASTContext& context, const LocalUses& uses, const clang::Stmt* site, Folder& caller,
         const clang::FunctionDecl* callee, const Arguments& arguments)
      : context_(context),
        uses_(uses),
        site_(site),
        caller_(&caller),
        callee_(callee),
        arguments_(&arguments) {}

  Folded integer(const clang::Expr* expr) { return value(expr, {}, nullptr, 0); }
  /// pointer[index]
  Folded element(const clang::Expr* pointer, std::uint64_t index) { return pointee(pointer, index, 0); }
  Folded member(const clang::Expr* expr, const Path& path) { return value(expr, path, nullptr, 0); }
  Folded member(const clang::VarDecl* variable, const Path& path) { return variableValue(variable, path, 0); }
  /// The expression a member of a local was given ("config.attrs"); null when there is not exactly one.
  const clang::Expr* source(const clang::VarDecl* variable, const Path& path);

 private:
  /// Arguments of the calls being looked into.
  struct Frame {
    const Frame* caller = nullptr;
    Arguments arguments;
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
  Folded pointee(const clang::Expr* expr, std::uint64_t index, int depth);
  Folded castPointee(const clang::CastExpr* expr, std::uint64_t index, int depth);
  Folded variablePointee(const clang::VarDecl* variable, std::uint64_t index, int depth);
  bool isOfCaller(const clang::VarDecl* variable) const;
  const clang::Expr* argumentOf(const clang::VarDecl* variable) const;
  Folded converted(Folded value, clang::QualType from, clang::QualType to) const;

  clang::ASTContext& context_;
  const LocalUses& uses_;
  const clang::Stmt* site_;
  Folder* caller_ = nullptr;
  const clang::FunctionDecl* callee_ = nullptr;
  const Arguments* arguments_ = nullptr;
};

}  // namespace handoff::frontend
