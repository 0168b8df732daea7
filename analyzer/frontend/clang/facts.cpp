// SPDX-License-Identifier: Apache-2.0
// The walk over the user's declarations, and the kernels of the generated module.
#include "analyzer/frontend/clang/facts.h"

#include <clang/AST/Mangle.h>
#include <clang/Lex/Lexer.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IntrinsicInst.h>

#include <algorithm>
#include <array>
#include <map>

#include "analyzer/frontend/clang/host_code.h"
#include "analyzer/frontend/clang/trust.h"

namespace handoff::frontend {
namespace {

using clang::FunctionDecl;
using clang::SourceLocation;
using clang::SourceManager;

bool isProtocolText(llvm::StringRef text) {
  constexpr std::array<llvm::StringLiteral, 9> kWords = {
      llvm::StringLiteral("cp.async"), llvm::StringLiteral("cp.reduce.async"),
      llvm::StringLiteral("mbarrier"), llvm::StringLiteral("bar."),
      llvm::StringLiteral("barrier"),  llvm::StringLiteral("fence"),
      llvm::StringLiteral("membar"),   llvm::StringLiteral("wgmma"),
      llvm::StringLiteral("tcgen05")};
  return std::any_of(kWords.begin(), kWords.end(), [&](llvm::StringRef word) { return text.contains(word); });
}

std::string onOneLine(llvm::StringRef text) {
  std::string out;
  for (const char c : text) {
    const bool is_blank = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (is_blank && (out.empty() || out.back() == ' ')) continue;
    out += is_blank ? ' ' : c;
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

class FactVisitor : public clang::RecursiveASTVisitor<FactVisitor> {
 public:
  FactVisitor(clang::ASTContext& context, Attempt& attempt)
      : context_(context), attempt_(attempt), host_(context) {}
  bool shouldVisitTemplateInstantiations() const { return true; }

  bool VisitFunctionDecl(FunctionDecl* function) {
    if (function->hasAttr<clang::CUDAGlobalAttr>()) kernels_.push_back(function->getSourceRange());
    if (!function->isDependentContext() && function->isThisDeclarationADefinition() &&
        function->getBody() != nullptr)
      collectLaunches(context_, attempt_, host_, *function);
    return true;
  }

  bool VisitVarDecl(clang::VarDecl* variable) {
    if (!variable->hasAttr<clang::CUDASharedAttr>() || variable->getType()->isDependentType()) return true;
    SharedArray shape{variable->getNameAsString(), 0, {}};
    clang::QualType type = variable->getType();
    while (const clang::ArrayType* array = context_.getAsArrayType(type)) {
      const auto* constant = llvm::dyn_cast<clang::ConstantArrayType>(array);
      shape.extents.push_back(
          constant == nullptr ? 0 : static_cast<std::uint32_t>(constant->getSize().getZExtValue()));
      type = array->getElementType();
    }
    if (shape.extents.empty() || type->isIncompleteType()) return true;
    shape.element_bytes = static_cast<std::uint32_t>(context_.getTypeSizeInChars(type).getQuantity());
    auto [it, is_new] = shapes_.try_emplace(shape.name, shape);
    if (!is_new && !(it->second == shape)) it->second.extents.clear();
    return true;
  }

  void deliverSharedArrays() {
    for (auto& [name, shape] : shapes_) {
      if (!shape.extents.empty()) attempt_.output.shared_arrays.push_back(std::move(shape));
    }
  }

  bool VisitGCCAsmStmt(clang::GCCAsmStmt* statement) {
    const SourceManager& sources = context_.getSourceManager();
    // A template's statement is met once in its text and once an instantiation.
    if (!isUserCode(sources, statement->getAsmLoc()) || !seen_.insert(statement->getAsmLoc()).second)
      return true;
    const auto* literal = llvm::dyn_cast_or_null<clang::StringLiteral>(statement->getAsmStringExpr());
    if (literal == nullptr || !isProtocolText(literal->getString())) return true;
    AsmFact fact{positionOf(sources, attempt_.paths, statement->getAsmLoc()), onOneLine(literal->getString()),
                 false, false};
    fact.is_volatile = statement->isVolatile();
    for (unsigned i = 0; i < statement->getNumClobbers(); ++i)
      fact.has_memory_clobber |= statement->getClobber(i) == "memory";
    attempt_.output.asm_facts.push_back(std::move(fact));
    return true;
  }

  /// A "__global__" that lies in no kernel was lost to a syntax error.
  void findLostKernels() {
    const SourceManager& sources = context_.getSourceManager();
    for (const SourceLocation keyword : attempt_.global_keywords) {
      const bool is_found = std::any_of(kernels_.begin(), kernels_.end(), [&](clang::SourceRange range) {
        const SourceLocation begin = sources.getExpansionLoc(range.getBegin()),
                             end = sources.getExpansionLoc(range.getEnd());
        return !sources.isBeforeInTranslationUnit(keyword, begin) &&
               !sources.isBeforeInTranslationUnit(end, keyword);
      });
      if (!is_found) attempt_.output.lost_kernels.push_back(positionOf(sources, attempt_.paths, keyword));
    }
  }

 private:
  clang::ASTContext& context_;
  Attempt& attempt_;
  HostCode host_;
  llvm::DenseSet<SourceLocation> seen_;
  std::map<std::string, SharedArray> shapes_;
  std::vector<clang::SourceRange> kernels_;
};

/// Calls back for every function of the module that `start` reaches through calls, or through addresses of
/// functions, until the callback returns true.
template <typename Callback>
void forEachReached(const llvm::Function& start, Callback&& callback) {
  llvm::SmallPtrSet<const llvm::Value*, 32> seen;
  llvm::SmallVector<const llvm::Value*, 32> work{&start};
  while (!work.empty()) {
    const llvm::Value* value = work.pop_back_val();
    if (!seen.insert(value).second) continue;
    if (const auto* function = llvm::dyn_cast<llvm::Function>(value)) {
      if (callback(*function)) return;
      for (const llvm::BasicBlock& block : *function)
        for (const llvm::Instruction& instruction : block)
          for (const llvm::Use& operand : instruction.operands())
            if (llvm::isa<llvm::Constant>(operand.get())) work.push_back(operand.get());
    } else if (const auto* user = llvm::dyn_cast<llvm::User>(value)) {  // constant expressions, initialisers
      for (const llvm::Use& operand : user->operands()) work.push_back(operand.get());
    }
  }
}

const Error* reachedError(const llvm::Function& start, clang::CodeGenerator& generator,
                          const Distrust& distrust) {
  const Error* reason = nullptr;
  forEachReached(start, [&](const llvm::Function& function) {
    const clang::Decl* decl = generator.GetDeclForMangledName(function.getName());
    if (const auto* source = llvm::dyn_cast_or_null<FunctionDecl>(decl)) reason = distrust.reasonFor(source);
    return reason != nullptr;
  });
  return reason;
}

/// Does the code, before any optimisation, do something that others can see? Plain locals are nobody's
/// business.
bool hasEffect(const llvm::Instruction& instruction) {
  if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction)) {
    if (call->isInlineAsm() || llvm::isa<llvm::AnyMemIntrinsic>(call)) return true;
    const llvm::Function* callee = call->getCalledFunction();
    if (llvm::isa<llvm::DbgInfoIntrinsic>(call) || call->isLifetimeStartOrEnd()) return false;
    // The bodies of other functions are looked at by themselves.
    return callee == nullptr || (callee->isDeclaration() && call->mayHaveSideEffects());
  }
  if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction))
    return !llvm::isa<llvm::AllocaInst>(llvm::getUnderlyingObject(store->getPointerOperand()));
  return instruction.isAtomic() || instruction.isVolatile();
}

