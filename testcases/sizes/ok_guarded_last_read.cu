// SPDX-License-Identifier: Apache-2.0
// Kernel:   the last statement of a kernel, for the threads that have an element, reads what another thread has copied.
// Target:   sm_80
// Expected verdict: verified
// Sizes:    right for all
// Why:      a barrier stands between; nothing but the end of the thread follows the condition.
// right-size: n=1
// right-size: n=512
#include <cstdint>
#include <cuda_runtime.h>
__device__ __forceinline__ uint32_t smem_addr(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
__device__ __forceinline__ void cp_async16(void* dst, const void* src) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(smem_addr(dst)), "l"(src) : "memory");
}
__device__ __forceinline__ void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N> __device__ __forceinline__ void cp_async_wait() { asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory"); }
// handoff: launch block=128 grid=2
__global__ void k(const float4* in, float* out, int n) {
    __shared__ alignas(16) float4 buf[128];
    const int i = blockIdx.x * 128 + threadIdx.x;
    cp_async16(&buf[threadIdx.x], &in[i]);
    cp_async_commit();
    cp_async_wait<0>();
    __syncthreads();
    if (i < n) out[i] = buf[threadIdx.x ^ 32].x;
}
