// SPDX-License-Identifier: Apache-2.0
// Rows change places in pairs: each block of a cluster of two loads a row and sends it to the other's shared memory.
// The baseline reads the other's memory word by word; the bulk form has the copy engine send it.
//
// A row whose partner is missing stays where it is. The block without a row still takes part in the cluster's barriers.
#include <algorithm>

#include "common/device.h"
#include "handoff/cluster.h"

namespace handoff::kernels {
namespace {

constexpr int kBlocks = 2;       // of a cluster
constexpr int kMaxRow = 4096;    // floats: 16 KiB
constexpr int kLoadThreads = 256;
constexpr int kBulkThreads = 32;

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

/// One thread drives the copy engine: load, send, receive, store.
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
    stores.drain();
  }
}

enum class Form { kLoads, kBulk };

void launch(Form form, const float* in, float* out, int rows, int length) {
  const auto blocks = static_cast<unsigned>(divideUp(rows, kBlocks) * kBlocks);
  if (form == Form::kLoads) exchangeLoads<<<blocks, kLoadThreads>>>(in, out, rows, length);
  if (form == Form::kBulk) exchangeBulk<<<blocks, kBulkThreads>>>(in, out, rows, length);
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
  for (const Form form : {Form::kLoads, Form::kBulk}) {
    device_out.poison();
    launch(form, device_in.get(), device_out.get(), rows, length);
    compare(check, form == Form::kLoads ? "baseline" : "bulk", device_out.download(), want, 0);
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
  Variant loads;
  loads.name = "baseline";
  loads.function = reinterpret_cast<const void*>(&exchangeLoads);
  loads.block_threads = kLoadThreads;
  loads.completion = "barrier.cluster";
  loads.launch = [&] { launch(Form::kLoads, in.get(), out.get(), kRows, kLength); };
  measure(result, loads);
  Variant bulk;
  bulk.name = "bulk copy";
  bulk.function = reinterpret_cast<const void*>(&exchangeBulk);
  bulk.block_threads = kBulkThreads;
  bulk.completion = "mbarrier complete_tx, bulk wait_group 0";
  bulk.launch = [&] { launch(Form::kBulk, in.get(), out.get(), kRows, kLength); };
  measure(result, bulk);
  return {result};
}

}  // namespace

const Kernel& clusterExchange() {
  static const Kernel kKernel = {"cluster_exchange", "rows change places in pairs, through distributed shared memory",
                                 "rows x length", 90, shapes, run, bench};
  return kKernel;
}

}  // namespace handoff::kernels
