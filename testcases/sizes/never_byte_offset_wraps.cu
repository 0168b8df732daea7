// SPDX-License-Identifier: Apache-2.0
// Kernel:   a three-stage cp.async ring; the slot comes from a 32-bit byte offset that grows by 2048 a tile.
// Target:   sm_80
// Expected verdict: not-verified
// Expected finding: premature-overwrite
// Line:     45
// Sizes:    wrong for tiles >= 2097153 (too long to run; 2^32 / 2048 = 2097152)
// Why:      the offset is 0 again at tile 2097152, so that tile is copied to slot 0, and so is tile 2097150,
//           which is being read then.
// wrong-size: tiles=2097153
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
__global__ void offset_ring(const float4* in, float* out, int tiles) {
    __shared__ alignas(16) char ring[3 * 2048];
    const int t = threadIdx.x;
    const char* src = reinterpret_cast<const char*>(in + static_cast<size_t>(blockIdx.x) * tiles * 128 + t);
    auto at = [&](uint32_t offset) { return ring + offset % 6144; };

    for (int s = 0; s < 2; ++s) {
        if (s < tiles) cp_async16(at(s * 2048) + t * 16, src + s * 2048);
        cp_async_commit();
    }
    float sum = 0.f;
    uint32_t offset = 0;
    for (int k = 0; k < tiles; ++k, offset += 2048) {
        cp_async_wait<1>();
        __syncthreads();
        sum += *reinterpret_cast<const float*>(at(offset) + (127 - t) * 16);
        const char* next = src + static_cast<size_t>(k + 2) * 2048;
        if (tiles - k > 2) cp_async16(at(offset + 4096) + t * 16, next);  // BUG: premature-overwrite
        cp_async_commit();
    }
    out[blockIdx.x * 128 + t] = sum;
}
