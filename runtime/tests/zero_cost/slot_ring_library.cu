// SPDX-License-Identifier: Apache-2.0
// One warp loads dense ranges with the copy engine, four warps read them, with the library.
#include "handoff/slot_ring.h"

using Source = handoff::FromTma;
using Readers = handoff::ByLoads<4>;

extern "C" __global__ void __launch_bounds__(160) ring(const float* in, float* out, int tiles) {
  __shared__ alignas(128) float slots[3][1024];
  __shared__ handoff::RingBarriers<3, Source, Readers> barriers;
  if (threadIdx.x == 0) {
    barriers.init();
    handoff::publishBarriers();
  }
  __syncthreads();
  if (threadIdx.x >= 128) {
    if (threadIdx.x == 128) {
      handoff::RingProducer<3, Source, Readers> producer(barriers);
      for (int k = 0; k < tiles; ++k) {
        auto filling = producer.acquire(handoff::bytesOf<float>(1024));
        producer.load(filling, slots[filling.slot()], in + k * 1024, handoff::bytesOf<float>(1024));
        producer.publish(std::move(filling));
      }
    }
  } else {
    handoff::RingConsumer<3, Source, Readers> consumer(barriers);
    float sum = 0;
    for (int k = 0; k < tiles; ++k) {
      auto ready = consumer.wait();
      for (int i = threadIdx.x; i < 1024; i += 128) sum += slots[ready.slot()][1023 - i];
      consumer.release(std::move(ready));
    }
    out[threadIdx.x] = sum;
  }
}
