// Kernel:   one warp stages rows with cp.async and sets a flag in shared memory; the other polls the flag and reads
//           the rows.
// Launch:   grid 16, block 64, static shared memory only
// Target:   sm_90
// Expected finding: none
// Line:     -
// Why:      the flag is stored with release and polled with relaxed loads and a fence behind them: the race on the
//           flag is intended and orders the rows.
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

__device__ __forceinline__ uint32_t load_relaxed(const uint32_t* p) {
    uint32_t value;
    asm volatile("ld.relaxed.cta.shared::cta.u32 %0, [%1];" : "=r"(value) : "r"(smem_addr(p)) : "memory");
    return value;
}
__device__ __forceinline__ void store_release(uint32_t* p, uint32_t value) {
    asm volatile("st.release.cta.shared::cta.u32 [%0], %1;" ::"r"(smem_addr(p)), "r"(value) : "memory");
}

__global__ void flagged(const float4* in, float4* out) {
    __shared__ alignas(16) float4 rows[32];
    __shared__ uint32_t flag;
    const int t = threadIdx.x;
    if (t == 0) flag = 0;
    __syncthreads();

    if (t < 32) {
        cp_async16(&rows[t], &in[blockIdx.x * 32 + t]);
        cp_async_commit();
        cp_async_wait<0>();
        __syncwarp();
        if (t == 0) store_release(&flag, 1);
    } else {
        while (load_relaxed(&flag) == 0) {
        }
        asm volatile("fence.acq_rel.cta;" ::: "memory");
        out[blockIdx.x * 32 + t - 32] = rows[63 - t];
    }
}

int main() {
    float4 *in, *out;
    cudaMalloc(&in, 16 * 32 * sizeof(float4));
    cudaMalloc(&out, 16 * 32 * sizeof(float4));
    cudaMemset(in, 0, 16 * 32 * sizeof(float4));
    flagged<<<16, 64>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
