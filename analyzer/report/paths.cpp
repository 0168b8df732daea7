// SPDX-License-Identifier: Apache-2.0
// Paths: user files, frames, printing.
#include "analyzer/report/paths.h"

#include <filesystem>

namespace handoff::report {
namespace {

std::string normalise(std::string_view file) {
  return std::filesystem::path(file).lexically_normal().generic_string();
}

bool isBelow(std::string_view file, std::string_view dir) {
  return file.size() > dir.size() && file.starts_with(dir) && file[dir.size()] == '/';
}

std::string repositoryRoot(const std::string& working_dir) {
  for (std::filesystem::path dir = working_dir; !dir.empty(); dir = dir.parent_path()) {
    std::error_code failed;
    if (std::filesystem::exists(dir / ".git", failed)) return dir.generic_string();
    if (dir == dir.parent_path()) break;
  }
  return working_dir;
}

}  // namespace

Paths::Paths(std::string working_dir, std::vector<std::string> system_dirs)
    : working_dir_(normalise(working_dir)), root_(repositoryRoot(working_dir_)) {
  for (const std::string& dir : system_dirs) {
    std::string normal = normalise(dir);
    while (normal.ends_with('/')) normal.pop_back();
    if (normal.empty()) continue;
    system_dirs_.push_back(normal);
    std::error_code failed;
    const std::filesystem::path real = std::filesystem::canonical(normal, failed);
    if (!failed && real.generic_string() != normal) system_dirs_.push_back(real.generic_string());
  }
  for (const char* dir : {"/usr/include", "/usr/lib", "/usr/local/include", "/opt/nvidia", "/@handoff"})
    system_dirs_.emplace_back(dir);
}

bool Paths::isUserFile(std::string_view file) const {
  if (file.empty() || file.front() == '<') return false;
  const std::string normal = normalise(file);
  for (const std::string& dir : system_dirs_)
    if (isBelow(normal, dir)) return false;
  // A toolkit elsewhere: its folders have these names wherever it was installed.
  for (const std::string_view part : {"/usr/local/cuda", "/targets/x86_64-linux/include/",
                                      "/targets/sbsa-linux/include/", "/include/cccl/"})
    if (normal.find(part) != std::string::npos) return false;
  return true;
}

std::optional<std::size_t> Paths::ownFrame(const SourceStack& stack) const {
  if (stack.empty()) return std::nullopt;
  std::optional<std::size_t> ptx;
  for (std::size_t i = 0; i < stack.size(); ++i) {
    const std::string& file = stack[i].pos.file;
    if (!stack[i].pos.isKnown() || !isUserFile(file)) continue;
    if (!file.ends_with(".ptx")) return i;
    if (!ptx) ptx = i;
  }
  return ptx.value_or(stack.size() - 1);
}

SourcePos Paths::ownPos(const SourceStack& stack) const {
  const std::optional<std::size_t> frame = ownFrame(stack);
  return frame ? stack[*frame].pos : SourcePos{};
}

std::string Paths::shorten(std::string_view file) const {
  const std::string normal = normalise(file);
  if (!working_dir_.empty() && isBelow(normal, working_dir_)) return normal.substr(working_dir_.size() + 1);
  return normal;
}

std::string Paths::fromRoot(std::string_view file) const {
  if (file.empty()) return "";
  const std::string normal = normalise((std::filesystem::path(working_dir_) / file).generic_string());
  return isBelow(normal, root_) ? normal.substr(root_.size() + 1) : normal;
}

}  // namespace handoff::report
