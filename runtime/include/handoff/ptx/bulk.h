// SPDX-License-Identifier: Apache-2.0
// Bulk copies (TMA without a tensor map) and bulk groups, one function for each instruction. sm_90.
//
// One thread issues a copy; every active lane issues its own. Addresses are aligned to 16 bytes and sizes are
// multiples of 16. PTX ISA, "cp.async.bulk".
#pragma once

#include <cstdint>

#include "handoff/ptx/address.h"

namespace handoff::ptx {

/// Global to shared. `dst` and `barrier` lie in the same block; the barrier counts `bytes` down when they are there.
__device__ __forceinline__ void bulkLoad(std::uint32_t dst, const void* src, std::uint32_t bytes,
                                         std::uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(dst),
      "l"(src), "r"(bytes), "r"(barrier)
      : "memory");
}

/// Global to the same place in every block of the cluster whose bit is set in `blocks`; in each of them the barrier
/// at the offset of `barrier` counts all `bytes` down.
__device__ __forceinline__ void bulkLoadMulticast(std::uint32_t dst, const void* src, std::uint32_t bytes,
                                                  std::uint32_t barrier, std::uint16_t blocks) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], "
      "%4;" ::"r"(dst),
      "l"(src), "r"(bytes), "r"(barrier), "h"(blocks)
      : "memory");
}

/// From this block's shared memory to that of another block of the cluster. `remote_dst` and `remote_barrier` are
/// shared::cluster addresses in the same block.
__device__ __forceinline__ void bulkCopyToPeer(std::uint32_t remote_dst, std::uint32_t src, std::uint32_t bytes,
                                               std::uint32_t remote_barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(remote_dst),
      "r"(src), "r"(bytes), "r"(remote_barrier)
      : "memory");
}

/// Shared to global; its completion is that of the bulk group which it joins with the next bulkCommit.
__device__ __forceinline__ void bulkStore(void* dst, std::uint32_t src, std::uint32_t bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(dst), "r"(src), "r"(bytes)
               : "memory");
}

/// Adds floats in shared memory to those in global memory. PTX ISA, "cp.reduce.async.bulk".
__device__ __forceinline__ void bulkReduceAddF32(float* dst, std::uint32_t src, std::uint32_t bytes) {
  asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" ::"l"(dst), "r"(src),
               "r"(bytes)
               : "memory");
}

/// Asks for global memory to be brought to L2; no completion. PTX ISA, "cp.async.bulk.prefetch".
__device__ __forceinline__ void bulkPrefetch(const void* src, std::uint32_t bytes) {
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(src), "r"(bytes) : "memory");
}

/// Makes a bulk group of all stores of this thread that are in none yet. PTX ISA, "cp.async.bulk.commit_group".
__device__ __forceinline__ void bulkCommit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }

/// Waits until at most kPending of this thread's newest bulk groups are unfinished: source read, destination written.
/// PTX ISA, "cp.async.bulk.wait_group".
template <int kPending>
__device__ __forceinline__ void bulkWait() {
  static_assert(kPending >= 0, "a number of groups");
  asm volatile("cp.async.bulk.wait_group %0;" ::"n"(kPending) : "memory");
}

/// The same for the reads alone: the sources in shared memory may be overwritten, the destinations may lack.
template <int kPending>
__device__ __forceinline__ void bulkWaitRead() {
  static_assert(kPending >= 0, "a number of groups");
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kPending) : "memory");
}

}  // namespace handoff::ptx
