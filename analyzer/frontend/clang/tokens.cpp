// SPDX-License-Identifier: Apache-2.0
// Repairs on the token stream. nvcc reads inline asm more leniently than Clang does: "%" before a register
// name needs no second "%", and the comma between operands may be missing. Tokens are patched in place as
// they are lexed, with their length kept, so that every position stays true.
#include <cctype>
#include <cstring>

#include "analyzer/frontend/clang/budget.h"
#include "analyzer/frontend/clang/hooks.h"

namespace handoff::frontend {
namespace {

class AsmWatcher {
 public:
  explicit AsmWatcher(clang::Preprocessor& preprocessor)
      : preprocessor_(preprocessor), arena_(std::make_shared<llvm::BumpPtrAllocator>()) {}

  void operator()(const clang::Token& token) {
    budget_.count();
    const clang::tok::TokenKind previous = previous_;
    previous_ = token.getKind();
    if (token.is(clang::tok::kw_asm)) {
      depth_ = 0;
    } else if (depth_ >= 0) {
      if (token.is(clang::tok::l_paren)) ++depth_;
      if (token.is(clang::tok::r_paren) && --depth_ <= 0) depth_ = kOutside;
      // The watcher is handed the parser's own token, constant by signature only.
      if (token.is(clang::tok::string_literal)) literal(const_cast<clang::Token&>(token), previous);
    }
  }

 private:
  static constexpr int kOutside = -1;

  void literal(clang::Token& token, clang::tok::TokenKind previous) {
    if (token.needsCleaning()) return;
    if (previous == clang::tok::r_paren && depth_ == 1) return insertComma(token);
    const std::string text = doublePercents({token.getLiteralData(), token.getLength()});
    if (text.empty()) return;
    char* copy = arena_->Allocate<char>(text.size() + 1);
    std::memcpy(copy, text.c_str(), text.size() + 1);
    token.setLiteralData(copy);
    token.setLength(static_cast<unsigned>(text.size()));
  }

  void insertComma(clang::Token& token) {
    const clang::Token operand = token;
    token.startToken();
    token.setKind(clang::tok::comma);
    token.setLocation(operand.getLocation());
    token.setLength(1);
    preprocessor_.EnterToken(operand, /*IsReinject=*/true);
  }

  /// "%clusterid" -> "%%clusterid", eating one blank before it to keep the length. "%w[name]" stays: an
  /// operand with a modifier. Empty: nothing to do.
  static std::string doublePercents(llvm::StringRef text) {
    std::string out;
    bool is_changed = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const bool is_pair = text.substr(i, 2) == "%%";
      const bool is_name = text[i] == '%' && i + 1 < text.size() &&
                           (std::isalpha(static_cast<unsigned char>(text[i + 1])) != 0 || text[i + 1] == '_');
      if (is_name) {
        if (!out.empty() && (out.back() == ' ' || out.back() == '\t')) out.pop_back();
        is_changed = true;
      }
      out += text[i];
      if (is_pair || is_name) out += '%';
      if (is_pair) ++i;
    }
    return is_changed ? out : std::string();
  }

  clang::Preprocessor& preprocessor_;
  TokenBudget budget_;
  std::shared_ptr<llvm::BumpPtrAllocator> arena_;  // the tokens' text must outlive this copyable object
  clang::tok::TokenKind previous_ = clang::tok::unknown;
  int depth_ = kOutside;  ///< parentheses since "asm"
};

class MacroHooks : public clang::PPCallbacks {
 public:
  MacroHooks(const clang::SourceManager& sources, Attempt& attempt) : sources_(sources), attempt_(attempt) {}

  /// CUTLASS turns Blackwell kernels into empty bodies when it sees Clang: set its own switch to 0.
  void MacroDefined(const clang::Token& name, const clang::MacroDirective* directive) override {
    const clang::MacroInfo* macro = directive->getMacroInfo();
    if (name.getIdentifierInfo()->getName() != "CUTLASS_CLANG_CUDA" || macro->getNumTokens() != 1) return;
    auto& value = const_cast<clang::Token&>(macro->getReplacementToken(0));
    if (value.is(clang::tok::numeric_constant)) value.setLiteralData("0");
  }

  void MacroExpands(const clang::Token& name, const clang::MacroDefinition&, clang::SourceRange,
                    const clang::MacroArgs*) override {
    if (name.getIdentifierInfo()->getName() == "__global__" && isUserCode(sources_, name.getLocation()))
      attempt_.global_keywords.push_back(sources_.getExpansionLoc(name.getLocation()));
  }

  void InclusionDirective(clang::SourceLocation hash, const clang::Token&, llvm::StringRef name, bool,
                          clang::CharSourceRange, clang::OptionalFileEntryRef file, llvm::StringRef,
                          llvm::StringRef, const clang::Module*, bool,
                          clang::SrcMgr::CharacteristicKind) override {
    if (file) return;
    attempt_.errors.push_back(
        {{"'" + name.str() + "' file not found", positionOf(sources_, attempt_.paths, hash)}, hash, true});
  }

 private:
  const clang::SourceManager& sources_;
  Attempt& attempt_;
};

class CommentCollector : public clang::CommentHandler {
 public:
  explicit CommentCollector(Attempt& attempt) : attempt_(attempt) {}

  bool HandleComment(clang::Preprocessor& preprocessor, clang::SourceRange range) override {
    const clang::SourceManager& sources = preprocessor.getSourceManager();
    if (!isUserCode(sources, range.getBegin())) return false;
    const char* begin = sources.getCharacterData(range.getBegin());
    const llvm::StringRef text(begin,
                               static_cast<std::size_t>(sources.getCharacterData(range.getEnd()) - begin));
    if (text.contains("NOLINT") || text.contains("handoff:"))
      attempt_.comments.push_back({positionOf(sources, attempt_.paths, range.getBegin()), text.str()});
    return false;
  }

 private:
  Attempt& attempt_;
};

}  // namespace

void watchTokens(clang::Preprocessor& preprocessor, Attempt& attempt) {
  // A header that is not there is noted by the hooks and tolerated like any error: kernels rarely need it.
  preprocessor.SetSuppressIncludeNotFoundError(true);
  preprocessor.setTokenWatcher(AsmWatcher(preprocessor));
  limitMacros(preprocessor);
  preprocessor.addPPCallbacks(std::make_unique<MacroHooks>(preprocessor.getSourceManager(), attempt));
  attempt.comment_handler =
      std::make_unique<CommentCollector>(attempt);  // the preprocessor takes no ownership
  preprocessor.addCommentHandler(attempt.comment_handler.get());
}

}  // namespace handoff::frontend
