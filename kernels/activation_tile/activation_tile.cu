// SPDX-License-Identifier: Apache-2.0
// y = gelu(x + bias) over the rows of a strided view: tiles come through shared memory, one after the other in the
// baseline, kSlots at a time in the pipelined form.
//
// Both views have pitches of their own, multiples of four floats; columns is any number, so the last chunk of a row is
// a part of one, and zero-filled.
#include <algorithm>

#include "common/device.h"
#include "handoff/thread_ring.h"

namespace handoff::kernels {
namespace {

constexpr int kThreads = 256;
constexpr int kChunks = 64;                       // float4 in a row of a tile
constexpr int kRowStep = kThreads / kChunks;      // rows that the block covers at once

template <int kTileRows>
struct Tile {
  float4 at[kTileRows][kChunks];
};

/// What the kernels are given; pitches are floats.
struct View {
  const float* in;
  const float* bias;
  float* out;
  int rows, columns;
  int in_pitch, out_pitch;
};

/// x / (1 + exp(-2u)) with u = sqrt(2/pi) (x + 0.044715 x^3): the tanh form of GELU, 10 operations.
__device__ __forceinline__ float gelu(float x) {
  const float u = 1.5957691216057308f * x * fmaf(0.044715f * x, x, 1.0f);
  return __fdividef(x, 1.0f + __expf(-u));
}

/// Where this thread's chunk of a tile lies.
template <int kTileRows>
struct Place {
  __device__ __forceinline__ Place(const View& view, int tile) {
    const int tiles_across = (view.columns + kChunks * 4 - 1) / (kChunks * 4);
    row = tile / tiles_across * kTileRows + static_cast<int>(threadIdx.x) / kChunks;
    column = (tile % tiles_across * kChunks + static_cast<int>(threadIdx.x) % kChunks) * 4;
  }
  int row, column;  // of the first of its rows, kRowStep apart
};

template <int kTileRows>
__device__ __forceinline__ void copyTile(Tile<kTileRows>& slot, const View& view, int tile) {
  const Place<kTileRows> place(view, tile);
  const int chunk = static_cast<int>(threadIdx.x) % kChunks, first = static_cast<int>(threadIdx.x) / kChunks;
  const int inside = max(0, min(4, view.columns - place.column));
#pragma unroll
  for (int k = 0; k < kTileRows / kRowStep; ++k) {
    const int row = place.row + k * kRowStep;
    const int valid = row < view.rows ? inside : 0;
    const float* source = view.in + static_cast<std::int64_t>(row) * view.in_pitch + place.column;
    copyAsyncPrefix(&slot.at[first + k * kRowStep][chunk],
                    reinterpret_cast<const float4*>(valid > 0 ? source : view.in), bytesOf<float>(valid));
  }
}

template <int kTileRows>
__device__ __forceinline__ void activateTile(const Tile<kTileRows>& slot, const View& view, int tile) {
  const Place<kTileRows> place(view, tile);
  const int chunk = kChunks - 1 - static_cast<int>(threadIdx.x) % kChunks;  // another thread has copied it
  const int column = place.column + (chunk - static_cast<int>(threadIdx.x) % kChunks) * 4;
  const int first = static_cast<int>(threadIdx.x) / kChunks;
  const int inside = min(4, view.columns - column);
  float bias[4];
#pragma unroll
  for (int c = 0; c < 4; ++c) bias[c] = c < inside ? view.bias[column + c] : 0.0f;
#pragma unroll
  for (int k = 0; k < kTileRows / kRowStep; ++k) {
    const float4 x = slot.at[first + k * kRowStep][chunk];
    const float4 y = make_float4(gelu(x.x + bias[0]), gelu(x.y + bias[1]), gelu(x.z + bias[2]), gelu(x.w + bias[3]));
    const int row = place.row + k * kRowStep;
    float* out = view.out + static_cast<std::int64_t>(row) * view.out_pitch + column;
    if (row >= view.rows) continue;
    if (inside == 4) {
      *reinterpret_cast<float4*>(out) = y;
    } else {
      if (inside > 0) out[0] = y.x;
      if (inside > 1) out[1] = y.y;
      if (inside > 2) out[2] = y.z;
    }
  }
}

template <int kTileRows>
__device__ __forceinline__ int tilesOf(const View& view) {
  return (view.rows + kTileRows - 1) / kTileRows * ((view.columns + kChunks * 4 - 1) / (kChunks * 4));
}

/// Baseline: one slot; copy, wait, compute, and again.
// handoff: launch block=256 smem=8192 grid=2 view.rows=37 view.columns=1001 view.in_pitch=1004 view.out_pitch=1008
template <int kTileRows>
__global__ void __launch_bounds__(kThreads) activateSequential(const View view) {
  extern __shared__ float4 memory[];
  auto& slot = *reinterpret_cast<Tile<kTileRows>*>(memory);
  const int tiles = tilesOf<kTileRows>(view);
  for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    copyTile(slot, view, tile);
    waitForAllCopies();
    __syncthreads();
    activateTile(slot, view, tile);
    __syncthreads();
  }
}

/// While a tile is computed, the next kSlots - 1 are under way.
// handoff: launch block=256 smem=65536 grid=2 view.rows=37 view.columns=1001 view.in_pitch=1004 view.out_pitch=1008
template <int kTileRows, int kSlots>
__global__ void __launch_bounds__(kThreads) activatePipelined(const View view) {
  extern __shared__ float4 memory[];
  using Slots = Tile<kTileRows>[kSlots];
  ThreadRing<Tile<kTileRows>, kSlots> ring(*reinterpret_cast<Slots*>(memory));
  const int tiles = tilesOf<kTileRows>(view);
  const auto fetch = [&](int tile) {
    auto filling = ring.acquire();
    if (tile < tiles) copyTile(*filling, view, tile);
    ring.publish(std::move(filling));
  };
  for (int k = 0; k < ring.kAhead; ++k) fetch(blockIdx.x + k * gridDim.x);
  for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    auto ready = ring.wait();
    fetch(tile + ring.kAhead * gridDim.x);
    activateTile(*ready, view, tile);
    ring.release(std::move(ready));
  }
}

