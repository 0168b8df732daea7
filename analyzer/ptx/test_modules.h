// SPDX-License-Identifier: Apache-2.0
// Test helpers: parsing snippets, and the structural comparison of modules.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "analyzer/ptx/module.h"
#include "analyzer/ptx/parser.h"

namespace handoff::ptx::test {

inline constexpr const char* kHeader = ".version 8.8\n.target sm_90a\n.address_size 64\n";

/// A module that must parse; the test fails with the error otherwise.
inline Module parseOk(const std::string& text) {
  Result<Module> result = parse(text, "test.ptx");
  if (!result) {
    ADD_FAILURE() << toString(result.error());
    return {};
  }
  return *result;
}

/// A kernel "k" around these statements.
inline std::string kernel(const std::string& body) {
  return std::string(kHeader) + ".visible .entry k(.param .u64 k_param_0)\n{\n" + body + "\n}\n";
}

/// The kernel "k" with the usual registers declared; statements start on line 10.
inline Function body(const std::string& statements) {
  const Module module = parseOk(
      kernel(".reg .pred %p<8>;\n.reg .b16 %rs<8>;\n.reg .b32 %r<64>;\n.reg .b64 %rd<64>;\n" + statements));
  return module.functions.empty() ? Function{} : module.functions.front();
}

/// Empty when equal up to lines of PTX text; else what differs first.
std::string difference(const Module& a, const Module& b);

}  // namespace handoff::ptx::test
