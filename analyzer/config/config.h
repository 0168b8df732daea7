// SPDX-License-Identifier: Apache-2.0
// .handoff.yaml: what is true of a source tree and not of one run (docs/config.md).
//
//   launches:
//     - {kernel: "ring_*", launch: "block=128 grid=16 smem=49152 K=4096"}
//   budget: {seconds: 60, paths: 256, memory: 2048}
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/support/result.h"

namespace handoff::config {

inline constexpr std::string_view kFileName = ".handoff.yaml";

struct Launch {
  std::string kernel;  ///< glob
  std::string launch;  ///< a text that parseLaunchText takes
  SourcePos pos;
};

/// For each kernel; empty: not said.
struct Budget {
  std::optional<unsigned> seconds, paths, memory_mb;
};

struct Config {
  std::vector<Launch> launches;  ///< in the order of the file
  Budget budget;
};

/// The first mistake is the error, with its line: an unknown or repeated key, a value of the wrong kind, a
/// malformed launch.
Result<Config> parse(std::string_view text, const std::string& file);

/// Reads and parses a file.
Result<Config> load(const std::string& file);

/// The configuration that holds for a file: kFileName in the nearest folder above it; empty when there is
/// none.
std::optional<std::string> findFor(const std::string& file);

}  // namespace handoff::config
