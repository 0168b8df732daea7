// SPDX-License-Identifier: Apache-2.0
// Compile flags in one spelling, whichever compiler they were written for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/support/result.h"

namespace handoff::frontend {

/// How flags were spelled. It decides what happens to a flag that no table knows: nvcc's are dropped (they
/// steer code generation or the host compiler), Clang's are kept so that the driver can complain about them.
enum class Dialect : std::uint8_t { kNvcc, kClang };

/// What a compile command says, reduced to what both front ends take.
struct Flags {
  std::string directory;          ///< relative paths in `args` start here; empty: the current directory
  std::string arch;               ///< "sm_90a"; empty: not given
  std::string cuda_path;          ///< of a Clang command's --cuda-path
  std::vector<std::string> args;  ///< Clang's spelling: -I, -isystem, -D, -U, -include, -std=, -f, -m, -W
};

/// Translates the flags of one command, without the compiler's own name. Positional
/// arguments, the input among them, are left out. Errors: an unreadable options file, a flag that lacks its
/// value.
Result<Flags> translateFlags(const std::vector<std::string>& words, Dialect dialect,
                             const std::string& directory);

/// "90a", "compute_90a", "sm_100f" -> "sm_90a", "sm_100a"; empty when the text names no architecture
/// ("native", "all").
std::string normalizeArch(std::string_view text);

/// Makes the folders and files of -I, -isystem, -include and their relatives absolute, from `directory` or, when that is
/// empty, the current one.
void makePathsAbsolute(std::vector<std::string>& args, const std::string& directory = {});

/// Splits as a POSIX shell would: blanks, quotes and backslashes.
std::vector<std::string> splitWords(std::string_view text);

/// The flags as nvcc wants them: -f and -m go to the host compiler, Clang's warnings go away.
std::vector<std::string> nvccSpelling(const std::vector<std::string>& args);

}  // namespace handoff::frontend
