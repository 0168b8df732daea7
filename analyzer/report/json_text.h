// SPDX-License-Identifier: Apache-2.0
// Strings in JSON documents.
#pragma once

#include <llvm/Support/JSON.h>

#include <string_view>

namespace handoff::report {

/// A copy, since a json::Value made of a StringRef only refers to it. JSON text must be UTF-8; names out of
/// PTX and paths need not be.
inline llvm::json::Value jsonText(std::string_view value) {
  const llvm::StringRef ref(value.data(), value.size());
  return llvm::json::isUTF8(ref) ? ref.str() : llvm::json::fixUTF8(ref);
}

}  // namespace handoff::report
