// SPDX-License-Identifier: Apache-2.0
// The same hand-over through the C++ interfaces of the toolkit: y[i] = a x[i] + b x[m - 1 - i] within tiles of m floats,
// with cuda::pipeline of the whole block, and with a cuda::barrier for each slot.
#include <cooperative_groups.h>

#include <algorithm>
#include <cuda/barrier>
#include <cuda/pipeline>

#include "common/device.h"
#include "handoff/ptx/fence.h"

// Barriers in shared memory are made by init and make_pipeline, not by their constructors.
#ifdef __NVCC_DIAG_PRAGMA_SUPPORT__
#pragma nv_diag_suppress static_var_with_dynamic_init
#endif

namespace handoff::kernels {
namespace {

namespace cg = cooperative_groups;

constexpr int kThreads = 256;
constexpr int kTile = 2048;  // floats: 8 KiB
constexpr int kSlots = 2;

/// The floats of a tile; the last tile may have fewer.
__device__ __forceinline__ int lengthOf(int tile, int count) { return min(kTile, count - tile * kTile); }

__device__ __forceinline__ void fold(const float* slot, float* out, int tile, int count, float a, float b) {
  float* to = out + static_cast<std::int64_t>(tile) * kTile;
  const int length = lengthOf(tile, count);
#pragma unroll 4
  for (int i = threadIdx.x; i < kTile; i += kThreads) {
    const float value = fmaf(a, slot[i], b * slot[(length - 1 - i) & (kTile - 1)]);
    if (i < length) to[i] = value;
  }
}

/// From sm_90 on, the toolkit has the copy engine refill a slot, which ordinary loads have read.
__device__ __forceinline__ void fenceBeforeRefill() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  ptx::fenceProxyAsyncShared();
#endif
}

/// Baseline: through registers.
// handoff: launch block=256 grid=4 count=54321
__global__ void __launch_bounds__(kThreads) foldSequential(const float* in, float* out, int count, float a, float b) {
  __shared__ alignas(16) float slot[kTile];
  const int tiles = (count + kTile - 1) / kTile;
  for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const float* from = in + static_cast<std::int64_t>(tile) * kTile;
    const int length = lengthOf(tile, count);
#pragma unroll 4
    for (int i = threadIdx.x; i < kTile; i += kThreads) slot[i] = i < length ? from[i] : 0.0f;
    __syncthreads();
    fold(slot, out, tile, count, a, b);
    __syncthreads();
  }
}

/// Each thread copies its own chunks into a stage of the block's pipeline.
// handoff: launch block=256 grid=4 count=54321
__global__ void __launch_bounds__(kThreads) foldPipeline(const float* in, float* out, int count, float a, float b) {
  __shared__ alignas(16) float slots[kSlots][kTile];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, kSlots> state;
  const cg::thread_block block = cg::this_thread_block();
  auto pipeline = cuda::make_pipeline(block, &state);
  const int tiles = (count + kTile - 1) / kTile;
  const auto fetch = [&](int tile, int slot) {
    pipeline.producer_acquire();
    const std::int64_t first = static_cast<std::int64_t>(tile) * kTile;
    if (count - tile * kTile >= kTile) {
      for (int i = threadIdx.x * 4; i < kTile; i += kThreads * 4)
        cuda::memcpy_async(&slots[slot][i], in + first + i, cuda::aligned_size_t<16>(16), pipeline);
    } else {  // what lies beyond the end is copied from the last element, and not used
      for (int i = threadIdx.x; i < kTile; i += kThreads)
        cuda::memcpy_async(&slots[slot][i], in + min(first + i, static_cast<std::int64_t>(count) - 1),
                           cuda::aligned_size_t<4>(4), pipeline);
    }
    pipeline.producer_commit();
  };
  if (static_cast<int>(blockIdx.x) < tiles) fetch(blockIdx.x, 0);
  int slot = 0;
  for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x, slot ^= 1) {
    if (tile + static_cast<int>(gridDim.x) < tiles) fetch(tile + gridDim.x, slot ^ 1);
    pipeline.consumer_wait();
    fold(slots[slot], out, tile, count, a, b);
    pipeline.consumer_release();
  }
}

