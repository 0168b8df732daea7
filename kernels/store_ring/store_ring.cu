// SPDX-License-Identifier: Apache-2.0
// Outer product: tiles are computed into a ring of slots, and the copy engine stores them while the next one is
// computed. Tiles at the edges are cut off by the tensor map.
#include <algorithm>

#include "common/device.h"
#include "handoff/store_ring.h"
#include "handoff/tensor_map.h"

namespace handoff::kernels {
namespace {

constexpr int kThreads = 128;
constexpr int kTileRows = 32, kTileColumns = 64;  // 8 KiB
constexpr int kChunks = kTileColumns / 4;
constexpr int kRowStep = kThreads / kChunks;

struct alignas(128) Tile {
  float4 at[kTileRows][kChunks];
};

/// What this thread computes of a tile: one chunk of columns, and rows kRowStep apart.
struct Place {
  __device__ __forceinline__ Place(int tile, int tiles_across)
      : x(tile % tiles_across * kTileColumns),
        y(tile / tiles_across * kTileRows),
        chunk(static_cast<int>(threadIdx.x) % kChunks),
        first(static_cast<int>(threadIdx.x) / kChunks) {}
  int x, y, chunk, first;
};

/// Four values of the row vector; zero beyond its end.
__device__ __forceinline__ float4 columnsAt(const float* v, int column, int columns) {
  const auto at = [&](int c) {
    const float value = v[min(c, columns - 1)];
    return c < columns ? value : 0.0f;
  };
  return make_float4(at(column), at(column + 1), at(column + 2), at(column + 3));
}

__device__ __forceinline__ float4 scaled(float u, const float4& v) { return make_float4(u * v.x, u * v.y, u * v.z, u * v.w); }

/// Baseline: stores from registers.
// handoff: launch block=128 grid=3 rows=100 columns=201 pitch=204 tiles=16 tiles_across=4
__global__ void __launch_bounds__(kThreads)
    outerDirect(const float* u, const float* v, float* out, int rows, int columns, int pitch, int tiles, int tiles_across) {
  for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const Place place(tile, tiles_across);
    const int column = place.x + place.chunk * 4;
    const float4 right = columnsAt(v, column, columns);
#pragma unroll
    for (int r = 0; r < kTileRows; r += kRowStep) {
      const int row = place.y + place.first + r;
      if (row >= rows) continue;
      const float4 y = scaled(u[row], right);
      float* to = out + static_cast<std::int64_t>(row) * pitch + column;
      if (column + 3 < columns) {
        *reinterpret_cast<float4*>(to) = y;
      } else {
        if (column < columns) to[0] = y.x;
        if (column + 1 < columns) to[1] = y.y;
        if (column + 2 < columns) to[2] = y.z;
      }
    }
  }
}

// handoff: launch block=128 grid=3 rows=100 columns=201 tiles=16 tiles_across=4
// handoff: tensormap out box=64x32xf32
template <int kSlots>
__global__ void __launch_bounds__(kThreads)
    outerRing(const float* u, const float* v, const __grid_constant__ CUtensorMap out, int rows, int columns, int tiles,
              int tiles_across) {
  __shared__ Tile slots[kSlots];
  StoreRing<Tile, kSlots> ring(slots, threadIdx.x == 0);
  for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const Place place(tile, tiles_across);
    const float4 right = columnsAt(v, place.x + place.chunk * 4, columns);
    auto filling = ring.acquire();
#pragma unroll
    for (int r = 0; r < kTileRows; r += kRowStep) {
      const int row = place.y + place.first + r;
      filling->at[place.first + r][place.chunk] = scaled(u[min(row, rows - 1)], right);
    }
    ring.publish(std::move(filling),
                 [&](auto& stores, const Tile& ready) { stores.store(out, &ready.at[0][0], place.x, place.y); });
  }
  ring.drain();
}

using RingFunction = void (*)(const float*, const float*, CUtensorMap, int, int, int, int);

struct Form {
  const char* name;
  RingFunction ring;  // null: the baseline
  int slots;
};
constexpr Form kForms[] = {{"baseline", nullptr, 1}, {"store ring, 2 slots", outerRing<2>, 2}, {"store ring, 3 slots", outerRing<3>, 3}};

const void* functionOf(const Form& form) {
  return form.ring != nullptr ? reinterpret_cast<const void*>(form.ring) : reinterpret_cast<const void*>(&outerDirect);
}

struct Problem {
  const float* u;
  const float* v;
  float* out;
  int rows, columns, pitch;

