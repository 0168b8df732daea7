// Kernel:   a block-scope pipeline of three stages runs over two slots.
// Launch:   grid 1, block 64, static shared memory only, n = 7
// Target:   sm_80
// Expected finding: premature-overwrite
// Line:     41
// Why:      the pipeline lets a stage be filled while two are unread; with two slots it is still being read.
#include <cooperative_groups.h>
#include <cuda/pipeline>
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
    __shared__ alignas(16) float4 tile[2][64];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 3> state;
    auto block = cooperative_groups::this_thread_block();
    const int t = threadIdx.x;
    auto pipe = cuda::make_pipeline(block, &state);
    float s = 0.f;
    pipe.producer_acquire();
    cuda::memcpy_async(block, tile[0], in, cuda::aligned_size_t<16>(1024), pipe);
    pipe.producer_commit();
    for (int k = 0; k < n; ++k) {
        if (k + 1 < n) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, tile[(k + 1) & 1], in + (k + 1) * 64, cuda::aligned_size_t<16>(1024), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        s += tile[k & 1][63 - t].x;  // BUG: premature-overwrite
        pipe.consumer_release();
    }
    out[t].x = s;
}

int main() {
    float4 *in, *out;
    cudaMalloc(&in, 1 << 20);
    cudaMalloc(&out, 1 << 20);
    kernel<<<1, 64>>>(in, out, 7);
    return cudaDeviceSynchronize() != cudaSuccess;
}
