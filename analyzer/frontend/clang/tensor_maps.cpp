// SPDX-License-Identifier: Apache-2.0
// Where a map's value comes from: backwards over variables, calls and returns.
#include "analyzer/frontend/clang/tensor_maps.h"

#include "analyzer/frontend/clang/encodings.h"
#include "analyzer/frontend/clang/map_paths.h"

namespace handoff::frontend {

using clang::CallExpr;
using clang::Expr;
using clang::FunctionDecl;
using clang::Stmt;
using clang::VarDecl;

namespace {

constexpr int kBudget = 4000;  // steps for one map: recursion in the user's code must end here
constexpr int kMaxCallers = 3;

bool haveSameBox(const TensorMapFact& a, const TensorMapFact& b) {
  return a.element_bytes == b.element_bytes && a.box == b.box && a.element_strides == b.element_strides &&
         a.interleave == b.interleave;
}

}  // namespace

void TensorMapFinder::join(Found& into, const Found& other) {
  const bool is_contradiction = into.fact && other.fact && !haveSameBox(*into.fact, *other.fact);
  into.is_unknown |= other.is_unknown || is_contradiction;
  if (!into.fact) into.fact = other.fact;
}

std::optional<TensorMapFact> TensorMapFinder::find(const Scope& scope, const Expr* expr, const Path& path) {
  budget_ = kBudget;
  const auto* copy = llvm::dyn_cast<clang::CXXConstructExpr>(expr->IgnoreImplicit());
  const std::optional<Place> place =
      placeOf(copy != nullptr && copy->getNumArgs() == 1 ? copy->getArg(0) : expr);
  return named(
      withCallers(scope, kMaxCallers, [&](const Scope& inner) { return evaluate(inner, expr, path); }),
      place ? place->variable : nullptr);
}

std::optional<TensorMapFact> TensorMapFinder::find(const Scope& scope, const VarDecl* variable,
                                                   const Path& path) {
  budget_ = kBudget;
  const Place place{variable, path};
  return named(withCallers(scope, kMaxCallers, [&](const Scope& inner) { return valueOf(inner, place); }),
               variable);
}

std::optional<TensorMapFact> TensorMapFinder::named(Found found, const VarDecl* variable) {
  if (found.is_unknown || !found.fact) return std::nullopt;
  if (variable != nullptr) found.fact->variable = variable->getNameAsString();
  return found.fact;
}

/// What a scope knows by itself, else what the callers of its outermost function in this file tell it: all of
/// them have to agree.
TensorMapFinder::Found TensorMapFinder::withCallers(const Scope& scope, int levels, InScope search) {
  const auto inside = [&](const Expr* call) {
    return [this, call, search](const Scope& outer) {
      const std::optional<Scope> inner = host_.enter(outer, call);
      return inner ? search(*inner) : Found{true, {}};
    };
  };
  if (scope.caller != nullptr) return withCallers(*scope.caller, levels, inside(scope.site));
  Found found = search(scope);
  const llvm::ArrayRef<HostCode::Call> calls =
      found.is_unknown && levels > 0 ? host_.callsOf(*scope.function) : llvm::ArrayRef<HostCode::Call>();
  if (calls.empty()) return found;
  found = {};
  for (const HostCode::Call& call : calls)
    join(found, withCallers(host_.scopeOf(*call.caller), levels - 1, inside(call.call)));
  return found;
}

TensorMapFinder::Found TensorMapFinder::encoding(const Scope& scope, const CallExpr* call) {
  Found found;
  Folder folder(context_, host_, scope, call);
  found.fact = foldEncoding(folder, call);
  found.is_unknown = !found.fact;
  if (found.fact)
    found.fact->pos = positionOf(context_.getSourceManager(), attempt_.paths, call->getBeginLoc());
  return found;
}

TensorMapFinder::Found TensorMapFinder::valueOf(const Scope& scope, const Place& place) {
  const VarDecl* variable = place.variable;
  if (!spend()) return {true, {}};
  if (!variable->isLocalVarDeclOrParm()) return globalValue(scope, place);
  const Scope& home = *host_.homeOf(variable, scope, nullptr).scope;
  if (&home != &scope) return valueOf(home, place);
  Found found = writesTo(scope, place);
  if (const auto* parameter = llvm::dyn_cast<clang::ParmVarDecl>(variable)) {
    const Expr* argument = scope.arguments.lookup(parameter);
    join(found, argument != nullptr ? evaluate(*scope.caller, argument, place.path) : Found{true, {}});
  } else {
    join(found, evaluate(scope, variable->getInit(), place.path));
  }
  return found;
}

TensorMapFinder::Found TensorMapFinder::globalValue(const Scope& scope, const Place& place) {
  Found found;
  for (const FunctionDecl* function : host_.functionsWith(*place.variable)) {
    const Scope* known = &scope;
    while (known != nullptr && known->function != function) known = known->caller;
    join(found, writesTo(known != nullptr ? *known : host_.scopeOf(*function), place));
  }
  join(found, evaluate(scope, place.variable->getAnyInitializer(), place.path));
  return found;
}

TensorMapFinder::Found TensorMapFinder::evaluate(const Scope& scope, const Expr* expr, const Path& path) {
  if (expr == nullptr) return {};
  if (!spend()) return {true, {}};
  expr = expr->IgnoreParens();
  if (const auto* e = llvm::dyn_cast<clang::FullExpr>(expr)) return evaluate(scope, e->getSubExpr(), path);
  if (const auto* e = llvm::dyn_cast<clang::MaterializeTemporaryExpr>(expr))
    return evaluate(scope, e->getSubExpr(), path);
  if (const auto* e = llvm::dyn_cast<clang::CXXBindTemporaryExpr>(expr))
    return evaluate(scope, e->getSubExpr(), path);
  if (const auto* e = llvm::dyn_cast<clang::CXXDefaultInitExpr>(expr))
    return evaluate(scope, e->getExpr(), path);
  if (const auto* e = llvm::dyn_cast<clang::CastExpr>(expr)) return evaluateCast(scope, e, path);
  if (const auto* e = llvm::dyn_cast<clang::InitListExpr>(expr)) return evaluateList(scope, e, path);
  if (const auto* e = llvm::dyn_cast<clang::CXXConstructExpr>(expr)) return evaluateConstruct(scope, e, path);
  if (const auto* e = llvm::dyn_cast<CallExpr>(expr)) return returned(scope, e, path);
  if (const auto* e = llvm::dyn_cast<clang::ConditionalOperator>(expr)) {
    Found found = evaluate(scope, e->getTrueExpr(), path);
    join(found, evaluate(scope, e->getFalseExpr(), path));
    return found;
  }
  if (const auto* e = llvm::dyn_cast<clang::UnaryOperator>(expr);
      e != nullptr && e->getOpcode() == clang::UO_AddrOf)
    return isDeref(path) ? evaluate(scope, e->getSubExpr(), withoutFirst(path, 1)) : Found{true, {}};
  if (std::optional<Place> place = placeOf(expr)) {
    place->path.append(path.begin(), path.end());
    return valueOf(scope, *place);
  }
  const bool is_nothing =
      llvm::isa<clang::CXXNullPtrLiteralExpr, clang::IntegerLiteral, clang::ImplicitValueInitExpr,
                clang::CXXScalarValueInitExpr, clang::GNUNullExpr>(expr);
  return {!is_nothing, {}};
}

TensorMapFinder::Found TensorMapFinder::evaluateCast(const Scope& scope, const clang::CastExpr* expr,
                                                     const Path& path) {
  switch (expr->getCastKind()) {
    case clang::CK_LValueToRValue:
    case clang::CK_NoOp:
    case clang::CK_BitCast:
    case clang::CK_ConstructorConversion:
    case clang::CK_DerivedToBase:
    case clang::CK_UncheckedDerivedToBase:
      return evaluate(scope, expr->getSubExpr(), path);
    case clang::CK_NullToPointer:
      return {};
    case clang::CK_ArrayToPointerDecay: {
      if (!isDeref(path)) return {true, {}};
      Path element{{nullptr, 0}};
      element.append(path.begin() + 1, path.end());
      return evaluate(scope, expr->getSubExpr(), element);
    }
    default:
      return {true, {}};
  }
}

TensorMapFinder::Found TensorMapFinder::evaluateList(const Scope& scope, const clang::InitListExpr* list,
                                                     const Path& path) {
  if (const clang::InitListExpr* semantic = list->isSemanticForm() ? list : list->getSemanticForm())
    list = semantic;
  if (list->getNumInits() == 0) return {};
  const bool is_same = path.empty() || list->isTransparent();
  if (is_same) return list->getNumInits() == 1 ? evaluate(scope, list->getInit(0), path) : Found{true, {}};
  const auto* record = list->getType()->getAsCXXRecordDecl();
  if (isDeref(path) || (record != nullptr && (record->isUnion() || record->getNumBases() != 0)))
    return {true, {}};
  const Step& step = path.front();
  const std::uint64_t index = step.field != nullptr ? step.field->getFieldIndex() : step.index;
  if (index >= list->getNumInits()) return {};
  return evaluate(scope, list->getInit(static_cast<unsigned>(index)), withoutFirst(path, 1));
}

TensorMapFinder::Found TensorMapFinder::evaluateConstruct(const Scope& scope,
                                                          const clang::CXXConstructExpr* expr,
                                                          const Path& path) {
  const clang::CXXConstructorDecl* constructor = expr->getConstructor();
  if (constructor->isCopyOrMoveConstructor() && expr->getNumArgs() >= 1)
    return evaluate(scope, expr->getArg(0), path);
  if (constructor->isDefaultConstructor() && constructor->isTrivial()) return {};
  const std::optional<Scope> inner = host_.enter(scope, expr);
  const auto* body = inner ? llvm::dyn_cast<clang::CompoundStmt>(inner->function->getBody()) : nullptr;
  if (body == nullptr || !body->body_empty() || path.empty() || path.front().field == nullptr)
    return {true, {}};
  for (const auto* init : llvm::cast<clang::CXXConstructorDecl>(inner->function)->inits())
    if (init->getMember() == path.front().field)
      return evaluate(*inner, init->getInit(), withoutFirst(path, 1));
  return {true, {}};
}

TensorMapFinder::Found TensorMapFinder::returned(const Scope& scope, const CallExpr* call, const Path& path) {
  if (isForwarding(call)) return evaluate(scope, call->getArg(0), path);
  if (isHarmless(call)) return {};  // an allocation
  const std::optional<Scope> inner = host_.enter(scope, call);
  if (!inner) return {true, {}};
  bool has_return = false;
  const Found found = returnedFrom(*inner, inner->function->getBody(), path, has_return);
  return has_return ? found : Found{true, {}};
}

TensorMapFinder::Found TensorMapFinder::returnedFrom(const Scope& scope, const Stmt* stmt, const Path& path,
                                                     bool& has_return) {
  if (const auto* statement = llvm::dyn_cast<clang::ReturnStmt>(stmt)) {
    has_return = true;
    return evaluate(scope, statement->getRetValue(), path);
  }
  Found found;
  if (llvm::isa<clang::LambdaExpr>(stmt)) return found;
  for (const Stmt* child : stmt->children())
    if (child != nullptr) join(found, returnedFrom(scope, child, path, has_return));
  return found;
}

}  // namespace handoff::frontend
