// SPDX-License-Identifier: Apache-2.0
// Kernel:   two threads copy to one place, from the same source, wherever that is.
// Target:   sm_80
// Expected verdict: verified
// Sizes:    right for all
// Why:      copies of the same bytes to the same place may meet.
// right-size: n=3
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
    __shared__ alignas(16) float4 buf[64];
    const int t = threadIdx.x;
    const int first = n % 2 != 0 ? 8 : 0;
    cp_async16(&buf[t / 2], in + first + n * (t / 2), 16);
    cp_async_commit();
    cp_async_wait<0>();
    __syncthreads();
    out[t] = buf[(t ^ 32) / 2].x;
}
