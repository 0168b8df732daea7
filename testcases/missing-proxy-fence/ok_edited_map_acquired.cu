// Kernel:   each block points its tensor map in global memory to a tensor of its own and loads a box through it.
// Launch:   grid 4, block 32, static shared memory only, box 32x16 float
// Target:   sm_90a
// Expected finding: none
// Line:     -
// Why:      the edited map is copied to global memory with a release for the tensormap proxy, and the loading
//           thread acquires it before the load.
#include <cstdint>
#include <cuda.h>
#include <cuda_runtime.h>

__device__ __forceinline__ uint32_t smem_addr(const void* p) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}
__device__ __forceinline__ void mbar_init(uint64_t* bar, uint32_t count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(smem_addr(bar)), "r"(count) : "memory");
}
__device__ __forceinline__ void mbar_init_fence() {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ __forceinline__ void mbar_arrive_expect_tx(uint64_t* bar, uint32_t bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(smem_addr(bar)), "r"(bytes)
                 : "memory");
}
__device__ __forceinline__ void mbar_wait(uint64_t* bar, uint32_t parity) {
    uint32_t done = 0;
    while (!done) {
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                     : "=r"(done) : "r"(smem_addr(bar)), "r"(parity) : "memory");
    }
}
__device__ __forceinline__ void tma_load_2d(void* dst, const CUtensorMap* map, int x, int y, uint64_t* bar) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                 ::"r"(smem_addr(dst)), "l"(map), "r"(x), "r"(y), "r"(smem_addr(bar)) : "memory");
}

__device__ __forceinline__ void set_map_address(CUtensorMap* map, const void* tensor) {
    asm volatile("tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1;"
                 ::"r"(smem_addr(map)), "l"(tensor) : "memory");
}
__device__ __forceinline__ void publish_map(CUtensorMap* dst, const CUtensorMap* src) {
    asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], 128;"
                 ::"l"(dst), "r"(smem_addr(src)) : "memory");
}
__device__ __forceinline__ void acquire_map(const CUtensorMap* map) {
    asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(map) : "memory");
}

// handoff: tensormap maps box=32x16xf32
__global__ void retarget(CUtensorMap* maps, const float* in, float* out) {
    __shared__ alignas(128) CUtensorMap edited;
    __shared__ alignas(128) float tile[16][32];
    __shared__ alignas(8) uint64_t bar;
    const int lane = threadIdx.x;
    CUtensorMap* map = maps + blockIdx.x;
    if (lane < 8) reinterpret_cast<uint4*>(&edited)[lane] = reinterpret_cast<const uint4*>(map)[lane];
    if (lane == 0) {
        mbar_init(&bar, 1);
        mbar_init_fence();
    }
    __syncwarp();
    if (lane == 0) set_map_address(&edited, in + blockIdx.x * 512);
    __syncwarp();
    publish_map(map, &edited);
    if (lane == 0) {
        acquire_map(map);
        mbar_arrive_expect_tx(&bar, sizeof(tile));
        tma_load_2d(tile, map, 0, 0, &bar);
    }
    __syncwarp();
    mbar_wait(&bar, 0);
    for (int y = 0; y < 16; ++y) out[(blockIdx.x * 16 + y) * 32 + lane] = tile[15 - y][lane];
}

int main() {
    float *in, *out;
    CUtensorMap *maps, map;
    cudaMalloc(&in, 4 * 32 * 16 * sizeof(float));
    cudaMalloc(&out, 8 * 32 * 16 * sizeof(float));
    cudaMalloc(&maps, 4 * sizeof(CUtensorMap));
    const cuuint64_t dims[2] = {32, 16}, pitch[1] = {32 * sizeof(float)};
    const cuuint32_t box[2] = {32, 16}, steps[2] = {1, 1};
    cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, in, dims, pitch, box, steps,
                           CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                           CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    for (int i = 0; i < 4; ++i) cudaMemcpy(maps + i, &map, sizeof(map), cudaMemcpyHostToDevice);
    retarget<<<4, 32>>>(maps, in, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
