// SPDX-License-Identifier: Apache-2.0
// A launch as users write it: "block=128 grid=16x2 cluster=2x1 smem=49152 K=64 p.stride=8". The command line,
// comments and .handoff.yaml share this form.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/support/result.h"

namespace handoff {

struct LaunchText {
  using Extent = std::array<std::optional<std::int64_t>, 3>;
  Extent block, grid, cluster;  ///< all empty: not said
  std::optional<std::int64_t> shared_bytes;
  std::vector<std::pair<std::string, std::int64_t>> parameters;  ///< by name, in the order of the text
};

/// Fields are separated by blanks, each comes once, and each number is in range; the error names the field.
/// Blocks are asked for where nothing else can give one.
enum class Block : std::uint8_t { kOptional, kNeeded };
Result<LaunchText> parseLaunchText(std::string_view text, Block block);

/// The words that are no parameters: "block", "grid", "cluster", "smem".
std::vector<std::string_view> launchFieldNames();

}  // namespace handoff