bool hasEffect(const llvm::Function& kernel) {
  bool is_found = false;
  forEachReached(kernel, [&](const llvm::Function& function) {
    for (const llvm::BasicBlock& block : function)
      for (const llvm::Instruction& instruction : block) is_found = is_found || hasEffect(instruction);
    return is_found;
  });
  return is_found;
}

/// Is there code between the braces as the user wrote them, although the parsed body is empty?
bool isSwitchedOff(const SourceManager& sources, const clang::LangOptions& language,
                   const FunctionDecl& kernel) {
  const auto* body = llvm::dyn_cast_or_null<clang::CompoundStmt>(kernel.getBody());
  if (body == nullptr || !body->body_empty()) return false;
  const auto [file, begin] = sources.getDecomposedExpansionLoc(body->getLBracLoc());
  const auto [end_file, end] = sources.getDecomposedExpansionLoc(body->getRBracLoc());
  if (file != end_file || end <= begin + 1) return false;
  const llvm::StringRef text = sources.getBufferData(file);
  clang::Lexer lexer(sources.getLocForStartOfFile(file), language, text.begin(), text.begin() + begin + 1,
                     text.end());
  clang::Token token;
  lexer.LexFromRawLexer(token);  // comments are skipped, directives are not
  return sources.getFileOffset(token.getLocation()) < end;
}

