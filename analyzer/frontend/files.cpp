// SPDX-License-Identifier: Apache-2.0
// Reading files and mapping paths.
#include "analyzer/frontend/files.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace handoff::frontend {
namespace fs = std::filesystem;

namespace {

constexpr std::uintmax_t kMaxFileBytes = std::uintmax_t{1} << 30U;

}  // namespace

Result<std::string> readFile(const std::string& path) {
  std::error_code code;
  if (const fs::file_status status = fs::status(path, code); !fs::exists(status))
    return Error{"no such file or directory", {path, 0, 0}};
  else if (fs::is_directory(status))
    return Error{"is a directory", {path, 0, 0}};
  else if (!fs::is_regular_file(status))
    return Error{"is no regular file: reading it might never end", {path, 0, 0}};
  else if (const std::uintmax_t bytes = fs::file_size(path, code); !code && bytes > kMaxFileBytes)
    return Error{"is larger than 1 GiB", {path, 0, 0}};
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  // An empty file sets failbit on `text`, which is no error.
  if (!in.is_open() || in.bad())
    return Error{errno != 0 ? std::strerror(errno) : "cannot be read", {path, 0, 0}};
  return std::move(text).str();
}

std::string absolutePath(const std::string& path, const std::string& directory) {
  std::error_code code;
  fs::path base = directory.empty() ? fs::current_path(code) : fs::path(directory);
  if (base.is_relative()) base = fs::current_path(code) / base;
  return (base / path).lexically_normal().string();
}

namespace {

std::string folderOf(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash + 1);
}

}  // namespace

PathMap::PathMap(std::string user_file, std::string directory)
    : user_file_(std::move(user_file)),
      user_folder_(folderOf(user_file_)),
      main_file_(absolutePath(user_file_)),
      main_folder_(folderOf(main_file_)),
      directory_(std::move(directory)) {
  if (!user_file_.starts_with("/")) {
    current_ = absolutePath(".");
    if (!current_.ends_with("/")) current_ += '/';
  }
}

std::string PathMap::display(const std::string& path) const {
  const auto [entry, is_new] = known_.try_emplace(path);
  if (is_new) entry->second = compute(path);
  return entry->second;
}

std::string PathMap::compute(const std::string& path) const {
  if (path.empty() || path.front() == '<') return path;
  std::string full = absolutePath(path, directory_);
  if (full == main_file_) return user_file_;
  if (!current_.empty() && full.starts_with(current_)) return full.substr(current_.size());
  if (full.starts_with(main_folder_)) return user_folder_ + full.substr(main_folder_.size());
  return full;
}

Result<TempFolder> TempFolder::create() {
  const char* base = std::getenv("TMPDIR");
  std::string pattern = std::string(base != nullptr && *base != 0 ? base : "/tmp") + "/handoff-XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr)
    return Error{"cannot create a temporary folder: " + std::string(std::strerror(errno)), {pattern, 0, 0}};
  return TempFolder(pattern);
}

TempFolder::~TempFolder() {
  std::error_code code;
  if (!path_.empty()) fs::remove_all(path_, code);
}

}  // namespace handoff::frontend
