// SPDX-License-Identifier: Apache-2.0
// The search for what errors have touched. The head of trust.h has the argument.
#include "analyzer/frontend/clang/trust.h"

#include <clang/Lex/Lexer.h>
#include <llvm/ADT/StringSet.h>

#include <algorithm>

namespace handoff::frontend {
namespace {

using clang::Decl;
using clang::FunctionDecl;
using clang::SourceLocation;
using clang::SourceManager;

bool contains(const SourceManager& sources, clang::SourceRange range, SourceLocation loc) {
  if (range.isInvalid()) return false;
  const SourceLocation begin = sources.getExpansionLoc(range.getBegin());
  const SourceLocation end = sources.getExpansionRange(range.getEnd()).getEnd();
  return !sources.isBeforeInTranslationUnit(loc, begin) && !sources.isBeforeInTranslationUnit(end, loc);
}

/// What the errors outside functions belong to.
struct Outside {
  llvm::DenseMap<const FunctionDecl*, llvm::SmallVector<SourceLocation, 2>> functions;
  llvm::DenseSet<const Decl*> decls;  ///< classes and variables, canonical
  llvm::StringSet<> names;            ///< of declarations that are gone
};

/// Walks the text's own declarations (no instantiations) and finds the ones around each error.
class Placer : public clang::RecursiveASTVisitor<Placer> {
 public:
  Placer(const SourceManager& sources, llvm::ArrayRef<SourceLocation> errors, Outside& out)
      : sources_(sources), errors_(errors), placed_(errors.size(), false), out_(out) {}

  /// Goes only where an error is: a file has a hundred thousand declarations.
  bool TraverseDecl(Decl* decl) {
    if (decl == nullptr || llvm::isa<clang::TranslationUnitDecl>(decl))
      return RecursiveASTVisitor::TraverseDecl(decl);
    const bool is_around = std::any_of(errors_.begin(), errors_.end(), [&](SourceLocation error) {
      return contains(sources_, decl->getSourceRange(), sources_.getExpansionLoc(error));
    });
    return is_around ? RecursiveASTVisitor::TraverseDecl(decl) : VisitDecl(decl);
  }

  bool VisitDecl(Decl* decl) {
    const bool is_scope =
        llvm::isa<clang::TranslationUnitDecl, clang::NamespaceDecl, clang::LinkageSpecDecl>(decl);
    if (is_scope) return true;
    for (std::size_t i = 0; i < errors_.size(); ++i) {
      const SourceLocation loc = sources_.getExpansionLoc(errors_[i]);
      if (!contains(sources_, decl->getSourceRange(), loc)) {
        noteNeighbour(decl, loc);
        continue;
      }
      placed_[i] = true;
      if (!isInside(*decl, loc)) loseName(*decl);
      if (const auto* function = llvm::dyn_cast<FunctionDecl>(decl))
        out_.functions[function->getCanonicalDecl()].push_back(loc);
      else
        out_.decls.insert(decl->getCanonicalDecl());
    }
    return true;
  }

  /// Errors that no declaration surrounds: their declaration was dropped. Its text begins after the
  /// neighbour.
  void readLostNames(const clang::LangOptions& language) {
    for (std::size_t i = 0; i < errors_.size(); ++i)
      if (!placed_[i])
        readNames(sources_.getExpansionLoc(errors_[i]), before_[sources_.getExpansionLoc(errors_[i])],
                  language);
  }

 private:
  /// In the braces, where an error cannot change what the declaration is.
  bool isInside(const Decl& decl, SourceLocation loc) const {
    if (const auto* function = llvm::dyn_cast<FunctionDecl>(&decl))
      return function->getBody() != nullptr && contains(sources_, function->getBody()->getSourceRange(), loc);
    if (const auto* tag = llvm::dyn_cast<clang::TagDecl>(&decl))
      return contains(sources_, tag->getBraceRange(), loc);
    return llvm::isa<clang::TemplateDecl>(decl);  // the declaration in the template is looked at by itself
  }

