// SPDX-License-Identifier: Apache-2.0
// expect: handoff::Bytes
#include "handoff/transaction_barrier.h"
__global__ void kernel() {
  __shared__ handoff::TransactionBarrier full;
  full.arriveExpect(1024);
}
