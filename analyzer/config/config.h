// SPDX-License-Identifier: Apache-2.0
// .handoff.yaml: what is true of a source tree and not of one run (docs/config.md).
//
//   checks: "-wgmma-*"
//   launches:
//     - {kernel: "ring_*", launch: "block=128 grid=16 smem=49152 K=4096"}
//   tensormaps:
//     - {kernel: "ring_*", map: tma_a, box: 64x128xbf16}
//   suppressions:
//     - {rule: missing-wait, file: "third_party/*", reason: "reported to its authors"}
//   budget: {seconds: 60, share: 100, paths: 256, memory: 2048}
#pragma once

#include <map>
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

/// What one copy through a tensor map writes.
struct TensorMap {
  std::string kernel;  ///< glob
  std::string map;     ///< a parameter, a member of one, or a place: "tma_a", "params.tma_b", "param0+128"
  std::string box;     ///< a text that parseTensorBox takes
  SourcePos pos;
};

/// A finding is silenced when all that is said here holds for it.
struct Suppression {
  std::string rule;          ///< glob
  std::string file = "*";    ///< glob over the path of the finding, from the folder of the configuration
  std::string kernel = "*";  ///< glob, as in Launch
  std::string reason;
  SourcePos pos;
};

/// For each kernel, unless it says otherwise; empty: not said.
struct Budget {
  std::optional<unsigned> seconds, paths, memory_mb;
  std::optional<unsigned> share = {};  ///< of all kernels of a file together: percent of the compiler's time
};

struct Config {
  std::string path;  ///< of the file; empty: there is none
  /// As the options of the same name; empty: not said.
  std::optional<std::string> checks, warnings_as_errors, arch, frontend, cuda_path;
  std::vector<std::string> extra_args;    ///< relative paths start in the folder of the file
  std::vector<Launch> launches;           ///< in the order of the file
  std::vector<TensorMap> tensor_maps;     ///< in the order of the file
  std::vector<Suppression> suppressions;  ///< in the order of the file
  Budget budget;
  /// Where each key stands: "checks", "budget.seconds".
  std::map<std::string, SourcePos> positions;
};

/// The first mistake is the error, with its line: an unknown or repeated key, a value of the wrong kind, a
/// malformed launch or box, a suppression without a reason.
Result<Config> parse(std::string_view text, const std::string& file);

/// Reads and parses a file.
Result<Config> load(const std::string& file);

/// The configuration that holds for a file: kFileName in the nearest folder above it; empty when there is
/// none.
std::optional<std::string> findFor(const std::string& file);

/// As YAML that `parse` takes.
std::string toYaml(const Config& config);

}  // namespace handoff::config
