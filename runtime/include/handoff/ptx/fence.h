// SPDX-License-Identifier: Apache-2.0
// Fences between the generic and the async proxy, and for barriers just made. sm_90.
#pragma once

namespace handoff::ptx {

/// Orders this thread's generic accesses before it with accesses by the async proxy after it, and the other way round.
/// It synchronises no other thread. PTX ISA, "membar / fence", fence.proxy.async.
__device__ __forceinline__ void fenceProxyAsync() { asm volatile("fence.proxy.async;" ::: "memory"); }

/// The same for this block's shared memory alone.
__device__ __forceinline__ void fenceProxyAsyncShared() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/// The same for global memory alone.
__device__ __forceinline__ void fenceProxyAsyncGlobal() { asm volatile("fence.proxy.async.global;" ::: "memory"); }

/// Releases this thread's earlier mbarrier.init to the cluster, so that a relaxed arrival at the cluster barrier is
/// enough. PTX ISA, "membar / fence", fence.mbarrier_init.
__device__ __forceinline__ void fenceMbarrierInit() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

}  // namespace handoff::ptx
