// Kernel:   a histogram in shared memory; an mbarrier behind its 256 bins ends the counting.
// Launch:   grid 4, block 128, static shared memory only
// Target:   sm_80
// Expected finding: none
// Line:     -
// Why:      every bin is one of the 256, whatever the data.
#include <cstdint>
#include <cuda_runtime.h>

__device__ __forceinline__ uint32_t smem_addr(const void* p) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}

__global__ void count_bins(const unsigned* in, unsigned* out) {
    __shared__ struct {
        unsigned bins[256];
        uint64_t done;
    } s;
    const int t = threadIdx.x;

    s.bins[t] = 0;
    s.bins[t + 128] = 0;
    if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], 128;" ::"r"(smem_addr(&s.done)) : "memory");
    __syncthreads();
    atomicAdd(&s.bins[in[t] % 256], 1u);
    uint64_t state;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(smem_addr(&s.done)) : "memory");
    uint32_t is_over = 0;
    while (is_over == 0) {
        asm volatile("{\n.reg .pred p;\nmbarrier.test_wait.shared.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
                     : "=r"(is_over)
                     : "r"(smem_addr(&s.done)), "l"(state)
                     : "memory");
    }
    out[blockIdx.x * 128 + t] = s.bins[t] + s.bins[t + 128];
}

int main() {
    unsigned* in;
    unsigned* out;
    cudaMalloc(&in, 128 * sizeof(unsigned));
    cudaMemset(in, 0, 128 * sizeof(unsigned));
    cudaMalloc(&out, 512 * sizeof(unsigned));
    cudaMemset(out, 0, 512 * sizeof(unsigned));
    count_bins<<<4, 128>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
