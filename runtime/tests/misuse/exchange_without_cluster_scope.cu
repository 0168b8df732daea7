// SPDX-License-Identifier: Apache-2.0
// expect: no instance of constructor
#include "handoff/cluster.h"
__global__ void __cluster_dims__(2) kernel() {
  __shared__ handoff::TransactionBarrier inbox;
  handoff::ClusterExchange exchange(inbox);
}
