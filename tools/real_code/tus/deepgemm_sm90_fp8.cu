// SPDX-License-Identifier: Apache-2.0
// DeepGEMM's sm90_fp8_gemm_1d2d for 256 x 4096 x 7168 on 132 SMs: blocks of 128 x 128 x 128, four stages, no cluster.
#include <deep_gemm/impls/sm90_fp8_gemm_1d2d.cuh>

#include "tensor_map.h"

int main() {
    using namespace deep_gemm;
    auto kernel = &sm90_fp8_gemm_1d2d_impl<cute::UMMA::Major::K, 0, 4096, 7168, 1, 128, 128, 128, 128, 128, 128, 4, 128, 256, 1, false,
                                           132, GemmType::Normal, cutlass::bfloat16_t, epilogue::transform::EpilogueIdentity>;
    void *A = nullptr, *B = nullptr, *D = nullptr, *scales = nullptr;
    CUtensorMap map_a, map_b, map_d, map_scales;
    encode(&map_a, CU_TENSOR_MAP_DATA_TYPE_UINT8, A, 7168, 4096, 7168, 128, 128);
    encode(&map_b, CU_TENSOR_MAP_DATA_TYPE_UINT8, B, 7168, 4096, 7168, 128, 128);
    encode(&map_d, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, D, 4096, 4096, 8192, 64, 128);
    encode(&map_scales, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, scales, 4096, 56, 16384, 128, 1);
    kernel<<<132, 384, 166464>>>(nullptr, nullptr, 256u, 4096u, 7168u, map_a, map_b, map_d, map_scales);
}
