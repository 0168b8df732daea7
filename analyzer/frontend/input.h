// SPDX-License-Identifier: Apache-2.0
// From a file name and the command line to a Unit.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analyzer/frontend/unit.h"
#include "analyzer/support/cancel.h"
#include "analyzer/support/result.h"

namespace handoff::frontend {

/// Texts that count instead of those on the disk, by absolute path: what an editor has not saved.
using Overlay = std::map<std::string, std::string>;

class Database;

enum class Choice : std::uint8_t { kAuto, kClang, kNvcc };

/// The message of a load that was cancelled.
inline constexpr std::string_view kCancelled = "the run was interrupted";

struct Options {
  Choice frontend = Choice::kAuto;
  std::string arch;                      ///< "sm_90a"; empty: from the compile command, else sm_90a
  std::string cuda_path;                 ///< empty: $CUDA_HOME, $CUDA_PATH, /usr/local/cuda, nvcc on PATH
  bool no_toolkit = false;               ///< act as if no toolkit was installed (tests; --cuda-path=none)
  std::optional<std::string> build_path; ///< -p; empty: the nearest parent folder with a compile_commands.json
  std::shared_ptr<const Database> database; ///< already read; null: as build_path says
  std::optional<std::size_t> entry;      ///< of `database`; empty: the one that is about the file
  std::vector<std::string> extra_args;   ///< flags after "--" and --extra-arg
  bool has_fixed_flags = false;          ///< "--" was given: ignore every compile_commands.json
  std::shared_ptr<const Overlay> overlay; ///< null: none
  const CancelToken* cancel = nullptr;   ///< looked at while Clang parses; what was cancelled fails with kCancelled
};

/// Reads one .cu/.cuh/.cpp or .ptx. Errors: missing file, syntax errors (the first one, with its position; the rest in the
/// message), an unreadable compile_commands.json.
Result<Unit> load(const std::string& file, const Options& options);

/// The files that `load` would read, by a preprocessor alone: fast. Nothing when that cannot be told.
std::optional<std::set<std::string>> scanFiles(const std::string& file, const Options& options);

/// What `load` would run, as text that differs where its result may: flags, target, toolkit. Errors as above.
Result<std::string> describeCommand(const std::string& file, const Options& options);

/// Machine code as "nvdisasm -gi" or "cuobjdump -sass" prints it: of a .cubin as it is, of a source file or PTX after nvcc has compiled it.
/// Errors as above, and a tool that is not installed.
Result<std::string> loadSass(const std::string& file, const Options& options);

}  // namespace handoff::frontend
