// SPDX-License-Identifier: Apache-2.0
// The smallest hand-over: each thread copies rows of four floats to shared memory, and stores the row that its
// neighbour has copied. The result is the input, rolled by one row. Five forms of the copy, one kernel each.
//
// A block turns over kTile rows; it copies one more, the first of the next tile (of the table, for the last one).
#include <algorithm>

#include "common/device.h"
#include "handoff/copy_group.h"

namespace handoff::kernels {
namespace {

constexpr int kThreads = 256;
constexpr int kEach = 4;                  // rows a thread
constexpr int kTile = kThreads * kEach;   // rows a block: 16 KiB
constexpr float kUntouched = -7.0f;       // what slots of the predicated form hold before the copy

/// The rows that a block turns over.
struct Rows {
  __device__ Rows(int rows) : total(rows), first(static_cast<int>(blockIdx.x) * kTile) {}

  /// The row for slot `slot` (0 to kTile). After the last row comes the first; what follows is copied and not stored.
  __device__ int source(int slot) const { return first + slot < total ? first + slot : 0; }
  /// Whether slot `slot` is to be stored, one row up.
  __device__ bool isStored(int slot) const { return first + slot < total; }

  int total, first;
};

/// After a barrier: stores slot i + 1 to row i. Left as a loop: unrolled, it gains nothing.
__device__ __forceinline__ void storeRolled(const Rows& rows, const float4* slots, float4* out) {
#pragma unroll 1
  for (int k = 0; k < kEach; ++k) {
    const int slot = threadIdx.x + k * kThreads;
    if (rows.isStored(slot)) out[rows.first + slot] = slots[slot + 1];
  }
}

/// Baseline: through registers.
// handoff: launch block=256 grid=3 rows_total=2500
__global__ void __launch_bounds__(kThreads) rollSync(const float4* in, float4* out, int rows_total) {
  __shared__ float4 slots[kTile + 1];
  const Rows rows(rows_total);
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    const int slot = threadIdx.x + k * kThreads;
    slots[slot] = in[rows.source(slot)];
  }
  if (threadIdx.x == 0) slots[kTile] = in[rows.source(kTile)];
  __syncthreads();
  storeRolled(rows, slots, out);
}

/// The same with asynchronous copies: a commit and a wait of each thread, then the barrier.
// handoff: launch block=256 grid=3 rows_total=2500
__global__ void __launch_bounds__(kThreads) rollAsync(const float4* in, float4* out, int rows_total) {
  __shared__ float4 slots[kTile + 1];
  const Rows rows(rows_total);
  CopyGroups<1> copies;
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    const int slot = threadIdx.x + k * kThreads;
    copyAsync(&slots[slot], &in[rows.source(slot)]);
  }
  if (threadIdx.x == 0) copyAsync(&slots[kTile], &in[rows.source(kTile)]);
  copies.commit();
  copies.wait<0>();
  __syncthreads();
  storeRolled(rows, slots, out);
}

/// Rows from `valid` on are not copied: their slots keep what was in them.
// handoff: launch block=256 grid=1 rows_total=700 valid=650
__global__ void __launch_bounds__(kThreads) rollPredicated(const float4* in, float4* out, int rows_total, int valid) {
  __shared__ float4 slots[kTile + 1];
  const Rows rows(rows_total);
  const float4 untouched = make_float4(kUntouched, kUntouched, kUntouched, kUntouched);
  CopyGroups<1> copies;
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    const int slot = threadIdx.x + k * kThreads;
    slots[slot] = untouched;  // the thread's own copy begins after it
    copyAsyncIf(rows.source(slot) < valid, &slots[slot], &in[rows.source(slot)]);
  }
  if (threadIdx.x == 0) {
    slots[kTile] = untouched;
    copyAsyncIf(rows.source(kTile) < valid, &slots[kTile], &in[rows.source(kTile)]);
  }
  copies.commit();
  copies.wait<0>();
  __syncthreads();
  storeRolled(rows, slots, out);
}

/// Only the first `width` floats of a row are read; the others become zero.
// handoff: launch block=256 grid=3 rows_total=2500 width=3
__global__ void __launch_bounds__(kThreads) rollSourceSize(const float4* in, float4* out, int rows_total, int width) {
  __shared__ float4 slots[kTile + 1];
  const Rows rows(rows_total);
  const Bytes valid = bytesOf<float>(min(width, 4));
  CopyGroups<1> copies;
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    const int slot = threadIdx.x + k * kThreads;
    copyAsyncPrefix(&slots[slot], &in[rows.source(slot)], valid);
  }
  if (threadIdx.x == 0) copyAsyncPrefix(&slots[kTile], &in[rows.source(kTile)], valid);
  copies.commit();
  copies.wait<0>();
  __syncthreads();
  storeRolled(rows, slots, out);
}

/// Rows from `valid` on are not read: their slots become zero.
// handoff: launch block=256 grid=3 rows_total=2500 valid=2000
__global__ void __launch_bounds__(kThreads) rollIgnoreSource(const float4* in, float4* out, int rows_total, int valid) {
  __shared__ float4 slots[kTile + 1];
  const Rows rows(rows_total);
  CopyGroups<1> copies;
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    const int slot = threadIdx.x + k * kThreads;
    copyAsyncOrZero(rows.source(slot) < valid, &slots[slot], &in[rows.source(slot)]);
  }
  if (threadIdx.x == 0) copyAsyncOrZero(rows.source(kTile) < valid, &slots[kTile], &in[rows.source(kTile)]);
  copies.commit();
  copies.wait<0>();
  __syncthreads();
  storeRolled(rows, slots, out);
}

