// SPDX-License-Identifier: Apache-2.0
// expect: only a ring that is filled FromCluster has other blocks' readers
#include "handoff/slot_ring.h"
using Producer = handoff::RingProducer<2, handoff::FromTma, handoff::ByLoads<1>>;
__global__ void kernel(const float4* in) {
  __shared__ Producer::Barriers barriers;
  __shared__ float4 slots[2];
  Producer producer(barriers);
  auto filling = producer.acquire(handoff::Bytes(16));
  producer.loadAll(filling, &slots[filling.slot()], in, handoff::Bytes(16));
  producer.publish(std::move(filling));
}
