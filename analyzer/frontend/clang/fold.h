// SPDX-License-Identifier: Apache-2.0
// Constants in host code, as far as they can be read off the text: a little further than the language's
// constant expressions, because a launch's configuration often sits in plain locals.
//
// A local variable counts as its initialiser when nothing else in the function can change it: every other
// mention of it is a read, an access to a member that is read, a binding to something constant, or a
// reference given to a function that only reads it. A member of a local struct, and a variable without an
// initialiser, counts as the one value assigned to it when exactly one assignment exists and it stands in a
// block around the question. A parameter counts as what the caller at hand passes for it.
#pragma once

#include "analyzer/frontend/clang/attempt.h"

namespace handoff::frontend {

class HostCode;

/// One step into an aggregate: a member, or an element.
struct Step {
  const clang::FieldDecl* field = nullptr;  ///< null: element `index`
  std::uint64_t index = 0;
};
using Path = llvm::SmallVector<Step, 4>;

inline bool isSameStep(const Step& a, const Step& b) { return a.field == b.field && a.index == b.index; }

/// Is `prefix` where `path` starts?
inline bool startsWith(const Path& path, const Path& prefix) {
  return prefix.size() <= path.size() && std::equal(prefix.begin(), prefix.end(), path.begin(), isSameStep);
}

inline Path withoutFirst(const Path& path, std::size_t count) {
  return Path(path.begin() + static_cast<std::ptrdiff_t>(count), path.end());
}

/// Name of the function that is called directly; empty for anything else.
llvm::StringRef calleeName(const clang::CallExpr* call);
/// std::move and its like: the result is the argument.
bool isForwarding(const clang::CallExpr* call);

/// All that one function body does to its locals.
class LocalUses {
 public:
  /// `host` tells what functions do to what is handed to them by reference.
  LocalUses(clang::ASTContext& context, HostCode& host, const clang::Stmt* body);

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

/// A function body, and the call that leads into it.
struct Scope {
  const clang::FunctionDecl* function = nullptr;
  const LocalUses* uses = nullptr;
  const Scope* caller = nullptr;        ///< null: nothing is known about the arguments
  const clang::Expr* site = nullptr;    ///< the call, in the caller
  const clang::Expr* object = nullptr;  ///< what a member function is called on; null when that is unknown
  Arguments arguments;
};

class Folder {
 public:
  /// `site` is the statement of the scope's function whose value is asked for: a launch.
  Folder(clang::ASTContext& context, HostCode& host, const Scope& scope, const clang::Stmt* site)
      : context_(context), host_(host), scope_(scope), site_(site) {}

  Folded integer(const clang::Expr* expr) { return value(expr, {}, 0); }
  /// pointer[index]
  Folded element(const clang::Expr* pointer, std::uint64_t index) { return pointee(pointer, index, 0); }
  Folded member(const clang::Expr* expr, const Path& path) { return value(expr, path, 0); }
  Folded member(const clang::VarDecl* variable, const Path& path) { return variableValue(variable, path, 0); }
  /// The expression a member of a local was given ("config.attrs"); null when there is not exactly one.
  const clang::Expr* source(const clang::VarDecl* variable, const Path& path);

 private:
  Folded value(const clang::Expr* expr, const Path& path, int depth);
  Folded constant(const clang::Expr* expr, const Path& path) const;
  Folded scalar(const clang::Expr* expr, int depth);
  Folded binary(const clang::BinaryOperator* expr, int depth);
  Folded unary(const clang::UnaryOperator* expr, const Path& path, int depth);
  Folded variableValue(const clang::VarDecl* variable, const Path& path, int depth);
  Folded ownValue(const clang::VarDecl* variable, const Path& path, int depth);
  Folded objectValue(const Path& path, int depth);
  Folded dereferenced(const clang::Expr* pointer, const Path& path, int depth);
  Folded list(const clang::InitListExpr* expr, const Path& path, int depth);
  Folded construct(const clang::CXXConstructExpr* expr, const Path& path, int depth);
  Folded call(const clang::CallExpr* expr, const Path& path, int depth);
  Folded pointee(const clang::Expr* expr, std::uint64_t index, int depth);
  Folded castPointee(const clang::CastExpr* expr, std::uint64_t index, int depth);
  Folded variablePointee(const clang::VarDecl* variable, std::uint64_t index, int depth);
  Folder at(const Scope& scope, const clang::Stmt* site) const { return {context_, host_, scope, site}; }
  Folder caller() const { return at(*scope_.caller, scope_.site); }
  const clang::Expr* argumentOf(const clang::VarDecl* variable) const;
  Folded converted(Folded value, clang::QualType from, clang::QualType to) const;

  clang::ASTContext& context_;
  HostCode& host_;
  const Scope& scope_;
  const clang::Stmt* site_;
};

}  // namespace handoff::frontend
