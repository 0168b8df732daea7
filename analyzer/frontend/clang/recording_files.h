// SPDX-License-Identifier: Apache-2.0
// A file system that notes what was read of it, and what was looked for in vain: all that a result depends on.
#pragma once

#include <llvm/Support/VirtualFileSystem.h>

#include <set>
#include <string>
#include <vector>

namespace handoff::frontend {

class RecordingFiles : public llvm::vfs::ProxyFileSystem {
 public:
  /// Below `system_folders` only what is opened is noted: nothing of the user's will appear there.
  RecordingFiles(llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> files, std::vector<std::string> system_folders)
      : ProxyFileSystem(std::move(files)), system_folders_(std::move(system_folders)) {}

  llvm::ErrorOr<llvm::vfs::Status> status(const llvm::Twine& path) override;
  llvm::ErrorOr<std::unique_ptr<llvm::vfs::File>> openFileForRead(const llvm::Twine& path) override;

  const std::set<std::string>& read() const { return read_; }
  const std::set<std::string>& missed() const { return missed_; }

 private:
  std::string absolute(const llvm::Twine& path) const;
  bool isOfSystem(const std::string& path) const;
  void noteMissed(const llvm::Twine& path);

  std::vector<std::string> system_folders_;
  std::set<std::string> read_, missed_;
};

}  // namespace handoff::frontend
