// Kernel:   two groups of four warps load tiles of their own and add them to a common total in turn; an mbarrier
//           per group says whose turn it is.
// Launch:   grid 6, block 256, static shared memory only, rounds = 5
// Target:   sm_90
// Expected finding: wrong-parity
// Also acceptable: hang
// Line:     65
// Why:      both groups start with parity 0, so each waits for the other one to give it the first turn.
#include <cstdint>
#include <cuda_runtime.h>

__device__ __forceinline__ uint32_t smem_addr(const void* p) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}
__device__ __forceinline__ void mbar_init(uint64_t* bar, uint32_t count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(smem_addr(bar)), "r"(count) : "memory");
}
__device__ __forceinline__ void mbar_init_fence() {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ __forceinline__ void mbar_arrive(uint64_t* bar) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(smem_addr(bar)) : "memory");
}
__device__ __forceinline__ void mbar_arrive_expect_tx(uint64_t* bar, uint32_t bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(smem_addr(bar)), "r"(bytes)
                 : "memory");
}
__device__ __forceinline__ void mbar_wait(uint64_t* bar, uint32_t parity) {
    uint32_t done = 0;
    while (!done) {
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                     : "=r"(done) : "r"(smem_addr(bar)), "r"(parity) : "memory");
    }
}
__device__ __forceinline__ void bulk_load(void* dst, const void* src, uint32_t bytes, uint64_t* bar) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 ::"r"(smem_addr(dst)), "l"(src), "r"(bytes), "r"(smem_addr(bar)) : "memory");
}
__device__ __forceinline__ void fence_async_proxy() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ __forceinline__ void bar_sync(int id, int threads) {
    asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

__global__ void in_turn(const float* in, float* out, int rounds) {
    __shared__ alignas(128) float tile[2][128];
    __shared__ float total[128];
    __shared__ alignas(8) uint64_t full[2], turn[2];
    const int g = threadIdx.x / 128, t = threadIdx.x % 128;
    if (threadIdx.x < 2) {
        mbar_init(&full[threadIdx.x], 1);
        mbar_init(&turn[threadIdx.x], 4);
        mbar_init_fence();
    }
    if (g == 0) total[t] = 0.f;
    __syncthreads();

    for (int r = 0; r < rounds; ++r) {
        if (t == 0) {
            mbar_arrive_expect_tx(&full[g], sizeof(tile[0]));
            bulk_load(tile[g], in + ((blockIdx.x * rounds + r) * 2 + g) * 128, sizeof(tile[0]), &full[g]);
        }
        mbar_wait(&full[g], r & 1);
        const float v = tile[g][127 - t];
        fence_async_proxy();
        mbar_wait(&turn[g], r & 1);  // BUG: wrong-parity
        total[127 - t] += v;
        __syncwarp();
        if (t % 32 == 0) mbar_arrive(&turn[g ^ 1]);
        bar_sync(1 + g, 128);  // the tile has been read
    }
    if (g == 1) out[blockIdx.x * 128 + t] = total[127 - t];
}

int main() {
    float *in, *out;
    cudaMalloc(&in, 6 * 5 * 256 * sizeof(float));
    cudaMalloc(&out, 6 * 128 * sizeof(float));
    cudaMemset(in, 0, 6 * 5 * 256 * sizeof(float));
    in_turn<<<6, 256>>>(in, out, 5);
    return cudaDeviceSynchronize() != cudaSuccess;
}
