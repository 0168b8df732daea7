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

/// What the kernels work on; pitches are floats.
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

/// A block owns kChunks chunks of columns, blockIdx.x of them, and every gridDim.y-th tile of rows. A thread copies one
/// chunk of a row and computes another one, which a different thread has copied.
struct Columns {
  __device__ __forceinline__ explicit Columns(int columns)
      : chunk(static_cast<int>(threadIdx.x) % kChunks),
        first_row(static_cast<int>(threadIdx.x) / kChunks),
        from((static_cast<int>(blockIdx.x) * kChunks + chunk) * 4),
        to((static_cast<int>(blockIdx.x) * kChunks + kChunks - 1 - chunk) * 4),
        copied(columns > from ? min(4, columns - from) : 0),
        left(columns - to) {}

  int chunk, first_row;
  int from, to;  // first columns of the two chunks
  int copied;    // floats of the first one that lie in the view
  int left;      // columns of the view from `to` on, negative beyond its end
};

template <int kTileRows>
__device__ __forceinline__ void copyTile(Tile<kTileRows>& slot, const float* in, int rows, int pitch,
                                         const Columns& columns, int tile) {
#pragma unroll
  for (int k = 0; k < kTileRows / kRowStep; ++k) {
    const int row = tile * kTileRows + columns.first_row + k * kRowStep;
    const int valid = row < rows ? columns.copied : 0;
    const float* source = in + static_cast<std::int64_t>(row) * pitch + columns.from;
    copyAsyncPrefix(&slot.at[columns.first_row + k * kRowStep][columns.chunk],
                    reinterpret_cast<const float4*>(valid > 0 ? source : in), bytesOf<float>(valid));
  }
}

__device__ __forceinline__ float4 biasOf(const float* bias, int columns, int first) {
  const auto at = [&](int c) { return bias[min(first + c, columns - 1)]; };
  return make_float4(at(0), at(1), at(2), at(3));
}

template <int kTileRows>
__device__ __forceinline__ void activateTile(const Tile<kTileRows>& slot, float* out, int rows, int pitch,
                                             const Columns& columns, const float4& bias, int tile) {
#pragma unroll
  for (int k = 0; k < kTileRows / kRowStep; ++k) {
    const float4 x = slot.at[columns.first_row + k * kRowStep][kChunks - 1 - columns.chunk];
    const float4 y = make_float4(gelu(x.x + bias.x), gelu(x.y + bias.y), gelu(x.z + bias.z), gelu(x.w + bias.w));
    const int row = tile * kTileRows + columns.first_row + k * kRowStep;
    float* to = out + static_cast<std::int64_t>(row) * pitch + columns.to;
    const int left = row < rows ? columns.left : 0;
    if (left >= 4) *reinterpret_cast<float4*>(to) = y;
    if (left > 0 && left < 4) to[0] = y.x;
    if (left > 1 && left < 4) to[1] = y.y;
    if (left == 3) to[2] = y.z;
  }
}

/// Baseline: one slot; copy, wait, compute, and again.
// handoff: launch block=256 smem=16384 grid=4x2 rows=37 width=1001 in_pitch=1004 out_pitch=1008
template <int kTileRows>
__global__ void __launch_bounds__(kThreads) activateSequential(const float* in, const float* bias, float* out, int rows,
                                                               int width, int in_pitch, int out_pitch) {
  extern __shared__ float4 memory[];
  auto& slot = *reinterpret_cast<Tile<kTileRows>*>(memory);
  const Columns columns(width);
  const float4 added = biasOf(bias, width, columns.to);
  const int tiles = (rows + kTileRows - 1) / kTileRows;
  for (int tile = blockIdx.y; tile < tiles; tile += gridDim.y) {
    copyTile(slot, in, rows, in_pitch, columns, tile);
    waitForAllCopies();
    __syncthreads();
    activateTile(slot, out, rows, out_pitch, columns, added, tile);
    __syncthreads();
  }
}

/// While a tile is computed, the next kSlots - 1 are under way.
// handoff: launch block=256 smem=65536 grid=4x2 rows=37 width=1001 in_pitch=1004 out_pitch=1008
template <int kTileRows, int kSlots>
__global__ void __launch_bounds__(kThreads) activatePipelined(const float* in, const float* bias, float* out, int rows,
                                                               int width, int in_pitch, int out_pitch) {
  extern __shared__ float4 memory[];
  using Slots = Tile<kTileRows>[kSlots];
  ThreadRing<Tile<kTileRows>, kSlots> ring(*reinterpret_cast<Slots*>(memory));
  const Columns columns(width);
  const float4 added = biasOf(bias, width, columns.to);
  const int tiles = (rows + kTileRows - 1) / kTileRows;
  const auto fetch = [&](int tile) {
    auto filling = ring.acquire();
    if (tile < tiles) copyTile(*filling, in, rows, in_pitch, columns, tile);
    ring.publish(std::move(filling));
  };
  for (int k = 0; k < ring.kAhead; ++k) fetch(blockIdx.y + k * gridDim.y);
  for (int tile = blockIdx.y; tile < tiles; tile += gridDim.y) {
    auto ready = ring.wait();
    fetch(tile + ring.kAhead * gridDim.y);
    activateTile(*ready, out, rows, out_pitch, columns, added, tile);
    ring.release(std::move(ready));
  }
}

