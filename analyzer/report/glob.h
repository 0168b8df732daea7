// SPDX-License-Identifier: Apache-2.0
// Lists of globs over rule names, as in --checks=-*,missing-*.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/support/text.h"

namespace handoff::report {

/// Comma-separated globs, read from left to right: the last one that matches decides, and a leading '-'
/// excludes.
class GlobList {
 public:
  GlobList() = default;
  explicit GlobList(std::string_view list);

  bool contains(std::string_view name) const;
  /// Globs that match none of `names`, without their '-'.
  std::vector<std::string> unmatched(const std::vector<std::string_view>& names) const;

 private:
  struct Item {
    std::string glob;
    bool excludes = false;
  };
  std::vector<Item> items_;
};

}  // namespace handoff::report
