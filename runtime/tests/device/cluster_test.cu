// SPDX-License-Identifier: Apache-2.0
// Tiles sent round a cluster through distributed shared memory, turn by turn.
#include "device/harness.h"
#include "handoff/cluster.h"

namespace handoff::device_tests {
namespace {

constexpr int kThreads = 64, kTile = 256, kClusters = 3;

/// Every turn, each block sends a tile of its own to the next block, and stores what has come from the one
/// before.
__global__ void passOn(const std::uint32_t* in, std::uint32_t* out, int turns, Slow slow) {
  __shared__ alignas(128) std::uint32_t outbox[kTile], inbox[kTile];
  __shared__ TransactionBarrier received;
  if (threadIdx.x == 0) received.init(Arrivals(1));
  const ClusterScope cluster(threadIdx.x == 0);
  ClusterExchange exchange(cluster, received);
  const std::uint32_t next = (cluster.rank() + 1) % cluster.blocks();
  const Bytes bytes = bytesOf<std::uint32_t>(kTile);
  in += blockIdx.x * turns * kTile;
  out += blockIdx.x * turns * kTile;
  for (int k = 0; k < turns; ++k) {
    if (slow == Slow::kProducers && k % cluster.blocks() == cluster.rank()) pause(kPause);
    for (int i = threadIdx.x; i < kTile; i += kThreads) outbox[i] = in[k * kTile + i];
    fenceBeforeAsync();
    __syncthreads();
    if (threadIdx.x == 0) {
      exchange.expect(bytes);
      exchange.send(Peer(next), inbox, outbox, bytes);
    }
    exchange.wait();
    if (slow == Slow::kReaders && k % cluster.blocks() == cluster.rank()) pause(kPause);
    for (int i = threadIdx.x; i < kTile; i += kThreads) out[k * kTile + i] = inbox[kTile - 1 - i];
    fenceBeforeAsync();  // the next tile overwrites what these loads have read
    ptx::clusterArrive();
    ptx::clusterWait();
  }
}

class ClusterOnDevice : public HopperTest {};

TEST_F(ClusterOnDevice, TilesGoRound) {
  for (const int blocks : {2, 3, 4, 8}) {
    for (const int turns : {0, 1, 2, 3, 17}) {
      for (const Slow slow : kAllSpeeds) {
        const std::size_t of_block = static_cast<std::size_t>(turns) * kTile;
        const std::vector<std::uint32_t> in =
            randomWords(of_block * static_cast<std::size_t>(blocks * kClusters));
        std::vector<std::uint32_t> want(in.size());
        for (std::size_t i = 0; i < in.size(); ++i) {
          const std::size_t block = i / of_block, at = i % of_block, size = static_cast<std::size_t>(blocks);
          const std::size_t from = block / size * size + (block % size + size - 1) % size;
          want[i] = in[from * of_block + at / kTile * kTile + kTile - 1 - at % kTile];
        }
        const Words device_in(in), device_out(in.size());
        cudaLaunchAttribute attribute{};
        attribute.id = cudaLaunchAttributeClusterDimension;
        attribute.val.clusterDim = {static_cast<unsigned>(blocks), 1, 1};
        cudaLaunchConfig_t config{};
        config.gridDim = static_cast<unsigned>(kClusters * blocks);
        config.blockDim = kThreads;
        config.attrs = &attribute;
        config.numAttrs = 1;
        require(cudaLaunchKernelEx(&config, passOn, static_cast<const std::uint32_t*>(device_in.get()),
                                   device_out.get(), turns, slow),
                "cudaLaunchKernelEx");
        expectSame(device_out.download(), want,
                   "clusters of " + std::to_string(blocks) + ", " + std::to_string(turns) + " turns");
      }
    }
  }
}

}  // namespace
}  // namespace handoff::device_tests