using Function = void (*)(const float*, const float*, float*, int, int, int, int);

struct Form {
  const char* name;
  Function function;
  int tile_rows, slots;
};
constexpr Form kSequential[] = {{"baseline, tiles of 8 rows", activateSequential<8>, 8, 1},
                                {"baseline, tiles of 4 rows", activateSequential<4>, 4, 1},
                                {"baseline, tiles of 16 rows", activateSequential<16>, 16, 1}};
constexpr Form kPipelined[] = {{"pipelined, 2 slots of 4", activatePipelined<4, 2>, 4, 2},
                               {"pipelined, 3 slots of 4", activatePipelined<4, 3>, 4, 3},
                               {"pipelined, 2 slots of 8", activatePipelined<8, 2>, 8, 2},
                               {"pipelined, 3 slots of 8", activatePipelined<8, 3>, 8, 3},
                               {"pipelined, 4 slots of 8", activatePipelined<8, 4>, 8, 4},
                               {"pipelined, 2 slots of 16", activatePipelined<16, 2>, 16, 2},
                               {"pipelined, 3 slots of 16", activatePipelined<16, 3>, 16, 3},
                               {"pipelined, 4 slots of 16", activatePipelined<16, 4>, 16, 4}};

std::size_t sharedBytes(const Form& form) { return std::size_t{16} * kChunks * form.tile_rows * form.slots; }

void launch(const Form& form, const View& view, int blocks, std::size_t shared_bytes) {
  const auto across = static_cast<unsigned>(divideUp(view.columns, kChunks * 4));
  const unsigned down = std::max(1u, static_cast<unsigned>(blocks) / across);
  form.function<<<dim3(across, down), kThreads, shared_bytes>>>(view.in, view.bias, view.out, view.rows, view.columns,
                                                           view.in_pitch, view.out_pitch);
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
  std::vector<Form> forms(std::begin(kPipelined), std::end(kPipelined));
  forms.insert(forms.begin(), std::begin(kSequential), std::end(kSequential));
  for (const Form& form : forms) {
    device_out.poison();
    const int resident = residentBlocks(form.function, kThreads, sharedBytes(form));
    launch(form, view, std::min(resident, rows % 50 + 3), sharedBytes(form));
    compare(check, form.name, device_out.download(), want, 0.1);
  }
  return check;
}

/// Where a form is measured: with one wave of blocks or many, or with shared memory padded so that one block fits on a
/// multiprocessor.
enum class Setting { kOneWave, kManyWaves, kOneBlock };

void measureForm(Bench& bench, const Form& form, const View& view, Setting setting) {
  const std::size_t least_shared = setting == Setting::kOneBlock ? 120 * 1024 : 0;
  const std::size_t padded = std::max(sharedBytes(form), least_shared);
  const int waves = setting == Setting::kManyWaves ? kWaves : 1;
  const int blocks = waves * residentBlocks(form.function, kThreads, padded);
  Variant variant;
  variant.name = form.name;
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
  constexpr int kRows = 32768, kColumns = 4096 - 3, kPitch = 4096 + 128;
  DeviceBuffer<float> in(static_cast<std::size_t>(kRows) * kPitch), out(in.size()), bias(kColumns);
  fillRandom(in, 1);
  fillRandom(bias, 2);
  const View view = {in.get(), bias.get(), out.get(), kRows, kColumns, kPitch, kPitch};
  Bench full;
  full.shape = {kRows, kColumns, (kPitch - kColumns) / 4};
  full.bytes = 2.0 * kRows * kColumns * sizeof(float);
  full.flops = 11.0 * kRows * kColumns;
  full.setting = "full occupancy, one wave of blocks";
  Bench waves = full, single = full;
  waves.setting = "full occupancy, 32 waves";
  single.setting = "one block on each multiprocessor";
  for (const Form& form : kSequential) measureForm(full, form, view, Setting::kOneWave);
  for (const Form& form : kPipelined) measureForm(full, form, view, Setting::kOneWave);
  for (const Form& form : kSequential) measureForm(waves, form, view, Setting::kManyWaves);
  for (const Form& form : kPipelined) measureForm(waves, form, view, Setting::kManyWaves);
  measureForm(single, kSequential[2], view, Setting::kOneBlock);  // the fastest of the three there
  for (const Form& form : kPipelined) measureForm(single, form, view, Setting::kOneBlock);
  return {full, waves, single};
}

}  // namespace

const Kernel& activationTile() {
  static const Kernel kKernel = {"activation_tile", "gelu(x + bias) over a strided view, through a ring of cp.async tiles",
                                 "rows x columns x extra pitch", 80, shapes, run, bench};
  return kKernel;
}

}  // namespace handoff::kernels