  /// Clang guesses at what it cannot read, so an overload or a specialisation may be another one than was
  /// written.
  void loseName(const Decl& decl) {
    const auto* named = llvm::dyn_cast<clang::NamedDecl>(&decl);
    if (named != nullptr && named->getIdentifier() != nullptr && !llvm::isa<clang::ParmVarDecl>(decl))
      out_.names.insert(named->getName());
  }

  void noteNeighbour(const Decl* decl, SourceLocation loc) {
    const SourceLocation end = sources_.getExpansionRange(decl->getSourceRange().getEnd()).getEnd();
    if (end.isInvalid() || sources_.getFileID(end) != sources_.getFileID(loc)) return;
    SourceLocation& best = before_[loc];
    if (sources_.isBeforeInTranslationUnit(end, loc) &&
        (best.isInvalid() || sources_.isBeforeInTranslationUnit(best, end)))
      best = end;
  }

  /// Every name that a declaration could introduce from `start` to the first "{" or ";" behind the error.
  void readNames(SourceLocation error, SourceLocation start, const clang::LangOptions& language) {
    const auto [file, offset] = sources_.getDecomposedLoc(error);
    const llvm::StringRef text = sources_.getBufferData(file);
    const unsigned begin = start.isValid() ? sources_.getFileOffset(start) : 0;
    clang::Lexer lexer(sources_.getLocForStartOfFile(file), language, text.begin(), text.begin() + begin,
                       text.end());
    clang::Token token;
    std::string last;
    while (true) {
      const bool is_end = lexer.LexFromRawLexer(token);
      using namespace clang;
      if (!last.empty() && token.isOneOf(tok::l_paren, tok::less, tok::l_brace, tok::equal, tok::semi,
                                         tok::l_square, tok::colon))
        out_.names.insert(last);
      last = token.is(tok::raw_identifier) ? token.getRawIdentifier().str() : std::string();
      const bool is_behind = sources_.getFileOffset(token.getLocation()) > offset;
      if (is_end || (is_behind && token.isOneOf(tok::semi, tok::l_brace))) return;
    }
  }

  const SourceManager& sources_;
  llvm::ArrayRef<SourceLocation> errors_;
  std::vector<bool> placed_;
  llvm::DenseMap<SourceLocation, SourceLocation> before_;
  Outside& out_;
};

/// Part 2 of the argument: is anything in this body, or in what it names, broken?
class BrokenSearch : public clang::RecursiveASTVisitor<BrokenSearch> {
 public:
  BrokenSearch(const Attempt& attempt, const Outside& outside, llvm::DenseMap<const Decl*, bool>& memo)
      : attempt_(attempt), outside_(outside), memo_(memo) {}

  bool isBroken(const FunctionDecl* function) {
    if (function->isInvalidDecl()) return true;
    for (const clang::ParmVarDecl* parameter : function->parameters())
      if (isBrokenDecl(parameter) || isBrokenType(parameter->getType())) return true;
    if (isBrokenType(function->getReturnType())) return true;
    if (const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(function))
      if (isBrokenDecl(method->getParent())) return true;
    if (const auto* constructor = llvm::dyn_cast<clang::CXXConstructorDecl>(function))
      for (const clang::CXXCtorInitializer* init : constructor->inits())
        if (init->getInit() != nullptr && !TraverseStmt(init->getInit())) return true;
    return function->getBody() != nullptr && !TraverseStmt(function->getBody());
  }

  // Every Visit returns false, which ends the traversal, when it meets something broken.
  bool VisitExpr(clang::Expr* expr) { return !expr->containsErrors() && !isBrokenType(expr->getType()); }
  bool VisitDeclRefExpr(clang::DeclRefExpr* expr) { return !isBrokenDecl(expr->getDecl()); }
  bool VisitMemberExpr(clang::MemberExpr* expr) { return !isBrokenDecl(expr->getMemberDecl()); }
  bool VisitCXXConstructExpr(clang::CXXConstructExpr* expr) { return !isBrokenDecl(expr->getConstructor()); }
  bool VisitVarDecl(clang::VarDecl* decl) { return !isBrokenDecl(decl) && !isBrokenType(decl->getType()); }
  bool VisitCXXDefaultArgExpr(clang::CXXDefaultArgExpr* expr) { return TraverseStmt(expr->getExpr()); }
  bool VisitCXXDefaultInitExpr(clang::CXXDefaultInitExpr* expr) { return TraverseStmt(expr->getExpr()); }

