// SPDX-License-Identifier: Apache-2.0
// Kernel:   one slot is filled while another is read, for one number of rows only; a second size says which slot is read.
// Target:   sm_80
// Expected verdict: not-verified
// Expected finding: missing-barrier
// Line:     28
// Sizes:    wrong for rows = 777 and shift % 7 = 3
// Why:      the place of the read is decided in runs alone that are there for the read.
// wrong-size: rows=777 shift=3
// right-size: rows=777 shift=4
#include <cstdint>
#include <cuda_runtime.h>
__device__ __forceinline__ uint32_t smem_addr(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
__device__ __forceinline__ void cp_async16(void* dst, const void* src) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(smem_addr(dst)), "l"(src) : "memory");
}
__device__ __forceinline__ void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N> __device__ __forceinline__ void cp_async_wait() { asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory"); }
// handoff: launch block=128
__global__ void k(const float4* in, float* out, int rows, int shift) {
    __shared__ alignas(16) float4 buf[2][128];
    const int t = threadIdx.x;
    buf[0][t] = make_float4(1, 1, 1, 1);
    __syncthreads();
    cp_async16(&buf[1][t], in + t);
    cp_async_commit();
    float sum = 0;
    if (rows == 777) sum = buf[shift % 7 == 3 ? 1 : 0][t ^ 32].x;  // BUG: missing-barrier
    cp_async_wait<0>();
    __syncthreads();
    out[t] = sum + buf[1][t ^ 32].y;
}
