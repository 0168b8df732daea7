// SPDX-License-Identifier: Apache-2.0
// y = x / sqrt(mean(x^2) + epsilon) * weight over the rows of a strided view: a row comes through shared memory, its
// squares are summed over the block, and the row is scaled. The pipelined form has the next rows under way meanwhile.
//
// Both views have pitches of their own, multiples of four floats; columns is any number up to kMaxColumns, so the last
// chunk of a row is a part of one, and zero-filled: zeros add nothing to the sum.
#include <algorithm>

#include "common/device.h"
#include "handoff/thread_ring.h"

namespace handoff::kernels {
namespace {

constexpr int kThreads = 256, kWarps = kThreads / 32;
constexpr int kEach = 4;                              // chunks of a thread
constexpr int kMaxColumns = kThreads * kEach * 4;     // 4096
constexpr float kEpsilon = 1e-5f;

struct Row {
  float4 at[kEach][kThreads];
};

/// A thread copies one chunk of each quarter of the row, and scales another one, which a different thread has copied.
struct Chunks {
  __device__ __forceinline__ explicit Chunks(int columns)
      : from(static_cast<int>(threadIdx.x) * 4), to((kThreads - 1 - static_cast<int>(threadIdx.x)) * 4), columns(columns) {}

  int from, to;  // first columns of the two chunks, in the first quarter
  int columns;
};

__device__ __forceinline__ void copyRow(Row& slot, const float* in, int rows, int pitch, const Chunks& chunks, int row) {
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    const int from = chunks.from + k * kThreads * 4;
    const int inside = chunks.columns > from ? min(4, chunks.columns - from) : 0;
    const int valid = row < rows ? inside : 0;
    const float* source = in + static_cast<std::int64_t>(row) * pitch + from;
    copyAsyncPrefix(&slot.at[k][threadIdx.x], reinterpret_cast<const float4*>(valid > 0 ? source : in), bytesOf<float>(valid));
  }
}

/// The weights of the thread's chunks, kept in registers for all rows.
struct Weights {
  __device__ __forceinline__ Weights(const float* weight, const Chunks& chunks) {
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
      const auto at = [&](int i) { return weight[min(chunks.to + k * kThreads * 4 + i, chunks.columns - 1)]; };
      of[k] = make_float4(at(0), at(1), at(2), at(3));
    }
  }
  float4 of[kEach];
};

/// The sum over the block; `partial` belongs to this row. Holds a barrier of the whole block.
__device__ __forceinline__ float sumOverBlock(float value, float (&partial)[kWarps]) {
#pragma unroll
  for (int lanes = 16; lanes > 0; lanes /= 2) value += __shfl_xor_sync(~0u, value, lanes);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int warp = 0; warp < kWarps; ++warp) sum += partial[warp];
  return sum;
}

__device__ __forceinline__ void normalizeRow(const Row& slot, float (&partial)[kWarps], float* out, int pitch,
                                             const Chunks& chunks, const Weights& weights, int row) {
  float4 x[kEach];
  float squares = 0;
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    x[k] = slot.at[k][kThreads - 1 - threadIdx.x];
    squares += x[k].x * x[k].x + x[k].y * x[k].y + x[k].z * x[k].z + x[k].w * x[k].w;
  }
  const float mean = sumOverBlock(squares, partial) / static_cast<float>(chunks.columns);
  const float scale = rsqrtf(mean + kEpsilon);
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    const float4 w = weights.of[k];
    const float4 y = make_float4(x[k].x * scale * w.x, x[k].y * scale * w.y, x[k].z * scale * w.z, x[k].w * scale * w.w);
    const int column = chunks.to + k * kThreads * 4;
    float* to = out + static_cast<std::int64_t>(row) * pitch + column;
    const int left = chunks.columns - column;
    if (left >= 4) *reinterpret_cast<float4*>(to) = y;
    if (left > 0 && left < 4) to[0] = y.x;
    if (left > 1 && left < 4) to[1] = y.y;
    if (left == 3) to[2] = y.z;
  }
}

/// Baseline: one slot; copy, wait, normalize, and again.
// handoff: launch block=256 smem=16384 grid=4 rows=37 columns=3001 in_pitch=3004 out_pitch=3008
__global__ void __launch_bounds__(kThreads) normalizeSequential(const float* in, const float* weight, float* out, int rows,
                                                                int columns, int in_pitch, int out_pitch) {
  extern __shared__ float4 memory[];
  __shared__ float partial[kWarps];
  auto& slot = *reinterpret_cast<Row*>(memory);
  const Chunks chunks(columns);
  const Weights weights(weight, chunks);
  for (int row = blockIdx.x; row < rows; row += gridDim.x) {
    copyRow(slot, in, rows, in_pitch, chunks, row);
    waitForAllCopies();
    __syncthreads();
    normalizeRow(slot, partial, out, out_pitch, chunks, weights, row);
    __syncthreads();
  }
}

