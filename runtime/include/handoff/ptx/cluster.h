// SPDX-License-Identifier: Apache-2.0
// Thread-block clusters: ranks, addresses in peers, the cluster barrier. sm_90.
#pragma once

#include <cstdint>

#include "handoff/ptx/address.h"

namespace handoff::ptx {

/// Rank of the executing block in its cluster. PTX ISA, "Special Registers: %cluster_ctarank".
__device__ __forceinline__ std::uint32_t clusterRank() {
  std::uint32_t rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

/// Number of blocks in the cluster. PTX ISA, "Special Registers: %cluster_nctarank".
__device__ __forceinline__ std::uint32_t clusterBlocks() {
  std::uint32_t blocks;
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(blocks));
  return blocks;
}

/// Where `address` of this block lies in block `rank` of the cluster. PTX ISA, "mapa".
__device__ __forceinline__ std::uint32_t mapa(std::uint32_t address, std::uint32_t rank) {
  std::uint32_t remote;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(address), "r"(rank));
  return remote;
}

/// Arrives at the cluster barrier with release semantics; each thread once for each phase, then clusterWait.
/// PTX ISA, "barrier.cluster".
__device__ __forceinline__ void clusterArrive() {
  asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
}

/// Arrives without ordering anything: enough after fenceMbarrierInit for barriers, not for data.
__device__ __forceinline__ void clusterArriveRelaxed() {
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}

/// Waits until all threads of the cluster have arrived, with acquire semantics.
__device__ __forceinline__ void clusterWait() { asm volatile("barrier.cluster.wait.aligned;" ::: "memory"); }

/// Reads a word of another block's shared memory. PTX ISA, "ld", .shared::cluster.
__device__ __forceinline__ std::uint32_t loadCluster(std::uint32_t remote) {
  std::uint32_t value;
  asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(value) : "r"(remote) : "memory");
  return value;
}

/// Writes a word to another block's shared memory; the barrier beside it counts 4 bytes down. PTX ISA, "st.async".
__device__ __forceinline__ void storeAsync(std::uint32_t remote, std::uint32_t value, std::uint32_t remote_barrier) {
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(remote),
               "r"(value), "r"(remote_barrier)
               : "memory");
}

}  // namespace handoff::ptx
