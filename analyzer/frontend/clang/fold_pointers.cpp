// SPDX-License-Identifier: Apache-2.0
// Folding what a pointer points to: an array that is handed to a function.
#include "analyzer/frontend/clang/fold.h"

#include "analyzer/frontend/clang/host_code.h"

namespace handoff::frontend {

using clang::Expr;
using clang::QualType;
using clang::VarDecl;

namespace {

constexpr int kMaxDepth = 40;

/// The array inside std::array and its like.
const clang::FieldDecl* onlyArray(clang::ASTContext& context, QualType type) {
  const clang::RecordDecl* record = type.getNonReferenceType()->getAsRecordDecl();
  const clang::RecordDecl* definition = record != nullptr ? record->getDefinition() : nullptr;
  if (definition == nullptr || std::distance(definition->field_begin(), definition->field_end()) != 1)
    return nullptr;
  const clang::FieldDecl* field = *definition->field_begin();
  return context.getAsConstantArrayType(field->getType()) != nullptr ? field : nullptr;
}

bool isNamed(const clang::FunctionDecl* function, llvm::StringRef name) {
  return function != nullptr && function->getIdentifier() != nullptr && function->getName() == name;
}

}  // namespace

Folded Folder::pointee(const Expr* expr, std::uint64_t index, int depth) {
  if (expr == nullptr || ++depth > kMaxDepth) return std::nullopt;
  expr = expr->IgnoreParens();
  if (const auto* e = llvm::dyn_cast<clang::FullExpr>(expr)) return pointee(e->getSubExpr(), index, depth);
  if (const auto* e = llvm::dyn_cast<clang::CastExpr>(expr)) return castPointee(e, index, depth);
  if (const auto* e = llvm::dyn_cast<clang::DeclRefExpr>(expr)) {
    const auto* variable = llvm::dyn_cast<VarDecl>(e->getDecl());
    return variable != nullptr ? variablePointee(variable, index, depth) : std::nullopt;
  }
  if (const auto* e = llvm::dyn_cast<clang::UnaryOperator>(expr)) {
    if (e->getOpcode() != clang::UO_AddrOf) return std::nullopt;
    const Expr* place = e->getSubExpr()->IgnoreParens();
    const auto* element = llvm::dyn_cast<clang::ArraySubscriptExpr>(place);
    if (element == nullptr) return index == 0 ? value(place, {}, depth) : std::nullopt;
    const Folded first = value(element->getIdx(), {}, depth);
    if (!first || *first < 0) return std::nullopt;
    return pointee(element->getBase(), index + static_cast<std::uint64_t>(*first), depth);
  }
  if (const auto* e = llvm::dyn_cast<clang::BinaryOperator>(expr)) {
    if (e->getOpcode() != clang::BO_Add || !e->getLHS()->getType()->isPointerType()) return std::nullopt;
    const Folded first = value(e->getRHS(), {}, depth);
    if (!first || *first < 0) return std::nullopt;
    return pointee(e->getLHS(), index + static_cast<std::uint64_t>(*first), depth);
  }
  if (const auto* e = llvm::dyn_cast<clang::CXXMemberCallExpr>(expr)) {
    const Expr* object = e->getImplicitObjectArgument();
    if (object == nullptr || object->getType()->isPointerType() || !isNamed(e->getMethodDecl(), "data"))
      return std::nullopt;
    const clang::FieldDecl* array = onlyArray(context_, object->getType());
    return array != nullptr ? value(object, {{array, 0}, {nullptr, index}}, depth) : std::nullopt;
  }
  return std::nullopt;
}

Folded Folder::castPointee(const clang::CastExpr* expr, std::uint64_t index, int depth) {
  const Expr* inner = expr->getSubExpr();
  switch (expr->getCastKind()) {
    case clang::CK_ArrayToPointerDecay:
      return value(inner, {{nullptr, index}}, depth);
    case clang::CK_NoOp:
    case clang::CK_LValueToRValue:
      return pointee(inner, index, depth);
    case clang::CK_BitCast: {
      // "(const cuuint32_t*)box" of an int array.
      const QualType from = inner->getType()->getPointeeType(), to = expr->getType()->getPointeeType();
      const bool is_same = !from.isNull() && !to.isNull() && from->isIntegerType() && to->isIntegerType() &&
                           context_.getTypeSize(from) == context_.getTypeSize(to);
      return is_same ? pointee(inner, index, depth) : std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

Folded Folder::variablePointee(const VarDecl* variable, std::uint64_t index, int depth) {
  const HostCode::Home home = host_.homeOf(variable, scope_, site_);
  Folder folder = at(*home.scope, home.site);
  if (llvm::isa<clang::ParmVarDecl>(variable)) {
    const Expr* argument = folder.argumentOf(variable);
    return argument != nullptr ? folder.caller().pointee(argument, index, depth) : std::nullopt;
  }
  const Expr* init = variable->getInit();
  const LocalUses& uses = *home.scope->uses;
  const bool keeps_value = variable->isLocalVarDecl() && init != nullptr && !uses.mayChange(variable) &&
                           uses.writesTo(variable).empty();
  return keeps_value ? at(*home.scope, init).pointee(init, index, depth) : std::nullopt;
}

}  // namespace handoff::frontend
