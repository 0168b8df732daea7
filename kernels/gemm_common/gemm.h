// SPDX-License-Identifier: Apache-2.0
// What the GEMM kernels share on the host: random problems, the reference, shapes, and cuBLAS for comparison.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/device.h"
#include "common/kernel.h"
#include "gemm_common/problem.h"

namespace handoff::kernels {

using GemmLaunch = std::function<cudaError_t(const GemmProblem&)>;

/// A named way to compute a product.
struct GemmVariant {
  std::string name;
  GemmLaunch launch;
};

/// A problem with random operands in [-1, 1) on the device. Leading dimensions are the next multiple of 8,
/// plus `padding` elements. The gaps between rows hold NaN, which a kernel that reads them would spread.
class GemmData {
 public:
  GemmData(const Shape& shape, int padding, std::uint64_t seed);

  [[nodiscard]] GemmProblem problem() const;

  /// Poisons c, launches `variant`, and takes its largest error into `check`: of every element of c where the
  /// problem is small, else of some thousand that the seed picks. Elements outside of the matrix have to keep
  /// the poison.
  void check(Check& check, const GemmVariant& variant);

 private:
  [[nodiscard]] double reference(int row, int column) const;
  void makeReference();

  GemmProblem sizes_;
  std::uint64_t seed_;
  std::vector<float> host_a_, host_b_;  // dense, values that bf16 represents
  DeviceBuffer<__nv_bfloat16> a_, b_, c_;
  std::vector<int> rows_, columns_;  // that are compared
  std::vector<float> want_;          // their elements, row by row; made when they are first asked for
};

/// At least 20 shapes m x n x k, smallest first: below, at and above the tiles, odd, and one of several
/// waves.
std::vector<Shape> gemmShapes();

/// Runs all variants on one shape, with and without gaps between rows.
Check checkGemm(const Shape& shape, std::uint64_t seed, const std::vector<GemmVariant>& variants);

/// A bench with its bytes and FLOP filled in, without variants.
Bench gemmBench(const Shape& shape);

/// Times variants in turn, one launch of each a round, and keeps them. A product of this size takes the chip
/// to its power limit, and clocks drop within milliseconds: whoever comes first would win.
void measureInTurn(Bench& bench, std::vector<Variant> variants);

/// cuBLAS on the same problem, which has to outlive it; nothing where the library is not installed. It is
/// looked up at run time, so that programs need not link against it.
std::optional<Variant> cublasVariant(const GemmProblem& problem);

}  // namespace handoff::kernels
