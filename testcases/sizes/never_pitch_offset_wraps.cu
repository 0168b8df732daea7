// SPDX-License-Identifier: Apache-2.0
// Kernel:   a three-stage cp.async ring; the slot comes from the 32-bit byte offset into global memory, whose
//           pitch is a multiple of the ring plus one slot.
// Target:   sm_80
// Expected verdict: not-verified
// Expected finding: premature-overwrite
// Line:     46
// Sizes:    wrong for tiles >= 172
// Why:      the offset wraps at tile 171 (171 * 25167872 > 2^32), and 2^32 is no multiple of the ring: tile 171
//           is copied to the slot of tile 169, which is being read.
// wrong-size: tiles=172
// right-size: tiles=8
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
__global__ void pitch_ring(const char* in, float* out, int tiles) {
    __shared__ alignas(16) char ring[3 * 2048];
    constexpr uint32_t kPitch = 4096 * 3 * 2048 + 2048;
    const int t = threadIdx.x;
    const char* src = in + blockIdx.x * 2048 + t * 16;

    for (int s = 0; s < 2; ++s) {
        if (s < tiles) cp_async16(ring + s * 2048 + t * 16, src + s * kPitch);
        cp_async_commit();
    }
    float sum = 0.f;
    uint32_t offset = 0;
    for (int k = 0; k < tiles; ++k, offset += kPitch) {
        cp_async_wait<1>();
        __syncthreads();
        sum += *reinterpret_cast<const float*>(ring + offset % 6144 + (127 - t) * 16);
        const uint32_t ahead = offset + 2 * kPitch;
        if (tiles - k > 2) cp_async16(ring + ahead % 6144 + t * 16, src + ahead);  // BUG: premature-overwrite
        cp_async_commit();
    }
    out[blockIdx.x * 128 + t] = sum;
}
