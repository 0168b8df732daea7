// SPDX-License-Identifier: Apache-2.0
// Counting, and the way out. A compilation has a thread of its own, so that the thread's time is its time.
#include "analyzer/frontend/clang/budget.h"

#include <clang/Sema/TemplateInstCallback.h>
#include <llvm/IR/PassInstrumentation.h>
#include <llvm/Support/ErrorHandling.h>

#include "analyzer/frontend/clang/pch.h"
#include "analyzer/support/thread_clock.h"

namespace handoff::frontend {
namespace {

// Against inputs without end; counts rather than time where there is something to count, so that the answer is always the
// same.
constexpr std::uint64_t kMaxTokens = 20'000'000, kMaxExpansions = 5'000'000, kMaxInstantiations = 800'000;
constexpr std::size_t kMaxErrors = 100'000;
constexpr std::chrono::seconds kMaxTime(300);

[[noreturn]] void giveUp(const std::string& what) {
  llvm::report_fatal_error(llvm::Twine("the file takes more than ") + what, /*gen_crash_diag=*/false);
}

void requireTime() {
  if (ThreadClock::now().time_since_epoch() > kMaxTime)
    giveUp(std::to_string(kMaxTime.count()) + " seconds of processor time to compile");
}

class MacroBudget : public clang::PPCallbacks {
 public:
  void MacroExpands(const clang::Token&, const clang::MacroDefinition&, clang::SourceRange, const clang::MacroArgs*) override {
    if (++expansions_ > kMaxExpansions) giveUp(std::to_string(kMaxExpansions) + " macro expansions");
    if ((expansions_ & 0xffffU) == 0) requireTime();
  }

 private:
  std::uint64_t expansions_ = 0;
};

class InstantiationBudget : public clang::TemplateInstantiationCallback {
 public:
  void initialize(const clang::Sema&) override {}
  void finalize(const clang::Sema&) override {}
  void atTemplateBegin(const clang::Sema&, const clang::Sema::CodeSynthesisContext& context) override {
    if (context.Kind != clang::Sema::CodeSynthesisContext::TemplateInstantiation) return;
    if (++instantiations_ > kMaxInstantiations) giveUp(std::to_string(kMaxInstantiations) + " template instantiations");
    if ((instantiations_ & 0xfffU) == 0) requireTime();
  }
  void atTemplateEnd(const clang::Sema&, const clang::Sema::CodeSynthesisContext&) override {}

 private:
  std::uint64_t instantiations_ = 0;
};

}  // namespace

void TokenBudget::check() const {
  if (tokens_ > kMaxTokens) giveUp(std::to_string(kMaxTokens) + " tokens");
  requireTime();
}

void limitErrors(std::size_t errors) {
  if (errors > kMaxErrors) giveUp(std::to_string(kMaxErrors) + " errors to compile");
}

void limitMacros(clang::Preprocessor& preprocessor) { preprocessor.addPPCallbacks(std::make_unique<MacroBudget>()); }

std::unique_ptr<clang::TemplateInstantiationCallback> makeInstantiationBudget() {
  return std::make_unique<InstantiationBudget>();
}

void limitPasses(llvm::PassInstrumentationCallbacks& callbacks) {
  callbacks.registerBeforeNonSkippedPassCallback([](llvm::StringRef, llvm::Any) { requireTime(); });
}

}  // namespace handoff::frontend
