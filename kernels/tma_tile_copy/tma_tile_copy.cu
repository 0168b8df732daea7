// SPDX-License-Identifier: Apache-2.0
// Copies a matrix box by box with the copy engine alone: tensor loads into a ring of slots, tensor stores out of it.
// Boxes at the edges reach beyond the matrix: loads fill with zeros and count whole boxes, stores leave the outside out.
//
// One thread of a block does everything. Both directions are in the async proxy, so that no fence is needed: a slot is
// stored when its load's phase is complete, and loaded again when the store has read it.
#include <algorithm>

#include "common/device.h"
#include "handoff/bulk_copy.h"
#include "handoff/slot.h"
#include "handoff/tensor_map.h"

namespace handoff::kernels {
namespace {

constexpr int kThreads = 32;
constexpr int kBoxRows = 64, kBoxColumns = 64;
constexpr int kStores = 2;  // that may still read from their slots

struct alignas(128) Box {
  float at[kBoxRows][kBoxColumns];
};

__device__ __forceinline__ int boxX(int box, int boxes_across) { return box % boxes_across * kBoxColumns; }
__device__ __forceinline__ int boxY(int box, int boxes_across) { return box / boxes_across * kBoxRows; }

/// Baseline: one slot, load and store by turns.
// handoff: launch block=32 grid=4 boxes=30 boxes_across=5
// handoff: tensormap from box=64x64xf32
// handoff: tensormap to box=64x64xf32
__global__ void __launch_bounds__(kThreads)
    copySequential(const __grid_constant__ CUtensorMap from, const __grid_constant__ CUtensorMap to, int boxes,
                   int boxes_across) {
  __shared__ Box slot;
  __shared__ TransactionBarrier full;
  if (threadIdx.x != 0) return;
  full.init(Arrivals(1));
  publishBarriers();
  BulkStores<1> stores;
  Phase phase = Phase::first();
  for (int box = blockIdx.x; box < boxes; box += gridDim.x) {
    full.arriveExpect(Bytes(sizeof(Box)));
    tensorLoad(&slot.at[0][0], from, full, boxX(box, boxes_across), boxY(box, boxes_across));
    full.wait(phase);
    phase.advance();
    stores.store(to, &slot.at[0][0], boxX(box, boxes_across), boxY(box, boxes_across));
    stores.commit();
    stores.waitRead<0>();
  }
  stores.drain();
}

/// kSlots slots: kSlots - kStores boxes are on their way in, kStores on their way out.
// handoff: launch block=32 grid=4 smem=131072 boxes=30 boxes_across=5
// handoff: tensormap from box=64x64xf32
// handoff: tensormap to box=64x64xf32
template <int kSlots>
__global__ void __launch_bounds__(kThreads)
    copyPipelined(const __grid_constant__ CUtensorMap from, const __grid_constant__ CUtensorMap to, int boxes,
                  int boxes_across) {
  extern __shared__ Box slots[];
  __shared__ TransactionBarrier full[kSlots];
  constexpr int kAhead = kSlots - kStores;
  if (threadIdx.x != 0) return;
  for (int slot = 0; slot < kSlots; ++slot) full[slot].init(Arrivals(1));
  publishBarriers();
  BulkStores<kStores + 1> stores;
  Cursor<kSlots, Phase> fill(Phase::first()), ready(Phase::first());
  const auto fetch = [&](int box) {
    if (box < boxes) {
      full[fill.slot()].arriveExpect(Bytes(sizeof(Box)));
      tensorLoad(&slots[fill.slot()].at[0][0], from, full[fill.slot()], boxX(box, boxes_across), boxY(box, boxes_across));
    }
    fill.advance();
  };
  for (int k = 0; k < kAhead; ++k) fetch(blockIdx.x + k * gridDim.x);
  for (int box = blockIdx.x; box < boxes; box += gridDim.x) {
    full[ready.slot()].wait(ready.phase());
    stores.store(to, &slots[ready.slot()].at[0][0], boxX(box, boxes_across), boxY(box, boxes_across));
    stores.commit();
    ready.advance();
    stores.template waitRead<kStores>();  // the box before the last kStores has left its slot
    fetch(box + kAhead * gridDim.x);
  }
  stores.drain();
}

using Function = void (*)(CUtensorMap, CUtensorMap, int, int);

struct Form {
  const char* name;
  Function function;
  int slots;
  bool is_dynamic;
};
constexpr Form kForms[] = {{"baseline", copySequential, 1, false},
                           {"pipelined, 4 slots", copyPipelined<4>, 4, true},
                           {"pipelined, 6 slots", copyPipelined<6>, 6, true}};

struct Matrices {
  TensorMapResult from, to;
  int boxes, boxes_across;
};

Matrices matricesOf(const float* in, float* out, int rows, int columns, int in_pitch, int out_pitch) {
  Matrices matrices;
  matrices.from = encodeTensorMap(matrixView(in, rows, columns, sizeof(float) * in_pitch, kBoxRows, kBoxColumns));
  matrices.to = encodeTensorMap(matrixView(out, rows, columns, sizeof(float) * out_pitch, kBoxRows, kBoxColumns));
  for (const TensorMapResult* map : {&matrices.from, &matrices.to})
    if (!*map) throw std::runtime_error(map->error);
  matrices.boxes_across = static_cast<int>(divideUp(columns, kBoxColumns));
  matrices.boxes = static_cast<int>(divideUp(rows, kBoxRows)) * matrices.boxes_across;
  return matrices;
}

std::size_t sharedBytes(const Form& form) { return form.is_dynamic ? sizeof(Box) * form.slots : 0; }

void launch(const Form& form, const Matrices& matrices, int blocks) {
  form.function<<<blocks, kThreads, sharedBytes(form)>>>(matrices.from.map, matrices.to.map, matrices.boxes,
                                                         matrices.boxes_across);
  requireLaunch("tma_tile_copy");
}

std::vector<Shape> shapes() {
  return {{1, 1, 0},      {1, 4, 1},      {2, 3, 0},      {5, 64, 2},     {63, 63, 0},    {64, 64, 0},
          {65, 65, 1},    {64, 127, 3},   {127, 64, 0},   {128, 128, 0},  {129, 130, 5},  {200, 300, 1},
          {255, 257, 0},  {300, 1, 2},    {1, 999, 1},    {333, 777, 0},  {512, 512, 4},  {640, 1021, 1},
          {1000, 1000, 0}, {1023, 2049, 2}, {1500, 3001, 0}, {2049, 4097, 1}};
}

Check run(const Shape& shape, std::uint64_t seed) {
  const int rows = static_cast<int>(shape[0]), columns = static_cast<int>(shape[1]);
  const int in_pitch = static_cast<int>(divideUp(columns, 4) * 4 + 4 * shape[2]);
  const int out_pitch = static_cast<int>(divideUp(columns, 4) * 4 + 8 * shape[2]);
  const std::vector<float> in = randomFloats(static_cast<std::size_t>(rows) * in_pitch, seed);
  std::vector<float> want(static_cast<std::size_t>(rows) * out_pitch, poisonFloat());
  for (int r = 0; r < rows; ++r)
    std::copy_n(in.begin() + static_cast<std::ptrdiff_t>(r) * in_pitch, columns,
                want.begin() + static_cast<std::ptrdiff_t>(r) * out_pitch);
  // The engine stores whole chunks of 16 bytes: what it makes of the rest of the last one is not specified.
  const auto forget = [&](std::vector<float>& values) {
    for (int r = 0; r < rows; ++r)
      for (int c = columns; c < divideUp(columns, 4) * 4; ++c) values[static_cast<std::size_t>(r) * out_pitch + c] = 0;
  };
  forget(want);
  const DeviceBuffer<float> device_in(in);
  DeviceBuffer<float> device_out(want.size());
  const Matrices matrices = matricesOf(device_in.get(), device_out.get(), rows, columns, in_pitch, out_pitch);
  Check check;
  for (const Form& form : kForms) {
    device_out.poison();
    const int resident = residentBlocks(form.function, kThreads, sharedBytes(form));
    launch(form, matrices, std::min({resident, matrices.boxes, rows % 7 + 1}));
    std::vector<float> got = device_out.download();
    forget(got);
    compare(check, form.name, got, want, 0);
  }
  return check;
}

std::vector<Bench> bench() {
  constexpr int kRows = 16384 - 1, kColumns = 16384 - 3, kPitch = 16384;
  DeviceBuffer<float> in(static_cast<std::size_t>(kRows) * kPitch), out(in.size());
  fillRandom(in, 1);
  const Matrices matrices = matricesOf(in.get(), out.get(), kRows, kColumns, kPitch, kPitch);
  Bench result;
  result.shape = {kRows, kColumns, (kPitch - kColumns) / 4};
  result.bytes = 2.0 * kRows * kColumns * sizeof(float);
  result.is_mover = true;
  for (const Form& form : kForms) {
    const int blocks = kWaves * residentBlocks(form.function, kThreads, sharedBytes(form));
    Variant variant;
    variant.name = form.name;
    variant.function = reinterpret_cast<const void*>(form.function);
    variant.block_threads = kThreads;
    variant.dynamic_shared_bytes = sharedBytes(form);
    variant.stages = form.slots;
    variant.completion = "mbarrier complete_tx; bulk wait_group.read " + std::to_string(form.slots == 1 ? 0 : kStores);
    variant.launch = [&form, &matrices, blocks] { launch(form, matrices, blocks); };
    measure(result, variant);
  }
  return {result};
}

}  // namespace

const Kernel& tmaTileCopy() {
  static const Kernel kKernel = {"tma_tile_copy", "copies a matrix in TMA boxes, edges out of range included",
                                 "rows x columns x extra pitch", 90, shapes, run, bench};
  return kKernel;
}

}  // namespace handoff::kernels
