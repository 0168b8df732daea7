// Kernel:   each block stores a tile twice, through a tensor map in global memory that it points to another tensor
//           in between.
// Launch:   grid 4, block 32, static shared memory only, box 32x16 float
// Target:   sm_90a
// Expected finding: source-overwritten
// Also acceptable: missing-proxy-fence, premature-overwrite
// Line:     52
// Why:      the map is edited again while the first store may not have read it yet.
#include <cstdint>
#include <cuda.h>
#include <cuda_runtime.h>

__device__ __forceinline__ uint32_t smem_addr(const void* p) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}
__device__ __forceinline__ void bulk_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
template <int N>
__device__ __forceinline__ void bulk_wait_read() {
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(N) : "memory");
}
__device__ __forceinline__ void tma_store_2d(const CUtensorMap* map, int x, int y, const void* src) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];"
                 ::"l"(map), "r"(x), "r"(y), "r"(smem_addr(src)) : "memory");
}
__device__ __forceinline__ void fence_async_proxy() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

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
__global__ void store_twice(CUtensorMap* maps, const float* in, float* out) {
    __shared__ alignas(128) CUtensorMap edited;
    __shared__ alignas(128) float tile[16][32];
    const int lane = threadIdx.x;
    CUtensorMap* map = maps + blockIdx.x;
    if (lane < 8) reinterpret_cast<uint4*>(&edited)[lane] = reinterpret_cast<const uint4*>(map)[lane];
    for (int y = 0; y < 16; ++y) tile[y][lane] = 2.f * in[(blockIdx.x * 16 + y) * 32 + lane];
    fence_async_proxy();
    __syncwarp();
    for (int k = 0; k < 2; ++k) {
        if (lane == 0) set_map_address(&edited, out + (blockIdx.x * 2 + k) * 512);
        __syncwarp();
        publish_map(map, &edited);  // BUG: source-overwritten
        if (lane == 0) {
            acquire_map(map);
            tma_store_2d(map, 0, 0, tile);
            bulk_commit();
        }
        __syncwarp();
    }
    if (lane == 0) bulk_wait_read<0>();
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
    store_twice<<<4, 32>>>(maps, in, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
