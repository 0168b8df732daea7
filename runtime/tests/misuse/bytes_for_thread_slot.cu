// SPDX-License-Identifier: Apache-2.0
// expect: only the copy engine counts bytes
#include "handoff/slot_ring.h"
using Producer = handoff::RingProducer<2, handoff::FromThreads<32>, handoff::ByLoads<1>>;
__global__ void kernel() {
  __shared__ Producer::Barriers barriers;
  Producer producer(barriers);
  producer.publish(producer.acquire(handoff::Bytes(16)));
}
