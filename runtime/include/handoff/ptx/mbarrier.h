// SPDX-License-Identifier: Apache-2.0
// mbarrier instructions, one function each. `barrier` is the shared::cta address of a 64-bit object (8-byte aligned)
// unless a parameter is called `remote_barrier`, which is a shared::cluster address as ptx::mapa gives it.
#pragma once

#include <cstdint>

#include "handoff/ptx/address.h"

namespace handoff::ptx {

/// Phase 0 begins, with `arrivals` (1 to 2^20 - 1) expected in each phase. PTX ISA, "mbarrier.init". sm_80.
__device__ __forceinline__ void mbarrierInit(std::uint32_t barrier, std::uint32_t arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

/// Ends the object's life; its bytes may then be used for something else. PTX ISA, "mbarrier.inval". sm_80.
__device__ __forceinline__ void mbarrierInval(std::uint32_t barrier) {
  asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(barrier) : "memory");
}

/// One arrival, release at block scope; the result names the phase. PTX ISA, "mbarrier.arrive". sm_80.
__device__ __forceinline__ std::uint64_t mbarrierArrive(std::uint32_t barrier) {
  std::uint64_t state;
  asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];" : "=l"(state) : "r"(barrier) : "memory");
  return state;
}

/// Announces `bytes` for the current phase and arrives once. PTX ISA, "mbarrier.arrive", .expect_tx. sm_90.
__device__ __forceinline__ void mbarrierArriveExpectTx(std::uint32_t barrier, std::uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

/// Announces `bytes` for the current phase without an arrival. Relaxed. PTX ISA, "mbarrier.expect_tx". sm_90.
__device__ __forceinline__ void mbarrierExpectTx(std::uint32_t barrier, std::uint32_t bytes) {
  asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

/// One arrival at a barrier of any block of the cluster, release at cluster scope. PTX ISA, "mbarrier.arrive". sm_90.
__device__ __forceinline__ void mbarrierArriveCluster(std::uint32_t remote_barrier) {
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(remote_barrier) : "memory");
}

/// Announces bytes and arrives once at a barrier of any block of the cluster, release at cluster scope. sm_90.
__device__ __forceinline__ void mbarrierArriveExpectTxCluster(std::uint32_t remote_barrier, std::uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%0], %1;" ::"r"(remote_barrier),
               "r"(bytes)
               : "memory");
}

/// Whether the phase of parity `parity` is complete: the one before the current one. Acquire at block scope where it
/// is, no order where it is not. Does not block. PTX ISA, "mbarrier.test_wait". sm_80.
__device__ __forceinline__ bool mbarrierTestWaitParity(std::uint32_t barrier, std::uint32_t parity) {
  std::uint32_t complete;
  asm volatile(
      "{\n\t.reg .pred p;\n\t"
      "mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2;\n\t"
      "selp.u32 %0, 1, 0, p;\n\t}"
      : "=r"(complete)
      : "r"(barrier), "r"(parity)
      : "memory");
  return complete != 0;
}

/// As mbarrierTestWaitParity, but may sleep for a time that the hardware chooses. PTX ISA, "mbarrier.try_wait". sm_90.
__device__ __forceinline__ bool mbarrierTryWaitParity(std::uint32_t barrier, std::uint32_t parity) {
  std::uint32_t complete;
  asm volatile(
      "{\n\t.reg .pred p;\n\t"
      "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\t"
      "selp.u32 %0, 1, 0, p;\n\t}"
      : "=r"(complete)
      : "r"(barrier), "r"(parity)
      : "memory");
  return complete != 0;
}

/// As mbarrierTryWaitParity, acquire at cluster scope: for phases that threads of other blocks arrive in. sm_90.
__device__ __forceinline__ bool mbarrierTryWaitParityCluster(std::uint32_t barrier, std::uint32_t parity) {
  std::uint32_t complete;
  asm volatile(
      "{\n\t.reg .pred p;\n\t"
      "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;\n\t"
      "selp.u32 %0, 1, 0, p;\n\t}"
      : "=r"(complete)
      : "r"(barrier), "r"(parity)
      : "memory");
  return complete != 0;
}

}  // namespace handoff::ptx
