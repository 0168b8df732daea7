// SPDX-License-Identifier: Apache-2.0
// Folding. Values are 64-bit patterns, cut to the width of their type after every step.
#include "analyzer/frontend/clang/fold.h"

#include "analyzer/frontend/clang/host_code.h"

namespace handoff::frontend {

using clang::CallExpr;
using clang::Expr;
using clang::QualType;
using clang::VarDecl;

namespace {

constexpr int kMaxDepth = 40;  // recursion in the user's code must end here

bool isIntegral(QualType type) { return type->isIntegralOrEnumerationType(); }

void findReturns(const clang::Stmt* stmt, llvm::SmallVectorImpl<const clang::ReturnStmt*>& found) {
  if (stmt == nullptr || llvm::isa<clang::LambdaExpr>(stmt)) return;
  if (const auto* statement = llvm::dyn_cast<clang::ReturnStmt>(stmt)) found.push_back(statement);
  for (const clang::Stmt* child : stmt->children()) findReturns(child, found);
}

/// A value inside a constant that Clang has computed.
const clang::APValue* partOf(const clang::APValue& value, const Path& path) {
  const clang::APValue* at = &value;
  for (const Step& step : path) {
    if (step.field != nullptr && at->isStruct())
      at = &at->getStructField(step.field->getFieldIndex());
    else if (step.field != nullptr && at->isUnion() && at->getUnionField() == step.field)
      at = &at->getUnionValue();
    else if (step.field == nullptr && at->isArray())
      at = step.index < at->getArrayInitializedElts()
               ? &at->getArrayInitializedElt(static_cast<unsigned>(step.index))
           : at->hasArrayFiller() ? &at->getArrayFiller()
                                  : nullptr;
    else
      return nullptr;
    if (at == nullptr) return nullptr;
  }
  return at;
}

/// "int n;", "dim3 grid;"
bool isDeclaredWithoutValue(const VarDecl* variable) {
  const Expr* init = variable->getInit();
  const auto* construct = llvm::dyn_cast_or_null<clang::CXXConstructExpr>(init);
  return init == nullptr || (construct != nullptr && construct->getConstructor()->isDefaultConstructor());
}

}  // namespace

Folded Folder::converted(Folded value, QualType from, QualType to) const {
  if (!value || !isIntegral(from) || !isIntegral(to)) return std::nullopt;
  if (to->isBooleanType()) return *value != 0 ? 1 : 0;
  const unsigned bits = static_cast<unsigned>(context_.getIntWidth(to));
  if (bits >= 64) return value;
  const llvm::APInt cut(bits, static_cast<std::uint64_t>(*value), false, /*implicitTrunc=*/true);
  return to->isSignedIntegerOrEnumerationType() ? cut.getSExtValue()
                                                : static_cast<std::int64_t>(cut.getZExtValue());
}

Folded Folder::constant(const Expr* expr, const Path& path) const {
  Expr::EvalResult result;
  if (expr->isValueDependent() || expr->isTypeDependent() || expr->containsErrors()) return std::nullopt;
  if (!expr->EvaluateAsRValue(result, context_, /*InConstantContext=*/true) || result.HasSideEffects)
    return std::nullopt;
  const clang::APValue* found = partOf(result.Val, path);
  if (found == nullptr || !found->isInt()) return std::nullopt;
  const llvm::APSInt& integer = found->getInt();
  if (integer.getBitWidth() > 64) return std::nullopt;
  return integer.isSigned() ? integer.getSExtValue() : static_cast<std::int64_t>(integer.getZExtValue());
}

Folded Folder::value(const Expr* expr, const Path& path, int depth) {
  if (expr == nullptr || depth > kMaxDepth) return std::nullopt;
  if (const Folded folded = constant(expr, path)) return folded;
  expr = expr->IgnoreParens();
  ++depth;
  if (const auto* e = llvm::dyn_cast<clang::DeclRefExpr>(expr)) {
    const auto* variable = llvm::dyn_cast<VarDecl>(e->getDecl());
    return variable != nullptr ? variableValue(variable, path, depth) : std::nullopt;
  }
  if (llvm::isa<clang::CXXThisExpr>(expr)) return std::nullopt;  // a pointer
  if (const auto* e = llvm::dyn_cast<clang::InitListExpr>(expr)) return list(e, path, depth);
  if (const auto* e = llvm::dyn_cast<clang::CXXConstructExpr>(expr)) return construct(e, path, depth);
  if (const auto* e = llvm::dyn_cast<CallExpr>(expr)) return call(e, path, depth);
  if (const auto* e = llvm::dyn_cast<clang::FullExpr>(expr)) return value(e->getSubExpr(), path, depth);
  if (const auto* e = llvm::dyn_cast<clang::MaterializeTemporaryExpr>(expr))
    return value(e->getSubExpr(), path, depth);
  if (const auto* e = llvm::dyn_cast<clang::CXXBindTemporaryExpr>(expr))
    return value(e->getSubExpr(), path, depth);
  if (const auto* e = llvm::dyn_cast<clang::SubstNonTypeTemplateParmExpr>(expr))
    return value(e->getReplacement(), path, depth);
  if (const auto* e = llvm::dyn_cast<clang::CXXDefaultArgExpr>(expr)) return value(e->getExpr(), path, depth);
  if (const auto* e = llvm::dyn_cast<clang::CXXDefaultInitExpr>(expr))
    return value(e->getExpr(), path, depth);
  if (const auto* e = llvm::dyn_cast<clang::ConditionalOperator>(expr)) {
    const Folded condition = value(e->getCond(), {}, depth);
    if (!condition) return std::nullopt;
    return value(*condition != 0 ? e->getTrueExpr() : e->getFalseExpr(), path, depth);
  }
  if (const auto* e = llvm::dyn_cast<clang::MemberExpr>(expr)) {
    const auto* field = llvm::dyn_cast<clang::FieldDecl>(e->getMemberDecl());
    if (field == nullptr) return std::nullopt;
    Path longer{{field, 0}};
    longer.append(path.begin(), path.end());
    return e->isArrow() ? dereferenced(e->getBase(), longer, depth) : value(e->getBase(), longer, depth);
  }
  if (const auto* e = llvm::dyn_cast<clang::UnaryOperator>(expr)) return unary(e, path, depth);
  if (const auto* e = llvm::dyn_cast<clang::CastExpr>(expr)) {
    const Expr* inner = e->getSubExpr();
    const bool is_same_value = !path.empty() || e->getCastKind() == clang::CK_LValueToRValue ||
                               e->getCastKind() == clang::CK_NoOp ||
                               e->getCastKind() == clang::CK_ConstructorConversion ||
                               e->getCastKind() == clang::CK_UserDefinedConversion;
    if (is_same_value) return value(inner, path, depth);
    return converted(value(inner, {}, depth), inner->getType(), e->getType());
  }
  return path.empty() ? scalar(expr, depth) : std::nullopt;
}

Folded Folder::scalar(const Expr* expr, int depth) {
  if (const auto* e = llvm::dyn_cast<clang::BinaryOperator>(expr)) return binary(e, depth);
  return std::nullopt;
}

Folded Folder::unary(const clang::UnaryOperator* expr, const Path& path, int depth) {
  if (expr->getOpcode() == clang::UO_Deref) return dereferenced(expr->getSubExpr(), path, depth);
  if (!path.empty()) return std::nullopt;
  const Folded operand = value(expr->getSubExpr(), {}, depth);
  if (!operand) return std::nullopt;
  const QualType type = expr->getType();
  switch (expr->getOpcode()) {
    case clang::UO_Plus:
      return operand;
    case clang::UO_Minus:
      return converted(static_cast<std::int64_t>(0U - static_cast<std::uint64_t>(*operand)), type, type);
    case clang::UO_Not:
      return converted(~*operand, type, type);
    case clang::UO_LNot:
      return *operand == 0 ? 1 : 0;
    default:
      return std::nullopt;
  }
}

Folded Folder::binary(const clang::BinaryOperator* expr, int depth) {
  const QualType type = expr->getLHS()->getType();
  if (expr->isAssignmentOp() || !isIntegral(type) || !isIntegral(expr->getRHS()->getType()))
    return std::nullopt;
  const Folded left = value(expr->getLHS(), {}, depth), right = value(expr->getRHS(), {}, depth);
  if (expr->getOpcode() == clang::BO_LAnd && ((left && *left == 0) || (right && *right == 0))) return 0;
  if (expr->getOpcode() == clang::BO_LOr && ((left && *left != 0) || (right && *right != 0))) return 1;
  if (!left || !right) return std::nullopt;
  const unsigned bits = static_cast<unsigned>(context_.getIntWidth(type));
  const bool is_unsigned = type->isUnsignedIntegerOrEnumerationType();
  // One bit more than the operands keeps every intermediate value; the result is cut afterwards.
  const auto widen = [&](std::int64_t v) {
    return llvm::APSInt(
        llvm::APInt(64, static_cast<std::uint64_t>(v)).trunc(std::min(bits, 64U)).zextOrTrunc(bits),
        is_unsigned);
  };
  const llvm::APSInt a = widen(*left), b = widen(*right);
  const auto cut = [&](const llvm::APSInt& v) {
    return is_unsigned ? static_cast<std::int64_t>(v.getZExtValue()) : v.getSExtValue();
  };
  const bool is_bad_shift = *right < 0 || *right >= static_cast<std::int64_t>(bits);
  switch (expr->getOpcode()) {
    case clang::BO_Add:
      return cut(a + b);
    case clang::BO_Sub:
      return cut(a - b);
    case clang::BO_Mul:
      return cut(a * b);
    case clang::BO_Div:
      if (b == 0) return std::nullopt;
      return cut(a / b);
    case clang::BO_Rem:
      if (b == 0) return std::nullopt;
      return cut(a % b);
    case clang::BO_And:
      return cut(a & b);
    case clang::BO_Or:
      return cut(a | b);
    case clang::BO_Xor:
      return cut(a ^ b);
    case clang::BO_Shl:
      if (is_bad_shift) return std::nullopt;
      return cut(a << static_cast<unsigned>(*right));
    case clang::BO_Shr:
      if (is_bad_shift) return std::nullopt;
      return cut(a >> static_cast<unsigned>(*right));
    case clang::BO_LT:
      return a < b;
    case clang::BO_GT:
      return a > b;
    case clang::BO_LE:
      return a <= b;
    case clang::BO_GE:
      return a >= b;
    case clang::BO_EQ:
      return a == b;
    case clang::BO_NE:
      return a != b;
    case clang::BO_LAnd:
      return *left != 0 && *right != 0;
    case clang::BO_LOr:
      return *left != 0 || *right != 0;
    default:
      return std::nullopt;
  }
}

/// What a pointer to one object points to: "&params", "this", a parameter or a local that is one of them.
Folded Folder::dereferenced(const Expr* pointer, const Path& path, int depth) {
  if (++depth > kMaxDepth) return std::nullopt;
  pointer = pointer->IgnoreParenImpCasts();
  if (llvm::isa<clang::CXXThisExpr>(pointer)) return objectValue(path, depth);
  if (const auto* address = llvm::dyn_cast<clang::UnaryOperator>(pointer);
      address != nullptr && address->getOpcode() == clang::UO_AddrOf)
    return value(address->getSubExpr(), path, depth);
  const auto* ref = llvm::dyn_cast<clang::DeclRefExpr>(pointer);
  const auto* variable = ref != nullptr ? llvm::dyn_cast<VarDecl>(ref->getDecl()) : nullptr;
  if (variable == nullptr) return std::nullopt;
  const HostCode::Home home = host_.homeOf(variable, scope_, site_);
  Folder folder = at(*home.scope, home.site);
  if (llvm::isa<clang::ParmVarDecl>(variable)) {
    const Expr* argument = folder.argumentOf(variable);
    return argument != nullptr ? folder.caller().dereferenced(argument, path, depth) : std::nullopt;
  }
  const Expr* init = variable->getInit();
  const bool keeps_value = variable->isLocalVarDecl() && !variable->isStaticLocal() && init != nullptr &&
                           !home.scope->uses->mayChange(variable) &&
                           home.scope->uses->writesTo(variable).empty();
  return keeps_value ? at(*home.scope, init).dereferenced(init, path, depth) : std::nullopt;
}

Folded Folder::objectValue(const Path& path, int depth) {
  if (scope_.object == nullptr || scope_.caller == nullptr) return std::nullopt;
  return scope_.object->getType()->isPointerType() ? caller().dereferenced(scope_.object, path, depth)
                                                   : caller().value(scope_.object, path, depth);
}

/// What the caller passed for a parameter that keeps its value; null for anything else.
const Expr* Folder::argumentOf(const VarDecl* variable) const {
  const auto* parameter = llvm::dyn_cast<clang::ParmVarDecl>(variable);
  if (parameter == nullptr || scope_.caller == nullptr || scope_.uses->mayChange(variable) ||
      !scope_.uses->writesTo(variable).empty())
    return nullptr;
  return scope_.arguments.lookup(parameter);
}

const Expr* Folder::source(const VarDecl* variable, const Path& path) {
  const LocalUses::Write* only = nullptr;
  for (const LocalUses::Write& write : scope_.uses->writesTo(variable)) {
    if (!startsWith(path, write.path) && !startsWith(write.path, path)) continue;
    if (only != nullptr || write.path.size() != path.size()) return nullptr;
    only = &write;
  }
  if (only != nullptr) return scope_.uses->encloses(only->block, site_) ? only->value : nullptr;
  const Expr* init = variable->getInit();
  for (const Step& step : path) {
    const auto* list =
        init != nullptr ? llvm::dyn_cast<clang::InitListExpr>(init->IgnoreParenImpCasts()) : nullptr;
    const unsigned index =
        step.field != nullptr ? step.field->getFieldIndex() : static_cast<unsigned>(step.index);
    if (list == nullptr || index >= list->getNumInits()) return nullptr;
    init = list->getInit(index);
  }
  return init;
}

Folded Folder::variableValue(const VarDecl* variable, const Path& path, int depth) {
  const HostCode::Home home = host_.homeOf(variable, scope_, site_);
  return at(*home.scope, home.site).ownValue(variable, path, depth);
}

Folded Folder::ownValue(const VarDecl* variable, const Path& path, int depth) {
  if (llvm::isa<clang::ParmVarDecl>(variable)) {
    const Expr* argument = argumentOf(variable);
    return argument != nullptr ? caller().value(argument, path, depth) : std::nullopt;
  }
  if (scope_.uses->mayChange(variable)) return std::nullopt;
  const bool is_constant = variable->getType().isConstQualified() || variable->isConstexpr();
  if (!variable->isLocalVarDecl() && !is_constant)
    return std::nullopt;  // a global: other code may write to it
  if (variable->isStaticLocal() && !is_constant) return std::nullopt;
  const LocalUses::Write* only = nullptr;
  for (const LocalUses::Write& write : scope_.uses->writesTo(variable)) {
    if (!startsWith(path, write.path)) {
      if (startsWith(write.path, path)) return std::nullopt;  // a part of what is asked for
      continue;
    }
    // What is declared without a value, and a member, may be filled in by one assignment that is sure to have
    // run.
    const bool is_sure =
        (!write.path.empty() || isDeclaredWithoutValue(variable)) && only == nullptr &&
        scope_.uses->encloses(write.block, site_) &&
        context_.getSourceManager().isBeforeInTranslationUnit(write.loc, site_->getBeginLoc());
    if (!is_sure) return std::nullopt;
    only = &write;
  }
  // Each value is the one at the place where it was given, not at the place where it is asked for.
  if (only != nullptr)
    return at(scope_, only->value).value(only->value, withoutFirst(path, only->path.size()), depth);
  const Expr* init = variable->getInit();
  return init != nullptr ? at(scope_, init).value(init, path, depth) : std::nullopt;
}

Folded Folder::list(const clang::InitListExpr* expr, const Path& path, int depth) {
  if (const clang::InitListExpr* semantic = expr->isSemanticForm() ? expr : expr->getSemanticForm())
    expr = semantic;
  if (path.empty()) return expr->getNumInits() == 1 ? value(expr->getInit(0), path, depth) : std::nullopt;
  const Step& step = path.front();
  if (expr->getType()->isUnionType()) {
    if (expr->getInitializedFieldInUnion() != step.field || expr->getNumInits() == 0) return std::nullopt;
    return value(expr->getInit(0), withoutFirst(path, 1), depth);
  }
  if (expr->isTransparent()) return value(expr->getInit(0), path, depth);
  const std::uint64_t index = step.field != nullptr ? step.field->getFieldIndex() : step.index;
  if (index >= expr->getNumInits())
    return step.field == nullptr && expr->hasArrayFiller() ? Folded(0) : std::nullopt;
  const Expr* init = expr->getInit(static_cast<unsigned>(index));
  if (llvm::isa<clang::ImplicitValueInitExpr>(init)) return 0;
  return value(init, withoutFirst(path, 1), depth);
}

Folded Folder::construct(const clang::CXXConstructExpr* expr, const Path& path, int depth) {
  const clang::CXXConstructorDecl* constructor = expr->getConstructor();
  if (constructor->isCopyOrMoveConstructor() && expr->getNumArgs() >= 1)
    return value(expr->getArg(0), path, depth);
  if (path.empty() || path.front().field == nullptr) return std::nullopt;
  const clang::FunctionDecl* definition = nullptr;
  if (!constructor->isDefined(definition))
    return expr->requiresZeroInitialization() ? Folded(0) : std::nullopt;
  // The body could change what the initialisers set.
  const auto* body = llvm::dyn_cast_or_null<clang::CompoundStmt>(definition->getBody());
  if (body == nullptr || !body->body_empty()) return std::nullopt;
  const std::optional<Scope> inner = host_.enter(scope_, expr);
  if (!inner) return std::nullopt;
  for (const clang::CXXCtorInitializer* init : llvm::cast<clang::CXXConstructorDecl>(definition)->inits())
    if (init->getMember() == path.front().field)
      return at(*inner, init->getInit()).value(init->getInit(), withoutFirst(path, 1), depth);
  return std::nullopt;
}

Folded Folder::call(const CallExpr* expr, const Path& path, int depth) {
  if (isForwarding(expr)) return value(expr->getArg(0), path, depth);
  const clang::FunctionDecl* callee = expr->getDirectCallee();
  if (callee == nullptr) return std::nullopt;
  const bool is_std =
      callee->isInStdNamespace() || callee->getDeclContext()->getRedeclContext()->isTranslationUnit();
  const llvm::StringRef name = calleeName(expr);
  if (is_std && expr->getNumArgs() == 2 && path.empty() && (name == "min" || name == "max")) {
    const Folded a = value(expr->getArg(0), {}, depth), b = value(expr->getArg(1), {}, depth);
    if (!a || !b) return std::nullopt;
    const bool is_unsigned =
        callee->getReturnType().getNonReferenceType()->isUnsignedIntegerOrEnumerationType();
    const bool is_less =
        is_unsigned ? static_cast<std::uint64_t>(*a) < static_cast<std::uint64_t>(*b) : *a < *b;
    return (name == "min") == is_less ? a : b;
  }
  const std::optional<Scope> inner = host_.enter(scope_, expr);
  if (!inner) return std::nullopt;
  llvm::SmallVector<const clang::ReturnStmt*, 2> returns;
  findReturns(inner->function->getBody(), returns);
  if (returns.size() != 1) return std::nullopt;
  return at(*inner, returns.front()).value(returns.front()->getRetValue(), path, depth);
}

}  // namespace handoff::frontend
