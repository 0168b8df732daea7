// SPDX-License-Identifier: Apache-2.0
// DeepGEMM's sm100_bf16_gemm, instantiated as its just-in-time compiler does, for 1024 x 4096 x 7168 on 148 SMs: blocks of
// 128 x 128, six stages, clusters of two that share B.
#include <deep_gemm/impls/sm100_bf16_gemm.cuh>

#include "tensor_map.h"

int main() {
    using namespace deep_gemm;
    auto kernel = &sm100_bf16_gemm_impl<cute::UMMA::Major::K, cute::UMMA::Major::K, 0, 4096, 7168, 128, 128, 64, 1, 128, 128, 128, 6,
                                        128, 128, 2, false, 148, 128, false, false, GemmType::Normal, false, cutlass::bfloat16_t, 100>;
    void *A = nullptr, *B = nullptr, *D = nullptr;
    CUtensorMap map_a, map_b, map_d;
    encode(&map_a, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, A, 7168, 1024, 14336, 64, 128);
    encode(&map_b, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, B, 7168, 4096, 14336, 64, 64);
    encode(&map_d, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, D, 4096, 1024, 8192, 64, 128);
    cudaLaunchAttribute cluster;
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = 2;
    cluster.val.clusterDim.y = 1;
    cluster.val.clusterDim.z = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = 148;
    config.blockDim = 256;
    config.dynamicSmemBytes = 180412;
    config.attrs = &cluster;
    config.numAttrs = 1;
    cudaLaunchKernelEx(&config, kernel, static_cast<int*>(nullptr), 1024u, 4096u, 7168u, map_a, map_b, map_d);
}
