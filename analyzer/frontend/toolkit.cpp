// SPDX-License-Identifier: Apache-2.0
// Looking for the CUDA toolkit: where the user says, where the environment says, the usual place, beside
// nvcc.
#include "analyzer/frontend/toolkit.h"

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "analyzer/frontend/files.h"

namespace handoff::frontend {
namespace fs = std::filesystem;
namespace {

bool isFile(const fs::path& path) {
  std::error_code code;
  return fs::is_regular_file(path, code);
}

/// cuda.h says "#define CUDA_VERSION 13000".
unsigned versionOf(const std::string& path) {
  const auto text = readFile(path + "/include/cuda.h");
  if (!text) return 0;
  constexpr std::string_view kKey = "#define CUDA_VERSION ";
  const std::size_t at = text->find(kKey);
  if (at == std::string::npos) return 0;
  unsigned version = 0;
  std::from_chars(text->data() + at + kKey.size(), text->data() + text->size(), version);
  return version;
}

std::optional<Toolkit> toolkitAt(const std::string& path) {
  if (path.empty() || !isFile(path + "/include/cuda_runtime.h")) return std::nullopt;
  const unsigned version = versionOf(path);
  if (version == 0) return std::nullopt;
  Toolkit toolkit{path, version / 1000, version % 1000 / 10, {}};
  if (isFile(path + "/bin/nvcc")) toolkit.nvcc = path + "/bin/nvcc";
  return toolkit;
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

/// The folder above the one of the first nvcc on PATH.
std::string besideNvcc() {
  std::istringstream folders(environment("PATH"));
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (folder.empty() || !isFile(folder + "/nvcc")) continue;
    std::error_code code;
    const fs::path real = fs::canonical(folder + "/nvcc", code);
    if (!code) return real.parent_path().parent_path().string();
  }
  return {};
}

}  // namespace

Result<std::optional<Toolkit>> findToolkit(const Options& options, const std::string& command_path) {
  if (options.no_toolkit || options.cuda_path == "none") return std::optional<Toolkit>();
  if (!options.cuda_path.empty()) {
    if (auto toolkit = toolkitAt(options.cuda_path)) return toolkit;
    return Error{"no CUDA toolkit here: include/cuda_runtime.h or include/cuda.h is missing",
                 {options.cuda_path, 0, 0}};
  }
  for (const std::string& path : {command_path, environment("CUDA_HOME"), environment("CUDA_PATH"),
                                  std::string("/usr/local/cuda"), besideNvcc()})
    if (auto toolkit = toolkitAt(path)) return toolkit;
  return std::optional<Toolkit>();
}

}  // namespace handoff::frontend
