// SPDX-License-Identifier: Apache-2.0
// Kernel:   two warps copy the same rows to the same place, the second one only where there is a tail; each thread of
//           the second one reads what it copied.
// Target:   sm_80
// Expected verdict: not-verified
// Expected finding: missing-barrier
// Line:     34
// Sizes:    wrong for n = 0
// Why:      either copy may win, they bring the same bytes; but without a tail only the other warp's copy is there, and
//           nothing orders it before the read.
// wrong-size: n=0
// right-size: n=8
#include <cstdint>
#include <cuda_runtime.h>

__device__ __forceinline__ uint32_t smem_addr(const void* p) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}
__device__ __forceinline__ void cp_async16(void* dst, const void* src) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(smem_addr(dst)), "l"(src) : "memory");
}

// handoff: launch block=64
__global__ void shared_rows(const float4* in, float* out, int n) {
    __shared__ alignas(16) float4 rows[32];
    const int t = threadIdx.x;
    const int row = t % 32;
    const bool is_second = t >= 32;
    if (!is_second) cp_async16(&rows[row], in + row);
    if (n > 0 && is_second) cp_async16(&rows[row], in + row);
    asm volatile("cp.async.commit_group;" ::: "memory");
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    if (is_second) {
        out[t] = rows[row].x;  // BUG: missing-barrier
    }
}
