// SPDX-License-Identifier: Apache-2.0
// Reverses tiles: two warps copy tiles into two slots, four warps store them back to front. The slots change hands at
// named barriers, a full and an empty one for each.
//
// A producer thread waits for its own copies of tile k after it has issued those of tile k + 1, and then arrives at the
// full barrier; readers wait there. Readers arrive at the empty barrier only where somebody is going to wait for it.
#include <algorithm>

#include "common/device.h"
#include "handoff/copy_group.h"
#include "handoff/named_barrier.h"

namespace handoff::kernels {
namespace {

constexpr int kProducers = 64, kReaders = 128, kThreads = kProducers + kReaders;
constexpr int kTile = 2048;  // floats: 8 KiB
constexpr int kSlots = 2;
using Full = NamedBarriers<1, kSlots, kThreads>;
using Empty = NamedBarriers<1 + kSlots, kSlots, kThreads>;

/// The floats of a tile; the last tile may have fewer.
__device__ __forceinline__ int lengthOf(int tile, int count) { return min(kTile, count - tile * kTile); }

__device__ __forceinline__ void copyTile(float* slot, const float* in, int tile, int count, int thread, int threads) {
  const float* source = in + static_cast<std::int64_t>(tile) * kTile;
  const int length = lengthOf(tile, count);
#pragma unroll 4
  for (int i = thread * 4; i < kTile; i += threads * 4) {
    const int valid = i < length ? min(4, length - i) : 0;
    copyAsyncPrefix(reinterpret_cast<float4*>(slot + i), reinterpret_cast<const float4*>(i < length ? source + i : in),
                    bytesOf<float>(valid));
  }
}

__device__ __forceinline__ void storeReversed(const float* slot, float* out, int tile, int count, int thread, int threads) {
  float* to = out + static_cast<std::int64_t>(tile) * kTile;
  const int length = count - tile * kTile;  // of this tile and those behind it
  if (length >= kTile) {
#pragma unroll 4
    for (int i = thread * 4; i < kTile; i += threads * 4) {
      const float4 x = *reinterpret_cast<const float4*>(&slot[kTile - 4 - i]);
      *reinterpret_cast<float4*>(&to[i]) = make_float4(x.w, x.z, x.y, x.x);
    }
  } else {
#pragma unroll 4
    for (int i = thread; i < kTile; i += threads)
      if (i < length) to[i] = slot[length - 1 - i];
  }
}

/// Baseline: all threads copy, wait, and store.
// handoff: launch block=192 grid=4 count=54321
__global__ void __launch_bounds__(kThreads) reverseSequential(const float* in, float* out, int count) {
  __shared__ alignas(16) float slot[kTile];
  const int tiles = (count + kTile - 1) / kTile;
  for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    copyTile(slot, in, tile, count, threadIdx.x, kThreads);
    waitForAllCopies();
    __syncthreads();
    storeReversed(slot, out, tile, count, threadIdx.x, kThreads);
    __syncthreads();
  }
}

// handoff: launch block=192 grid=4 count=54321
__global__ void __launch_bounds__(kThreads) reverseHandedOver(const float* in, float* out, int count) {
  __shared__ alignas(16) float slots[kSlots][kTile];
  const int tiles = (count + kTile - 1) / kTile;
  const int turns = static_cast<int>(blockIdx.x) < tiles ? (tiles - 1 - blockIdx.x) / gridDim.x + 1 : 0;
  if (threadIdx.x < kProducers) {
    CopyGroups<kSlots> copies;
    for (int k = 0; k <= turns; ++k) {
      if (k < turns) {
        if (k >= kSlots) Empty::sync(k % kSlots);
        copyTile(slots[k % kSlots], in, blockIdx.x + k * gridDim.x, count, threadIdx.x, kProducers);
      }
      copies.commit();
      copies.wait<1>();
      if (k > 0) Full::arrive((k - 1) % kSlots);
    }
  } else {
    for (int k = 0; k < turns; ++k) {
      Full::sync(k % kSlots);
      storeReversed(slots[k % kSlots], out, blockIdx.x + k * gridDim.x, count, threadIdx.x - kProducers, kReaders);
      if (k + kSlots < turns) Empty::arrive(k % kSlots);
    }
  }
}

using Function = void (*)(const float*, float*, int);
struct Form {
  const char* name;
  Function function;
  int slots;
};
constexpr Form kForms[] = {{"baseline", reverseSequential, 1}, {"named barriers", reverseHandedOver, 2}};

void launch(const Form& form, const float* in, float* out, int count, int blocks) {
  form.function<<<blocks, kThreads>>>(in, out, count);
  requireLaunch("named_barrier");
}

std::vector<Shape> shapes() {
  return {{1},    {2},     {3},     {5},     {127},   {1023},  {2047},   {2048},   {2049},   {4095},    {4096},
          {4097}, {10000}, {12345}, {20480}, {65535}, {65537}, {100003}, {262144}, {777777}, {1048577}, {3000001}};
}

Check run(const Shape& shape, std::uint64_t seed) {
  const auto count = static_cast<std::size_t>(shape[0]);
  const std::vector<float> in = randomFloats(count, seed);
  std::vector<float> want = in;
  for (std::size_t at = 0; at < count; at += kTile)
    std::reverse(want.begin() + static_cast<std::ptrdiff_t>(at), want.begin() + static_cast<std::ptrdiff_t>(std::min(count, at + kTile)));
  const DeviceBuffer<float> device_in(in);
  DeviceBuffer<float> device_out(count);
  Check check;
  for (const Form& form : kForms) {
    device_out.poison();
    launch(form, device_in.get(), device_out.get(), static_cast<int>(count), static_cast<int>(count % 5 + 1));
    compare(check, form.name, device_out.download(), want, 0);
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
  result.is_mover = true;
  for (const Form& form : kForms) {
    const int blocks = kWaves * residentBlocks(form.function, kThreads, 0);
    Variant variant;
    variant.name = form.name;
    variant.function = reinterpret_cast<const void*>(form.function);
    variant.block_threads = kThreads;
    variant.stages = form.slots;
    variant.completion = form.slots == 1 ? "cp.async.wait_all, bar.sync" : "cp.async.wait_group 1, bar.arrive, bar.sync";
    variant.launch = [&, blocks] { launch(form, in.get(), out.get(), kCount, blocks); };
    measure(result, variant);
  }
  return {result};
}

}  // namespace

const Kernel& namedBarrier() {
  static const Kernel kKernel = {"named_barrier", "reverses tiles; producer and reader warps meet at named barriers",
                                 "floats", 80, shapes, run, bench};
  return kKernel;
}

}  // namespace handoff::kernels
