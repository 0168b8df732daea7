// Kernel:   64 loaders feed 64 workers through a ring of two slots with a full and an empty mbarrier each.
// Launch:   grid 16, block 128, static shared memory only, n = 200
// Target:   sm_80
// Expected finding: hang
// Also acceptable: divergent-protocol, arrival-count-mismatch
// Line:     59
// Why:      the loaders round the number of tiles down and the workers round it up, so the workers wait for a
//           fourth tile that nobody loads.
#include <cstdint>
#include <cuda_runtime.h>

__device__ __forceinline__ uint32_t smem_addr(const void* p) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}
__device__ __forceinline__ void cp_async16(void* dst, const void* src) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(smem_addr(dst)), "l"(src) : "memory");
}
__device__ __forceinline__ void mbar_init(uint64_t* bar, uint32_t count) {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(smem_addr(bar)), "r"(count) : "memory");
}
__device__ __forceinline__ void mbar_arrive(uint64_t* bar) {
    [[maybe_unused]] uint64_t state;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(smem_addr(bar)) : "memory");
}
__device__ __forceinline__ void arrive_when_copied(uint64_t* bar) {
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(smem_addr(bar)) : "memory");
}
__device__ __forceinline__ void mbar_wait(uint64_t* bar, uint32_t parity) {
    uint32_t done = 0;
    while (!done) {
        asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                     : "=r"(done) : "r"(smem_addr(bar)), "r"(parity) : "memory");
    }
}

__global__ void stream_max(const float4* in, float* out, int n) {
    __shared__ alignas(16) float4 ring[2][64];
    __shared__ alignas(8) uint64_t full[2], empty[2];
    const int t = threadIdx.x;
    if (t == 0) {
        for (int s = 0; s < 2; ++s) {
            mbar_init(&full[s], 64);
            mbar_init(&empty[s], 64);
        }
    }
    __syncthreads();
    const float4* src = in + blockIdx.x * n;
    const int tiles = (n + 63) / 64;

    if (t < 64) {
        for (int k = 0; k < n / 64; ++k) {
            mbar_wait(&empty[k & 1], ((k >> 1) & 1) ^ 1);
            if (k * 64 + t < n) cp_async16(&ring[k & 1][t], &src[k * 64 + t]);
            arrive_when_copied(&full[k & 1]);
        }
    } else {
        float best = -1e30f;
        for (int k = 0; k < tiles; ++k) {
            mbar_wait(&full[k & 1], (k >> 1) & 1);  // BUG: hang
            const int i = 127 - t;  // the loader that faces this thread
            if (k * 64 + i < n) best = fmaxf(best, ring[k & 1][i].x);
            mbar_arrive(&empty[k & 1]);
        }
        out[blockIdx.x * 64 + t - 64] = best;
    }
}

int main() {
    float4* in;
    float* out;
    cudaMalloc(&in, 16 * 200 * sizeof(float4));
    cudaMalloc(&out, 16 * 64 * sizeof(float));
    cudaMemset(in, 0, 16 * 200 * sizeof(float4));
    stream_max<<<16, 128>>>(in, out, 200);
    return cudaDeviceSynchronize() != cudaSuccess;
}
