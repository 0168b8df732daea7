// SPDX-License-Identifier: Apache-2.0
// Kernel:   three slots, the last of which is still being filled; a parameter says which one is read.
// Target:   sm_80
// Expected verdict: violation
// Expected finding: insufficient-wait
// Line:     38
// Sizes:    wrong for n >= 2000
// Why:      n / 1000 chooses the slot, and the wait leaves the group of slot 2 pending.
// wrong-size: n=2000
// right-size: n=512
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
__global__ void choose(const float4* in, float* out, int n) {
    __shared__ alignas(16) float4 ring[3][128];
    const int t = threadIdx.x;
    for (int s = 0; s < 3; ++s) {
        cp_async16(&ring[s][t], in + s * 128 + t);
        cp_async_commit();
    }
    cp_async_wait<1>();
    __syncthreads();
    const int thousands = n / 1000;
    const int slot = thousands < 2 ? thousands : 2;
    out[blockIdx.x * 128 + t] = ring[slot][t ^ 32].x;  // BUG: insufficient-wait
    cp_async_wait<0>();
}
