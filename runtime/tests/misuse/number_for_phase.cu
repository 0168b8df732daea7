// SPDX-License-Identifier: Apache-2.0
// expect: handoff::Phase
#include "handoff/transaction_barrier.h"
__global__ void kernel() {
  __shared__ handoff::TransactionBarrier full;
  full.wait(0);
}
