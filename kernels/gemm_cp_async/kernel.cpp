// SPDX-License-Identifier: Apache-2.0
// What the runner is told about the cp.async GEMM.
#include "gemm_cp_async/gemm_cp_async.h"

#include "gemm_common/gemm.h"

namespace handoff::kernels {
namespace {

Check run(const Shape& shape, std::uint64_t seed) {
  std::vector<GemmVariant> variants;
  variants.push_back(
      {"baseline", [](const GemmProblem& p) { return gemm_cp_async::launchSequential(p, nullptr); }});
  for (int stages = gemm_cp_async::kMinStages; stages <= gemm_cp_async::kMaxStages; ++stages)
    variants.push_back({std::to_string(stages) + " stages", [stages](const GemmProblem& p) {
                          return gemm_cp_async::launchPipelined(p, stages, nullptr);
                        }});
  return checkGemm(shape, seed, variants);
}

Bench benchShape(const Shape& shape) {
  Bench bench = gemmBench(shape);
  const GemmData data(shape, 0, 1);
  const GemmProblem problem = data.problem();
  std::vector<Variant> variants;
  Variant variant;
  variant.name = "baseline";
  variant.function = gemm_cp_async::sequentialFunction();
  variant.block_threads = gemm_cp_async::kThreads;
  variant.completion = "cp.async.wait_group 0, bar.sync";
  variant.launch = [&] { require(gemm_cp_async::launchSequential(problem, nullptr), "baseline"); };
  variants.push_back(variant);
  for (int stages = gemm_cp_async::kMinStages; stages <= gemm_cp_async::kMaxStages; ++stages) {
    variant.name = "pipelined, " + std::to_string(stages) + " stages";
    variant.function = gemm_cp_async::pipelinedFunction(stages);
    variant.dynamic_shared_bytes = static_cast<std::size_t>(gemm_cp_async::sharedBytes(stages));
    variant.stages = stages;
    variant.completion = "cp.async.wait_group " + std::to_string(stages - 2) + ", bar.sync";
    variant.launch = [&, stages] {
      require(gemm_cp_async::launchPipelined(problem, stages, nullptr), "pipelined");
    };
    variants.push_back(variant);
  }
  if (std::optional<Variant> cublas = cublasVariant(problem)) variants.push_back(std::move(*cublas));
  measureInTurn(bench, std::move(variants));
  return bench;
}

std::vector<Bench> bench() { return {benchShape({4096, 4096, 4096}), benchShape({8192, 8192, 8192})}; }

}  // namespace

const Kernel& gemmCpAsync() {
  static const Kernel kKernel = {"gemm_cp_async",
                                 "bf16 matrix product, ring of cp.async slots, ldmatrix, mma.sync",
                                 "m x n x k",
                                 80,
                                 gemmShapes,
                                 run,
                                 bench};
  return kKernel;
}

}  // namespace handoff::kernels