class KernelFinder : public clang::RecursiveASTVisitor<KernelFinder> {
 public:
  bool shouldVisitTemplateInstantiations() const { return true; }
  bool VisitFunctionDecl(FunctionDecl* function) {
    if (function->hasAttr<clang::CUDAGlobalAttr>() && !function->isDependentContext() &&
        function->isDefined())
      kernels.insert(function->getCanonicalDecl());
    return true;
  }
  llvm::SetVector<FunctionDecl*> kernels;
};

}  // namespace

template <typename Visitor>
void visitUserDecls(clang::ASTContext& context, Visitor& visitor) {
  for (clang::Decl* decl : context.getTranslationUnitDecl()->decls())
    if (isUserCode(context.getSourceManager(), decl->getLocation())) visitor.TraverseDecl(decl);
}

std::string mangledName(clang::ASTContext& context, const FunctionDecl& function) {
  clang::ASTNameGenerator names(context);
  return names.getName(&function);
}

void collectFacts(clang::ASTContext& context, Attempt& attempt) {
  FactVisitor visitor(context, attempt);
  visitUserDecls(context, visitor);
  visitor.findLostKernels();
  visitor.deliverSharedArrays();
  attempt.output.comments = std::move(attempt.comments);
  attempt.output.mentions_kernels = !attempt.global_keywords.empty();
  attempt.output.has_facts = true;
}

void collectKernels(clang::ASTContext& context, Attempt& attempt, clang::CodeGenerator& generator,
                    const Distrust& distrust) {
  const SourceManager& sources = context.getSourceManager();
  llvm::DenseSet<const FunctionDecl*> emitted;
  for (const llvm::Function& function : *generator.GetModule()) {
    if (function.getCallingConv() != llvm::CallingConv::PTX_Kernel || function.isDeclaration()) continue;
    const auto* decl =
        llvm::dyn_cast_or_null<FunctionDecl>(generator.GetDeclForMangledName(function.getName()));
    if (decl == nullptr) continue;
    emitted.insert(decl->getCanonicalDecl());
    const FunctionDecl* definition = decl->getDefinition() != nullptr ? decl->getDefinition() : decl;
    KernelDecl kernel = describeKernel(context, attempt, *definition);
    kernel.name = function.getName().str();
    if (const Error* reason = reachedError(function, generator, distrust))
      kernel.untrusted = *reason;
    else if (isSwitchedOff(sources, context.getLangOpts(), *definition))
      kernel.untrusted = Error{
          "the kernel's body is empty for this architecture: the preprocessor removed its code", kernel.pos};
    if (hasEffect(function)) attempt.output.with_effect.insert(kernel.name);
    attempt.output.kernels.push_back(std::move(kernel));
  }
  KernelFinder finder;
  visitUserDecls(context, finder);
  for (const FunctionDecl* decl : finder.kernels) {
    if (emitted.count(decl) != 0) continue;
    const FunctionDecl* definition = decl->getDefinition() != nullptr ? decl->getDefinition() : decl;
    KernelDecl kernel = describeKernel(context, attempt, *definition);
    const Error* reason = distrust.reasonFor(decl);
    if (reason == nullptr && !decl->isInvalidDecl()) {
      attempt.output.notes.push_back(
          {"kernel '" + kernel.pretty + "' is never launched and has internal linkage: no code exists for it",
           kernel.pos});
      continue;
    }
    kernel.untrusted = reason != nullptr        ? *reason
                       : attempt.errors.empty() ? Error{"no code was generated", kernel.pos}
                                                : attempt.errors.front().error;
    attempt.output.kernels.push_back(std::move(kernel));
  }
}

}  // namespace handoff::frontend
