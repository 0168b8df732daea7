// SPDX-License-Identifier: Apache-2.0
// Kernel:   thread 0 writes a row, thread 32 overwrites it by a copy where there is a tail, and lets its copies arrive
//           at the mbarrier that thread 64 waits for.
// Target:   sm_80
// Expected verdict: not-verified
// Expected finding: missing-barrier
// Line:     44
// Sizes:    wrong for n = 0
// Why:      the arrival of the copies orders the copies and nothing else; without one, the row of thread 0 is what is
//           read, and no barrier orders it before the read.
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
__device__ __forceinline__ void mbar_wait(uint32_t bar, uint32_t parity) {
    asm volatile(
        "{\n.reg .pred p;\nWAIT:\n"
        "mbarrier.test_wait.parity.shared.b64 p, [%0], %1;\n"
        "@!p bra WAIT;\n}" ::"r"(bar), "r"(parity) : "memory");
}

// handoff: launch block=96
__global__ void hidden_row(const float4* in, float* out, int n) {
    __shared__ alignas(16) float4 row;
    __shared__ alignas(8) uint64_t filled;
    const int t = threadIdx.x;
    if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(smem_addr(&filled)) : "memory");
    __syncthreads();
    if (t == 0) row = make_float4(1.f, 0.f, 0.f, 0.f);
    if (t < 64) asm volatile("bar.sync 1, 64;" ::: "memory");
    if (t == 32) {
        if (n > 0) cp_async16(&row, in);
        asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(smem_addr(&filled)) : "memory");
    }
    if (t == 64) {
        mbar_wait(smem_addr(&filled), 0);
        out[0] = row.x;  // BUG: missing-barrier
    }
}
