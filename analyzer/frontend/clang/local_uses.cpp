// SPDX-License-Identifier: Apache-2.0
// What a function body does to its locals.
#include "analyzer/frontend/clang/host_code.h"

namespace handoff::frontend {

using clang::Expr;
using clang::Stmt;
using clang::VarDecl;

bool asPath(clang::ASTContext& context, const Expr* expr, const VarDecl*& variable, Path& path) {
  expr = expr->IgnoreParenImpCasts();
  if (const auto* ref = llvm::dyn_cast<clang::DeclRefExpr>(expr)) {
    variable = llvm::dyn_cast<VarDecl>(ref->getDecl());
    return variable != nullptr;
  }
  if (const auto* member = llvm::dyn_cast<clang::MemberExpr>(expr)) {
    const auto* field = llvm::dyn_cast<clang::FieldDecl>(member->getMemberDecl());
    if (field == nullptr || member->isArrow() || !asPath(context, member->getBase(), variable, path))
      return false;
    path.push_back({field, 0});
    return true;
  }
  if (const auto* element = llvm::dyn_cast<clang::ArraySubscriptExpr>(expr)) {
    Expr::EvalResult index;
    if (!element->getBase()->IgnoreParenImpCasts()->getType()->isArrayType() ||
        element->getIdx()->isValueDependent() || !element->getIdx()->EvaluateAsInt(index, context) ||
        !asPath(context, element->getBase(), variable, path))
      return false;
    path.push_back({nullptr, index.Val.getInt().getZExtValue()});
    return true;
  }
  return false;
}

bool isPlainCapture(const clang::LambdaExpr& lambda, const Expr* expr) {
  const auto* init = lambda.capture_init_begin();
  for (const clang::LambdaCapture& capture : lambda.captures())
    if (*init++ == expr) return capture.capturesVariable() && !capture.getCapturedVar()->isInitCapture();
  return false;
}

llvm::StringRef calleeName(const clang::CallExpr* call) {
  const clang::FunctionDecl* callee = call->getDirectCallee();
  return callee != nullptr && callee->getIdentifier() != nullptr ? callee->getName() : llvm::StringRef();
}

bool isForwarding(const clang::CallExpr* call) {
  const llvm::StringRef name = calleeName(call);
  return call->getNumArgs() == 1 && (name == "move" || name == "forward");
}

/// Walks a body with the way up at hand.
class UseScan {
 public:
  UseScan(clang::ASTContext& context, HostCode& host, LocalUses& out)
      : context_(context), host_(host), out_(out) {}

  void scan(const Stmt* stmt) {
    if (stmt == nullptr) return;
    if (const auto* choice = llvm::dyn_cast<clang::IfStmt>(stmt); isDecided(choice))
      return scanDecided(choice);
    if (const auto* ref = llvm::dyn_cast<clang::DeclRefExpr>(stmt))
      if (const auto* variable = llvm::dyn_cast<VarDecl>(ref->getDecl())) mention(ref, variable);
    for (const Stmt* child : stmt->children()) {
      if (child == nullptr) continue;
      out_.parents_[child] = stmt;
      scan(child);
    }
  }

 private:
  const Stmt* parent(const Stmt* stmt) const { return out_.parent(stmt); }

  /// "if constexpr": one branch does not exist, the other one always runs.
  bool isDecided(const clang::IfStmt* choice) const {
    return choice != nullptr && choice->isConstexpr() && choice->getNondiscardedCase(context_).has_value();
  }

  void scanDecided(const clang::IfStmt* choice) {
    for (const Stmt* part : {choice->getInit(), *choice->getNondiscardedCase(context_)}) {
      if (part == nullptr) continue;
      out_.parents_[part] = choice;
      scan(part);
    }
  }

  /// Climbs from a mention over members and elements to what is done with the place.
  void mention(const clang::DeclRefExpr* ref, const VarDecl* variable) {
    out_.mentions_[variable->getCanonicalDecl()].push_back(ref);
    const Expr* place = ref;
    while (true) {
      const Stmt* up = parent(place);
      const auto* member = llvm::dyn_cast_or_null<clang::MemberExpr>(up);
      const bool is_member =
          member != nullptr && !member->isArrow() && llvm::isa<clang::FieldDecl>(member->getMemberDecl());
      const bool is_element = llvm::isa_and_nonnull<clang::ArraySubscriptExpr>(up) &&
                              llvm::cast<clang::ArraySubscriptExpr>(up)->getBase()->IgnoreParenImpCasts() ==
                                  place->IgnoreParenImpCasts();
      const auto* cast = llvm::dyn_cast_or_null<clang::ImplicitCastExpr>(up);
      const bool is_decay = cast != nullptr && cast->getCastKind() == clang::CK_ArrayToPointerDecay &&
                            llvm::isa_and_nonnull<clang::ArraySubscriptExpr>(parent(cast));
      const auto* call = llvm::dyn_cast_or_null<clang::CallExpr>(up);
      const bool is_same =
          llvm::isa_and_nonnull<clang::ParenExpr>(up) || (call != nullptr && isForwarding(call));
      if (is_member || is_element || is_decay || is_same)
        place = llvm::cast<Expr>(up);
      else
        break;
    }
    use(place, variable);
  }

