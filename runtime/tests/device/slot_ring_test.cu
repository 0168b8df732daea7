// SPDX-License-Identifier: Apache-2.0
// Slot rings with each kind of producer: threads that copy or write, the copy engine, and a cluster that
// multicasts. Slow producers and slow readers make each side of the ring wait for the other.
#include <algorithm>

#include "device/harness.h"
#include "handoff/copy_group.h"
#include "handoff/slot_ring.h"
#include "handoff/tensor_map.h"

namespace handoff::device_tests {
namespace {

constexpr int kTile = 512, kTileRows = 16, kTileColumns = 32;  // words; as a box, 16 x 32
constexpr int kGroups = 3;                                     // blocks, or clusters
constexpr int kTurns[] = {0, 1, 2, 3, 5, 8, 29};

/// The tiles of a block, or of a cluster whose blocks all read the same ones: stored back to front, one after
/// the other.
template <class Ring, int kSlots>
__device__ void readAll(Ring& ring, const std::uint32_t (&slots)[kSlots][kTile], std::uint32_t* out,
                        int tiles, int readers, Slow slow) {
  const int t = static_cast<int>(threadIdx.x);
  for (int k = 0; k < tiles; ++k) {
    auto ready = ring.wait();
    if (slow == Slow::kReaders && t / 32 == k % (readers / 32)) pause(kPause);
    for (int i = t; i < kTile; i += readers) out[k * kTile + i] = slots[ready.slot()][kTile - 1 - i];
    ring.release(std::move(ready));
  }
}

/// Threads fill: with copyAsync, or with ordinary stores.
template <int kSlots, int kWarps, bool kWrites>
__global__ void fromThreads(const std::uint32_t* in, std::uint32_t* out, int tiles, Slow slow) {
  constexpr int kReaders = 32 * kWarps, kProducers = 64;
  using Source = FromThreads<kProducers>;
  using Readers = ByLoads<kWarps>;
  __shared__ alignas(128) std::uint32_t slots[kSlots][kTile];
  __shared__ RingBarriers<kSlots, Source, Readers> barriers;
  if (threadIdx.x == 0) barriers.init();
  __syncthreads();
  in += blockIdx.x * tiles * kTile;
  if (threadIdx.x >= kReaders) {
    RingProducer<kSlots, Source, Readers> producer(barriers);
    const int t = static_cast<int>(threadIdx.x) - kReaders;
    for (int k = 0; k < tiles; ++k) {
      auto filling = producer.acquire();
      if (slow == Slow::kProducers && t / 32 == k % 2) pause(kPause);
      std::uint32_t* slot = slots[filling.slot()];
      if constexpr (kWrites) {
        for (int i = t; i < kTile; i += kProducers) slot[i] = in[k * kTile + i];
        producer.publishWritten(std::move(filling));
      } else {
        for (int i = t * 4; i < kTile; i += kProducers * 4)
          copyAsync(reinterpret_cast<uint4*>(slot + i), reinterpret_cast<const uint4*>(in + k * kTile + i));
        producer.publish(std::move(filling));
      }
    }
    if constexpr (!kWrites) waitForAllCopies();
  } else {
    RingConsumer<kSlots, Source, Readers> consumer(barriers);
    readAll(consumer, slots, out + blockIdx.x * tiles * kTile, tiles, kReaders, slow);
  }
}

/// The copy engine fills: a range, or a box of the tensor that all tiles make, one below the other.
template <int kSlots, int kWarps, bool kBoxes>
__global__ void fromTma(const std::uint32_t* in, const __grid_constant__ CUtensorMap map, std::uint32_t* out,
                        int tiles, Slow slow) {
  constexpr int kReaders = 32 * kWarps;
  using Source = FromTma;
  using Readers = ByLoads<kWarps>;
  __shared__ alignas(128) std::uint32_t slots[kSlots][kTile];
  __shared__ RingBarriers<kSlots, Source, Readers> barriers;
  if (threadIdx.x == 0) {
    barriers.init();
    publishBarriers();
  }
  __syncthreads();
  if (threadIdx.x == kReaders) {
    RingProducer<kSlots, Source, Readers> producer(barriers);
    const Bytes bytes = bytesOf<std::uint32_t>(kTile);
    for (int k = 0; k < tiles; ++k) {
      const int tile = static_cast<int>(blockIdx.x) * tiles + k;
      auto filling = producer.acquire(bytes);
      if (slow == Slow::kProducers) pause(kPause);
      if constexpr (kBoxes) {
        producer.load(filling, slots[filling.slot()], map, 0, tile * kTileRows);
      } else {
        producer.load(filling, slots[filling.slot()], in + tile * kTile, bytes);
      }
      producer.publish(std::move(filling));
    }
  } else if (threadIdx.x < kReaders) {
    RingConsumer<kSlots, Source, Readers> consumer(barriers);
    readAll(consumer, slots, out + blockIdx.x * tiles * kTile, tiles, kReaders, slow);
  }
}

/// Each block of a cluster loads its part of a tile into the slots of all of them.
template <int kSlots, int kWarps, int kBlocks, bool kBoxes>
__global__ void fromCluster(const std::uint32_t* in, const __grid_constant__ CUtensorMap map,
                            std::uint32_t* out, int tiles, Slow slow) {
  constexpr int kReaders = 32 * kWarps, kPart = kTile / kBlocks;
  using Source = FromCluster<kBlocks>;
  using Readers = ByLoads<kWarps>;
  __shared__ alignas(128) std::uint32_t slots[kSlots][kTile];
  __shared__ RingBarriers<kSlots, Source, Readers> barriers;
  if (threadIdx.x == 0) barriers.init();
  const ClusterScope cluster(threadIdx.x == 0);
  const int rank = static_cast<int>(cluster.rank()), group = static_cast<int>(blockIdx.x) / kBlocks;
  if (threadIdx.x == kReaders) {
    RingProducer<kSlots, Source, Readers> producer(barriers);
    for (int k = 0; k < tiles; ++k) {
      const int tile = group * tiles + k;
      auto filling = producer.acquire(bytesOf<std::uint32_t>(kTile));
      if (slow == Slow::kProducers && k % kBlocks == rank) pause(kPause);
      std::uint32_t* part = slots[filling.slot()] + rank * kPart;
      if constexpr (kBoxes) {
        producer.loadAll(filling, part, map, 0, tile * kTileRows + rank * (kTileRows / kBlocks));
      } else {
        producer.loadAll(filling, part, in + tile * kTile + rank * kPart, bytesOf<std::uint32_t>(kPart));
      }
      producer.publish(std::move(filling));
    }
  } else if (threadIdx.x < kReaders) {
    RingConsumer<kSlots, Source, Readers> consumer(barriers);
    readAll(consumer, slots, out + blockIdx.x * tiles * kTile, tiles, kReaders, slow);
  }
}

/// `kBlocks` blocks see the same tiles.
class SlotRingOnDevice : public DeviceTest {
 protected:
  template <class Launch>
  void check(int blocks_of_group, const std::string& of, Launch launch) {
    for (const int tiles : kTurns) {
      for (const Slow slow : kAllSpeeds) {
        const std::size_t of_block = static_cast<std::size_t>(tiles) * kTile;
        const std::vector<std::uint32_t> in = randomWords(std::max<std::size_t>(kGroups * of_block, kTile));
        std::vector<std::uint32_t> want(kGroups * of_block * static_cast<std::size_t>(blocks_of_group));
        for (std::size_t i = 0; i < want.size(); ++i) {
          const std::size_t group = i / of_block / static_cast<std::size_t>(blocks_of_group),
                            at = i % of_block;
          want[i] = in[group * of_block + at / kTile * kTile + kTile - 1 - at % kTile];
        }
        const Words device_in(in), device_out(want.size());
        launch(device_in.get(), static_cast<int>(in.size()), device_out.get(), tiles, slow);
        expectSame(
            device_out.download(), want,
            of + ", " + std::to_string(tiles) + " tiles, speed " + std::to_string(static_cast<int>(slow)));
      }
    }
  }
};

class SlotRingOfTma : public SlotRingOnDevice {
 protected:
  int neededSm() const override { return 90; }

