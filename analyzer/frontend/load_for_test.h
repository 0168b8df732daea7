// SPDX-License-Identifier: Apache-2.0
// For tests: writes sources into a folder of their own and loads them.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "analyzer/frontend/files.h"
#include "analyzer/frontend/input.h"
#include "analyzer/frontend/toolkit.h"

namespace handoff::frontend {

inline bool hasToolkit() {
  const auto toolkit = findToolkit({}, {});
  return toolkit && toolkit->has_value();
}

inline bool hasNvcc() {
  const auto toolkit = findToolkit({}, {});
  return toolkit && toolkit->has_value() && !(*toolkit)->nvcc.empty();
}

/// Skips a test that needs CUDA's own headers.
#define HANDOFF_NEEDS_TOOLKIT() \
  if (!hasToolkit()) GTEST_SKIP() << "no CUDA toolkit"
#define HANDOFF_NEEDS_NVCC() \
  if (!hasNvcc()) GTEST_SKIP() << "no nvcc"

class Workspace {
 public:
  Workspace() : folder_(std::move(*TempFolder::create())) {}
  std::string path(const std::string& name = {}) const {
    return folder_.path() + (name.empty() ? "" : "/" + name);
  }
  std::string write(const std::string& name, const std::string& text) const {
    const std::filesystem::path file = path(name);
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
    return file.string();
  }

 private:
  TempFolder folder_;
};

inline Options clangOnly() {
  Options options;
  options.frontend = Choice::kClang;
  options.has_fixed_flags = true;
  return options;
}

inline Options withoutToolkit() {
  Options options = clangOnly();
  options.no_toolkit = true;
  return options;
}

inline Result<Unit> loadText(const std::string& text, const Options& options = clangOnly()) {
  const Workspace workspace;
  return load(workspace.write("t.cu", text), options);
}

/// The kernel of this source name, whatever its arguments; null when there is none.
inline const KernelDecl* findKernel(const Unit& unit, const std::string& name) {
  for (const KernelDecl& kernel : unit.kernels)
    if (kernel.pretty.starts_with(name + "(") || kernel.pretty.starts_with(name + "<")) return &kernel;
  return nullptr;
}

/// How many instructions of the unit start with this.
inline std::size_t countOpcodes(const Unit& unit, const std::string& prefix) {
  std::size_t count = 0;
  for (const ptx::Function& function : unit.module.functions)
    for (const ptx::Instruction& instruction : function.instructions)
      count += instruction.opcode.starts_with(prefix) ? 1 : 0;
  return count;
}

}  // namespace handoff::frontend
