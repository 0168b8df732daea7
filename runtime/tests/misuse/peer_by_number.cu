// SPDX-License-Identifier: Apache-2.0
// expect: handoff::Peer
#include "handoff/cluster.h"
__global__ void __cluster_dims__(2) kernel() {
  __shared__ handoff::TransactionBarrier inbox;
  const handoff::ClusterScope cluster(false);
  handoff::arriveAt(cluster, inbox, 1);
}
