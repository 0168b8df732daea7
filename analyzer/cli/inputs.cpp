// SPDX-License-Identifier: Apache-2.0
// Expanding folders and databases.
#include "analyzer/cli/inputs.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

namespace handoff::cli {
namespace {

namespace fs = std::filesystem;

bool isChecked(const fs::path& file) { return file.extension() == ".cu" || file.extension() == ".ptx"; }

bool isHidden(const fs::path& path) { return path.filename().string().starts_with('.'); }

Result<std::vector<std::string>> filesBelow(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code failed;
  fs::recursive_directory_iterator entry(folder, failed);
  while (!failed && entry != fs::recursive_directory_iterator()) {
    if (entry->is_directory() && isHidden(entry->path())) entry.disable_recursion_pending();
    if (entry->is_regular_file() && isChecked(entry->path()))
      files.push_back(entry->path().lexically_normal());
    entry.increment(failed);
  }
  if (failed) return Error{"cannot list the folder: " + failed.message(), {folder, 0, 0}};
  if (files.empty()) return Error{"no .cu or .ptx file lies in this folder", {folder, 0, 0}};
  std::sort(files.begin(), files.end());
  return files;
}

void addOnce(std::vector<std::string>& files, std::set<std::string>& known, std::string file) {
  if (known.insert(fs::path(file).lexically_normal().generic_string()).second)
    files.push_back(std::move(file));
}

}  // namespace

Result<std::vector<std::string>> expandInputs(const CheckOptions& options) {
  if (options.inputs.empty()) {
    if (!options.frontend.build_path)
      return Error{"no input: name files or folders, or give a build folder with -p", {}};
    return frontend::filesOfDatabase(*options.frontend.build_path);
  }
  std::vector<std::string> files;
  std::set<std::string> known;
  for (const std::string& input : options.inputs) {
    std::error_code failed;
    if (!fs::is_directory(input, failed)) {
      addOnce(files, known, input);
      continue;
    }
    const Result<std::vector<std::string>> below = filesBelow(input);
    if (!below) return below.error();
    for (const std::string& file : *below) addOnce(files, known, file);
  }
  return files;
}

}  // namespace handoff::cli
