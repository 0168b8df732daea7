// SPDX-License-Identifier: Apache-2.0
// What one compilation may take. Clang has limits of its own for nesting and for constant expressions, but none for how
// often templates are instantiated, macros are expanded, or loops are unrolled.
#pragma once

#include <cstdint>
#include <memory>

namespace clang {
class Preprocessor;
class TemplateInstantiationCallback;
class Token;
}  // namespace clang
namespace llvm {
class PassInstrumentationCallbacks;
}  // namespace llvm

namespace handoff::frontend {

/// Whoever goes beyond a limit does not come back: the compilation ends with LLVM's fatal error, as compile.cpp expects
/// it of Clang at any place.
class TokenBudget {
 public:
  void count() {
    if ((++tokens_ & 0xfffffU) == 0) check();
  }

 private:
  void check() const;
  std::uint64_t tokens_ = 0;
};

/// Each error that is kept takes memory.
void limitErrors(std::size_t errors);
/// For expansions that make no tokens yet: arguments of macros.
void limitMacros(clang::Preprocessor& preprocessor);
std::unique_ptr<clang::TemplateInstantiationCallback> makeInstantiationBudget();
/// Looks at the time before each pass.
void limitPasses(llvm::PassInstrumentationCallbacks& callbacks);

}  // namespace handoff::frontend