  [[nodiscard]] int across() const { return static_cast<int>(divideUp(columns, kTileColumns)); }
  [[nodiscard]] int tiles() const { return across() * static_cast<int>(divideUp(rows, kTileRows)); }
};

void launch(const Form& form, const Problem& p, const CUtensorMap& map, int blocks) {
  if (form.ring == nullptr) {
    outerDirect<<<blocks, kThreads>>>(p.u, p.v, p.out, p.rows, p.columns, p.pitch, p.tiles(), p.across());
  } else {
    form.ring<<<blocks, kThreads>>>(p.u, p.v, map, p.rows, p.columns, p.tiles(), p.across());
  }
  requireLaunch("store_ring");
}

CUtensorMap mapOf(const Problem& p) {
  const TensorMapResult result = encodeTensorMap(matrixView(p.out, p.rows, p.columns, sizeof(float) * p.pitch, kTileRows, kTileColumns));
  if (!result) throw std::runtime_error(result.error);
  return result.map;
}

std::vector<Shape> shapes() {
  return {{1, 1},     {1, 3},     {2, 4},     {3, 65},    {31, 64},   {32, 63},    {33, 66},    {64, 64},
          {65, 1},    {100, 201}, {127, 127}, {128, 129}, {200, 1000}, {255, 512}, {256, 511},  {300, 7},
          {500, 333}, {512, 512}, {777, 777}, {1000, 999}, {1023, 2049}, {2048, 4096}};
}

Check run(const Shape& shape, std::uint64_t seed) {
  const int rows = static_cast<int>(shape[0]), columns = static_cast<int>(shape[1]);
  const int pitch = static_cast<int>(divideUp(columns, 4) * 4) + rows % 3 * 4;
  const std::vector<float> u = randomFloats(rows, seed), v = randomFloats(columns, seed + 1000);
  std::vector<float> want(static_cast<std::size_t>(rows) * pitch, poisonFloat());
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c) want[static_cast<std::size_t>(r) * pitch + c] = u[r] * v[c];
  // The engine stores whole chunks of 16 bytes, the baseline none: the rest of the last one is not compared.
  const auto forget = [&](std::vector<float>& values) {
    for (int r = 0; r < rows; ++r)
      for (int c = columns; c < divideUp(columns, 4) * 4; ++c) values[static_cast<std::size_t>(r) * pitch + c] = 0;
  };
  forget(want);
  const DeviceBuffer<float> device_u(u), device_v(v);
  DeviceBuffer<float> device_out(want.size());
  const Problem problem = {device_u.get(), device_v.get(), device_out.get(), rows, columns, pitch};
  const CUtensorMap map = mapOf(problem);
  Check check;
  for (const Form& form : kForms) {
    device_out.poison();
    launch(form, problem, map, std::min(problem.tiles(), rows % 9 + 1));
    std::vector<float> got = device_out.download();
    forget(got);
    compare(check, form.name, got, want, 0);
  }
  return check;
}

std::vector<Bench> bench() {
  constexpr int kRows = 16384 - 1, kColumns = 16384 - 3, kPitch = 16384;
  DeviceBuffer<float> u(kRows), v(kColumns), out(static_cast<std::size_t>(kRows) * kPitch);
  fillRandom(u, 1);
  fillRandom(v, 2);
  const Problem problem = {u.get(), v.get(), out.get(), kRows, kColumns, kPitch};
  const CUtensorMap map = mapOf(problem);
  Bench result;
  result.shape = {kRows, kColumns};
  result.bytes = 1.0 * kRows * kColumns * sizeof(float);
  result.flops = 1.0 * kRows * kColumns;
  for (const Form& form : kForms) {
    int per_multiprocessor = 0;
    require(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_multiprocessor, functionOf(form), kThreads, 0), "occupancy");
    Variant variant;
    variant.name = form.name;
    variant.function = functionOf(form);
    variant.block_threads = kThreads;
    variant.stages = form.slots;
    variant.completion = form.slots == 1 ? "-" : "fence.proxy.async, bulk wait_group.read " + std::to_string(form.slots - 2) + ", bar.sync";
    variant.launch = [&, blocks = kWaves * per_multiprocessor * multiprocessors()] { launch(form, problem, map, blocks); };
    measure(result, variant);
  }
  return {result};
}

}  // namespace

const Kernel& storeRing() {
  static const Kernel kKernel = {"store_ring", "outer product, stored by the copy engine from a ring of slots",
                                 "rows x columns", 90, shapes, run, bench};
  return kKernel;
}

}  // namespace handoff::kernels
