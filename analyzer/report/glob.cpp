// SPDX-License-Identifier: Apache-2.0
// Glob matching.
#include "analyzer/report/glob.h"

#include <algorithm>

namespace handoff::report {

GlobList::GlobList(std::string_view list) {
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    std::string_view part = list.substr(0, comma);
    list.remove_prefix(std::min(comma + 1, list.size()));
    while (part.starts_with(' ')) part.remove_prefix(1);
    while (part.ends_with(' ')) part.remove_suffix(1);
    const bool excludes = part.starts_with('-');
    if (excludes) part.remove_prefix(1);
    if (part.starts_with("handoff-")) part.remove_prefix(8);
    if (!part.empty()) items_.push_back({std::string(part), excludes});
  }
}

bool GlobList::contains(std::string_view name) const {
  for (auto item = items_.rbegin(); item != items_.rend(); ++item)
    if (matchesGlob(name, item->glob)) return !item->excludes;
  return false;
}

std::vector<std::string> GlobList::unmatched(const std::vector<std::string_view>& names) const {
  std::vector<std::string> result;
  for (const Item& item : items_) {
    const bool matches = std::any_of(names.begin(), names.end(),
                                     [&](std::string_view name) { return matchesGlob(name, item.glob); });
    if (!matches) result.push_back(item.glob);
  }
  return result;
}

}  // namespace handoff::report
