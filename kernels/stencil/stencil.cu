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

/// What the kernels are given; the pitch of both grids is a multiple of four floats.
struct Grid {
  const float* in;
  float* out;
  int rows, columns, pitch;
  float center, side;
};

__device__ __forceinline__ void copyChunk(Row& slot, const Grid& grid, int row, int chunk) {
  const int column = static_cast<int>(blockIdx.x) * kStrip + (chunk - 1) * 4;
  const bool is_inside = row >= 0 && row < grid.rows && column >= 0 && column < grid.columns;
  const int valid = is_inside ? min(4, grid.columns - column) : 0;
  const float* source = grid.in + (is_inside ? static_cast<std::int64_t>(row) * grid.pitch + column : 0);
  copyAsyncPrefix(&slot.at[chunk], reinterpret_cast<const float4*>(source), bytesOf<float>(valid));
}

__device__ __forceinline__ void copyRow(Row& slot, const Grid& grid, int row) {
  copyChunk(slot, grid, row, threadIdx.x);
  if (threadIdx.x < 2) copyChunk(slot, grid, row, kThreads + threadIdx.x);
}

__device__ __forceinline__ void computeRow(const Row& above, const Row& here, const Row& below, const Grid& grid, int row) {
  const int column = static_cast<int>(blockIdx.x) * kStrip + static_cast<int>(threadIdx.x) * 4;
  const int at = threadIdx.x + 1;
  const float4 n = above.at[at], c = here.at[at], s = below.at[at];
  const float west = here.at[at - 1].w, east = here.at[at + 1].x;
  const float4 y = make_float4(fmaf(grid.side, n.x + s.x + west + c.y, grid.center * c.x),
                               fmaf(grid.side, n.y + s.y + c.x + c.z, grid.center * c.y),
                               fmaf(grid.side, n.z + s.z + c.y + c.w, grid.center * c.z),
                               fmaf(grid.side, n.w + s.w + c.z + east, grid.center * c.w));
  if (row >= grid.rows) return;
  float* out = grid.out + static_cast<std::int64_t>(row) * grid.pitch + column;
  const int inside = grid.columns - column;
  if (inside >= 4) {
    *reinterpret_cast<float4*>(out) = y;
  } else {
    if (inside > 0) out[0] = y.x;
    if (inside > 1) out[1] = y.y;
    if (inside > 2) out[2] = y.z;
  }
}

/// Baseline: three slots, and each row is waited for as soon as it is asked for.
// handoff: launch block=128 grid=3x2 grid.rows=100 grid.columns=1301 grid.pitch=1304
__global__ void __launch_bounds__(kThreads) stencilSequential(const Grid grid) {
  __shared__ Row slots[kWindow];
  const int first = static_cast<int>(blockIdx.y) * kBand;
  for (int k = 0; k < kBand + 2; ++k) {
    copyRow(slots[k % kWindow], grid, first + k - 1);
    waitForAllCopies();
    __syncthreads();
    if (k >= 2) computeRow(slots[(k - 2) % kWindow], slots[(k - 1) % kWindow], slots[k % kWindow], grid, first + k - 2);
    __syncthreads();
  }
}

// handoff: launch block=128 grid=3x2 grid.rows=100 grid.columns=1301 grid.pitch=1304
template <int kSlots>
__global__ void __launch_bounds__(kThreads) stencilPipelined(const Grid grid) {
  __shared__ Row slots[kSlots];
  ThreadRing<Row, kSlots, kWindow> ring(slots);
  const int first = static_cast<int>(blockIdx.y) * kBand;
  const auto fetch = [&](int k) {
    auto filling = ring.acquire();
    if (k < kBand + 2) copyRow(*filling, grid, first + k - 1);
    ring.publish(std::move(filling));
  };
  for (int k = 0; k < ring.kAhead; ++k) fetch(k);
  for (int k = 0; k < kBand + 2; ++k) {
    auto ready = ring.wait();
    fetch(k + ring.kAhead);
    if (k >= 2) computeRow(ring.template before<2>(ready), ring.template before<1>(ready), *ready, grid, first + k - 2);
    ring.release(std::move(ready));
  }
}

using Function = void (*)(Grid);

struct Form {
  const char* name;
  Function function;
  int slots;
};
constexpr Form kForms[] = {{"baseline", stencilSequential, 3},
                           {"pipelined, 5 slots", stencilPipelined<5>, 5},
                           {"pipelined, 7 slots", stencilPipelined<7>, 7}};

void launch(const Form& form, const Grid& grid) {
  const dim3 blocks(static_cast<unsigned>(divideUp(grid.columns, kStrip)), static_cast<unsigned>(divideUp(grid.rows, kBand)));
  form.function<<<blocks, kThreads>>>(grid);
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
  const float center = 0.5f, side = -0.125f;
  const auto value = [&](int r, int c) {
    const bool is_inside = r >= 0 && r < rows && c >= 0 && c < columns;
    return is_inside ? static_cast<double>(in[static_cast<std::size_t>(r) * pitch + c]) : 0.0;
  };
  std::vector<float> want(in.size(), poisonFloat());
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c)
      want[static_cast<std::size_t>(r) * pitch + c] = static_cast<float>(
          center * value(r, c) + side * (value(r - 1, c) + value(r + 1, c) + value(r, c - 1) + value(r, c + 1)));
  const DeviceBuffer<float> device_in(in);
  DeviceBuffer<float> device_out(in.size());
  Check check;
  check.tolerance = 1e-6;
  for (const Form& form : kForms) {
    device_out.poison();
    launch(form, {device_in.get(), device_out.get(), rows, columns, pitch, center, side});
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
    variant.launch = [=, in = in.get(), out = out.get()] { launch(form, {in, out, kRows, kColumns, kPitch, 0.5f, -0.125f}); };
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
