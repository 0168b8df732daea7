// SPDX-License-Identifier: Apache-2.0
// The walk over host functions.
#include "analyzer/frontend/clang/host_code.h"

namespace handoff::frontend {

using clang::Expr;
using clang::FunctionDecl;
using clang::VarDecl;

namespace {

constexpr unsigned kMaxNested = 8;  // bodies that wait for what another one does to a reference
constexpr int kMaxCalls = 12;       // bodies inside each other

}  // namespace

void forEachCallOperator(const clang::LambdaExpr& lambda,
                         llvm::function_ref<void(const FunctionDecl&)> callback) {
  const clang::CXXMethodDecl* plain = lambda.getCallOperator();
  if (plain == nullptr) return;
  const clang::FunctionTemplateDecl* generic = plain->getDescribedFunctionTemplate();
  if (generic == nullptr) {
    if (plain->getBody() != nullptr) callback(*plain);
    return;
  }
  for (const FunctionDecl* instance : generic->specializations())
    if (instance->getBody() != nullptr) callback(*instance);
}

class HostScan : public clang::RecursiveASTVisitor<HostScan> {
 public:
  explicit HostScan(HostCode& out) : out_(out) {}
  bool shouldVisitTemplateInstantiations() const { return true; }

  bool VisitFunctionDecl(FunctionDecl* function) {
    const bool is_device_only =
        function->hasAttr<clang::CUDAGlobalAttr>() ||
        (function->hasAttr<clang::CUDADeviceAttr>() && !function->hasAttr<clang::CUDAHostAttr>());
    if (!is_device_only && !function->isDependentContext() && function->isThisDeclarationADefinition() &&
        function->getBody() != nullptr)
      look(function, function->getBody());
    out_.has_main_ |= function->isMain();
    return true;
  }

  bool VisitDeclRefExpr(clang::DeclRefExpr* ref) {
    if (const auto* function = llvm::dyn_cast<FunctionDecl>(ref->getDecl()))
      ++out_.other_mentions_[function->getCanonicalDecl()];
    return true;
  }

  bool VisitCallExpr(clang::CallExpr* call) {
    const auto* ref = llvm::dyn_cast<clang::DeclRefExpr>(call->getCallee()->IgnoreParenImpCasts());
    if (ref != nullptr && call->getDirectCallee() != nullptr)
      --out_.other_mentions_[call->getDirectCallee()->getCanonicalDecl()];
    return true;
  }

 private:
  void look(const FunctionDecl* function, const clang::Stmt* stmt) {
    if (const auto* lambda = llvm::dyn_cast<clang::LambdaExpr>(stmt)) return lookInto(function, lambda);
    if (const auto* call = llvm::dyn_cast<clang::CallExpr>(stmt)) {
      if (call->getDirectCallee() != nullptr) addCall(function, call->getDirectCallee(), call);
    } else if (const auto* construct = llvm::dyn_cast<clang::CXXConstructExpr>(stmt)) {
      addCall(function, construct->getConstructor(), construct);
    } else if (const auto* ref = llvm::dyn_cast<clang::DeclRefExpr>(stmt)) {
      const auto* variable = llvm::dyn_cast<VarDecl>(ref->getDecl());
      if (variable != nullptr && !variable->isLocalVarDeclOrParm())
        addMention(function, variable->getCanonicalDecl());
    }
    for (const clang::Stmt* child : stmt->children())
      if (child != nullptr) look(function, child);
  }

  void lookInto(const FunctionDecl* function, const clang::LambdaExpr* lambda) {
    for (const Expr* init : lambda->capture_inits())
      if (init != nullptr) look(function, init);
    forEachCallOperator(*lambda, [&](const FunctionDecl& body) {
      if (!out_.lambdas_.try_emplace(body.getCanonicalDecl(), HostCode::Call{function, lambda}).second)
        return;
      look(&body, body.getBody());
    });
  }

  void addCall(const FunctionDecl* caller, const FunctionDecl* callee, const Expr* call) {
    out_.calls_[callee->getCanonicalDecl()].push_back({caller, call});
  }

  void addMention(const FunctionDecl* function, const VarDecl* variable) {
    auto& functions = out_.mentions_[variable];
    if (functions.empty() || functions.back() != function) functions.push_back(function);
  }

