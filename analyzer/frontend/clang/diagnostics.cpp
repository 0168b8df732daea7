// SPDX-License-Identifier: Apache-2.0
// Errors: whom they belong to, and which of them a second parse can avoid.
#include <cctype>

#include "analyzer/frontend/clang/budget.h"
#include "analyzer/frontend/clang/hooks.h"

namespace handoff::frontend {
namespace {

bool isWordChar(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Clang points at the start of "X<...>::name<...>(...)" and means that "template" is missing before "name":
/// the last
/// "::" outside angle brackets that is followed by a name and "<". Zero when there is none.
unsigned findTemplateName(llvm::StringRef text, unsigned start) {
  int depth = 0;
  unsigned found = 0;
  for (std::size_t i = start; i < text.size() && text[i] != ';' && !(text[i] == '(' && depth == 0); ++i) {
    if (text[i] == '<') ++depth;
    if (text[i] == '>') --depth;
    if (depth != 0 || text.substr(i, 2) != "::") continue;
    std::size_t end = i + 2;
    while (end < text.size() && isWordChar(text[end])) ++end;
    if (end < text.size() && text[end] == '<') found = static_cast<unsigned>(i + 2);
  }
  return found;
}

class Consumer : public clang::DiagnosticConsumer {
 public:
  explicit Consumer(Attempt& attempt) : attempt_(attempt) {}

  void HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& info) override {
    DiagnosticConsumer::HandleDiagnostic(level, info);
    if (level < clang::DiagnosticsEngine::Error) return;
    limitErrors(attempt_.errors.size());
    record(info);
    if (attempt_.sema != nullptr) attribute(info.getLocation());
    considerRepair(info);
  }

 private:
  void record(const clang::Diagnostic& info) {
    llvm::SmallString<128> text;
    info.FormatDiagnostic(text);
    ParseError error{{text.str().str(), {}}, info.getLocation()};
    if (info.hasSourceManager())
      error.error.pos = positionOf(info.getSourceManager(), attempt_.paths, info.getLocation());
    attempt_.errors.push_back(std::move(error));
  }

  void taint(const clang::Decl* decl, clang::SourceLocation loc, bool& in_function) {
    if (const auto* function = llvm::dyn_cast<clang::FunctionDecl>(decl)) {
      attempt_.errored_functions[function->getCanonicalDecl()].push_back(loc);
      in_function = true;
    } else if (llvm::isa<clang::TagDecl>(decl)) {
      attempt_.errored_records.insert(decl->getCanonicalDecl());
    }
  }

  /// The current context and the stack of instantiations: all of them may now be incomplete.
  void attribute(clang::SourceLocation loc) {
    bool in_function = false;
    for (const clang::DeclContext* context = attempt_.sema->CurContext; context != nullptr;
         context = context->getParent())
      taint(clang::Decl::castFromDeclContext(context), loc, in_function);
    for (const auto& synthesis : attempt_.sema->CodeSynthesisContexts)
      if (synthesis.Entity != nullptr) taint(synthesis.Entity, loc, in_function);
    // Deferred diagnostics and default arguments arrive outside the function they lie in.
    if (!in_function) attempt_.outside_errors.push_back(loc);
  }

  void considerRepair(const clang::Diagnostic& info) {
    switch (info.getID()) {
      case clang::diag::err_shared_var_init:
        relaxRecordOf(info.getLocation());
        break;
      case clang::diag::err_cuda_extern_shared:
        attempt_.wanted.relocatable = true;
        break;
      case clang::diag::err_typename_missing:
      case clang::diag::err_typename_missing_template:
      case clang::diag::err_template_arg_must_be_type_suggest:
        insertKeyword(info, "typename");
        break;
      case clang::diag::err_template_kw_missing:
      case clang::diag::err_bound_member_function:
      case clang::diag::err_ovl_unresolvable:
        insertKeyword(info, "template");
        break;
      case clang::diag::err_typecheck_invalid_restrict_not_pointer:
      case clang::diag::err_typecheck_invalid_restrict_not_pointer_noarg:
        dropRestrict(info);
        break;
      case clang::diag::err_implicit_instantiate_member_undefined:
      case clang::diag::err_template_instantiate_undefined:
      case clang::diag::err_no_member:
        attempt_.wanted.wide_shim = true;
        break;
      default:
        if (attempt_.errors.back().error.message.find("-fgpu-rdc") != std::string::npos)
          attempt_.wanted.relocatable = true;
        break;
    }
  }

  void relaxRecordOf(clang::SourceLocation loc) {
    if (attempt_.sema == nullptr) return;
    for (const clang::Decl* decl : attempt_.sema->CurContext->decls()) {
      const auto* variable = llvm::dyn_cast<clang::VarDecl>(decl);
      if (variable == nullptr || variable->getLocation() != loc) continue;
      if (const auto* record = variable->getType()->getBaseElementTypeUnsafe()->getAsCXXRecordDecl())
        attempt_.wanted.shared_records.insert(record->getQualifiedNameAsString());
    }
  }

  void insertKeyword(const clang::Diagnostic& info, const std::string& keyword) {
    if (!info.hasSourceManager()) return;
    const clang::SourceManager& sources = info.getSourceManager();
    auto [file_id, offset] = sources.getDecomposedExpansionLoc(info.getLocation());
    if (info.getID() == clang::diag::err_ovl_unresolvable)
      offset = findTemplateName(sources.getBufferData(file_id), offset);
    const auto file = sources.getFileEntryRefForID(file_id);
    if (!file || offset == 0) return;
    attempt_.wanted.keywords.insert(
        {{file->getName().str(), offsetOnDisk(file->getName().str(), offset)}, keyword});
  }

  /// nvcc takes "half __restrict__ tile[][8]" and gives the word no meaning.
  void dropRestrict(const clang::Diagnostic& info) {
    if (!info.hasSourceManager()) return;
    const clang::SourceManager& sources = info.getSourceManager();
    const auto [file_id, offset] = sources.getDecomposedExpansionLoc(info.getLocation());
    const auto file = sources.getFileEntryRefForID(file_id);
    if (!file || !sources.getBufferData(file_id).substr(offset).starts_with("__restrict")) return;
    attempt_.wanted.restricts.insert({file->getName().str(), offsetOnDisk(file->getName().str(), offset)});
  }

  /// The parser may have read a copy with keywords put in already.
  unsigned offsetOnDisk(const std::string& file, unsigned offset) const {
    unsigned shift = 0;
    for (const auto& [place, keyword] : attempt_.applied.keywords)
      if (place.first == file && place.second + shift < offset)
        shift += static_cast<unsigned>(keyword.size()) + 1;
    return offset - shift;
  }

  Attempt& attempt_;
};

}  // namespace

std::unique_ptr<clang::DiagnosticConsumer> makeDiagnosticConsumer(Attempt& attempt) {
  return std::make_unique<Consumer>(attempt);
}

}  // namespace handoff::frontend
