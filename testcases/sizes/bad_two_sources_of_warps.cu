// SPDX-License-Identifier: Apache-2.0
// Kernel:   all warps copy to one place, from the same source unless the rows are of odd length.
// Target:   sm_80
// Expected verdict: violation
// Expected finding: overlapping-copies
// Line:     24
// Sizes:    wrong for odd n
// Why:      of two copies with different sources either may come last.
// wrong-size: n=3
// right-size: n=4
#include <cstdint>
#include <cuda_runtime.h>
__device__ __forceinline__ uint32_t smem_addr(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
__device__ __forceinline__ void cp_async16(void* dst, const void* src, int bytes) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(smem_addr(dst)), "l"(src), "r"(bytes) : "memory");
}
__device__ __forceinline__ void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N> __device__ __forceinline__ void cp_async_wait() { asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory"); }
// handoff: launch block=128
__global__ void k(const float4* in, float* out, int n) {
    __shared__ alignas(16) float4 buf[32];
    const int t = threadIdx.x;
    const int row = n % 2 != 0 ? t : t % 32;
    cp_async16(&buf[t % 32], in + row, 16);  // BUG: overlapping-copies
    cp_async_commit();
    cp_async_wait<0>();
    __syncthreads();
    out[t] = buf[(t ^ 3) % 32].x;
}
