// Kernel:   a block copies 12-byte points with cooperative_groups::memcpy_async, computes, waits, and reads them.
// Launch:   grid 4, block 128, static shared memory only
// Target:   sm_80
// Audit:    silent: a point is no unit of cp.async, but its floats are aligned to 4 bytes, and so the copy is one of
//           4-byte pieces: three instructions for what one of 16 bytes would do.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

struct Point {
    float x, y, z;
};

__global__ void norms(const Point* in, const float* other, float* out) {
    __shared__ Point points[128];
    const cg::thread_block block = cg::this_thread_block();
    const int t = threadIdx.x;

    cg::memcpy_async(block, points, in + blockIdx.x * 128, sizeof(points));  // BECOMES: cp.async.ca, 4 bytes
    float x = other[blockIdx.x * 128 + t];
    for (int i = 0; i < 4; ++i) x = x * x + 0.5f;
    cg::wait(block);
    const Point p = points[127 - t];
    out[blockIdx.x * 128 + t] = x + p.x * p.x + p.y * p.y + p.z * p.z;
}

int main() {
    Point* in;
    float *other, *out;
    cudaMalloc(&in, 4 * 128 * sizeof(Point));
    cudaMalloc(&other, 4 * 128 * sizeof(float));
    cudaMalloc(&out, 4 * 128 * sizeof(float));
    norms<<<4, 128>>>(in, other, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