enum class Form { kSync, kAsync, kPredicated, kSourceSize, kIgnoreSource };
constexpr const char* kFormNames[] = {"baseline", "cp.async", "predicated", "source size", "ignore source"};
constexpr Form kForms[] = {Form::kSync, Form::kAsync, Form::kPredicated, Form::kSourceSize, Form::kIgnoreSource};

void launch(Form form, const float4* in, float4* out, int rows, int valid, int width) {
  const auto blocks = static_cast<unsigned>(divideUp(rows, kTile));
  switch (form) {
    case Form::kSync: rollSync<<<blocks, kThreads>>>(in, out, rows); break;
    case Form::kAsync: rollAsync<<<blocks, kThreads>>>(in, out, rows); break;
    case Form::kPredicated: rollPredicated<<<blocks, kThreads>>>(in, out, rows, valid); break;
    case Form::kSourceSize: rollSourceSize<<<blocks, kThreads>>>(in, out, rows, width); break;
    case Form::kIgnoreSource: rollIgnoreSource<<<blocks, kThreads>>>(in, out, rows, valid); break;
  }
  requireLaunch("row_exchange");
}

const void* functionOf(Form form) {
  switch (form) {
    case Form::kSync: return reinterpret_cast<const void*>(&rollSync);
    case Form::kAsync: return reinterpret_cast<const void*>(&rollAsync);
    case Form::kPredicated: return reinterpret_cast<const void*>(&rollPredicated);
    case Form::kSourceSize: return reinterpret_cast<const void*>(&rollSourceSize);
    case Form::kIgnoreSource: return reinterpret_cast<const void*>(&rollIgnoreSource);
  }
  return nullptr;
}

std::vector<float> reference(Form form, const std::vector<float>& in, int rows, int valid, int width) {
  std::vector<float> out(in.size());
  for (int r = 0; r < rows; ++r) {
    const int source = (r + 1) % rows;
    for (int c = 0; c < 4; ++c) {
      float value = in[static_cast<std::size_t>(source) * 4 + c];
      if (form == Form::kPredicated && source >= valid) value = kUntouched;
      if (form == Form::kIgnoreSource && source >= valid) value = 0;
      if (form == Form::kSourceSize && c >= width) value = 0;
      out[static_cast<std::size_t>(r) * 4 + c] = value;
    }
  }
  return out;
}

std::vector<Shape> shapes() {
  return {{1, 0, 0},        {1, 1, 1},         {2, 1, 4},         {3, 3, 2},           {31, 17, 3},
          {32, 32, 4},      {64, 64, 4},       {64, 63, 1},       {65, 40, 2},         {255, 254, 3},
          {257, 257, 4},    {1000, 999, 0},    {1023, 1000, 4},   {1024, 1024, 4},     {1025, 1, 3},
          {2047, 0, 2},     {2048, 2000, 4},   {4097, 4096, 1},   {10007, 5003, 3},    {65536, 65536, 4},
          {99991, 77777, 2}, {1000003, 999983, 3}};
}

Check run(const Shape& shape, std::uint64_t seed) {
  const int rows = static_cast<int>(shape[0]), valid = static_cast<int>(shape[1]), width = static_cast<int>(shape[2]);
  const std::vector<float> in = randomFloats(static_cast<std::size_t>(rows) * 4, seed);
  const DeviceBuffer<float> device_in(in);
  DeviceBuffer<float> device_out(in.size());
  Check check;
  for (const Form form : kForms) {
    device_out.poison();
    launch(form, reinterpret_cast<const float4*>(device_in.get()), reinterpret_cast<float4*>(device_out.get()), rows,
           valid, width);
    compare(check, kFormNames[static_cast<int>(form)], device_out.download(), reference(form, in, rows, valid, width),
            0);
  }
  return check;
}

std::vector<Bench> bench() {
  constexpr int kRows = (1 << 26) - 3;  // 1 GiB in, 1 GiB out
  DeviceBuffer<float> in(static_cast<std::size_t>(kRows) * 4), out(static_cast<std::size_t>(kRows) * 4);
  fillRandom(in, 1);
  Bench result;
  result.shape = {kRows, kRows, 4};
  result.bytes = 2.0 * kRows * sizeof(float4);
  result.is_mover = true;
  for (const Form form : kForms) {
    Variant variant;
    variant.name = kFormNames[static_cast<int>(form)];
    variant.function = functionOf(form);
    variant.block_threads = kThreads;
    variant.completion = form == Form::kSync ? "bar.sync" : "cp.async.wait_group 0, bar.sync";
    variant.launch = [&in, &out, form] {
      launch(form, reinterpret_cast<const float4*>(in.get()), reinterpret_cast<float4*>(out.get()), kRows, kRows, 4);
    };
    measure(result, variant);
  }
  return {result};
}

}  // namespace

const Kernel& rowExchange() {
  static const Kernel kKernel = {"row_exchange", "rolls a table by one row of four floats, five forms of the copy",
                                 "rows x valid rows x width", 80, shapes, run, bench};
  return kKernel;
}

}  // namespace handoff::kernels
