// SPDX-License-Identifier: Apache-2.0
// expect: a slot for the copy engine is acquired with the bytes that are to come
#include "handoff/slot_ring.h"
using Producer = handoff::RingProducer<2, handoff::FromTma, handoff::ByLoads<1>>;
__global__ void kernel() {
  __shared__ Producer::Barriers barriers;
  Producer producer(barriers);
  producer.publish(producer.acquire());
}
