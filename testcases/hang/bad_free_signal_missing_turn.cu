// Kernel:   a producer half fills two slots without waiting for the consumers, and arrives on a named barrier
//           for each.
// Launch:   grid 1, block 128, static shared memory only, n = 7
// Target:   sm_80
// Expected finding: hang
// Also acceptable: premature-overwrite, phase-race, arrival-count-mismatch
// Line:     41
// Why:      a producer warp may arrive twice before the consumers come, and they then wait for ever.
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
__device__ __forceinline__ void bar_arrive(int id, int n) { asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(n) : "memory"); }
__device__ __forceinline__ void bar_sync(int id, int n) { asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(n) : "memory"); }

__global__ void kernel(const float4* in, float4* out, int n) {
    __shared__ alignas(16) float4 tile[2][64];
    const int t = threadIdx.x;
    if (t < 64) {
        for (int k = 0; k < n; ++k) {
            
            cp_async16(&tile[k & 1][t], &in[k * 64 + t]);
            cp_async_commit();
            cp_async_wait<0>();
            bar_arrive(1 + (k & 1), 128);
        }
    } else {
        const int c = t - 64;
        float s = 0.f;
        for (int k = 0; k < n; ++k) {
            bar_sync(1 + (k & 1), 128);  // BUG: hang
            s += tile[k & 1][63 - c].x;
            
        }
        out[c].x = s;
    }
}

int main() {
    float4 *in, *out;
    cudaMalloc(&in, 1 << 20);
    cudaMalloc(&out, 1 << 20);
    kernel<<<1, 128, 0>>>(in, out, 7);
    return cudaDeviceSynchronize() != cudaSuccess;
}
