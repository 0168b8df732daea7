// SPDX-License-Identifier: Apache-2.0
// For tests: a file with one kernel, and the report on it.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "analyzer/explore/analyze.h"

namespace handoff::explore {

inline frontend::ParamField pointerField(std::string name, std::uint32_t param) {
  return {.name = std::move(name), .param = param, .offset = 0, .size = 8, .kind = frontend::ParamField::Kind::kPointer};
}

inline frontend::ParamField integerField(std::string name, std::uint32_t param) {
  return {.name = std::move(name), .param = param, .offset = 0, .size = 4, .kind = frontend::ParamField::Kind::kInteger};
}

/// The kernel of the module is called k and has these parameters in its source.
inline frontend::Unit unitOf(ptx::Module module, std::vector<frontend::ParamField> fields) {
  frontend::Unit unit;
  unit.file = "k.cu";
  unit.module = std::move(module);
  frontend::KernelDecl decl;
  decl.name = "k";
  decl.pos = {"k.cu", 20, 1};
  decl.fields = std::move(fields);
  unit.kernels.push_back(std::move(decl));
  return unit;
}

/// Without repairs. A loop that stays open is tried for as long as there is time.
inline diagnose::KernelReport reportOf(const frontend::Unit& unit) {
  Options options;
  options.try_repairs = false;
  options.max_seconds = 6;
  std::vector<diagnose::KernelReport> kernels = analyze(unit, options);
  EXPECT_EQ(kernels.size(), 1u);
  return kernels.empty() ? diagnose::KernelReport() : std::move(kernels[0]);
}

}  // namespace handoff::explore
