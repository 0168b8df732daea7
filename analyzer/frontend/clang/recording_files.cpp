// SPDX-License-Identifier: Apache-2.0
// Noting accesses to files.
#include "analyzer/frontend/clang/recording_files.h"

#include <llvm/ADT/SmallString.h>
#include <llvm/Support/Path.h>

#include <algorithm>

#include "analyzer/frontend/clang/virtual_files.h"

namespace handoff::frontend {

std::string RecordingFiles::absolute(const llvm::Twine& path) const {
  llvm::SmallString<256> text;
  path.toVector(text);
  if (makeAbsolute(text)) return {};
  llvm::sys::path::remove_dots(text, /*remove_dot_dot=*/false);  // ".." behind a link leads elsewhere
  return text.str().str();
}

bool RecordingFiles::isOfSystem(const std::string& path) const {
  return std::any_of(system_folders_.begin(), system_folders_.end(),
                     [&](const std::string& folder) { return !folder.empty() && path.starts_with(folder); });
}

void RecordingFiles::noteMissed(const llvm::Twine& path) {
  if (std::string name = absolute(path); !name.empty() && !isOfSystem(name)) missed_.insert(std::move(name));
}

// "__has_include" only asks whether a file is there.
llvm::ErrorOr<llvm::vfs::Status> RecordingFiles::status(const llvm::Twine& path) {
  auto result = ProxyFileSystem::status(path);
  if (!result) {
    noteMissed(path);
  } else if (result->isRegularFile()) {
    if (std::string name = absolute(path); !isOfSystem(name)) read_.insert(std::move(name));
  }
  return result;
}

llvm::ErrorOr<std::unique_ptr<llvm::vfs::File>> RecordingFiles::openFileForRead(const llvm::Twine& path) {
  // Opening a pipe waits for a writer, and /dev/zero has no end.
  if (const auto found = ProxyFileSystem::status(path);
      found && !found->isRegularFile() && found->getType() != llvm::sys::fs::file_type::directory_file)
    return std::make_error_code(std::errc::operation_not_permitted);
  auto result = ProxyFileSystem::openFileForRead(path);
  if (!result) {
    noteMissed(path);
  } else if (std::string name = absolute(path); !name.starts_with(kOwnFolder)) {
    read_.insert(std::move(name));
  }
  return result;
}

}  // namespace handoff::frontend
