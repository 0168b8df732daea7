// SPDX-License-Identifier: Apache-2.0
// What the runner is told about the wgmma GEMM.
#include "gemm_wgmma/gemm_wgmma.h"

#include "gemm_common/gemm.h"

namespace handoff::kernels {
namespace {

Check run(const Shape& shape, std::uint64_t seed) {
  std::vector<GemmVariant> variants;
  variants.push_back(
      {"baseline", [](const GemmProblem& p) { return gemm_wgmma::launchSequential(p, nullptr); }});
  for (int stages = gemm_wgmma::kMinStages; stages <= gemm_wgmma::kMaxStages; ++stages)
    variants.push_back({std::to_string(stages) + " stages", [stages](const GemmProblem& p) {
                          return gemm_wgmma::launchPipelined(p, stages, gemm_wgmma::kRasterWidth, nullptr);
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
  variant.function = gemm_wgmma::sequentialFunction();
  variant.block_threads = gemm_wgmma::kSequentialThreads;
  variant.dynamic_shared_bytes = static_cast<std::size_t>(gemm_wgmma::sequentialSharedBytes());
  variant.completion = "mbarrier parity (bytes), wgmma.wait_group 0, bar.sync";
  variant.launch = [&] { require(gemm_wgmma::launchSequential(problem, nullptr), "baseline"); };
  variants.push_back(variant);
  for (int stages = gemm_wgmma::kMinStages; stages <= gemm_wgmma::kMaxStages; ++stages) {
    variant.name = "pipelined, " + std::to_string(stages) + " stages";
    variant.function = gemm_wgmma::pipelinedFunction(stages);
    variant.block_threads = gemm_wgmma::kPipelinedThreads;
    variant.dynamic_shared_bytes = static_cast<std::size_t>(gemm_wgmma::pipelinedSharedBytes(stages));
    variant.stages = stages;
    variant.completion = "mbarrier parity (bytes); slots: wgmma.wait_group 1, mbarrier parity (cluster)";
    variant.launch = [&, stages] {
      require(gemm_wgmma::launchPipelined(problem, stages, gemm_wgmma::kRasterWidth, nullptr), "pipelined");
    };
    variants.push_back(variant);
  }
  if (std::optional<Variant> cublas = cublasVariant(problem)) variants.push_back(std::move(*cublas));
  measureInTurn(bench, std::move(variants));
  return bench;
}

std::vector<Bench> bench() {
  return {benchShape({2048, 2048, 2048}), benchShape({4096, 4096, 4096}), benchShape({8192, 8192, 8192})};
}

}  // namespace

const Kernel& gemmWgmma() {
  static const Kernel kKernel = {
      "gemm_wgmma", "bf16 matrix product, TMA, wgmma, persistent clusters with multicast",
      "m x n x k",  90,
      gemmShapes,   run,
      bench};
  return kKernel;
}

}  // namespace handoff::kernels
