// SPDX-License-Identifier: Apache-2.0
// Reading source lines.
#include "analyzer/report/source_lines.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

namespace handoff::report {

namespace {

std::string absolute(const std::string& file) {
  std::error_code failed;
  return std::filesystem::absolute(file, failed).lexically_normal().string();
}

}  // namespace

void SourceLines::show(const std::string& file, const std::string& text) {
  shown_[absolute(file)] = text;
  texts_.clear();
  files_.clear();
}

const std::string& SourceLines::text(const std::string& file) {
  const auto [entry, is_new] = texts_.try_emplace(file);
  if (!is_new) return entry->second;
  if (const auto shown = shown_.empty() ? shown_.end() : shown_.find(absolute(file)); shown != shown_.end()) {
    entry->second = shown->second;
  } else {
    std::ifstream stream(file, std::ios::binary);
    entry->second.assign(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
  }
  return entry->second;
}

const std::vector<std::string>& SourceLines::lines(const std::string& file) {
  const auto [entry, is_new] = files_.try_emplace(file);
  if (!is_new) return entry->second;
  std::istringstream stream(text(file));
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
