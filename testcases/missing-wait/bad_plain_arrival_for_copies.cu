// Kernel:   a two-slot ring; the producers arrive on the full barrier without having waited for their copies.
// Launch:   grid 1, block 128, static shared memory only, n = 7
// Target:   sm_80
// Expected finding: missing-wait
// Line:     60
// Why:      a plain arrival does not cover copies in flight.
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
__device__ __forceinline__ void mbar_init(uint64_t* bar, uint32_t count) {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(smem_addr(bar)), "r"(count) : "memory");
}
__device__ __forceinline__ void mbar_arrive(uint64_t* bar) {
    asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" ::"r"(smem_addr(bar)) : "memory");
}
__device__ __forceinline__ void mbar_noinc(uint64_t* bar) {
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(smem_addr(bar)) : "memory");
}
__device__ __forceinline__ bool mbar_test(uint64_t* bar, uint32_t parity) {
    uint32_t done;
    asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done) : "r"(smem_addr(bar)), "r"(parity) : "memory");
    return done != 0;
}
__device__ __forceinline__ void mbar_spin(uint64_t* bar, uint32_t parity) { while (!mbar_test(bar, parity)) {} }

__global__ void kernel(const float4* in, float4* out, int n) {
    __shared__ alignas(16) float4 tile[2][64];
    __shared__ alignas(8) uint64_t full[2], empty[2];
    const int t = threadIdx.x;
    if (t == 0) {
        for (int i = 0; i < 2; ++i) {
            mbar_init(&full[i], 64);
            mbar_init(&empty[i], 64);
        }
    }
    __syncthreads();
    if (t < 64) {
        for (int k = 0; k < n; ++k) {
            mbar_spin(&empty[k % 2], ((k / 2) & 1) ^ 1);
            cp_async16(&tile[k % 2][t], &in[k * 64 + t]);
            mbar_arrive(&full[k % 2]);
        }
    } else {
        const int c = t - 64;
        float s = 0.f;
        for (int k = 0; k < n; ++k) {
            mbar_spin(&full[k % 2], (k / 2) & 1);
            s += tile[k % 2][63 - c].x;  // BUG: missing-wait
            mbar_arrive(&empty[k % 2]);
        }
        out[c].x = s;
    }
}

int main() {
    float4 *in, *out;
    cudaMalloc(&in, 1 << 20);
    cudaMalloc(&out, 1 << 20);
    kernel<<<1, 128>>>(in, out, 7);
    return cudaDeviceSynchronize() != cudaSuccess;
}
