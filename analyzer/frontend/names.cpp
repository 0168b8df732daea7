// SPDX-License-Identifier: Apache-2.0
// Demangling with LLVM's partial demangler, which can leave the return type away.
#include "analyzer/frontend/names.h"

#include <llvm/Demangle/Demangle.h>

#include <charconv>
#include <cstdlib>

namespace handoff::frontend {
namespace {

std::string take(char* text) {
  std::string result = text != nullptr ? text : "";
  std::free(text);
  return result;
}

}  // namespace

std::string shortFunctionName(const std::string& name) {
  llvm::ItaniumPartialDemangler demangler;
  if (!name.starts_with("_Z") || demangler.partialDemangle(name.c_str()) || !demangler.isFunction())
    return name;
  const std::string result = take(demangler.getFunctionName(nullptr, nullptr));
  return result.empty() ? name : result;
}

std::string prettyFunctionName(const std::string& name) {
  llvm::ItaniumPartialDemangler demangler;
  if (!name.starts_with("_Z") || demangler.partialDemangle(name.c_str()) || !demangler.isFunction())
    return name;
  return take(demangler.getFunctionName(nullptr, nullptr)) +
         take(demangler.getFunctionParameters(nullptr, nullptr));
}

std::string linkageFreeName(std::string_view name) {
  std::string result(name);
  if (result.starts_with("_ZL")) result.erase(2, 1);
  if (!result.starts_with("_ZN")) return result;
  // Inside namespaces: "_ZN2nsL4kernEPi". Steps over whole names: an "L" within one is no marker.
  for (std::size_t i = 3; i < result.size();) {
    if (result[i] == 'L') result.erase(i, 1);
    std::size_t length = 0;
    const auto [end, code] = std::from_chars(result.data() + i, result.data() + result.size(), length);
    if (code != std::errc() || length > result.size()) break;
    i = static_cast<std::size_t>(end - result.data()) + length;
  }
  return result;
}

}  // namespace handoff::frontend
