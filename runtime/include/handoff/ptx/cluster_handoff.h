// SPDX-License-Identifier: Apache-2.0
// Cheap hand-over of shared memory between the blocks of a cluster: relaxed mbarrier operations, and fences
// that order shared memory alone. sm_90, PTX ISA 8.6.
//
// mbarrier.arrive.release.cluster orders all memory, global memory included, for which the hardware waits
// until the whole device has seen the thread's writes. Where only shared memory changes hands, a release
// fence restricted to it and a relaxed arrival, and on the other side a relaxed wait and an acquire fence,
// say what is needed and no more:
//   fenceReleaseShared(); mbarrierArriveClusterRelaxed(remote);
//   while (!mbarrierTryWaitParityClusterRelaxed(barrier, parity)) {}  fenceAcquireSharedCluster();
#pragma once

#include <cstdint>

namespace handoff::ptx {

/// Makes a release pattern of the relaxed arrivals that follow, for objects in this block's shared memory, at
/// cluster scope. PTX ISA, "membar / fence", fence.release.sync_restrict.
__device__ __forceinline__ void fenceReleaseShared() {
  asm volatile("fence.release.sync_restrict::shared::cta.cluster;" ::: "memory");
}

/// Makes an acquire pattern of the relaxed waits that came before, for objects in the shared memory of the
/// cluster. PTX ISA, "membar / fence", fence.acquire.sync_restrict.
__device__ __forceinline__ void fenceAcquireSharedCluster() {
  asm volatile("fence.acquire.sync_restrict::shared::cluster.cluster;" ::: "memory");
}

/// One arrival at a barrier of any block of the cluster; orders nothing by itself. PTX ISA,
/// "mbarrier.arrive".
__device__ __forceinline__ void mbarrierArriveClusterRelaxed(std::uint32_t remote_barrier) {
  asm volatile("mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%0];" ::"r"(remote_barrier)
               : "memory");
}

/// Whether the phase of parity `parity` is complete, for phases that threads of other blocks arrive in;
/// orders nothing by itself. May sleep for a time that the hardware chooses. PTX ISA, "mbarrier.try_wait".
__device__ __forceinline__ bool mbarrierTryWaitParityClusterRelaxed(std::uint32_t barrier,
                                                                    std::uint32_t parity) {
  std::uint32_t complete;
  asm volatile(
      "{\n\t.reg .pred p;\n\t"
      "mbarrier.try_wait.parity.relaxed.cluster.shared::cta.b64 p, [%1], %2;\n\t"
      "selp.u32 %0, 1, 0, p;\n\t}"
      : "=r"(complete)
      : "r"(barrier), "r"(parity)
      : "memory");
  return complete != 0;
}

}  // namespace handoff::ptx
