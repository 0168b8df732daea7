// SPDX-License-Identifier: Apache-2.0
// Blocks of a cluster: when they are there, where things lie in each other's shared memory, and an exchange of tiles.
// sm_90. PTX ISA, "barrier.cluster", "mapa"; CUDA Programming Guide, "Distributed Shared Memory".
#pragma once

#include <cstdint>

#include "handoff/bulk_copy.h"
#include "handoff/ptx/cluster.h"
#include "handoff/ptx/cluster_handoff.h"
#include "handoff/transaction_barrier.h"

namespace handoff {

/// A block of the cluster, by its rank.
class Peer {
 public:
  __device__ explicit Peer(std::uint32_t rank) : rank_(rank) {}
  __device__ std::uint32_t rank() const { return rank_; }

 private:
  std::uint32_t rank_;
};

/// The time in which blocks of a cluster may touch each other's shared memory: from its construction to its
/// destruction, both of them barriers of the whole cluster. Barriers are initialised before it; all threads of the
/// block make one, and leave it together.
class ClusterScope {
 public:
  /// `initialised`: this thread has called TransactionBarrier::init.
  __device__ __forceinline__ explicit ClusterScope(bool initialised) {
    if (initialised) publishBarriers();
    ptx::clusterArrive();
    ptx::clusterWait();
  }
  __device__ __forceinline__ ~ClusterScope() {
    ptx::clusterArrive();
    ptx::clusterWait();
  }
  ClusterScope(const ClusterScope&) = delete;
  ClusterScope& operator=(const ClusterScope&) = delete;

  __device__ __forceinline__ std::uint32_t rank() const { return ptx::clusterRank(); }
  __device__ __forceinline__ std::uint32_t blocks() const { return ptx::clusterBlocks(); }
};

/// Arrives at the barrier that lies where `barrier` does, in a block of the cluster. Publishes what this thread did to
/// shared memory, and nothing it did to global memory: that would cost a wait until the whole device has seen it.
__device__ __forceinline__ void arriveAt(const ClusterScope&, TransactionBarrier& barrier, Peer peer) {
  ptx::fenceReleaseShared();
  ptx::mbarrierArriveClusterRelaxed(ptx::mapa(barrier.address(), peer.rank()));
}

/// Sends a dense range to where `shared_dst` lies in the peer, which is another block; its barrier, where `inbox` lies,
/// gets the bytes, and has been, or will be, told to expect them. One thread. Who wrote the source with ordinary stores
/// has fenced them (fenceBeforeAsync). The source is read until the receiver's phase is complete.
template <class T>
__device__ __forceinline__ void sendTo(const ClusterScope&, Peer peer, T* shared_dst, const T* shared_src, Bytes bytes,
                                       TransactionBarrier& inbox) {
  ptx::bulkCopyToPeer(ptx::mapa(ptx::sharedAddress(shared_dst), peer.rank()), ptx::sharedAddress(shared_src),
                      bytes.count(), ptx::mapa(inbox.address(), peer.rank()));
}

/// Sends tiles to other blocks and receives theirs, one at a time. The receiver announces the bytes of a phase, the sender's copy
/// delivers them at the receiver's barrier, which has one arrival.
class ClusterExchange {
 public:
  /// `inbox` is the barrier, of Arrivals(1), of what comes in; it lies at the same offset in all blocks.
  __device__ __forceinline__ ClusterExchange(const ClusterScope& cluster, TransactionBarrier& inbox)
      : cluster_(cluster), inbox_(inbox) {}

  /// Announces what comes in during this phase. One thread, once a phase.
  __device__ __forceinline__ void expect(Bytes bytes) { inbox_.arriveExpect(bytes); }

  /// As sendTo.
  template <class T>
  __device__ __forceinline__ void send(Peer peer, T* shared_dst, const T* shared_src, Bytes bytes) {
    sendTo(cluster_, peer, shared_dst, shared_src, bytes, inbox_);
  }

  /// Waits for what was announced; then it may be read.
  __device__ __forceinline__ void wait() {
    inbox_.wait(phase_);
    phase_.advance();
  }

 private:
  const ClusterScope& cluster_;
  TransactionBarrier& inbox_;
  Phase phase_ = Phase::first();
};

}  // namespace handoff
