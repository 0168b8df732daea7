// SPDX-License-Identifier: Apache-2.0
// The other producer of PTX.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/frontend/files.h"
#include "analyzer/frontend/flags.h"
#include "analyzer/frontend/toolkit.h"
#include "analyzer/support/cancel.h"

namespace handoff::frontend {

struct NvccOutput {
  std::string ptx;
  std::vector<std::string> files_read;  ///< absolute
};

/// Runs "nvcc -ptx -lineinfo". Errors: nvcc's first message with its position; kCancelled; after ten minutes, that.
Result<NvccOutput> compileWithNvcc(const std::string& file, const Flags& flags, const Toolkit& toolkit,
                                    const PathMap& paths, const CancelToken* cancel);

/// Machine code of the file: nvcc compiles it with the same flags, and nvdisasm or cuobjdump prints it. Errors as above,
/// and when neither is installed.
Result<std::string> disassembleWithNvcc(const std::string& file, const Flags& flags, const Toolkit& toolkit,
                                        const PathMap& paths);
/// The same for a cubin or another file that cuobjdump reads.
Result<std::string> disassemble(const std::string& file, const std::optional<Toolkit>& toolkit);

/// The files that a makefile rule says its target is made of: "a.ptx : a.cu \\\n  b.cuh". Spaces in names come with a
/// backslash.
std::vector<std::string> prerequisites(std::string_view rule);

/// The first error in what nvcc printed: "file(12): error: ...", "file:12:3: fatal error: ...". "and N more"
/// is added.
Error firstNvccError(const std::string& text, const PathMap& paths);

}  // namespace handoff::frontend
