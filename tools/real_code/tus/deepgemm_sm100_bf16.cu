// SPDX-License-Identifier: Apache-2.0
// DeepGEMM's sm100_bf16_gemm, instantiated as its just-in-time compiler does; the launch is not shown.
#include <deep_gemm/impls/sm100_bf16_gemm.cuh>

int main() {
    using namespace deep_gemm;
    auto kernel = &sm100_bf16_gemm_impl<cute::UMMA::Major::K, cute::UMMA::Major::K, 0, 4096, 7168, 128, 128, 64, 1, 128, 128, 128, 6,
                                        128, 128, 2, false, 148, 128, false, false, GemmType::Normal, false, cutlass::bfloat16_t, 100>;
    (void)kernel;
}
