// SPDX-License-Identifier: Apache-2.0
// Parsing launches.
#include "analyzer/support/launch_text.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace handoff {
namespace {

std::optional<std::int64_t> toInteger(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  return status == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

/// "128", "32x8" or "32,8,1"; every extent positive.
std::optional<LaunchText::Extent> toExtent(std::string_view text) {
  LaunchText::Extent extent = {1, 1, 1};
  for (std::optional<std::int64_t>& dimension : extent) {
    const std::size_t end = std::min(text.find_first_of("x,"), text.size());
    dimension = toInteger(text.substr(0, end));
    if (!dimension || *dimension < 1 || *dimension > std::numeric_limits<std::uint32_t>::max())
      return std::nullopt;
    if (end == text.size()) return extent;
    text.remove_prefix(end + 1);
  }
  return std::nullopt;  // a fourth dimension
}

/// Reads fields into a launch; every function returns what is wrong, or "".
class Reader {
 public:
  std::string take(std::string_view field) {
    const std::size_t equals = field.find('=');
    if (equals == 0 || equals == std::string_view::npos)
      return "'" + std::string(field) + "' is not of the form name=value";
    const std::string_view key = field.substr(0, equals), value = field.substr(equals + 1);
    const std::string wrong = set(key, value);
    if (!wrong.empty()) return "'" + std::string(field) + "': " + wrong;
    if (std::find(keys_.begin(), keys_.end(), key) != keys_.end())
      return "'" + std::string(field) + "': '" + std::string(key) + "' is given twice";
    keys_.push_back(key);
    return "";
  }

  LaunchText launch;

 private:
  std::string set(std::string_view key, std::string_view value) {
    for (const auto& [name, extent] :
         {std::pair<std::string_view, LaunchText::Extent*>{"block", &launch.block},
          {"grid", &launch.grid},
          {"cluster", &launch.cluster}}) {
      if (key != name) continue;
      const auto parsed = toExtent(value);
      if (!parsed) return "expected up to three positive numbers, as 128 or 32x8";
      *extent = *parsed;
      return "";
    }
    const std::optional<std::int64_t> number = toInteger(value);
    if (key == "smem") {
      if (!number || *number < 0) return "expected a number of bytes";
      launch.shared_bytes = number;
      return "";
    }
    if (!number) return "expected the integer value of a kernel parameter";
    launch.parameters.emplace_back(key, *number);
    return "";
  }

  std::vector<std::string_view> keys_;
};

}  // namespace

std::vector<std::string_view> launchFieldNames() { return {"block", "grid", "cluster", "smem"}; }

Result<LaunchText> parseLaunchText(std::string_view text, Block block) {
  constexpr std::string_view kBlanks = " \t\r\n";
  Reader reader;
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
    if (text.empty()) break;
    const std::string_view field = text.substr(0, text.find_first_of(kBlanks));
    text.remove_prefix(field.size());
    const std::string wrong = reader.take(field);
    if (!wrong.empty()) return Error{wrong, {}};
  }
  if (block == Block::kNeeded && !reader.launch.block[0])
    return Error{"a launch needs its block, as in \"block=128 grid=16\"", {}};
  return std::move(reader.launch);
}

}  // namespace handoff
