// SPDX-License-Identifier: Apache-2.0
// Rows change places in pairs: each block of a cluster of two loads a row and sends it to the other's shared memory.
// The baseline reads the other's memory word by word; the bulk form has the copy engine send it.
//
// A row whose partner is missing stays where it is. The block without a row still takes part in the cluster's barriers.
#include <algorithm>

#include "common/device.h"
#include "handoff/cluster.h"
#include "handoff/slot.h"

namespace handoff::kernels {
namespace {

constexpr int kBlocks = 2;       // of a cluster
constexpr int kMaxRow = 4096;    // floats: 16 KiB
constexpr int kLoadThreads = 256;
constexpr int kBulkThreads = 32;
constexpr int kRoleThreads = 96;

/// What a block does; `length` floats in a row, a multiple of four.
struct Pair {
  __device__ Pair(int rows)
      : row(static_cast<int>(blockIdx.x)), has_row(row < rows), has_partner((row | 1) < rows) {}

  int row;
  bool has_row;
  bool has_partner;  // both blocks of the cluster have a row
};

/// Baseline: ordinary loads, a barrier of the cluster, and loads from the other block.
// handoff: launch block=256 cluster=2 grid=6 rows=5 length=1000
__global__ void __cluster_dims__(kBlocks) __launch_bounds__(kLoadThreads)
    exchangeLoads(const float* in, float* out, int rows, int length) {
  __shared__ alignas(16) float tile[kMaxRow];
  const Pair pair(rows);
  const std::int64_t offset = static_cast<std::int64_t>(pair.row) * length;
  if (pair.has_row) {
    for (int i = threadIdx.x * 4; i < length; i += kLoadThreads * 4)
      *reinterpret_cast<float4*>(&tile[i]) = *reinterpret_cast<const float4*>(&in[offset + i]);
  }
  const ClusterScope cluster(/*initialised=*/false);
  const std::uint32_t from = pair.has_partner ? cluster.rank() ^ 1 : cluster.rank();
  const std::uint32_t source = ptx::mapa(ptx::sharedAddress(tile), from);
  if (pair.has_row) {
    for (int i = threadIdx.x; i < length; i += kLoadThreads)
      out[offset + i] = __uint_as_float(ptx::loadCluster(source + i * sizeof(float)));
  }
}

/// One thread drives the copy engine: load, send, receive, store; one row a block.
// handoff: launch block=32 cluster=2 grid=6 rows=5 length=1000
__global__ void __cluster_dims__(kBlocks) __launch_bounds__(kBulkThreads)
    exchangeBulk(const float* in, float* out, int rows, int length) {
  __shared__ alignas(128) float outbox[kMaxRow];
  __shared__ alignas(128) float inbox[kMaxRow];
  __shared__ TransactionBarrier loaded, received;
  const Pair pair(rows);
  const std::int64_t offset = static_cast<std::int64_t>(pair.row) * length;
  const Bytes bytes = bytesOf<float>(length);
  if (threadIdx.x == 0) {
    loaded.init(Arrivals(1));
    received.init(Arrivals(1));
  }
  const ClusterScope cluster(threadIdx.x == 0);
  ClusterExchange exchange(cluster, received);
  if (threadIdx.x == 0 && pair.has_row) {
    loaded.arriveExpect(bytes);
    if (pair.has_partner) exchange.expect(bytes);
    bulkLoad(outbox, in + offset, bytes, loaded);
    loaded.wait(Phase::first());
    if (pair.has_partner) {
      exchange.send(Peer(cluster.rank() ^ 1), inbox, outbox, bytes);
      exchange.wait();
    }
    BulkStores<1> stores;
    stores.store(out + offset, pair.has_partner ? inbox : outbox, bytes);
    stores.commit();
    stores.waitRead<0>();
  }
}

/// Dynamic shared memory follows the static one at the alignment of its type. Bulk copies need 16 bytes, and are a
/// tenth slower when they do not have 128.
struct alignas(128) Line {
  float at[32];
};

/// Some pairs of rows for each cluster: one warp loads into outboxes, one sends them, one stores what has come into the
/// inboxes. A row is cut into pieces of kPiece floats; a cluster (blockIdx.x / 2) owns one piece of the rows of its group
/// (blockIdx.y), `pairs` pairs of them. Small pieces and short groups keep what is in flight close together in global
/// memory: with pieces of 4096 floats, and blocks that stay for all rows, the same kernel is a tenth slower.
///
/// Outboxes and inboxes are two rings. An outbox may be loaded again when the partner has received what was sent from
/// it (`sent`), an inbox of the partner may be written again when the partner has stored it (`free`). The storing warp
/// owns its inboxes: it announces what is to come before it tells the partner that there is room.
constexpr int kPiece = 1024;

template <int kSlots>
struct alignas(128) Slots {
  float outbox[kSlots][kPiece];
  float inbox[kSlots][kPiece];
};

// handoff: launch block=96 cluster=2 grid=4x2 smem=49152 rows=35 length=1500 pairs=9
template <int kSlots>
__global__ void __cluster_dims__(kBlocks) __launch_bounds__(kRoleThreads)
    exchangePipelined(const float* in, float* out, int rows, int length, int pairs) {
  extern __shared__ Line memory[];
  auto& slots = *reinterpret_cast<Slots<kSlots>*>(memory);
  __shared__ TransactionBarrier loaded[kSlots], sent[kSlots], received[kSlots], free[kSlots], last;
  if (threadIdx.x == 0) {
    for (int slot = 0; slot < kSlots; ++slot) {
      loaded[slot].init(Arrivals(1));
      sent[slot].init(Arrivals(1));
      received[slot].init(Arrivals(1));
      free[slot].init(Arrivals(1));
    }
    last.init(Arrivals(1));
  }
  const ClusterScope cluster(threadIdx.x == 0);
  const Peer peer(cluster.rank() ^ 1);
  const int group = static_cast<int>(blockIdx.y) * pairs * kBlocks;
  const int paired = rows & ~1;  // rows that have a partner
  const int turns = min(pairs, (paired - group) / kBlocks);
  const int column = static_cast<int>(blockIdx.x) / kBlocks * kPiece;
  const Bytes bytes = bytesOf<float>(min(kPiece, length - column));
  const std::int64_t first = static_cast<std::int64_t>(group + static_cast<int>(cluster.rank())) * length + column;
  const std::int64_t step = static_cast<std::int64_t>(kBlocks) * length;
  if (threadIdx.x == 0) {
    Cursor<kSlots, Phase> load(Phase::beforeFirst());
    for (int k = 0; k < turns; ++k, load.advance()) {
      const int slot = load.slot();
      sent[slot].waitCluster(load.phase());
      loaded[slot].arriveExpect(bytes);
      bulkLoad(slots.outbox[slot], in + first + k * step, bytes, loaded[slot]);
    }
  } else if (threadIdx.x == 32) {
    Cursor<kSlots, Phase> full(Phase::first()), room(Phase::beforeFirst());
    for (int k = 0; k < turns; ++k, full.advance(), room.advance()) {
      const int slot = full.slot();
      loaded[slot].wait(full.phase());
      free[slot].waitCluster(room.phase());
      sendTo(cluster, peer, slots.inbox[slot], slots.outbox[slot], bytes, received[slot]);
    }
  } else if (threadIdx.x == 64) {
    BulkStores<2> stores;
    Cursor<kSlots, Phase> store(Phase::first());
    for (int slot = 0; slot < kSlots; ++slot)
      if (slot < turns) received[slot].arriveExpect(bytes);
    int before = 0;  // slot of the row before
    for (int k = 0; k < turns; ++k, store.advance()) {
      const int slot = store.slot();
      received[slot].wait(store.phase());
      arriveAt(cluster, sent[slot], peer);
      stores.store(out + first + k * step, slots.inbox[slot], bytes);
      stores.commit();
      if (k + kSlots < turns) received[slot].arriveExpect(bytes);
      stores.template waitRead<1>();
      if (k > 0) arriveAt(cluster, free[before], peer);
      before = slot;
    }
    stores.template waitRead<0>();
    if (paired < rows && turns < pairs && cluster.rank() == 0) {  // the last row stays where it is; the inboxes have been stored
      const std::int64_t at = static_cast<std::int64_t>(paired) * length + column;
      last.arriveExpect(bytes);
      bulkLoad(slots.inbox[0], in + at, bytes, last);
      last.wait(Phase::first());
      stores.store(out + at, slots.inbox[0], bytes);
      stores.commit();
      stores.template waitRead<0>();
    }
  }
}

using Function = void (*)(const float*, float*, int, int);
using RingFunction = void (*)(const float*, float*, int, int, int);

struct Form {
  const char* name;
  Function function;      ///< of the forms in which a block has one row
  RingFunction pipelined;  ///< of those in which it has many
  int threads, slots;
  const char* completion;
};
constexpr const char* kRingCompletion = "mbarrier complete_tx; bulk wait_group.read 1, remote arrive";
constexpr Form kForms[] = {
    {"baseline", exchangeLoads, nullptr, kLoadThreads, 1, "barrier.cluster"},
    {"bulk copy", exchangeBulk, nullptr, kBulkThreads, 1, "mbarrier complete_tx; bulk wait_group.read 0"},
    {"pipelined, 2 slots", nullptr, exchangePipelined<2>, kRoleThreads, 2, kRingCompletion},
    {"pipelined, 3 slots", nullptr, exchangePipelined<3>, kRoleThreads, 3, kRingCompletion},
    {"pipelined, 4 slots", nullptr, exchangePipelined<4>, kRoleThreads, 4, kRingCompletion},
    {"pipelined, 6 slots", nullptr, exchangePipelined<6>, kRoleThreads, 6, kRingCompletion}};

std::size_t sharedBytes(const Form& form) { return form.pipelined ? sizeof(float) * 2 * kPiece * form.slots : 0; }

constexpr int kPairs = 16;           // of a group
constexpr int kMaxGroups = 65535;    // blockIdx.y

const void* functionOf(const Form& form) {
  return form.pipelined ? reinterpret_cast<const void*>(form.pipelined) : reinterpret_cast<const void*>(form.function);
}

/// Lets the form have its dynamic shared memory; before its first launch.
void allowShared(const Form& form) {
  require(cudaFuncSetAttribute(functionOf(form), cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(sharedBytes(form))),
          "cudaFuncSetAttribute");
}

void launch(const Form& form, const float* in, float* out, int rows, int length, int least_pairs) {
  if (form.pipelined) {
    const int pairs = std::max(least_pairs, static_cast<int>(divideUp(rows, 2 * kMaxGroups)));
    const dim3 blocks(kBlocks * static_cast<unsigned>(divideUp(length, kPiece)),
                      static_cast<unsigned>(divideUp(rows, kBlocks * pairs)));
    form.pipelined<<<blocks, form.threads, sharedBytes(form)>>>(in, out, rows, length, pairs);
  } else {
    form.function<<<static_cast<unsigned>(divideUp(rows, kBlocks) * kBlocks), form.threads>>>(in, out, rows, length);
  }
  requireLaunch("cluster_exchange");
}

std::vector<Shape> shapes() {
  return {{1, 4},     {1, 4096},  {2, 4},      {2, 8},      {3, 12},     {4, 64},     {5, 100},   {6, 1000},
          {7, 1020},  {9, 1024},  {10, 1028},  {11, 2044},  {16, 2048},  {17, 2052},  {31, 4092}, {32, 4096},
          {33, 4000}, {101, 404}, {255, 1536}, {257, 4096}, {1001, 260}, {2048, 4096}};
}

Check run(const Shape& shape, std::uint64_t seed) {
  const int rows = static_cast<int>(shape[0]), length = static_cast<int>(shape[1]);
  const std::vector<float> in = randomFloats(static_cast<std::size_t>(rows) * length, seed);
  std::vector<float> want(in.size());
  for (int r = 0; r < rows; ++r) {
    const int from = (r | 1) < rows ? r ^ 1 : r;
    std::copy_n(in.begin() + static_cast<std::ptrdiff_t>(from) * length, length,
                want.begin() + static_cast<std::ptrdiff_t>(r) * length);
  }
  const DeviceBuffer<float> device_in(in);
  DeviceBuffer<float> device_out(in.size());
  Check check;
  for (const Form& form : kForms) {
    device_out.poison();
    allowShared(form);
    launch(form, device_in.get(), device_out.get(), rows, length, rows % 3 == 0 ? kPairs : rows % 50 + 1);
    compare(check, form.name, device_out.download(), want, 0);
  }
  return check;
}

std::vector<Bench> bench() {
  constexpr int kRows = 65536 - 1, kLength = kMaxRow;
  DeviceBuffer<float> in(static_cast<std::size_t>(kRows) * kLength), out(in.size());
  fillRandom(in, 1);
  Bench result;
  result.shape = {kRows, kLength};
  result.bytes = 2.0 * kRows * kLength * sizeof(float);
  result.is_mover = true;
  for (const Form& form : kForms) {
    allowShared(form);
    Variant variant;
    variant.name = form.name;
    variant.function = functionOf(form);
    variant.block_threads = form.threads;
    variant.dynamic_shared_bytes = sharedBytes(form);
    variant.stages = form.slots;
    variant.completion = form.completion;
    variant.launch = [&] { launch(form, in.get(), out.get(), kRows, kLength, kPairs); };
    measure(result, variant);
  }
  return {result};
}

}  // namespace

const Kernel& clusterExchange() {
  static const Kernel kKernel = {"cluster_exchange", "rows change places in pairs, through distributed shared memory",
                                 "rows x length", 90, shapes, run, bench};
  return kKernel;
}

}  // namespace handoff::kernels
