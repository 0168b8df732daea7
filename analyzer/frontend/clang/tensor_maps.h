// SPDX-License-Identifier: Apache-2.0
// From the argument of a launch back to the call that encodes its tensor map.
//
// A map is found when everything that may write to it is understood: an encoding, a copy, an assignment, the
// value a function returns, or a function that gets its address; functions are followed into their bodies
// with the arguments of the call. Several encodings of one map must agree. Whatever is not understood makes
// the map unknown: a wrong box would accuse correct code.
#pragma once

#include "analyzer/frontend/clang/host_code.h"

namespace handoff::frontend {

/// A step through a pointer, in a Path.
inline const Step kDeref{nullptr, ~std::uint64_t{0}};

class TensorMapFinder {
 public:
  TensorMapFinder(clang::ASTContext& context, const Attempt& attempt, HostCode& host)
      : context_(context), attempt_(attempt), host_(host) {}

  /// The map at `path` of an expression in `scope`; empty when unknown. Kernel, parameter and launch are
  /// left to the caller.
  std::optional<TensorMapFact> find(const Scope& scope, const clang::Expr* expr, const Path& path);
  std::optional<TensorMapFact> find(const Scope& scope, const clang::VarDecl* variable, const Path& path);

 private:
  struct Place {
    const clang::VarDecl* variable = nullptr;
    Path path;
  };
  struct Found {
    bool is_unknown = false;
    std::optional<TensorMapFact> fact;  ///< empty and not unknown: nothing is written
  };
  /// A mention of a variable with all that is done around it to get to a part of it.
  struct Use {
    Path path;
    const clang::Expr* expr = nullptr;  ///< the outermost expression that still means the place
    bool is_address = false;            ///< `expr` is its address
    bool is_array_address = false;      ///< `expr` is the address of the first element of an array at `path`
    bool is_read = false;

    Path target() const;
  };
  using InScope = llvm::function_ref<Found(const Scope&)>;

  std::optional<Place> placeOf(const clang::Expr* expr) const;

  Found withCallers(const Scope& scope, int levels, InScope search);
  std::optional<TensorMapFact> named(Found found, const clang::VarDecl* variable);

  Found valueOf(const Scope& scope, const Place& place);
  Found globalValue(const Scope& scope, const Place& place);
  Found evaluate(const Scope& scope, const clang::Expr* expr, const Path& path);
  Found evaluateCast(const Scope& scope, const clang::CastExpr* expr, const Path& path);
  Found evaluateList(const Scope& scope, const clang::InitListExpr* list, const Path& path);
  Found evaluateConstruct(const Scope& scope, const clang::CXXConstructExpr* expr, const Path& path);
  Found returned(const Scope& scope, const clang::CallExpr* call, const Path& path);
  Found returnedFrom(const Scope& scope, const clang::Stmt* stmt, const Path& path, bool& has_return);

  Found writesTo(const Scope& scope, const Place& place);
  Found effectOf(const Scope& scope, const Use& use, const Path& path);
  Found passedTo(const Scope& scope, const clang::CallExpr* call, const Use& use, const Path& path);
  Use climb(const LocalUses& uses, const clang::DeclRefExpr* ref) const;
  bool climbOnce(const clang::Expr* up, Use& use) const;
  bool climbCast(const clang::CastExpr* cast, Use& use) const;
  Folded constantIndex(const clang::ArraySubscriptExpr* element) const;

  Found encoding(const Scope& scope, const clang::CallExpr* call);
  static void join(Found& into, const Found& other);
  bool spend() { return --budget_ > 0; }

  clang::ASTContext& context_;
  const Attempt& attempt_;
  HostCode& host_;
  int budget_ = 0;
};

}  // namespace handoff::frontend