  void use(const Expr* place, const VarDecl* variable) {
    const Stmt* up = parent(place);
    if (const auto* assign = llvm::dyn_cast_or_null<clang::BinaryOperator>(up);
        assign != nullptr && assign->getOpcode() == clang::BO_Assign && assign->getLHS() == place)
      return write(place, variable, assign->getRHS(), assign);
    if (const auto* assign = llvm::dyn_cast_or_null<clang::CXXOperatorCallExpr>(up);
        assign != nullptr && assign->getOperator() == clang::OO_Equal && assign->getArg(0) == place)
      return write(place, variable, assign->getArg(1), assign);
    if (!isRead(place, up)) out_.changed_.insert(variable);
  }

  bool isRead(const Expr* place, const Stmt* up) const {
    if (up == nullptr) return false;
    if (isLaunchArgument(place)) return true;  // perfectly forwarded, so bound to a reference
    if (place->getType().isConstQualified() || isMovedOut(up)) return true;
    if (const auto* cast = llvm::dyn_cast<clang::ImplicitCastExpr>(up))
      return cast->getCastKind() == clang::CK_LValueToRValue ||
             (cast->getCastKind() == clang::CK_NoOp && cast->getType().isConstQualified()) ||
             isConstDecay(cast);
    if (llvm::isa<clang::UnaryExprOrTypeTraitExpr>(up)) return true;
    if (const auto* lambda = llvm::dyn_cast<clang::LambdaExpr>(up)) return isPlainCapture(*lambda, place);
    if (const auto* address = llvm::dyn_cast<clang::UnaryOperator>(up);
        address != nullptr && address->getOpcode() == clang::UO_AddrOf)
      return isHarmlessAddress(address);
    if (const auto* call = llvm::dyn_cast<clang::CallExpr>(up)) return isReadByCallee(call, place);
    return isConstData(up);
  }

  /// "return config;": nothing looks at what a move leaves behind; and of plain data it leaves everything.
  bool isMovedOut(const Stmt* up) const {
    const auto* cast = llvm::dyn_cast<clang::ImplicitCastExpr>(up);
    if (cast != nullptr && cast->getCastKind() == clang::CK_NoOp) up = parent(cast);
    const auto* construct = llvm::dyn_cast_or_null<clang::CXXConstructExpr>(up);
    return construct != nullptr && construct->getConstructor()->isCopyOrMoveConstructor() &&
           (construct->getConstructor()->isTrivial() ||
            llvm::isa_and_nonnull<clang::ReturnStmt>(parent(construct)));
  }

  /// "launch(grid, n)" with "template <class... A> void launch(dim3& g, A&&... a)".
  bool isReadByCallee(const clang::CallExpr* call, const Expr* place) const {
    const clang::FunctionDecl* callee = call->getDirectCallee();
    if (callee == nullptr) return false;
    const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(callee);
    const bool has_object =
        llvm::isa<clang::CXXOperatorCallExpr>(call) && method != nullptr && method->isInstance();
    const unsigned first = has_object ? 1 : 0;
    for (unsigned i = first; i < call->getNumArgs(); ++i)
      if (call->getArg(i) == place) return host_.onlyReads(*callee, i - first);
    return false;
  }

  /// "box.data()" where a pointer to constants is wanted.
  bool isConstData(const Stmt* up) const {
    const auto* member = llvm::dyn_cast<clang::MemberExpr>(up);
    const auto* call =
        llvm::dyn_cast_or_null<clang::CXXMemberCallExpr>(member != nullptr ? parent(up) : nullptr);
    const auto* cast = llvm::dyn_cast_or_null<clang::CastExpr>(call != nullptr ? parent(call) : nullptr);
    return cast != nullptr && cast->getType()->isPointerType() &&
           cast->getType()->getPointeeType().isConstQualified();
  }

