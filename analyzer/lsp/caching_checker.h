// SPDX-License-Identifier: Apache-2.0
// A checker that remembers: when a file and all that it depends on have the contents of the last time, so has
// the report.
//
// The key is contents, not times: a save that changes nothing, or an undo, is answered from memory. Times
// only spare the reading: the contents of a file on the disk are hashed again when its size, time or inode
// differs.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/lsp/checker.h"

namespace handoff::lsp {

class CachingChecker : public Checker {
 public:
  /// `checker` outlives it.
  explicit CachingChecker(Checker& checker) : checker_(checker) {}

  std::shared_ptr<const Checked> check(const CheckRequest& request) override;

 private:
  /// Of the contents; kAbsent for a file that is not there.
  using Hash = std::uint64_t;
  static constexpr Hash kAbsent = 0;

  using Texts = std::map<std::string, SharedText>;

  struct Stamp {
    std::int64_t seconds = 0, nanoseconds = 0, size = 0;
    std::uint64_t inode = 0;
    friend bool operator==(const Stamp&, const Stamp&) = default;
  };
  struct Entry {
    std::vector<std::pair<std::string, Hash>> inputs;
    std::shared_ptr<const Checked> checked;
  };

  Hash hashOf(const std::string& path, const Texts& texts);
  Hash hashOfDisk(const std::string& path);
  bool isCurrent(const Entry& entry, const Texts& texts);

  Checker& checker_;
  std::mutex mutex_;
  std::map<std::string, Entry> entries_;  ///< the last report on each file
  std::map<std::string, std::pair<Stamp, Hash>> disk_;
};

}  // namespace handoff::lsp
