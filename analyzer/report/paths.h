// SPDX-License-Identifier: Apache-2.0
// Which files are the user's own, which frame of an inline stack a finding is shown at, and how paths are
// printed.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/support/source.h"

namespace handoff::report {

class Paths {
 public:
  /// `working_dir`: paths below it are printed relative to it. `system_dirs`: folders of the toolkit and of
  /// the system, in addition to the usual ones.
  Paths(std::string working_dir, std::vector<std::string> system_dirs);

  /// False for headers of the CUDA toolkit, the compiler and the system, and for built-in buffers.
  bool isUserFile(std::string_view file) const;

  /// The frame to report at: the innermost one in a source file of the user; without one the innermost in the
  /// user's PTX; without that the outermost. Empty for an empty stack.
  std::optional<std::size_t> ownFrame(const SourceStack& stack) const;

  /// Position of ownFrame, or an unknown position.
  SourcePos ownPos(const SourceStack& stack) const;

  /// The path as it is printed: normalised, relative to the working directory where it lies below it.
  std::string shorten(std::string_view file) const;

  /// The path as other programs and other machines know it: relative to the root of the repository, which is the
  /// nearest folder from the working directory upwards that holds `.git`, or else the working directory itself.
  /// A file outside of it keeps its absolute path.
  std::string fromRoot(std::string_view file) const;
  const std::string& root() const { return root_; }

 private:
  std::string working_dir_, root_;
  std::vector<std::string> system_dirs_;
};

}  // namespace handoff::report
