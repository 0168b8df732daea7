// SPDX-License-Identifier: Apache-2.0
// Kernel:   rows go out through a ring of four staging buffers with bulk stores.
// Target:   sm_90
// Expected verdict: silent
// Sizes:    right for all
// Why:      the stores are waited for in any case.
// right-size: rows=1
// right-size: rows=8
#include <cstdint>
#include <cuda_runtime.h>

__device__ __forceinline__ uint32_t smem_addr(const void* p) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}
__device__ __forceinline__ void bulk_store(void* dst, const void* src, uint32_t bytes) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
                 ::"l"(dst), "r"(smem_addr(src)), "r"(bytes) : "memory");
}
__device__ __forceinline__ void bulk_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
template <int N>
__device__ __forceinline__ void bulk_wait_read() {
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(N) : "memory");
}
__device__ __forceinline__ void fence_async_proxy() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// handoff: launch block=128
__global__ void scale_rows(const float* in, float* out, int rows) {
    __shared__ alignas(128) float stage[4][128];
    const int t = threadIdx.x;
    const size_t base = static_cast<size_t>(blockIdx.x) * rows * 128;

    for (int r = 0; r < rows; ++r) {
        const size_t first = base + static_cast<size_t>(r) * 128;
        stage[r & 3][t] = 2.0f * in[first + t];
        fence_async_proxy();
        __syncthreads();
        if (t == 0) {
            bulk_store(out + first, stage[r & 3], sizeof(stage[0]));
            bulk_commit();
            bulk_wait_read<3>();
        }
        __syncthreads();  // the buffer of row r - 3 may be filled again
    }
    if (t == 0) bulk_wait_read<0>();
}
