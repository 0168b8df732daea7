// SPDX-License-Identifier: Apache-2.0
// expect: it is a deleted function
#include "handoff/transaction_barrier.h"
__device__ void use(handoff::TransactionBarrier) {}
__global__ void kernel() {
  __shared__ handoff::TransactionBarrier full;
  use(full);
}
