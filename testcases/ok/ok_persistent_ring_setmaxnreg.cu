// Kernel:   persistent blocks of a producer warpgroup and two consumer warpgroups walk over 100 tiles through a
//           four-stage ring; registers move to the consumers.
// Launch:   grid 16, block 384, static shared memory only, tiles = 100
// Target:   sm_90a
// Expected finding: none
// Line:     -
// Why:      slot and phase run on across the tiles on both sides; the elected lane is the only one to issue, and
//           setmaxnreg, executed by all four warps of a warpgroup, orders nothing and need not.
#include <cstdint>
#include <cuda_runtime.h>

__device__ __forceinline__ uint32_t smem_addr(const void* p) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}
__device__ __forceinline__ bool elect_one() {
    uint32_t elected;
    asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }" : "=r"(elected)::"memory");
    return elected != 0;
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
template <int N>
__device__ __forceinline__ void lower_registers() {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(N) : "memory");
}
template <int N>
__device__ __forceinline__ void raise_registers() {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(N) : "memory");
}

constexpr int kStages = 4, kTile = 512;  // floats

__global__ void __launch_bounds__(384, 1) persistent_ring(const float* in, float* out, int tiles) {
    __shared__ alignas(128) float ring[kStages][kTile];
    __shared__ alignas(8) uint64_t full[kStages], empty[kStages];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (threadIdx.x == 0) {
        for (int s = 0; s < kStages; ++s) {
            mbar_init(&full[s], 1);
            mbar_init(&empty[s], 8);
        }
        mbar_init_fence();
    }
    __syncthreads();

    if (warp < 4) {
        lower_registers<40>();
        if (warp == 0) {
            int s = 0;
            uint32_t phase = 1;
            for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
                if (elect_one()) {
                    mbar_wait(&empty[s], phase);
                    mbar_arrive_expect_tx(&full[s], sizeof(ring[0]));
                    bulk_load(ring[s], in + tile * kTile, sizeof(ring[0]), &full[s]);
                }
                __syncwarp();
                if (++s == kStages) {
                    s = 0;
                    phase ^= 1;
                }
            }
        }
    } else {
        raise_registers<232>();
        const int t = threadIdx.x - 128;
        int s = 0;
        uint32_t phase = 0;
        for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
            mbar_wait(&full[s], phase);
            const float v = ring[s][t] + ring[s][kTile - 1 - t];
            fence_async_proxy();
            __syncwarp();
            if (lane == 0) mbar_arrive(&empty[s]);
            out[tile * 256 + t] = v;
            if (++s == kStages) {
                s = 0;
                phase ^= 1;
            }
        }
    }
}

int main() {
    float *in, *out;
    cudaMalloc(&in, 100 * kTile * sizeof(float));
    cudaMalloc(&out, 100 * 256 * sizeof(float));
    cudaMemset(in, 0, 100 * kTile * sizeof(float));
    persistent_ring<<<16, 384>>>(in, out, 100);
    return cudaDeviceSynchronize() != cudaSuccess;
}
