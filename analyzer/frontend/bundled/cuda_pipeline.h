// SPDX-License-Identifier: Apache-2.0
// The pipeline primitives: CUDA C++ Programming Guide, "Pipeline Primitives Interface".
#pragma once
#include <cuda_runtime.h>
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
// These targets have no asynchronous copies: the toolkit's header falls back to loads and stores, too.
HANDOFF_DEVICE void __pipeline_memcpy_async(void* __restrict__ to, const void* __restrict__ from, size_t bytes, size_t zfill = 0) {
  for (size_t at = 0; at < bytes; at += 4) *(int*)((char*)to + at) = at < bytes - zfill ? *(const int*)((const char*)from + at) : 0;
}
HANDOFF_DEVICE void __pipeline_commit() {}
HANDOFF_DEVICE void __pipeline_wait_prior(size_t) {}
typedef uint64_t __mbarrier_t;
HANDOFF_DEVICE void __pipeline_arrive_on(__mbarrier_t*) {}
#else
HANDOFF_DEVICE void __pipeline_memcpy_async(void* __restrict__ to, const void* __restrict__ from, size_t bytes, size_t zfill = 0) {
  const unsigned int address = (unsigned int)__cvta_generic_to_shared(to);
  const unsigned int source = (unsigned int)(bytes - zfill);
  if (bytes == 4) asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(address), "l"(from), "r"(source) : "memory");
  else if (bytes == 8) asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(address), "l"(from), "r"(source) : "memory");
  else if (bytes == 16) asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from), "r"(source) : "memory");
  else __trap();
}
HANDOFF_DEVICE void __pipeline_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// The group count must be an immediate, and callers pass a constant: one branch of the switch survives.
HANDOFF_DEVICE void __pipeline_wait_prior(size_t groups) {
  switch (groups) {
    case 0: asm volatile("cp.async.wait_group 0;" ::: "memory"); break;
    case 1: asm volatile("cp.async.wait_group 1;" ::: "memory"); break;
    case 2: asm volatile("cp.async.wait_group 2;" ::: "memory"); break;
    case 3: asm volatile("cp.async.wait_group 3;" ::: "memory"); break;
    case 4: asm volatile("cp.async.wait_group 4;" ::: "memory"); break;
    case 5: asm volatile("cp.async.wait_group 5;" ::: "memory"); break;
    case 6: asm volatile("cp.async.wait_group 6;" ::: "memory"); break;
    case 7: asm volatile("cp.async.wait_group 7;" ::: "memory"); break;
    default: asm volatile("cp.async.wait_group 8;" ::: "memory"); break;
  }
}
typedef uint64_t __mbarrier_t;
HANDOFF_DEVICE void __pipeline_arrive_on(__mbarrier_t* barrier) {
  asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"((unsigned int)__cvta_generic_to_shared(barrier)) : "memory");
}
#endif
