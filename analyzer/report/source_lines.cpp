// SPDX-License-Identifier: Apache-2.0
// Reading source lines.
#include "analyzer/report/source_lines.h"

#include <fstream>

namespace handoff::report {

const std::vector<std::string>& SourceLines::lines(const std::string& file) {
  const auto [entry, is_new] = files_.try_emplace(file);
  if (!is_new) return entry->second;
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    if (line.ends_with('\r')) line.pop_back();
    entry->second.push_back(line);
  }
  return entry->second;
}

std::string_view SourceLines::line(const std::string& file, std::uint32_t number) {
  const std::vector<std::string>& all = lines(file);
  if (number == 0 || number > all.size()) return {};
  return all[number - 1];
}

}  // namespace handoff::report
