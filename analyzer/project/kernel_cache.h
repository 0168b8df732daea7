// SPDX-License-Identifier: Apache-2.0
// Reports of single kernels, for files that have changed: what the analysis of a kernel reads is its PTX with
// positions, what the source says about it, and the options; another kernel of the file, or a comment below
// it, is not among them.
#pragma once

#include <functional>

#include "analyzer/explore/analyze.h"
#include "analyzer/project/cache.h"

namespace handoff::project {

class KernelCache {
 public:
  /// All outlive the cache.
  KernelCache(const Cache& cache, const Hash& program, const frontend::Unit& unit,
              const explore::Options& options);

  /// The report of the kernel: a kept one, or that of `run`, which is then kept.
  diagnose::KernelReport get(const ptx::Function& kernel,
                             const std::function<diagnose::KernelReport()>& run) const;

 private:
  Hash keyOf(const ptx::Function& kernel) const;

  const Cache& cache_;
  const Hash& program_;
  const frontend::Unit& unit_;
  const explore::Options& options_;
  Hash text_;  ///< of the source, from which repairs and their surroundings are taken
};

/// Whether a report may be kept: no more time would make it better, and nothing of it lives elsewhere.
bool isStorable(const diagnose::KernelReport& kernel);

}  // namespace handoff::project
