// SPDX-License-Identifier: Apache-2.0
// Folding. Values are 64-bit patterns, cut to the width of their type after every step.
#include "analyzer/frontend/clang/fold.h"

#include <clang/AST/StmtVisitor.h>

namespace handoff::frontend {

using clang::CallExpr;
using clang::Expr;
using clang::QualType;
using clang::VarDecl;

namespace {

constexpr int kMaxDepth = 40;  // recursion in the user's code must end here

bool isIntegral(QualType type) { return type->isIntegralOrEnumerationType(); }

/// Is `prefix` where `path` starts?
bool startsWith(const Path& path, const Path& prefix) {
  if (prefix.size() > path.size()) return false;
  for (std::size_t i = 0; i < prefix.size(); ++i)
    if (path[i].field != prefix[i].field || path[i].index != prefix[i].index) return false;
  return true;
}

Path rest(const Path& path, std::size_t count) {
  return Path(path.begin() + static_cast<std::ptrdiff_t>(count), path.end());
}

/// The one expression a simple function returns.
const Expr* onlyReturn(const clang::FunctionDecl* function) {
  const auto* body =
      function != nullptr ? llvm::dyn_cast_or_null<clang::CompoundStmt>(function->getBody()) : nullptr;
  if (body == nullptr || body->size() != 1) return nullptr;
  const auto* statement = llvm::dyn_cast<clang::ReturnStmt>(body->body_front());
  return statement != nullptr ? statement->getRetValue() : nullptr;
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

Folded Folder::value(const Expr* expr, const Path& path, const Frame* frame, int depth) {
  if (expr == nullptr || depth > kMaxDepth) return std::nullopt;
  if (const Folded folded = constant(expr, path)) return folded;
  expr = expr->IgnoreParens();
  ++depth;
  if (const auto* e = llvm::dyn_cast<clang::DeclRefExpr>(expr)) return reference(e, path, frame, depth);
  if (const auto* e = llvm::dyn_cast<clang::InitListExpr>(expr)) return list(e, path, frame, depth);
  if (const auto* e = llvm::dyn_cast<clang::CXXConstructExpr>(expr)) return construct(e, path, frame, depth);
  if (const auto* e = llvm::dyn_cast<CallExpr>(expr)) return call(e, path, frame, depth);
  if (const auto* e = llvm::dyn_cast<clang::FullExpr>(expr))
    return value(e->getSubExpr(), path, frame, depth);
  if (const auto* e = llvm::dyn_cast<clang::MaterializeTemporaryExpr>(expr))
    return value(e->getSubExpr(), path, frame, depth);
  if (const auto* e = llvm::dyn_cast<clang::CXXBindTemporaryExpr>(expr))
    return value(e->getSubExpr(), path, frame, depth);
  if (const auto* e = llvm::dyn_cast<clang::SubstNonTypeTemplateParmExpr>(expr))
    return value(e->getReplacement(), path, frame, depth);
  if (const auto* e = llvm::dyn_cast<clang::CXXDefaultArgExpr>(expr))
    return value(e->getExpr(), path, frame, depth);
  if (const auto* e = llvm::dyn_cast<clang::CXXDefaultInitExpr>(expr))
    return value(e->getExpr(), path, frame, depth);
  if (const auto* e = llvm::dyn_cast<clang::ConditionalOperator>(expr)) {
    const Folded condition = value(e->getCond(), {}, frame, depth);
    if (!condition) return std::nullopt;
    return value(*condition != 0 ? e->getTrueExpr() : e->getFalseExpr(), path, frame, depth);
  }
  if (const auto* e = llvm::dyn_cast<clang::MemberExpr>(expr); e != nullptr && !e->isArrow()) {
    const auto* field = llvm::dyn_cast<clang::FieldDecl>(e->getMemberDecl());
    if (field == nullptr) return std::nullopt;
    Path longer{{field, 0}};
    longer.append(path.begin(), path.end());
    return value(e->getBase(), longer, frame, depth);
  }
  if (const auto* e = llvm::dyn_cast<clang::UnaryOperator>(expr)) return unary(e, path, frame, depth);
  if (const auto* e = llvm::dyn_cast<clang::CastExpr>(expr)) {
    const Expr* inner = e->getSubExpr();
    const bool is_same_value = !path.empty() || e->getCastKind() == clang::CK_LValueToRValue ||
                               e->getCastKind() == clang::CK_NoOp ||
                               e->getCastKind() == clang::CK_ConstructorConversion ||
                               e->getCastKind() == clang::CK_UserDefinedConversion;
    if (is_same_value) return value(inner, path, frame, depth);
    return converted(value(inner, {}, frame, depth), inner->getType(), e->getType());
  }
  return path.empty() ? scalar(expr, frame, depth) : std::nullopt;
}

Folded Folder::scalar(const Expr* expr, const Frame* frame, int depth) {
  if (const auto* e = llvm::dyn_cast<clang::BinaryOperator>(expr)) return binary(e, frame, depth);
  return std::nullopt;
}

Folded Folder::unary(const clang::UnaryOperator* expr, const Path& path, const Frame* frame, int depth) {
  const Expr* inner = expr->getSubExpr()->IgnoreParenImpCasts();
  if (expr->getOpcode() == clang::UO_Deref) {
    const auto* address = llvm::dyn_cast<clang::UnaryOperator>(inner);
    if (address == nullptr || address->getOpcode() != clang::UO_AddrOf) return std::nullopt;
    return value(address->getSubExpr(), path, frame, depth);
  }
  if (!path.empty()) return std::nullopt;
  const Folded operand = value(expr->getSubExpr(), {}, frame, depth);
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

Folded Folder::binary(const clang::BinaryOperator* expr, const Frame* frame, int depth) {
  const QualType type = expr->getLHS()->getType();
  if (expr->isAssignmentOp() || !isIntegral(type) || !isIntegral(expr->getRHS()->getType()))
    return std::nullopt;
  const Folded left = value(expr->getLHS(), {}, frame, depth),
               right = value(expr->getRHS(), {}, frame, depth);
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

Folded Folder::reference(const clang::DeclRefExpr* expr, const Path& path, const Frame* frame, int depth) {
  const auto* variable = llvm::dyn_cast<VarDecl>(expr->getDecl());
  if (variable == nullptr) return std::nullopt;
  if (const auto* parameter = llvm::dyn_cast<clang::ParmVarDecl>(variable)) {
    for (; frame != nullptr; frame = frame->caller) {
      const auto found = frame->arguments.find(parameter);
      if (found != frame->arguments.end()) return value(found->second, path, frame->caller, depth);
    }
  }
  return variableValue(variable, path, depth);
}

/// A lambda's body speaks of the variables around it.
bool Folder::isOfCaller(const VarDecl* variable) const {
  return caller_ != nullptr && variable->getParentFunctionOrMethod() != nullptr &&
         variable->getParentFunctionOrMethod() != callee_;
}

/// What the caller passed for a parameter that keeps its value; null for anything else.
const Expr* Folder::argumentOf(const VarDecl* variable) const {
  const auto* parameter = llvm::dyn_cast<clang::ParmVarDecl>(variable);
  if (parameter == nullptr || arguments_ == nullptr || uses_.mayChange(variable) ||
      !uses_.writesTo(variable).empty())
    return nullptr;
  return arguments_->lookup(parameter);
}

const Expr* Folder::source(const VarDecl* variable, const Path& path) {
  const LocalUses::Write* only = nullptr;
  for (const LocalUses::Write& write : uses_.writesTo(variable)) {
    if (!startsWith(path, write.path) && !startsWith(write.path, path)) continue;
    if (only != nullptr || write.path.size() != path.size()) return nullptr;
    only = &write;
  }
  if (only != nullptr) return uses_.encloses(only->block, site_) ? only->value : nullptr;
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
  if (isOfCaller(variable)) return caller_->variableValue(variable, path, depth);
  if (llvm::isa<clang::ParmVarDecl>(variable)) {
    const Expr* argument = argumentOf(variable);
    return argument != nullptr ? caller_->value(argument, path, nullptr, depth) : std::nullopt;
  }
  if (uses_.mayChange(variable)) return std::nullopt;
  const bool is_constant = variable->getType().isConstQualified() || variable->isConstexpr();
  if (!variable->isLocalVarDecl() && !is_constant)
    return std::nullopt;  // a global: other code may write to it
  if (variable->isStaticLocal() && !is_constant) return std::nullopt;
  const LocalUses::Write* only = nullptr;
  for (const LocalUses::Write& write : uses_.writesTo(variable)) {
    if (!startsWith(path, write.path)) {
      if (startsWith(write.path, path)) return std::nullopt;  // a part of what is asked for
      continue;
    }
    // A scalar counts as its initialiser only; a member may be filled in by one assignment that is sure to
    // have run.
    const bool is_sure =
        !write.path.empty() && only == nullptr && uses_.encloses(write.block, site_) &&
        context_.getSourceManager().isBeforeInTranslationUnit(write.loc, site_->getBeginLoc());
    if (!is_sure) return std::nullopt;
    only = &write;
  }
  if (only != nullptr) return value(only->value, rest(path, only->path.size()), nullptr, depth);
  return value(variable->getInit(), path, nullptr, depth);
}

Folded Folder::list(const clang::InitListExpr* expr, const Path& path, const Frame* frame, int depth) {
  if (const clang::InitListExpr* semantic = expr->isSemanticForm() ? expr : expr->getSemanticForm())
    expr = semantic;
  if (path.empty())
    return expr->getNumInits() == 1 ? value(expr->getInit(0), path, frame, depth) : std::nullopt;
  const Step& step = path.front();
  if (expr->getType()->isUnionType()) {
    if (expr->getInitializedFieldInUnion() != step.field || expr->getNumInits() == 0) return std::nullopt;
    return value(expr->getInit(0), rest(path, 1), frame, depth);
  }
  if (expr->isTransparent()) return value(expr->getInit(0), path, frame, depth);
  const std::uint64_t index = step.field != nullptr ? step.field->getFieldIndex() : step.index;
  if (index >= expr->getNumInits())
    return step.field == nullptr && expr->hasArrayFiller() ? Folded(0) : std::nullopt;
  const Expr* init = expr->getInit(static_cast<unsigned>(index));
  if (llvm::isa<clang::ImplicitValueInitExpr>(init)) return 0;
  return value(init, rest(path, 1), frame, depth);
}

Folded Folder::construct(const clang::CXXConstructExpr* expr, const Path& path, const Frame* frame,
                         int depth) {
  const clang::CXXConstructorDecl* constructor = expr->getConstructor();
  if (constructor->isCopyOrMoveConstructor() && expr->getNumArgs() >= 1)
    return value(expr->getArg(0), path, frame, depth);
  if (path.empty() || path.front().field == nullptr) return std::nullopt;
  const clang::FunctionDecl* definition = nullptr;
  if (!constructor->isDefined(definition))
    return expr->requiresZeroInitialization() ? Folded(0) : std::nullopt;
  // The body could change what the initialisers set.
  const auto* body = llvm::dyn_cast_or_null<clang::CompoundStmt>(definition->getBody());
  if (body == nullptr || !body->body_empty()) return std::nullopt;
  Frame inner{frame, Arguments()};
  for (unsigned i = 0; i < expr->getNumArgs() && i < definition->getNumParams(); ++i)
    inner.arguments[definition->getParamDecl(i)] = expr->getArg(i);
  for (const clang::CXXCtorInitializer* init : llvm::cast<clang::CXXConstructorDecl>(definition)->inits())
    if (init->getMember() == path.front().field) return value(init->getInit(), rest(path, 1), &inner, depth);
  return std::nullopt;
}

Folded Folder::call(const CallExpr* expr, const Path& path, const Frame* frame, int depth) {
  const clang::FunctionDecl* callee = expr->getDirectCallee();
  if (callee == nullptr) return std::nullopt;
  const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(callee);
  if (method != nullptr && !method->isStatic()) return std::nullopt;
  const bool is_std =
      callee->isInStdNamespace() || callee->getDeclContext()->getRedeclContext()->isTranslationUnit();
  if (is_std && callee->getIdentifier() != nullptr && expr->getNumArgs() == 2 && path.empty() &&
      (callee->getName() == "min" || callee->getName() == "max")) {
    const Folded a = value(expr->getArg(0), {}, frame, depth), b = value(expr->getArg(1), {}, frame, depth);
    if (!a || !b) return std::nullopt;
    const bool is_unsigned =
        callee->getReturnType().getNonReferenceType()->isUnsignedIntegerOrEnumerationType();
    const bool is_less =
        is_unsigned ? static_cast<std::uint64_t>(*a) < static_cast<std::uint64_t>(*b) : *a < *b;
    return (callee->getName() == "min") == is_less ? a : b;
  }
  const clang::FunctionDecl* definition = nullptr;
  if (!callee->isDefined(definition)) return std::nullopt;
  const Expr* result = onlyReturn(definition);
  if (result == nullptr) return std::nullopt;
  Frame inner{frame, Arguments()};
  for (unsigned i = 0; i < expr->getNumArgs() && i < definition->getNumParams(); ++i)
    inner.arguments[definition->getParamDecl(i)] = expr->getArg(i);
  return value(result, path, &inner, depth);
}

}  // namespace handoff::frontend
