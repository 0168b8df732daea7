// SPDX-License-Identifier: Apache-2.0
// One warp loads dense ranges with the copy engine, four warps read them, by hand.
#include <cstdint>

__device__ __forceinline__ std::uint32_t at(const void* shared) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(shared));
}
__device__ __forceinline__ void wait(const std::uint64_t* barrier, std::uint32_t parity) {
  std::uint32_t complete;
  do {
    asm volatile(
        "{\n\t.reg .pred p;\n\t"
        "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\t"
        "selp.u32 %0, 1, 0, p;\n\t}"
        : "=r"(complete)
        : "r"(at(barrier)), "r"(parity)
        : "memory");
  } while (complete == 0);
}
__device__ __forceinline__ void load(float* dst, const float* src, std::uint32_t bytes, const std::uint64_t* barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(at(dst)),
               "l"(src), "r"(bytes), "r"(at(barrier))
               : "memory");
}
__device__ __forceinline__ void arrive(const std::uint64_t* barrier) {
  std::uint64_t state;
  asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];" : "=l"(state) : "r"(at(barrier)) : "memory");
}

struct Barriers {
  std::uint64_t full[3];
  std::uint64_t empty[3];
};

extern "C" __global__ void __launch_bounds__(160) ring(const float* in, float* out, int tiles) {
  __shared__ alignas(128) float slots[3][1024];
  __shared__ Barriers barriers;
  if (threadIdx.x == 0) {
    for (int slot = 0; slot < 3; ++slot) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at(&barriers.full[slot])), "r"(1u) : "memory");
      asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at(&barriers.empty[slot])), "r"(4u) : "memory");
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (threadIdx.x >= 128) {
    if (threadIdx.x == 128) {
      std::uint32_t parity = 1;
      int slot = 0;
      for (int k = 0; k < tiles; ++k) {
        wait(&barriers.empty[slot], parity);
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(&barriers.full[slot])), "r"(4096u)
                     : "memory");
        load(slots[slot], in + k * 1024, 4096, &barriers.full[slot]);
        if (++slot == 3) {
          slot = 0;
          parity ^= 1;
        }
      }
    }
  } else {
    std::uint32_t parity = 0;
    int slot = 0;
    float sum = 0;
    for (int k = 0; k < tiles; ++k) {
      wait(&barriers.full[slot], parity);
      for (int i = threadIdx.x; i < 1024; i += 128) sum += slots[slot][1023 - i];
      asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
      __syncwarp();
      if (threadIdx.x % 32 == 0) arrive(&barriers.empty[slot]);
      if (++slot == 3) {
        slot = 0;
        parity ^= 1;
      }
    }
    out[threadIdx.x] = sum;
  }
}
