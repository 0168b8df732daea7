// Kernel:   a single slot; the value is read into a register and the slot is refilled without a barrier.
// Launch:   grid 1, block 64, static shared memory only, n = 6
// Target:   sm_80
// Expected finding: premature-overwrite
// Line:     32
// Why:      the refill by one thread may come before the read of another.
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

__global__ void kernel(const float4* in, float4* out, int n) {
    __shared__ alignas(16) float4 tile[64];
    const int t = threadIdx.x;
    float s = 0.f;
    cp_async16(&tile[t], &in[t]);
    cp_async_commit();
    for (int k = 0; k < n; ++k) {
        cp_async_wait<0>();
        __syncthreads();
        const float4 r = tile[63 - t];
        if (k + 1 < n) cp_async16(&tile[t], &in[(k + 1) * 64 + t]);  // BUG: premature-overwrite
        cp_async_commit();
        s += r.x * r.y + r.z;
    }
    out[t].x = s;
}

int main() {
    float4 *in, *out;
    cudaMalloc(&in, 1 << 20);
    cudaMalloc(&out, 1 << 20);
    kernel<<<1, 64, 0>>>(in, out, 6);
    return cudaDeviceSynchronize() != cudaSuccess;
}
