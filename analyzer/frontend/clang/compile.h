// SPDX-License-Identifier: Apache-2.0
// The Clang front end: one CUDA file in, PTX and source facts out, in this process and in memory. No Clang
// type here.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analyzer/frontend/files.h"
#include "analyzer/frontend/flags.h"
#include "analyzer/frontend/toolkit.h"
#include "analyzer/frontend/unit.h"

namespace handoff::frontend {

struct ClangRequest {
  std::string file;                ///< absolute
  Flags flags;                     ///< with an architecture
  std::optional<Toolkit> toolkit;  ///< empty: the bundled declarations
  const PathMap* paths = nullptr;
  bool wants_ptx = true;  ///< false: only what the source says
  const Overlay* overlay = nullptr;      ///< null: none
  const CancelToken* cancel = nullptr;   ///< null: never
};

struct ClangOutput {
  std::string ptx;                     ///< empty: none was made
  std::vector<SourceStack> locations;  ///< the ".loc" line N of `ptx` stands for locations[N - 1]
  std::vector<KernelDecl> kernels;     ///< kernels of `ptx`, and kernels of the source that should be there
  std::vector<LaunchSite> launches;
  std::vector<TensorMapFact> tensor_maps;
  std::vector<AsmFact> asm_facts;
  std::vector<SharedArray> shared_arrays;
  std::vector<SourceComment> comments;
  std::vector<Error> errors;  ///< what Clang reported, after all repairs
  std::vector<Error> notes;
  std::set<std::string> with_effect;    ///< mangled names of kernels whose unoptimised code does something
  bool mentions_kernels = false;        ///< "__global__" stands in the user's files
  std::vector<SourcePos> lost_kernels;  ///< "__global__" in the user's files that led to no declaration
  std::set<std::string> files_read, files_missed;  ///< as in Unit
  bool has_facts = false;  ///< the syntax tree reached its end: kernels and launches are complete
  double processor_seconds = 0;
  std::string failure;     ///< the compiler crashed, or the code generator refused: why
};

/// Never ends the process. Safe to call from several threads at once.
ClangOutput compileWithClang(const ClangRequest& request);

/// The files that a compilation would read, by the preprocessor alone; empty when it does not come to the end.
std::set<std::string> scanWithClang(const ClangRequest& request);

}  // namespace handoff::frontend
