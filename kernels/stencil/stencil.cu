// SPDX-License-Identifier: Apache-2.0
// Five-point stencil with zeros outside, on one row or many: rows stream through a ring of slots, of which three are
// read at a time while others are under way.
//
// A block owns a strip of kStrip columns and turns over kBand rows of it. A slot holds one row of the strip and a chunk
// on either side, so that all copies are whole, aligned chunks; what lies outside of the grid is zero-filled.
#include <algorithm>

#include "common/device.h"
#include "handoff/thread_ring.h"

namespace handoff::kernels {
namespace {

constexpr int kThreads = 128;
constexpr int kStrip = kThreads * 4;  // columns
constexpr int kBand = 64;             // rows of output
constexpr int kWindow = 3;

struct Row {
  float4 at[kThreads + 2];
};

/// The extents of both grids; the pitch is a multiple of four floats.
struct Extents {
  int rows, columns, pitch;
};

struct Weights {
  float center, side;
};

__device__ __forceinline__ void copyChunk(Row& slot, const float* in, const Extents& grid, int row, int chunk) {
  const int column = static_cast<int>(blockIdx.x) * kStrip + (chunk - 1) * 4;
  const bool is_inside = row >= 0 && row < grid.rows && column >= 0 && column < grid.columns;
  const int valid = is_inside ? min(4, grid.columns - column) : 0;
  const int near_row = min(max(row, 0), grid.rows - 1), near_column = min(max(column, 0), grid.pitch - 4);
  const float* source = in + static_cast<std::int64_t>(near_row) * grid.pitch + near_column;
  copyAsyncPrefix(&slot.at[chunk], reinterpret_cast<const float4*>(source), bytesOf<float>(valid));
}

__device__ __forceinline__ void copyRow(Row& slot, const float* in, const Extents& grid, int row) {
  copyChunk(slot, in, grid, row, threadIdx.x);
  if (threadIdx.x < 2) copyChunk(slot, in, grid, row, kThreads + threadIdx.x);
}

__device__ __forceinline__ void computeRow(const Row& above, const Row& here, const Row& below, float* out, const Extents& grid,
                                           const Weights& weights, int row) {
  const int column = static_cast<int>(blockIdx.x) * kStrip + static_cast<int>(threadIdx.x) * 4;
  const int at = threadIdx.x + 1;
  const float4 n = above.at[at], c = here.at[at], s = below.at[at];
  const float west = here.at[at - 1].w, east = here.at[at + 1].x;
  const float4 y = make_float4(fmaf(weights.side, n.x + s.x + west + c.y, weights.center * c.x),
                               fmaf(weights.side, n.y + s.y + c.x + c.z, weights.center * c.y),
                               fmaf(weights.side, n.z + s.z + c.y + c.w, weights.center * c.z),
                               fmaf(weights.side, n.w + s.w + c.z + east, weights.center * c.w));
  float* to = out + static_cast<std::int64_t>(row) * grid.pitch + column;
  const int left = row < grid.rows ? grid.columns - column : 0;
  if (left >= 4) *reinterpret_cast<float4*>(to) = y;
  if (left > 0 && left < 4) to[0] = y.x;
  if (left > 1 && left < 4) to[1] = y.y;
  if (left == 3) to[2] = y.z;
}

/// Baseline: three slots, and each row is waited for as soon as it is asked for.
// handoff: launch block=128 grid=2x2 rows=100 columns=701 pitch=704
__global__ void __launch_bounds__(kThreads) stencilSequential(const float* in, float* out, int rows, int columns, int pitch,
                                                              float center, float side) {
  const Extents extents = {rows, columns, pitch};
  const Weights weights = {center, side};
  __shared__ Row slots[kWindow];
  const int first = static_cast<int>(blockIdx.y) * kBand;
  for (int k = 0; k < kBand + 2; ++k) {
    copyRow(slots[k % kWindow], in, extents, first + k - 1);
    waitForAllCopies();
    __syncthreads();
    if (k >= 2) computeRow(slots[(k - 2) % kWindow], slots[(k - 1) % kWindow], slots[k % kWindow], out, extents, weights, first + k - 2);
    __syncthreads();
  }
}

// handoff: launch block=128 grid=2x2 rows=100 columns=701 pitch=704
template <int kSlots>
__global__ void __launch_bounds__(kThreads) stencilPipelined(const float* in, float* out, int rows, int columns, int pitch,
                                                             float center, float side) {
  const Extents extents = {rows, columns, pitch};
  const Weights weights = {center, side};
  __shared__ Row slots[kSlots];
  ThreadRing<Row, kSlots, kWindow> ring(slots);
  const int first = static_cast<int>(blockIdx.y) * kBand;
  const auto fetch = [&](int k) {
    auto filling = ring.acquire();
    if (k < kBand + 2) copyRow(*filling, in, extents, first + k - 1);
    ring.publish(std::move(filling));
  };
  for (int k = 0; k < ring.kAhead; ++k) fetch(k);
  for (int k = 0; k < kBand + 2; ++k) {
    auto ready = ring.wait();
    fetch(k + ring.kAhead);
    if (k >= 2) computeRow(ring.template before<2>(ready), ring.template before<1>(ready), *ready, out, extents, weights, first + k - 2);
    ring.release(std::move(ready));
  }
}

using Function = void (*)(const float*, float*, int, int, int, float, float);

struct Form {
  const char* name;
  Function function;
  int slots;
};
constexpr Form kForms[] = {{"baseline", stencilSequential, 3},
                           {"pipelined, 5 slots", stencilPipelined<5>, 5},
                           {"pipelined, 7 slots", stencilPipelined<7>, 7}};

constexpr Weights kWeights = {0.5f, -0.125f};

void launch(const Form& form, const float* in, float* out, const Extents& grid) {
  const dim3 blocks(static_cast<unsigned>(divideUp(grid.columns, kStrip)), static_cast<unsigned>(divideUp(grid.rows, kBand)));
  form.function<<<blocks, kThreads>>>(in, out, grid.rows, grid.columns, grid.pitch, kWeights.center,
                                      kWeights.side);
  requireLaunch("stencil");
}

std::vector<Shape> shapes() {
  return {{1, 1},     {1, 2},      {1, 511},    {1, 513},    {2, 3},      {3, 1},      {5, 4},       {7, 7},
          {1, 10007}, {63, 65},    {64, 512},   {65, 513},   {66, 1021},  {100, 1301}, {127, 128},   {128, 2048},
          {129, 129}, {1, 100003}, {333, 1777}, {512, 4096}, {1000, 999}, {1025, 2049}, {2048, 8191}};
}

Check run(const Shape& shape, std::uint64_t seed) {
  const int rows = static_cast<int>(shape[0]), columns = static_cast<int>(shape[1]);
  const int pitch = static_cast<int>(divideUp(columns, 4) * 4);
  const std::vector<float> in = randomFloats(static_cast<std::size_t>(rows) * pitch, seed);
  const auto value = [&](int r, int c) {
    const bool is_inside = r >= 0 && r < rows && c >= 0 && c < columns;
    return is_inside ? static_cast<double>(in[static_cast<std::size_t>(r) * pitch + c]) : 0.0;
  };
  std::vector<float> want(in.size(), poisonFloat());
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c)
      want[static_cast<std::size_t>(r) * pitch + c] = static_cast<float>(
          kWeights.center * value(r, c) + kWeights.side * (value(r - 1, c) + value(r + 1, c) + value(r, c - 1) + value(r, c + 1)));
  const DeviceBuffer<float> device_in(in);
  DeviceBuffer<float> device_out(in.size());
  Check check;
  check.tolerance = 1e-6;
  for (const Form& form : kForms) {
    device_out.poison();
    launch(form, device_in.get(), device_out.get(), {rows, columns, pitch});
    compare(check, form.name, device_out.download(), want, 0.5);
  }
  return check;
}

std::vector<Bench> bench() {
  constexpr int kRows = 16384 - 1, kColumns = 16384 - 3, kPitch = 16384;
  DeviceBuffer<float> in(static_cast<std::size_t>(kRows) * kPitch), out(in.size());
  fillRandom(in, 1);
  Bench result;
  result.shape = {kRows, kColumns};
  result.bytes = 2.0 * kRows * kColumns * sizeof(float);
  result.flops = 6.0 * kRows * kColumns;
  for (const Form& form : kForms) {
    Variant variant;
    variant.name = form.name;
    variant.function = reinterpret_cast<const void*>(form.function);
    variant.block_threads = kThreads;
    variant.stages = form.slots - kWindow + 1;
    variant.completion = form.slots == kWindow ? "cp.async.wait_all, bar.sync"
                                               : "cp.async.wait_group " + std::to_string(form.slots - kWindow - 1) + ", bar.sync";
    variant.launch = [=, in = in.get(), out = out.get()] { launch(form, in, out, {kRows, kColumns, kPitch}); };
    measure(result, variant);
  }
  return {result};
}

}  // namespace

const Kernel& stencil() {
  static const Kernel kKernel = {"stencil", "five-point stencil, rows streaming through a ring of cp.async slots",
                                 "rows x columns", 80, shapes, run, bench};
  return kKernel;
}

}  // namespace handoff::kernels