  HostCode& out_;
};

const LocalUses& HostCode::usesOf(const FunctionDecl& definition) {
  std::unique_ptr<LocalUses>& uses = uses_[&definition];
  if (uses == nullptr) {
    being_read_.insert(&definition);
    auto found = std::make_unique<LocalUses>(context_, *this, definition.getBody());
    being_read_.erase(&definition);
    uses = std::move(found);
  }
  return *uses;
}

/// A parameter whose uses can be asked for; null when they cannot.
const clang::ParmVarDecl* HostCode::readableParameter(const FunctionDecl& function, unsigned index) const {
  const FunctionDecl* definition = nullptr;
  // What a constructor does to its arguments, it does before its body.
  const bool is_readable = function.isDefined(definition) && definition->getBody() != nullptr &&
                           !llvm::isa<clang::CXXConstructorDecl>(definition) &&
                           index < definition->getNumParams() && being_read_.count(definition) == 0 &&
                           being_read_.size() < kMaxNested;
  return is_readable ? definition->getParamDecl(index) : nullptr;
}

bool HostCode::onlyReads(const FunctionDecl& function, unsigned index) {
  const clang::ParmVarDecl* parameter = readableParameter(function, index);
  if (parameter == nullptr || !parameter->getType()->isReferenceType()) return false;
  const LocalUses& uses = usesOf(*llvm::cast<FunctionDecl>(parameter->getDeclContext()));
  return !uses.mayChange(parameter) && uses.writesTo(parameter).empty();
}

bool HostCode::onlyLaunches(const FunctionDecl& function, unsigned index, unsigned nesting) {
  const clang::ParmVarDecl* parameter = readableParameter(function, index);
  if (parameter == nullptr || !parameter->getType()->isPointerType() || nesting > kMaxNested) return false;
  const LocalUses& uses = usesOf(*llvm::cast<FunctionDecl>(parameter->getDeclContext()));
  const llvm::ArrayRef<const clang::DeclRefExpr*> mentions = uses.mentionsOf(parameter);
  return std::all_of(mentions.begin(), mentions.end(), [&](const clang::DeclRefExpr* ref) {
    const clang::Stmt* argument = ref;
    while (llvm::isa_and_nonnull<clang::ImplicitCastExpr>(uses.parent(argument)))
      argument = uses.parent(argument);
    const auto* call = llvm::dyn_cast_or_null<clang::CallExpr>(uses.parent(argument));
    if (call == nullptr || call->getDirectCallee() == nullptr) return false;
    if (calleeName(call).starts_with("cudaLaunch")) return true;
    for (unsigned i = 0; i < call->getNumArgs(); ++i)
      if (call->getArg(i) == argument) return onlyLaunches(*call->getDirectCallee(), i, nesting + 1);
    return false;
  });
}

void HostCode::scan() {
  if (is_scanned_) return;
  is_scanned_ = true;
  HostScan visitor(*this);
  for (clang::Decl* decl : context_.getTranslationUnitDecl()->decls())
    if (isUserCode(context_.getSourceManager(), decl->getLocation())) visitor.TraverseDecl(decl);
  for (const auto& [lambda, place] : lambdas_)
    if (calls_.find(lambda) == calls_.end() && !lambda->isTemplateInstantiation())
      calls_[lambda].push_back(place);
}

llvm::ArrayRef<HostCode::Call> HostCode::callsOf(const FunctionDecl& function) {
  scan();
  const auto found = calls_.find(function.getCanonicalDecl());
  return found == calls_.end() ? llvm::ArrayRef<Call>() : llvm::ArrayRef<Call>(found->second);
}

bool HostCode::hasAllCallers(const FunctionDecl& function) {
  scan();
  if (lambdas_.count(function.getCanonicalDecl()) != 0) return true;
  if (other_mentions_.lookup(function.getCanonicalDecl()) > 0) return false;
  // What other files make of a template or an inline function, they launch themselves.
  return has_main_ || !function.isExternallyVisible() || function.isInlined() ||
         function.isTemplateInstantiation();
}

llvm::ArrayRef<const FunctionDecl*> HostCode::functionsWith(const VarDecl& variable) {
  scan();
  const auto found = mentions_.find(variable.getCanonicalDecl());
  return found == mentions_.end() ? llvm::ArrayRef<const FunctionDecl*>()
                                  : llvm::ArrayRef<const FunctionDecl*>(found->second);
}

const Scope& HostCode::scopeOf(const FunctionDecl& definition) {
  const auto [entry, is_new] = scopes_.try_emplace(&definition);
  if (is_new) {
    entry->second.function = &definition;
    entry->second.uses = &usesOf(definition);
  }
  return entry->second;
}

std::optional<Scope> HostCode::enter(const Scope& caller, const Expr* expr) {
  int depth = 0;
  for (const Scope* scope = &caller; scope != nullptr; scope = scope->caller) ++depth;
  const auto* call = llvm::dyn_cast<clang::CallExpr>(expr);
  const auto* construct = llvm::dyn_cast<clang::CXXConstructExpr>(expr);
  const auto* lambda = llvm::dyn_cast<clang::LambdaExpr>(expr);
  const FunctionDecl* callee = call != nullptr        ? call->getDirectCallee()
                               : construct != nullptr ? construct->getConstructor()
                               : lambda != nullptr    ? lambda->getCallOperator()
                                                      : nullptr;
  const FunctionDecl* definition = nullptr;
  const auto* method = llvm::dyn_cast_or_null<clang::CXXMethodDecl>(callee);
  if (depth > kMaxCalls || callee == nullptr || !callee->isDefined(definition) ||
      definition->getBody() == nullptr || (method != nullptr && method->isVirtual()))
    return std::nullopt;
  Scope scope = scopeOf(*definition);
  scope.caller = &caller;
  scope.site = expr;
  const bool has_object =
      llvm::isa<clang::CXXOperatorCallExpr>(expr) && method != nullptr && method->isInstance();
  const unsigned first = has_object ? 1 : 0, count = call != nullptr        ? call->getNumArgs()
                                                     : construct != nullptr ? construct->getNumArgs()
                                                                            : 0;
  if (const auto* member = llvm::dyn_cast<clang::CXXMemberCallExpr>(expr))
    scope.object = member->getImplicitObjectArgument();
  else if (has_object)
    scope.object = call->getArg(0);
  for (unsigned i = 0; i < definition->getNumParams() && first + i < count; ++i)
    scope.arguments[definition->getParamDecl(i)] =
        call != nullptr ? call->getArg(first + i) : construct->getArg(first + i);
  return scope;
}

HostCode::Home HostCode::homeOf(const VarDecl* variable, const Scope& scope, const clang::Stmt* site) {
  const auto* owner = llvm::dyn_cast_or_null<FunctionDecl>(variable->getParentFunctionOrMethod());
  if (owner == nullptr || owner == scope.function) return {&scope, site};
  const clang::Stmt* at = site;
  for (const Scope* outer = &scope; outer != nullptr; at = outer->site, outer = outer->caller)
    if (outer->function == owner) return {outer, at};
  return owner->getBody() != nullptr ? Home{&scopeOf(*owner), site} : Home{&scope, site};
}

}  // namespace handoff::frontend