 private:
  bool isBrokenType(clang::QualType type) {
    if (type.isNull()) return false;
    if (type->containsErrors()) return true;
    const clang::TagDecl* tag = type->getBaseElementTypeUnsafe()->getAsTagDecl();
    return tag != nullptr && isBrokenDecl(tag);
  }

  bool isBrokenDecl(const Decl* decl) {
    const auto [entry, is_new] =
        memo_.try_emplace(decl, false);  // false while it is being looked at: cycles end
    if (!is_new) return entry->second;
    const bool result = look(decl);
    memo_[decl] = result;
    return result;
  }

  bool look(const Decl* decl) {
    if (decl->isInvalidDecl() || outside_.decls.count(decl->getCanonicalDecl()) != 0) return true;
    if (const auto* named = llvm::dyn_cast<clang::NamedDecl>(decl))
      if (const auto* id = named->getIdentifier(); id != nullptr && outside_.names.count(id->getName()) != 0)
        return true;
    if (const auto* parent = llvm::dyn_cast<clang::CXXRecordDecl>(decl->getDeclContext());
        parent != nullptr && isBrokenDecl(parent))
      return true;
    if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(decl)) return isBrokenVariable(variable);
    if (const auto* record = llvm::dyn_cast<clang::CXXRecordDecl>(decl)) return isBrokenRecord(record);
    return false;
  }

  bool isBrokenVariable(const clang::VarDecl* variable) {
    // Locals are met on the way through their function.
    if (variable->hasLocalStorage() || variable->getAnyInitializer() == nullptr) return false;
    BrokenSearch inner(attempt_, outside_, memo_);
    return !inner.TraverseStmt(const_cast<clang::Expr*>(variable->getAnyInitializer()));
  }

  bool isBrokenRecord(const clang::CXXRecordDecl* record) {
    if (attempt_.errored_records.count(record->getCanonicalDecl()) != 0) return true;
    if (const auto* pattern = record->getTemplateInstantiationPattern())
      if (outside_.decls.count(pattern->getCanonicalDecl()) != 0 ||
          attempt_.errored_records.count(pattern->getCanonicalDecl()) != 0)
        return true;
    if (!record->hasDefinition()) return false;
    for (const clang::CXXBaseSpecifier& base : record->getDefinition()->bases())
      if (isBrokenType(base.getType())) return true;
    for (const clang::FieldDecl* field : record->getDefinition()->fields())
      if (field->isInvalidDecl() || isBrokenType(field->getType())) return true;
    return false;
  }

  const Attempt& attempt_;
  const Outside& outside_;
  llvm::DenseMap<const Decl*, bool>& memo_;
};

class DefinitionCollector : public clang::RecursiveASTVisitor<DefinitionCollector> {
 public:
  bool shouldVisitTemplateInstantiations() const { return true; }
  bool shouldVisitImplicitCode() const { return true; }
  bool VisitFunctionDecl(FunctionDecl* function) {
    if (!function->isDependentContext()) functions.insert(function->getCanonicalDecl());
    return true;
  }
  llvm::SetVector<const FunctionDecl*> functions;
};

/// Blocks that exist: of an "if constexpr" that is decided, only the branch that was taken. The other is
/// still in the tree, as an empty block.
template <typename Callback>
void forEachBlock(const clang::ASTContext& context, const clang::Stmt* stmt, Callback&& callback) {
  if (stmt == nullptr) return;
  if (const auto* block = llvm::dyn_cast<clang::CompoundStmt>(stmt)) callback(*block);
  if (const auto* choice = llvm::dyn_cast<clang::IfStmt>(stmt);
      choice != nullptr && choice->isConstexpr() && !choice->getCond()->isValueDependent())
    if (const auto taken = choice->getNondiscardedCase(context))
      return forEachBlock(context, *taken, callback);
  for (const clang::Stmt* child : stmt->children()) forEachBlock(context, child, callback);
}

/// Does the innermost block around `loc` in the template's text still exist in the instantiation?
bool isInLiveBlock(const clang::ASTContext& context, const clang::Stmt* pattern, const clang::Stmt* body,
                   SourceLocation loc) {
  const SourceManager& sources = context.getSourceManager();
  SourceLocation innermost;
  loc = sources.getExpansionLoc(loc);
  forEachBlock(context, pattern, [&](const clang::CompoundStmt& block) {
    if (contains(sources, block.getSourceRange(), loc)) innermost = block.getLBracLoc();
  });
  if (innermost.isInvalid() || body == nullptr) return true;
  bool is_live = false;
  forEachBlock(context, body,
               [&](const clang::CompoundStmt& block) { is_live |= block.getLBracLoc() == innermost; });
  return is_live;
}

class Judge {
 public:
  Judge(const clang::ASTContext& context, const Attempt& attempt, const Outside& outside)
      : context_(context), attempt_(attempt), outside_(outside) {}

