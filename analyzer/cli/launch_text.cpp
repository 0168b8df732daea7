// SPDX-License-Identifier: Apache-2.0
// Checking the text of --launch.
#include "analyzer/cli/launch_text.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace handoff::cli {
namespace {

bool isInteger(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  return status == std::errc() && end == text.data() + text.size();
}

/// "128", "32x8" or "32,8,1"; every extent positive.
bool isExtent(std::string_view text) {
  int dimensions = 0;
  while (true) {
    const std::size_t end = std::min(text.find_first_of("x,"), text.size());
    const std::string_view part = text.substr(0, end);
    if (!isInteger(part) || part.front() == '-' || part == "0") return false;
    if (++dimensions > 3) return false;
    if (end == text.size()) return true;
    text.remove_prefix(end + 1);
  }
}

std::string checkField(std::string_view key, std::string_view value) {
  const auto wrong = [&](std::string_view expected) {
    return "'" + std::string(key) + "=" + std::string(value) + "': " + std::string(expected);
  };
  if (key == "block" || key == "grid" || key == "cluster")
    return isExtent(value) ? "" : wrong("expected up to three positive numbers, as 128 or 32x8");
  if (key == "smem")
    return isInteger(value) && value.front() != '-' ? "" : wrong("expected a number of bytes");
  return isInteger(value) ? "" : wrong("expected the integer value of a kernel parameter");
}

}  // namespace

std::string checkLaunchText(std::string_view text) {
  bool has_block = false;
  while (true) {
    const std::size_t start = std::min(text.find_first_not_of(" \t"), text.size());
    text.remove_prefix(start);
    if (text.empty()) break;
    const std::size_t end = std::min(text.find_first_of(" \t"), text.size());
    const std::string_view field = text.substr(0, end);
    text.remove_prefix(end);

    const std::size_t equals = field.find('=');
    if (equals == 0 || equals == std::string_view::npos)
      return "'" + std::string(field) + "' is not of the form name=value";
    const std::string wrong = checkField(field.substr(0, equals), field.substr(equals + 1));
    if (!wrong.empty()) return wrong;
    if (field.starts_with("block=")) has_block = true;
  }
  return has_block ? "" : "a launch needs its block, as in \"block=128 grid=16\"";
}

}  // namespace handoff::cli
