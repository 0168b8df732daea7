// SPDX-License-Identifier: Apache-2.0
// The slot ring with each kind of producer, for the analyzer to verify.
#include "handoff/copy_group.h"
#include "handoff/slot_ring.h"

namespace {

constexpr int kSlots = 3, kTile = 1024, kReaderWarps = 4;
using Readers = handoff::ByLoads<kReaderWarps>;

template <class Ring>
__device__ float sumOf(Ring& ring, const float (&slots)[kSlots][kTile], int tiles) {
  float sum = 0;
  for (int k = 0; k < tiles; ++k) {
    auto ready = ring.wait();
    for (int i = threadIdx.x; i < kTile; i += 32 * kReaderWarps) sum += slots[ready.slot()][kTile - 1 - i];
    ring.release(std::move(ready));
  }
  return sum;
}

}  // namespace

// handoff: launch block=192 grid=4
__global__ void __launch_bounds__(192) fromThreads(const float* in, float* out, int tiles) {
  using Source = handoff::FromThreads<64>;
  __shared__ alignas(128) float slots[kSlots][kTile];
  __shared__ handoff::RingBarriers<kSlots, Source, Readers> barriers;
  if (threadIdx.x == 0) barriers.init();
  __syncthreads();
  if (threadIdx.x >= 128) {
    handoff::RingProducer<kSlots, Source, Readers> producer(barriers);
    for (int k = 0; k < tiles; ++k) {
      auto filling = producer.acquire();
      for (int i = (threadIdx.x - 128) * 4; i < kTile; i += 256)
        handoff::copyAsync(reinterpret_cast<float4*>(&slots[filling.slot()][i]), reinterpret_cast<const float4*>(in + k * kTile + i));
      producer.publish(std::move(filling));
    }
  } else {
    handoff::RingConsumer<kSlots, Source, Readers> consumer(barriers);
    out[blockIdx.x * 128 + threadIdx.x] = sumOf(consumer, slots, tiles);
  }
}

// handoff: launch block=160 grid=4
__global__ void __launch_bounds__(160) fromTma(const float* in, float* out, int tiles) {
  using Source = handoff::FromTma;
  __shared__ alignas(128) float slots[kSlots][kTile];
  __shared__ handoff::RingBarriers<kSlots, Source, Readers> barriers;
  if (threadIdx.x == 0) {
    barriers.init();
    handoff::publishBarriers();
  }
  __syncthreads();
  if (threadIdx.x == 128) {
    handoff::RingProducer<kSlots, Source, Readers> producer(barriers);
    for (int k = 0; k < tiles; ++k) {
      auto filling = producer.acquire(handoff::bytesOf<float>(kTile));
      producer.load(filling, slots[filling.slot()], in + k * kTile, handoff::bytesOf<float>(kTile));
      producer.publish(std::move(filling));
    }
  } else if (threadIdx.x < 128) {
    handoff::RingConsumer<kSlots, Source, Readers> consumer(barriers);
    out[blockIdx.x * 128 + threadIdx.x] = sumOf(consumer, slots, tiles);
  }
}

/// Each of the two blocks loads one half of a tile into the slots of both.
// handoff: launch block=160 cluster=2 grid=4
__global__ void __cluster_dims__(2) __launch_bounds__(160) fromCluster(const float* in, float* out, int tiles) {
  using Source = handoff::FromCluster<2>;
  __shared__ alignas(128) float slots[kSlots][kTile];
  __shared__ handoff::RingBarriers<kSlots, Source, Readers> barriers;
  if (threadIdx.x == 0) barriers.init();
  const handoff::ClusterScope cluster(threadIdx.x == 0);
  if (threadIdx.x == 128) {
    handoff::RingProducer<kSlots, Source, Readers> producer(barriers);
    const int half = static_cast<int>(cluster.rank()) * (kTile / 2);
    for (int k = 0; k < tiles; ++k) {
      auto filling = producer.acquire(handoff::bytesOf<float>(kTile));
      producer.loadAll(filling, slots[filling.slot()] + half, in + k * kTile + half, handoff::bytesOf<float>(kTile / 2));
      producer.publish(std::move(filling));
    }
  } else if (threadIdx.x < 128) {
    handoff::RingConsumer<kSlots, Source, Readers> consumer(barriers);
    out[blockIdx.x * 128 + threadIdx.x] = sumOf(consumer, slots, tiles);
  }
}