using Function = void (*)(View);

struct Form {
  const char* name;
  Function function;
  int tile_rows, slots;
};
constexpr Form kSequential = {"baseline", activateSequential<8>, 8, 1};
constexpr Form kDouble = {"pipelined, 2 slots", activatePipelined<8, 2>, 8, 2};
constexpr Form kTriple = {"pipelined, 3 slots", activatePipelined<8, 3>, 8, 3};
constexpr Form kWideSequential = {"baseline", activateSequential<16>, 16, 1};
constexpr Form kWideDouble = {"pipelined, 2 slots", activatePipelined<16, 2>, 16, 2};
constexpr Form kWideDeep = {"pipelined, 4 slots", activatePipelined<16, 4>, 16, 4};

std::size_t sharedBytes(const Form& form) { return std::size_t{16} * kChunks * form.tile_rows * form.slots; }

void launch(const Form& form, const View& view, int blocks, std::size_t shared_bytes) {
  form.function<<<blocks, kThreads, shared_bytes>>>(view);
  requireLaunch("activation_tile");
}

std::vector<Shape> shapes() {
  return {{1, 1, 0},      {1, 3, 1},      {2, 4, 0},       {3, 5, 2},      {7, 255, 1},    {8, 256, 0},
          {9, 257, 3},    {16, 512, 1},   {17, 1001, 0},   {31, 63, 2},    {33, 65, 1},    {64, 1024, 0},
          {65, 1023, 5},  {100, 1, 0},    {127, 777, 1},   {128, 2048, 0}, {255, 2049, 2}, {300, 3000, 1},
          {511, 1025, 7}, {513, 4095, 0}, {1000, 5001, 1}, {2048, 4096, 0}};
}