  /// The place of the error a function depends on; an invalid place when nothing better is known.
  std::optional<SourceLocation> errorOf(const FunctionDecl* canonical) {
    const FunctionDecl* function =
        canonical->getDefinition() != nullptr ? canonical->getDefinition() : canonical;
    for (const clang::DeclContext* context = function; context != nullptr; context = context->getParent())
      if (const auto* around = llvm::dyn_cast<FunctionDecl>(context))
        if (auto loc = directErrorOf(around)) return loc;
    if (BrokenSearch(attempt_, outside_, memo_).isBroken(function)) return SourceLocation();
    return std::nullopt;
  }

 private:
  std::optional<SourceLocation> directErrorOf(const FunctionDecl* function) const {
    for (const auto* table : {&attempt_.errored_functions, &outside_.functions}) {
      if (const auto own = table->find(function->getCanonicalDecl()); own != table->end())
        return own->second.front();
      const FunctionDecl* pattern = function->getTemplateInstantiationPattern();
      const auto text = pattern != nullptr ? table->find(pattern->getCanonicalDecl()) : table->end();
      if (text == table->end()) continue;
      const FunctionDecl* definition = function->getDefinition();
      for (const SourceLocation loc : text->second)
        if (definition == nullptr || isInLiveBlock(context_, pattern->getBody(), definition->getBody(), loc))
          return loc;
    }
    return std::nullopt;
  }

  const clang::ASTContext& context_;
  const Attempt& attempt_;
  const Outside& outside_;
  llvm::DenseMap<const Decl*, bool> memo_;
};

}  // namespace

Distrust::Distrust(clang::ASTContext& context, const Attempt& attempt) {
  if (attempt.errors.empty()) return;
  const SourceManager& sources = context.getSourceManager();
  Outside outside;
  Placer placer(sources, attempt.outside_errors, outside);
  placer.TraverseAST(context);
  placer.readLostNames(context.getLangOpts());
  DefinitionCollector collector;
  collector.TraverseAST(context);
  Judge judge(context, attempt, outside);
  for (const FunctionDecl* function : collector.functions) {
    const auto loc = judge.errorOf(function);
    if (!loc) continue;
    const Error* reason = &attempt.errors.front().error;
    for (const ParseError& error : attempt.errors)
      if (error.loc == *loc || sources.getExpansionLoc(error.loc) == *loc) {
        reason = &error.error;
        break;
      }
    marked_.insert({function, *reason});
  }
}

const Error* Distrust::reasonFor(const FunctionDecl* function) const {
  const auto found = marked_.find(function->getCanonicalDecl());
  return found == marked_.end() ? nullptr : &found->second;
}

void Distrust::emptyMarkedBodies(clang::ASTContext& context) const {
  for (const auto& [function, reason] : marked_)
    for (FunctionDecl* decl : function->redecls())
      if (decl->isThisDeclarationADefinition() && decl->getBody() != nullptr)
        decl->setBody(clang::CompoundStmt::Create(context, {}, clang::FPOptionsOverride(),
                                                  decl->getLocation(), decl->getLocation()));
}

}  // namespace handoff::frontend
