// SPDX-License-Identifier: Apache-2.0
// Kernel:   eight cases of a switch over a parameter, one of which waits for too little.
// Target:   sm_80
// Expected verdict: not-verified
// Expected finding: insufficient-wait
// Line:     36
// Sizes:    wrong for n % 8 = 5
// Why:      every case has a wait of its own, and only a run with that case meets it.
// wrong-size: n=5
// right-size: n=8
#include <cstdint>
#include <cuda_runtime.h>
__device__ __forceinline__ uint32_t smem_addr(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
__device__ __forceinline__ void cp_async16(void* dst, const void* src) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(smem_addr(dst)), "l"(src) : "memory");
}
__device__ __forceinline__ void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N> __device__ __forceinline__ void cp_async_wait() { asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory"); }
// handoff: launch block=128
__global__ void k(const float4* in, float* out, int n) {
    __shared__ alignas(16) float4 buf[128];
    const int t = threadIdx.x;
    cp_async16(&buf[t], in + t);
    cp_async_commit();
    switch (n & 7) {
      case 0: cp_async_wait<0>(); out[1]=1; break;
      case 1: out[2]=3; cp_async_wait<0>(); break;
      case 2: out[3]=1; cp_async_wait<0>(); out[5]=2; break;
      case 3: out[1]=7; cp_async_wait<0>(); break;
      case 4: out[6]=1; cp_async_wait<0>(); break;
      case 5: out[7]=1; cp_async_wait<1>(); break;
      case 6: out[8]=1; cp_async_wait<0>(); break;
      case 7: out[9]=1; cp_async_wait<0>(); break;
    }
    __syncthreads();
    out[t] = buf[t ^ 32].x;  // BUG: insufficient-wait
}
