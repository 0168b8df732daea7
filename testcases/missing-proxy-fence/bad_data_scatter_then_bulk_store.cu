// Kernel:   threads scatter words over a cleared tile, at places from memory; a bulk store takes it away.
// Launch:   grid 1, block 128, static shared memory only
// Target:   sm_90
// Expected finding: missing-proxy-fence, possible
// Line:     24
// Why:      the zeros are fenced, the scattered words are not: the async proxy may not see them.
#include <cstdint>
#include <cuda_runtime.h>

__device__ __forceinline__ uint32_t smem_addr(const void* p) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}

__global__ void scatter_and_store(const unsigned* place, unsigned* out) {
    __shared__ alignas(128) unsigned tile[512];
    const int t = threadIdx.x;

    for (int i = t; i < 512; i += 128) tile[i] = 0;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    tile[place[t] & 511] = t;
    __syncthreads();
    if (t == 0) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 2048;" ::"l"(out), "r"(smem_addr(tile)) : "memory");  // BUG: missing-proxy-fence
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
}

int main() {
    unsigned* place;
    unsigned* out;
    cudaMalloc(&place, 128 * sizeof(unsigned));
    cudaMemset(place, 0, 128 * sizeof(unsigned));
    cudaMalloc(&out, 512 * sizeof(unsigned));
    cudaMemset(out, 0, 512 * sizeof(unsigned));
    scatter_and_store<<<1, 128>>>(place, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