/// The block copies a tile as a whole; one barrier for each slot, and __syncthreads where a slot is given back.
// handoff: launch block=256 grid=1 count=12345
__global__ void __launch_bounds__(kThreads) foldBarrier(const float* in, float* out, int count, float a, float b) {
  using Barrier = cuda::barrier<cuda::thread_scope_block>;
  __shared__ alignas(16) float slots[kSlots][kTile];
  __shared__ Barrier full[kSlots];
  const cg::thread_block block = cg::this_thread_block();
  if (threadIdx.x < kSlots) init(&full[threadIdx.x], kThreads);
  __syncthreads();
  const int tiles = (count + kTile - 1) / kTile;
  const auto fetch = [&](int tile, int slot) {
    const int length = lengthOf(tile, count);
    const float* from = in + static_cast<std::int64_t>(tile) * kTile;
    if (count - tile * kTile >= kTile) {
      cuda::memcpy_async(block, slots[slot], from, cuda::aligned_size_t<16>(sizeof(float) * kTile), full[slot]);
    } else {
      cuda::memcpy_async(block, slots[slot], from, cuda::aligned_size_t<4>(sizeof(float) * length), full[slot]);
    }
  };
  if (static_cast<int>(blockIdx.x) < tiles) fetch(blockIdx.x, 0);
  int slot = 0;
  for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x, slot ^= 1) {
    if (tile + static_cast<int>(gridDim.x) < tiles) fetch(tile + gridDim.x, slot ^ 1);
    full[slot].arrive_and_wait();
    fold(slots[slot], out, tile, count, a, b);
    fenceBeforeRefill();
    __syncthreads();
  }
}

using Function = void (*)(const float*, float*, int, float, float);
struct Form {
  const char* name;
  Function function;
  int slots;
  const char* completion;
};
constexpr Form kForms[] = {{"baseline", foldSequential, 1, "bar.sync"},
                           {"cuda::pipeline", foldPipeline, kSlots, "cp.async.mbarrier.arrive.noinc, mbarrier wait"},
                           {"cuda::barrier", foldBarrier, kSlots, "mbarrier complete_tx, mbarrier wait"}};

void launch(const Form& form, const float* in, float* out, int count, int blocks) {
  form.function<<<blocks, kThreads>>>(in, out, count, 0.75f, -0.5f);
  requireLaunch("cuda_api");
}

std::vector<Shape> shapes() {
  return {{1},    {2},     {3},     {7},     {127},   {1023},  {2047},   {2048},   {2049},   {4095},    {4096},
          {4097}, {10000}, {12345}, {20480}, {65535}, {65537}, {100003}, {262144}, {777777}, {1048577}, {3000001}};
}

Check run(const Shape& shape, std::uint64_t seed) {
  const auto count = static_cast<std::size_t>(shape[0]);
  const std::vector<float> in = randomFloats(count, seed);
  std::vector<float> want(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t first = i / kTile * kTile, length = std::min<std::size_t>(kTile, count - first);
    want[i] = static_cast<float>(0.75 * in[i] - 0.5 * in[first + length - 1 - (i - first)]);
  }
  const DeviceBuffer<float> device_in(in);
  DeviceBuffer<float> device_out(count);
  Check check;
  check.tolerance = 1e-6;
  for (const Form& form : kForms) {
    device_out.poison();
    launch(form, device_in.get(), device_out.get(), static_cast<int>(count), static_cast<int>(count % 5 + 1));
    compare(check, form.name, device_out.download(), want, 0.5);
  }
  return check;
}

std::vector<Bench> bench() {
  constexpr int kCount = (1 << 28) - 5;
  DeviceBuffer<float> in(kCount), out(kCount);
  fillRandom(in, 1);
  Bench result;
  result.shape = {kCount};
  result.bytes = 2.0 * kCount * sizeof(float);
  result.flops = 3.0 * kCount;
  for (const Form& form : kForms) {
    const int blocks = kWaves * residentBlocks(form.function, kThreads, 0);
    Variant variant;
    variant.name = form.name;
    variant.function = reinterpret_cast<const void*>(form.function);
    variant.block_threads = kThreads;
    variant.stages = form.slots;
    variant.completion = form.completion;
    variant.launch = [&, blocks] { launch(form, in.get(), out.get(), kCount, blocks); };
    measure(result, variant);
  }
  return {result};
}

}  // namespace

const Kernel& cudaApi() {
  static const Kernel kKernel = {"cuda_api", "folds tiles; cuda::pipeline and cuda::barrier from the toolkit", "floats",
                                 80, shapes, run, bench};
  return kKernel;
}

}  // namespace handoff::kernels
