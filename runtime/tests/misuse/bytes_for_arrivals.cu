// SPDX-License-Identifier: Apache-2.0
// expect: handoff::Arrivals
#include "handoff/transaction_barrier.h"
__global__ void kernel() {
  __shared__ handoff::TransactionBarrier full;
  full.init(handoff::Bytes(1));
}
