// SPDX-License-Identifier: Apache-2.0
// Kernel:   each block multiplies a tile of A with one or two panels of 64 of the N columns; A and each panel
//           are a group of their own, one turn ahead.
// Target:   sm_80
// Expected verdict: silent
// Sizes:    right for all
// Why:      at the edge the missing panel is an empty group.
// right-size: M=1 N=64 K=32
// right-size: M=512 N=512 K=512
#include <cstdint>
#include <cuda_runtime.h>

__device__ __forceinline__ uint32_t smem_addr(const void* p) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}
__device__ __forceinline__ void cp_async16(void* dst, const void* src) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(smem_addr(dst)), "l"(src) : "memory");
}
__device__ __forceinline__ void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N>
__device__ __forceinline__ void cp_async_wait() {
    asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}

// handoff: launch block=128
__global__ void panels(const float4* a, const float4* b, float* out, int M, int N, int K) {
    __shared__ alignas(16) float4 tile[2][3][128];
    const int t = threadIdx.x;
    const int steps = K / 32;
    const int column = blockIdx.x * 128;
    if (column >= N || M <= 0) return;
    const bool has_second = N - column > 64;
    auto fetch = [&](int k) {
        if (k < steps) cp_async16(&tile[k & 1][0][t], a + static_cast<size_t>(k) * 128 + t);
        cp_async_commit();
        if (k < steps) cp_async16(&tile[k & 1][1][t], b + (static_cast<size_t>(k) * N + column) * 2 + t);
        cp_async_commit();
        if (has_second) {
            if (k < steps) cp_async16(&tile[k & 1][2][t], b + (static_cast<size_t>(k) * N + column + 64) * 2 + t);
        }
        cp_async_commit();
    };

    fetch(0);
    float sum = 0.f;
    for (int k = 0; k < steps; ++k) {
        fetch(k + 1);
        cp_async_wait<3>();
        __syncthreads();
        const float x = tile[k & 1][0][127 - t].x;
        sum += x * tile[k & 1][1][127 - t].x;
        if (has_second) sum += x * tile[k & 1][2][127 - t].x;
        __syncthreads();
    }
    out[blockIdx.x * 128 + t] = sum;
}
