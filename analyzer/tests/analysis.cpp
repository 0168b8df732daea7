// SPDX-License-Identifier: Apache-2.0
// Front end and analysis in process.
#include "analyzer/tests/analysis.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>

#include "analyzer/tests/repository.h"

namespace handoff::tests {

using diagnose::Finding;
using diagnose::KernelReport;

namespace {

bool isExecutable(const std::string& path) { return access(path.c_str(), X_OK) == 0; }

}  // namespace

bool hasToolkit() {
  std::stringstream folders(std::string(std::getenv("PATH") ? std::getenv("PATH") : "") +
                            ":/usr/local/cuda/bin");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (isExecutable(folder + "/nvcc")) return true;
  const char* home = std::getenv("CUDA_HOME");
  return home != nullptr && isExecutable(std::string(home) + "/bin/nvcc");
}

bool needsToolkit(const std::string& file) {
  for (const std::string& line : linesOf(file))
    if (line.starts_with("#include") && line != "#include <cstdint>" && line != "#include <cuda_runtime.h>")
      return true;
  return false;
}

std::optional<frontend::Unit> loadCase(const std::string& path, const std::string& arch, frontend::Choice choice) {
  frontend::Options input;
  input.frontend = choice;
  input.arch = arch;
  input.has_fixed_flags = true;
  input.extra_args = {"-std=c++17"};
  Result<frontend::Unit> unit = frontend::load((repositoryRoot() / "testcases" / path).string(), input);
  if (!unit) {
    ADD_FAILURE() << toString(unit.error());
    return std::nullopt;
  }
  return std::move(*unit);
}

std::vector<KernelReport> analyzeCase(const std::string& path, const std::string& arch, frontend::Choice choice,
                                      const explore::Options& options) {
  const std::optional<frontend::Unit> unit = loadCase(path, arch, choice);
  if (!unit) return {};
  std::vector<KernelReport> kernels = explore::analyze(*unit, options);
  EXPECT_FALSE(kernels.empty()) << "no kernel came out";
  for (const KernelReport& kernel : kernels)
    EXPECT_NE(kernel.verdict, diagnose::Verdict::kError) << kernel.error;
  return kernels;
}

std::string describe(const Finding& finding) {
  std::string text = finding.rule + " \"" + finding.message + "\" at";
  for (const SourceFrame& frame : finding.stack) text += " " + std::to_string(frame.pos.line);
  for (const diagnose::Related& related : finding.related)
    for (const SourceFrame& frame : related.stack) text += " (" + std::to_string(frame.pos.line) + ")";
  return text;
}

std::string describe(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) text += "  " + describe(finding) + "\n";
  return text.empty() ? "  no finding\n" : text;
}

}  // namespace handoff::tests
