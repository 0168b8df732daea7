// SPDX-License-Identifier: Apache-2.0
// What each reference kernel tells the runner: its shapes, a check against the host, and timed variants.
//
// To add a kernel: a folder with its .cu files and a README, one function that returns its Kernel, and its name in
// registry.cpp and in CMakeLists.txt.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace handoff::kernels {

/// Extents in the order that Kernel::extents names.
using Shape = std::vector<std::int64_t>;

struct Check {
  double max_relative_error = 0;  ///< over all outputs of all variants; an element that was not written makes it infinite
  double tolerance = 0;           ///< 0 where the result has to be the same bit for bit
  std::string where;              ///< the variant and element of the largest error

  [[nodiscard]] bool passes() const { return max_relative_error <= tolerance; }
};

/// Times of single launches by CUDA events, in milliseconds.
struct Times {
  double median = 0, low = 0, high = 0;  ///< low and high: the 10th and 90th percentile
  int launches = 0;
};

/// One way to do the work, ready to be launched on the stream of the caller.
struct Variant {
  std::string name;               ///< "baseline", "pipelined", …; the first variant of a bench is the baseline
  const void* function = nullptr; ///< the kernel's host symbol; null for a library call
  int block_threads = 0;
  std::size_t dynamic_shared_bytes = 0;
  int stages = 1;                 ///< slots that copies may be in flight for
  std::string completion;         ///< what makes a copied tile readable, as "cp.async.wait_group 2, bar.sync"
  std::function<void()> launch;   ///< one launch on the default stream
};

struct Measured {
  Variant variant;
  Times times;
};

struct Bench {
  Shape shape;
  std::string setting;  ///< what sets it apart from other benches of the kernel; may be empty
  double bytes = 0;  ///< that have to cross global memory: each input once, each output once
  double flops = 0;  ///< floating-point operations of the definition
  bool is_mover = false;  ///< the kernel only moves data
  std::vector<Measured> measured;
};

struct Kernel {
  const char* name;        ///< as in `run NAME`
  const char* summary;     ///< one line
  const char* extents;     ///< names of a shape's extents, as "rows x columns"
  int min_sm;              ///< 80 or 90
  std::vector<Shape> (*shapes)();  ///< at least 20, odd ones included; sorted by size
  Check (*run)(const Shape& shape, std::uint64_t seed);
  std::vector<Bench> (*bench)();   ///< one entry for each bench shape or setting
};

/// All kernels, in the order in which they are listed.
const std::vector<const Kernel*>& allKernels();

/// Runs a variant `warmup` times, then `launches` times between two events each. Throws where a launch fails.
Times timeLaunches(const std::function<void()>& launch, int warmup = 3, int launches = 21);

/// Times a variant and keeps it.
void measure(Bench& bench, Variant variant);

}  // namespace handoff::kernels