Check run(const Shape& shape, std::uint64_t seed) {
  const int rows = static_cast<int>(shape[0]), columns = static_cast<int>(shape[1]);
  const int pitch = static_cast<int>(divideUp(columns, 4) * 4);
  const int in_pitch = pitch + 4 * static_cast<int>(shape[2]), out_pitch = pitch + 8 * static_cast<int>(shape[2]);
  const std::vector<float> in = randomFloats(static_cast<std::size_t>(rows) * in_pitch, seed);
  const std::vector<float> bias = randomFloats(static_cast<std::size_t>(columns), seed + 1000);
  std::vector<float> want(static_cast<std::size_t>(rows) * out_pitch, poisonFloat());  // between rows: not written
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) {
      const double x = static_cast<double>(in[static_cast<std::size_t>(r) * in_pitch + c]) + bias[c];
      const double u = 0.7978845608028654 * (x + 0.044715 * x * x * x);
      want[static_cast<std::size_t>(r) * out_pitch + c] = static_cast<float>(0.5 * x * (1.0 + std::tanh(u)));
    }
  }
  const DeviceBuffer<float> device_in(in), device_bias(bias);
  DeviceBuffer<float> device_out(want.size());
  const View view = {device_in.get(), device_bias.get(), device_out.get(), rows, columns, in_pitch, out_pitch};
  Check check;
  check.tolerance = 1e-5;
  for (const Form& form : {kSequential, kDouble, kTriple, kWideSequential, kWideDouble, kWideDeep}) {
    device_out.poison();
    const int resident = residentBlocks(form.function, kThreads, sharedBytes(form));
    launch(form, view, std::min(resident, rows % 5 + 3), sharedBytes(form));
    compare(check, form.name, device_out.download(), want, 0.1);
  }
  return check;
}

void measureForm(Bench& bench, const Form& form, const View& view, bool one_block) {
  const std::size_t padded = one_block ? std::max<std::size_t>(sharedBytes(form), 120 * 1024) : sharedBytes(form);
  const int blocks = residentBlocks(form.function, kThreads, padded);
  Variant variant;
  variant.name = std::string(form.name) + (one_block ? ", 1 block/SM" : "");
  variant.function = reinterpret_cast<const void*>(form.function);
  variant.block_threads = kThreads;
  variant.dynamic_shared_bytes = padded;
  variant.stages = form.slots;
  variant.completion = form.slots == 1 ? "cp.async.wait_all, bar.sync"
                                       : "cp.async.wait_group " + std::to_string(form.slots - 2) + ", bar.sync";
  variant.launch = [=] { launch(form, view, blocks, padded); };
  measure(bench, variant);
}

std::vector<Bench> bench() {
  constexpr int kRows = 32768, kColumns = 4096 + 3, kPitch = 4096 + 128;
  DeviceBuffer<float> in(static_cast<std::size_t>(kRows) * kPitch), out(in.size()), bias(kColumns);
  fillRandom(in, 1);
  fillRandom(bias, 2);
  const View view = {in.get(), bias.get(), out.get(), kRows, kColumns, kPitch, kPitch};
  Bench full;
  full.shape = {kRows, kColumns, (kPitch - kColumns) / 4};
  full.bytes = 2.0 * kRows * kColumns * sizeof(float);
  full.flops = 11.0 * kRows * kColumns;
  Bench single = full;
  for (const Form& form : {kSequential, kDouble, kTriple}) measureForm(full, form, view, false);
  for (const Form& form : {kWideSequential, kWideDouble, kWideDeep}) measureForm(single, form, view, true);
  return {full, single};
}

}  // namespace

const Kernel& activationTile() {
  static const Kernel kKernel = {"activation_tile", "gelu(x + bias) over a strided view, through a ring of cp.async tiles",
                                 "rows x columns x extra pitch", 80, shapes, run, bench};
  return kKernel;
}

}  // namespace handoff::kernels