/// While a row is normalized, the next kSlots - 1 are under way.
// handoff: launch block=256 smem=65536 grid=4 rows=37 columns=3001 in_pitch=3004 out_pitch=3008
template <int kSlots>
__global__ void __launch_bounds__(kThreads) normalizePipelined(const float* in, const float* weight, float* out, int rows,
                                                               int columns, int in_pitch, int out_pitch) {
  extern __shared__ float4 memory[];
  __shared__ float partial[kWarps];
  using Slots = Row[kSlots];
  ThreadRing<Row, kSlots> ring(*reinterpret_cast<Slots*>(memory));
  const Chunks chunks(columns);
  const Weights weights(weight, chunks);
  const auto fetch = [&](int row) {
    auto filling = ring.acquire();
    if (row < rows) copyRow(*filling, in, rows, in_pitch, chunks, row);
    ring.publish(std::move(filling));
  };
  for (int k = 0; k < ring.kAhead; ++k) fetch(blockIdx.x + k * gridDim.x);
  for (int row = blockIdx.x; row < rows; row += gridDim.x) {
    auto ready = ring.wait();
    fetch(row + ring.kAhead * gridDim.x);
    normalizeRow(*ready, partial, out, out_pitch, chunks, weights, row);
    ring.release(std::move(ready));
  }
}

using Function = void (*)(const float*, const float*, float*, int, int, int, int);

struct Form {
  const char* name;
  Function function;
  int slots;
};
constexpr Form kForms[] = {{"baseline", normalizeSequential, 1},
                           {"pipelined, 2 slots", normalizePipelined<2>, 2},
                           {"pipelined, 3 slots", normalizePipelined<3>, 3},
                           {"pipelined, 4 slots", normalizePipelined<4>, 4}};

/// What the kernels work on; pitches are floats.
struct View {
  const float* in;
  const float* weight;
  float* out;
  int rows, columns;
  int in_pitch, out_pitch;
};

std::size_t sharedBytes(const Form& form) { return sizeof(Row) * static_cast<std::size_t>(form.slots); }

void launch(const Form& form, const View& view, int blocks, std::size_t shared_bytes) {
  form.function<<<blocks, kThreads, shared_bytes>>>(view.in, view.weight, view.out, view.rows, view.columns, view.in_pitch,
                                                    view.out_pitch);
  requireLaunch("rms_norm");
}

std::vector<Shape> shapes() {
  return {{1, 1, 0},      {1, 3, 1},      {2, 4, 0},      {3, 5, 2},      {7, 255, 1},     {8, 256, 0},
          {9, 257, 3},    {16, 512, 1},   {17, 1001, 0},  {31, 63, 2},    {33, 65, 1},     {64, 1024, 0},
          {65, 1023, 5},  {100, 1, 0},    {127, 777, 1},  {128, 2048, 0}, {255, 2049, 2},  {300, 3000, 1},
          {511, 1025, 7}, {513, 4095, 0}, {1000, 4093, 1}, {2048, 4096, 0}};
}

Check run(const Shape& shape, std::uint64_t seed) {
  const int rows = static_cast<int>(shape[0]), columns = static_cast<int>(shape[1]);
  const int pitch = static_cast<int>(divideUp(columns, 4) * 4);
  const int in_pitch = pitch + 4 * static_cast<int>(shape[2]), out_pitch = pitch + 8 * static_cast<int>(shape[2]);
  const std::vector<float> in = randomFloats(static_cast<std::size_t>(rows) * in_pitch, seed);
  const std::vector<float> weight = randomFloats(static_cast<std::size_t>(columns), seed + 1000);
  std::vector<float> want(static_cast<std::size_t>(rows) * out_pitch, poisonFloat());  // between rows: not written
  for (int r = 0; r < rows; ++r) {
    const float* row = &in[static_cast<std::size_t>(r) * in_pitch];
    double squares = 0;
    for (int c = 0; c < columns; ++c) squares += static_cast<double>(row[c]) * row[c];
    const double scale = 1.0 / std::sqrt(squares / columns + static_cast<double>(kEpsilon));
    for (int c = 0; c < columns; ++c)
      want[static_cast<std::size_t>(r) * out_pitch + c] = static_cast<float>(row[c] * scale * weight[static_cast<std::size_t>(c)]);
  }
  const DeviceBuffer<float> device_in(in), device_weight(weight);
  DeviceBuffer<float> device_out(want.size());
  const View view = {device_in.get(), device_weight.get(), device_out.get(), rows, columns, in_pitch, out_pitch};
  Check check;
  check.tolerance = 1e-5;
  for (const Form& form : kForms) {
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
  constexpr int kRows = 32768, kColumns = kMaxColumns - 3, kPitch = kMaxColumns + 128;
  DeviceBuffer<float> in(static_cast<std::size_t>(kRows) * kPitch), out(in.size()), weight(kColumns);
  fillRandom(in, 1);
  fillRandom(weight, 2);
  const View view = {in.get(), weight.get(), out.get(), kRows, kColumns, kPitch, kPitch};
  Bench full;
  full.shape = {kRows, kColumns, (kPitch - kColumns) / 4};
  full.bytes = 2.0 * kRows * kColumns * sizeof(float);
  full.flops = 4.0 * kRows * kColumns;
  full.setting = "full occupancy, one wave of blocks";
  Bench waves = full, single = full;
  waves.setting = "full occupancy, 32 waves";
  single.setting = "one block on each multiprocessor";
  for (const Form& form : kForms) {
    measureForm(full, form, view, Setting::kOneWave);
    measureForm(waves, form, view, Setting::kManyWaves);
    measureForm(single, form, view, Setting::kOneBlock);
  }
  return {full, waves, single};
}

}  // namespace

const Kernel& rmsNorm() {
  static const Kernel kKernel = {"rms_norm", "x / rms(x) * weight over a strided view, rows through a ring of cp.async slots",
                                 "rows x columns x extra pitch", 80, shapes, run, bench};
  return kKernel;
}

}  // namespace handoff::kernels
