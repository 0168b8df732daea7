// SPDX-License-Identifier: Apache-2.0
// What a function body does to a map: upwards from every mention of the variable that holds it.
#include "analyzer/frontend/clang/encodings.h"
#include "analyzer/frontend/clang/map_paths.h"
#include "analyzer/frontend/clang/tensor_maps.h"

namespace handoff::frontend {

using clang::CallExpr;
using clang::Expr;
using clang::Stmt;
using clang::VarDecl;

bool isCopy(const CallExpr* call) {
  const llvm::StringRef name = calleeName(call);
  return call->getNumArgs() >= 3 && (name == "cudaMemcpy" || name == "cudaMemcpyAsync" || name == "memcpy");
}

bool isHarmless(const CallExpr* call) {
  constexpr llvm::StringLiteral kNames[] = {"malloc",
                                            "free",
                                            "memset",
                                            "aligned_alloc",
                                            "posix_memalign",
                                            "cudaMallocHost",
                                            "cudaHostAlloc",
                                            "cudaFreeHost",
                                            "cudaMalloc",
                                            "cudaMallocAsync",
                                            "cudaFree",
                                            "cudaFreeAsync",
                                            "cudaMallocManaged",
                                            "cudaMemset",
                                            "cudaMemsetAsync",
                                            "cuTensorMapReplaceAddress"};
  const llvm::StringRef name = calleeName(call);
  return name.starts_with("cudaLaunch") || name.ends_with("printf") ||
         std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

namespace {

bool isConstPointer(clang::QualType type) {
  if (!type->isPointerType()) return false;
  const clang::QualType pointee = type->getPointeeType();
  return pointee.isConstQualified() && !pointee->isPointerType();
}

bool isVoidPointerArray(const clang::InitListExpr* list) {
  const clang::ArrayType* array = list->getType()->getAsArrayTypeUnsafe();
  return array != nullptr && array->getElementType()->isVoidPointerType();
}

}  // namespace

Path TensorMapFinder::Use::target() const {
  Path result = path;
  if (is_array_address) result.push_back({nullptr, 0});
  return result;
}

Folded TensorMapFinder::constantIndex(const clang::ArraySubscriptExpr* element) const {
  Expr::EvalResult index;
  if (element->getIdx()->isValueDependent() || !element->getIdx()->EvaluateAsInt(index, context_))
    return std::nullopt;
  return index.Val.getInt().getExtValue();
}

std::optional<TensorMapFinder::Place> TensorMapFinder::placeOf(const Expr* expr) const {
  expr = expr->IgnoreParenImpCasts();
  if (const auto* ref = llvm::dyn_cast<clang::DeclRefExpr>(expr)) {
    const auto* variable = llvm::dyn_cast<VarDecl>(ref->getDecl());
    return variable != nullptr ? std::optional(Place{variable, {}}) : std::nullopt;
  }
  const Expr* base = nullptr;
  Step step;
  bool is_through_pointer = false;
  if (const auto* member = llvm::dyn_cast<clang::MemberExpr>(expr)) {
    step.field = llvm::dyn_cast<clang::FieldDecl>(member->getMemberDecl());
    if (step.field == nullptr) return std::nullopt;
    base = member->getBase();
    is_through_pointer = member->isArrow();
  } else if (const auto* element = llvm::dyn_cast<clang::ArraySubscriptExpr>(expr)) {
    const Folded index = constantIndex(element);
    base = element->getBase();
    const bool is_array = base->IgnoreParenImpCasts()->getType()->isArrayType();
    if (!index || *index < 0 || (!is_array && *index != 0)) return std::nullopt;
    step = is_array ? Step{nullptr, static_cast<std::uint64_t>(*index)} : kDeref;
  } else if (const auto* deref = llvm::dyn_cast<clang::UnaryOperator>(expr);
             deref != nullptr && deref->getOpcode() == clang::UO_Deref) {
    base = deref->getSubExpr();
    step = kDeref;
  }
  std::optional<Place> place = base != nullptr ? placeOf(base) : std::nullopt;
  if (!place) return std::nullopt;
  if (is_through_pointer) place->path.push_back(kDeref);
  place->path.push_back(step);
  return place;
}

TensorMapFinder::Found TensorMapFinder::writesTo(const Scope& scope, const Place& place) {
  Found found;
  if (!spend()) return {true, {}};
  for (const clang::DeclRefExpr* ref : scope.uses->mentionsOf(place.variable))
    join(found, effectOf(scope, climb(*scope.uses, ref), place.path));
  return found;
}

TensorMapFinder::Use TensorMapFinder::climb(const LocalUses& uses, const clang::DeclRefExpr* ref) const {
  Use use;
  use.expr = ref;
  while (!use.is_read) {
    const clang::QualType type = use.expr->getType();
    use.is_read = use.is_address ? isConstPointer(type) : type.isConstQualified();
    const auto* up = llvm::dyn_cast_or_null<Expr>(uses.parent(use.expr));
    if (use.is_read || up == nullptr || !climbOnce(up, use)) break;
    use.expr = up;
  }
  return use;
}

/// False when the expression around is no part of the way to the place.
bool TensorMapFinder::climbOnce(const Expr* up, Use& use) const {
  if (llvm::isa<clang::ParenExpr, clang::FullExpr>(up)) return true;
  if (llvm::isa<clang::UnaryExprOrTypeTraitExpr>(up)) return use.is_read = true;
  if (const auto* cast = llvm::dyn_cast<clang::CastExpr>(up)) return climbCast(cast, use);
  Step step;
  if (const auto* member = llvm::dyn_cast<clang::MemberExpr>(up)) {
    step.field = llvm::dyn_cast<clang::FieldDecl>(member->getMemberDecl());
    if (step.field == nullptr || member->isArrow() != use.is_address) return false;
    use.path = use.target();
    use.path.push_back(step);
  } else if (const auto* element = llvm::dyn_cast<clang::ArraySubscriptExpr>(up)) {
    const Folded index = constantIndex(element);
    if (element->getBase() != use.expr || !use.is_address || !index || *index < 0) return false;
    if (use.is_array_address)
      use.path.push_back({nullptr, static_cast<std::uint64_t>(*index)});
    else if (*index != 0)
      return false;
  } else if (const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(up)) {
    if (unary->getOpcode() == clang::UO_AddrOf && !use.is_address) return use.is_address = true;
    if (unary->getOpcode() != clang::UO_Deref || !use.is_address) return false;
    use.path = use.target();
  } else {
    return false;
  }
  use.is_address = use.is_array_address = false;
  return true;
}

bool TensorMapFinder::climbCast(const clang::CastExpr* cast, Use& use) const {
  switch (cast->getCastKind()) {
    case clang::CK_NoOp:
    case clang::CK_BitCast:
    case clang::CK_DerivedToBase:
    case clang::CK_UncheckedDerivedToBase:
      return true;
    case clang::CK_ArrayToPointerDecay:
      return use.is_address = use.is_array_address = true;
    case clang::CK_LValueToRValue:
      if (!cast->getType()->isPointerType()) return use.is_read = true;
      use.path.push_back(kDeref);
      return use.is_address = true;
    case clang::CK_PointerToBoolean:
    case clang::CK_ToVoid:
      return use.is_read = true;
    default:
      return false;
  }
}

TensorMapFinder::Found TensorMapFinder::effectOf(const Scope& scope, const Use& use, const Path& path) {
  const bool is_around = startsWith(path, use.path);
  if (use.is_read || (!is_around && !startsWith(use.path, path))) return {};
  const Stmt* up = scope.uses->parent(use.expr);
  const Expr* value = nullptr;
  if (const auto* operation = llvm::dyn_cast_or_null<clang::BinaryOperator>(up)) {
    if (operation->isComparisonOp() || operation->isLogicalOp()) return {};
    if (operation->getOpcode() == clang::BO_Assign && operation->getLHS() == use.expr)
      value = operation->getRHS();
  } else if (const auto* operation = llvm::dyn_cast_or_null<clang::CXXOperatorCallExpr>(up);
             operation != nullptr && operation->getOperator() == clang::OO_Equal &&
             operation->getArg(0) == use.expr) {
    value = operation->getArg(1);
  } else if (const auto* call = llvm::dyn_cast_or_null<CallExpr>(up)) {
    return passedTo(scope, call, use, path);
  } else if (const auto* list = llvm::dyn_cast_or_null<clang::InitListExpr>(up)) {
    return {!isVoidPointerArray(list), {}};  // the arguments of a launch
  } else if (const auto* construct = llvm::dyn_cast_or_null<clang::CXXConstructExpr>(up)) {
    return {!construct->getConstructor()->isCopyOrMoveConstructor(), {}};
  } else if (const auto* lambda = llvm::dyn_cast_or_null<clang::LambdaExpr>(up)) {
    return {!isPlainCapture(*lambda, use.expr), {}};
  } else if (llvm::isa_and_nonnull<clang::ReturnStmt>(up)) {
    return {};
  }
  if (value == nullptr || use.is_address || !is_around) return {true, {}};
  return evaluate(scope, value, withoutFirst(path, use.path.size()));
}

TensorMapFinder::Found TensorMapFinder::passedTo(const Scope& scope, const CallExpr* call, const Use& use,
                                                 const Path& path) {
  if (llvm::isa<clang::CUDAKernelCallExpr>(call) || isHarmless(call) || isForwarding(call)) return {};
  const Path target = use.target();
  const bool is_first = call->getNumArgs() > 0 && call->getArg(0) == use.expr;
  if (!startsWith(path, target))  // of an array's first element, an encoding writes to that one only
    return {!isTensorMapEncoding(call) || startsWith(target, path), {}};
  const Path inside = withoutFirst(path, target.size());
  if (isTensorMapEncoding(call))
    return is_first && use.is_address && inside.empty() ? encoding(scope, call) : Found{true, {}};
  Path through_pointer{kDeref};
  through_pointer.append(inside.begin(), inside.end());
  if (isCopy(call)) return is_first ? evaluate(scope, call->getArg(1), through_pointer) : Found{};
  const std::optional<Scope> inner = host_.enter(scope, call);
  if (!inner) return {true, {}};
  for (const clang::ParmVarDecl* parameter : inner->function->parameters())
    if (inner->arguments.lookup(parameter) == use.expr)
      return writesTo(*inner, {parameter, use.is_address ? through_pointer : inside});
  return {true, {}};
}

}  // namespace handoff::frontend
