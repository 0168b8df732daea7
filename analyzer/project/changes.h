// SPDX-License-Identifier: Apache-2.0
// Which files changed since a revision of git, and which units are made of them.
#pragma once

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "analyzer/support/result.h"

namespace handoff::project {

/// Absolute paths without links of what differs between the revision and the working tree around the current
/// folder; files that git does not know and does not ignore are changed. Errors: no git, no working tree, no
/// such revision.
Result<std::set<std::string>> changedSince(const std::string& revision);

/// Files that changed, by whatever path one asks for them. For several threads.
class Changes {
 public:
  /// `changed`: as changedSince gives them.
  explicit Changes(std::set<std::string> changed) : changed_(std::move(changed)) {}
  bool touch(const std::set<std::string>& files) const;

 private:
  bool isChanged(const std::string& file) const;

  std::set<std::string> changed_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, bool> known_;  ///< answers so far: many units include the same headers
};

}  // namespace handoff::project