  static CUtensorMap mapOf(const std::uint32_t* in, int words, int box_rows) {
    const TensorMapResult result = encodeTensorMap(
        matrixView(in, static_cast<std::uint64_t>(words / kTileColumns), kTileColumns,
                   sizeof(std::uint32_t) * kTileColumns, static_cast<std::uint32_t>(box_rows), kTileColumns));
    if (!result) throw std::runtime_error(result.error);
    return result.map;
  }

  template <int kSlots, int kWarps, bool kBoxes>
  void checkTma() {
    check(1, std::to_string(kSlots) + " slots, " + std::to_string(kWarps) + " warps",
          [](const std::uint32_t* in, int words, std::uint32_t* out, int tiles, Slow slow) {
            fromTma<kSlots, kWarps, kBoxes>
                <<<kGroups, 32 * kWarps + 32>>>(in, mapOf(in, words, kTileRows), out, tiles, slow);
          });
  }

  template <int kSlots, int kWarps, int kBlocks, bool kBoxes>
  void checkCluster() {
    check(kBlocks,
          std::to_string(kSlots) + " slots, " + std::to_string(kWarps) + " warps, clusters of " +
              std::to_string(kBlocks),
          [](const std::uint32_t* in, int words, std::uint32_t* out, int tiles, Slow slow) {
            cudaLaunchAttribute attribute{};
            attribute.id = cudaLaunchAttributeClusterDimension;
            attribute.val.clusterDim = {kBlocks, 1, 1};
            cudaLaunchConfig_t config{};
            config.gridDim = kGroups * kBlocks;
            config.blockDim = 32 * kWarps + 32;
            config.attrs = &attribute;
            config.numAttrs = 1;
            require(cudaLaunchKernelEx(&config, fromCluster<kSlots, kWarps, kBlocks, kBoxes>, in,
                                       mapOf(in, words, kTileRows / kBlocks), out, tiles, slow),
                    "cudaLaunchKernelEx");
          });
  }
};

template <int kSlots, int kWarps, bool kWrites>
void launchThreads(const std::uint32_t* in, int /*words*/, std::uint32_t* out, int tiles, Slow slow) {
  fromThreads<kSlots, kWarps, kWrites><<<kGroups, 32 * kWarps + 64>>>(in, out, tiles, slow);
}

TEST_F(SlotRingOnDevice, ThreadsCopy) {
  check(1, "1 slot", launchThreads<1, 2, false>);
  check(1, "2 slots", launchThreads<2, 4, false>);
  check(1, "3 slots", launchThreads<3, 1, false>);
  check(1, "5 slots", launchThreads<5, 4, false>);
}

TEST_F(SlotRingOnDevice, ThreadsWrite) {
  check(1, "1 slot", launchThreads<1, 1, true>);
  check(1, "2 slots", launchThreads<2, 4, true>);
  check(1, "4 slots", launchThreads<4, 3, true>);
}

TEST_F(SlotRingOfTma, LoadsRanges) {
  checkTma<1, 2, false>();
  checkTma<2, 4, false>();
  checkTma<3, 1, false>();
  checkTma<6, 4, false>();
}

TEST_F(SlotRingOfTma, LoadsBoxes) {
  checkTma<1, 1, true>();
  checkTma<3, 4, true>();
}

TEST_F(SlotRingOfTma, MulticastsRanges) {
  checkCluster<1, 2, 2, false>();
  checkCluster<2, 4, 2, false>();
  checkCluster<3, 1, 4, false>();
  checkCluster<4, 2, 8, false>();
}

TEST_F(SlotRingOfTma, MulticastsBoxes) {
  checkCluster<2, 2, 2, true>();
  checkCluster<3, 4, 4, true>();
}

}  // namespace
}  // namespace handoff::device_tests
