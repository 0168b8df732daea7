// Kernel:   the first lane that a ballot finds copies the rows of its warp.
// Launch:   grid 1, block 64, static shared memory only
// Target:   sm_80
// Expected finding: none
// Line:     -
// Why:      the copier waits for its copies, and __syncwarp hands them to the other lanes.
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

__global__ void kernel(const float4* in, float4* out) {
    __shared__ alignas(16) float4 tile[64];
    const int t = threadIdx.x, lane = t % 32;
    const unsigned m = __ballot_sync(0xffffffffu, lane % 3 == 0);
    const int leader = __ffs(m) - 1;
    if (lane == leader) {
        for (int i = 0; i < 32; ++i) cp_async16(&tile[t + i], &in[t + i]);
        cp_async_commit();
        cp_async_wait<0>();
    }
    __syncwarp();
    out[t] = tile[t];
}

int main() {
    float4 *in, *out;
    cudaMalloc(&in, 1 << 20);
    cudaMalloc(&out, 1 << 20);
    kernel<<<1, 64, 0>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
