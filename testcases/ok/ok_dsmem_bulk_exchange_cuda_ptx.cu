// Kernel:   the two blocks of a cluster send each other a row with cuda::ptx::cp_async_bulk; each waits on its own
//           barrier.
// Launch:   grid 8, block 64, cluster 2, static shared memory only
// Target:   sm_90
// Expected finding: none
// Line:     -
// Why:      the barriers are armed and the rows written and fenced before the cluster barrier that lets either
//           block send; a second one keeps both until both rows have arrived.
#include <cooperative_groups.h>
#include <cstdint>
#include <cuda/ptx>
#include <cuda_runtime.h>

namespace ptx = cuda::ptx;
namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2, 1, 1) exchange_rows(const float* in, float* out) {
    __shared__ alignas(128) float mine[64], theirs[64];
    __shared__ alignas(8) uint64_t received;
    const cg::cluster_group cluster = cg::this_cluster();
    const unsigned peer = cluster.block_rank() ^ 1;
    const int t = threadIdx.x;

    if (t == 0) {
        ptx::mbarrier_init(&received, 1);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &received, sizeof(theirs));
    }
    mine[t] = in[blockIdx.x * 64 + t];
    ptx::fence_proxy_async(ptx::space_shared);
    cluster.sync();
    if (t == 0) {
        const uint32_t bytes = sizeof(mine);
        float* const dst = cluster.map_shared_rank(theirs, peer);
        uint64_t* const bar = cluster.map_shared_rank(&received, peer);
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_shared, dst, mine, bytes, bar);
    }
    while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, &received, 0)) {
    }
    out[blockIdx.x * 64 + t] = theirs[63 - t];
    cluster.sync();
}

int main() {
    float *in, *out;
    cudaMalloc(&in, 8 * 64 * sizeof(float));
    cudaMalloc(&out, 8 * 64 * sizeof(float));
    cudaMemset(in, 0, 8 * 64 * sizeof(float));
    exchange_rows<<<8, 64>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