  /// An array of launch arguments or attributes that is handed on as it is: nobody writes to it.
  bool isConstDecay(const clang::ImplicitCastExpr* cast) const {
    if (cast->getCastKind() != clang::CK_ArrayToPointerDecay) return false;
    const Stmt* up = parent(cast);
    if (const auto* sum = llvm::dyn_cast_or_null<clang::BinaryOperator>(up);
        sum != nullptr && sum->isAdditiveOp() && sum->getType()->isPointerType())
      up = parent(sum);
    if (const auto* next = llvm::dyn_cast_or_null<clang::CastExpr>(up))
      return next->getType()->getPointeeType().isConstQualified();
    if (const auto* call = llvm::dyn_cast_or_null<clang::CallExpr>(up);
        call != nullptr && call->getDirectCallee() != nullptr)
      for (unsigned i = 0; i < call->getNumArgs(); ++i)
        if (call->getArg(i) == cast && host_.onlyLaunches(*call->getDirectCallee(), i)) return true;
    return isLaunchArgument(cast) || isAttributeList(cast);
  }

  /// "&n" in the argument list of a launch, in a constant pointer, or "&config" in the launch itself.
  bool isHarmlessAddress(const Expr* address) const {
    const Stmt* up = parent(address);
    while (llvm::isa_and_nonnull<clang::CastExpr, clang::ParenExpr>(up)) {
      if (llvm::cast<Expr>(up)->getType()->isPointerType() &&
          llvm::cast<Expr>(up)->getType()->getPointeeType().isConstQualified())
        return true;
      address = llvm::cast<Expr>(up);
      up = parent(up);
    }
    if (const auto* list = llvm::dyn_cast_or_null<clang::InitListExpr>(up)) {
      const clang::ArrayType* array = list->getType()->getAsArrayTypeUnsafe();
      if (array != nullptr) return array->getElementType()->isVoidPointerType();
    }
    return isLaunchArgument(address) || isAttributeList(address);
  }

  bool isLaunchArgument(const Expr* expr) const {
    const auto* call = llvm::dyn_cast_or_null<clang::CallExpr>(parent(expr));
    return call != nullptr && calleeName(call).starts_with("cudaLaunch");
  }

  /// "config.attrs = attributes", "cudaLaunchConfig_t config{..., attributes, 1}"
  bool isAttributeList(const Expr* expr) const {
    if (const auto* list = llvm::dyn_cast_or_null<clang::InitListExpr>(parent(expr))) {
      const clang::RecordDecl* record = list->getType()->getAsRecordDecl();
      return record != nullptr && record->getName().starts_with("cudaLaunchConfig");
    }
    const auto* assign = llvm::dyn_cast_or_null<clang::BinaryOperator>(parent(expr));
    const auto* member = assign != nullptr && assign->getOpcode() == clang::BO_Assign
                             ? llvm::dyn_cast<clang::MemberExpr>(assign->getLHS()->IgnoreParens())
                             : nullptr;
    return member != nullptr && member->getMemberDecl()->getName() == "attrs";
  }

  void write(const Expr* place, const VarDecl* variable, const Expr* value, const Stmt* at) {
    const VarDecl* base = nullptr;
    Path path;
    if (!asPath(context_, place, base, path)) {
      out_.changed_.insert(variable);
      return;
    }
    const Stmt* block = parent(at);
    while (block != nullptr && !isConditional(block)) block = parent(block);
    out_.writes_[variable].push_back({std::move(path), value, block, at->getBeginLoc()});
  }

  /// A statement whose parts may run never, or several times.
  bool isConditional(const Stmt* stmt) const {
    if (isDecided(llvm::dyn_cast<clang::IfStmt>(stmt))) return false;
    return llvm::isa<clang::IfStmt, clang::ForStmt, clang::WhileStmt, clang::DoStmt, clang::CXXForRangeStmt,
                     clang::SwitchStmt, clang::ConditionalOperator, clang::LambdaExpr, clang::CXXTryStmt,
                     clang::CXXCatchStmt>(stmt);
  }

  clang::ASTContext& context_;
  HostCode& host_;
  LocalUses& out_;
};

LocalUses::LocalUses(clang::ASTContext& context, HostCode& host, const Stmt* body) {
  UseScan(context, host, *this).scan(body);
}

llvm::ArrayRef<LocalUses::Write> LocalUses::writesTo(const VarDecl* variable) const {
  const auto found = writes_.find(variable);
  return found == writes_.end() ? llvm::ArrayRef<Write>() : llvm::ArrayRef<Write>(found->second);
}

llvm::ArrayRef<const clang::DeclRefExpr*> LocalUses::mentionsOf(const VarDecl* variable) const {
  const auto found = mentions_.find(variable->getCanonicalDecl());
  return found == mentions_.end() ? llvm::ArrayRef<const clang::DeclRefExpr*>()
                                  : llvm::ArrayRef<const clang::DeclRefExpr*>(found->second);
}

bool LocalUses::encloses(const Stmt* block, const Stmt* statement) const {
  if (block == nullptr) return true;
  for (; statement != nullptr; statement = parents_.lookup(statement))
    if (statement == block) return true;
  return false;
}

}  // namespace handoff::frontend
