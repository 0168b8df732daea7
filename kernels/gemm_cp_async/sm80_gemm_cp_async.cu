// SPDX-License-Identifier: Apache-2.0
// The pipelined version: a ring of slots, filled by cp.async as far ahead as the ring allows.
//
// Step s is copied into slot s % kStages as group s of each thread (group s is empty where there is no step
// s). Before step s is read, each thread has waited for its own group s, and a block barrier has passed the
// copies on to the others. The same barrier frees the slot of step s - 1: every warp has read that slot into
// registers by then, and the copies issued after it are those of step s - 1 + kStages, which use it. One
// barrier a step is enough.
#include "gemm_cp_async/tile.h"

namespace handoff::kernels::gemm_cp_async {
namespace {

extern __shared__ __align__(128) unsigned char ring[];

// Any number of steps; a tile at the corner of odd sizes.
// handoff: launch block=256 grid=1 smem=122880 m=128 n=256 k=4096 lda=4096 ldb=4096 ldc=256
// handoff: launch block=256 grid=1 smem=122880 m=100 n=201 k=150 lda=152 ldb=152 ldc=208 steps=5
template <int kStages>
__global__ void __launch_bounds__(kThreads, 1)
    gemmPipelined(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n, int k,
                  int lda, int ldb, int ldc, int steps) {
  const GemmProblem problem{m, n, k, lda, ldb, ldc, a, b, c};
  const TileIndex tile = tileOfBlock();
  const Copies copies(problem, tile);
  const std::uint32_t slots = ptx::sharedAddress(ring);

  for (int s = 0; s < kStages - 1; ++s) {
    if (s < steps) copies.issue(s, slots + s * kSlotBytes);
    ptx::cpAsyncCommit();
  }
  ptx::cpAsyncWait<kStages - 2>();
  __syncthreads();

  // Fragments are loaded one part ahead of the products, across the barrier too.
  WarpTile warp_tile;
  Fragments fragments[2];
  warp_tile.load(fragments[0], slots, 0);
  int reading = 0, writing = kStages - 1;  // slots of the current step and of the one to be copied next
  for (int step = 0; step < steps; ++step) {
    const int ahead = step + kStages - 1;
    if (ahead < steps) copies.issue(ahead, slots + writing * kSlotBytes);
    ptx::cpAsyncCommit();
    writing = reading;
#pragma unroll
    for (int part = 0; part < kParts; ++part) {
      if (part == kParts - 1) {  // all of this slot is in registers: on to the next one
        reading = reading + 1 == kStages ? 0 : reading + 1;
        ptx::cpAsyncWait<kStages - 2>();
        __syncthreads();
      }
      // After the last step this reads a slot that holds an old step; nobody uses the values.
      warp_tile.load(fragments[(part + 1) % 2], slots + reading * kSlotBytes, (part + 1) % kParts);
      warp_tile.multiply(fragments[part % 2]);
    }
  }
  warp_tile.store(problem, tile);
}

template <int kStages>
cudaError_t launch(const GemmProblem& problem, cudaStream_t stream) {
  constexpr int kSharedBytes = kStages * kSlotBytes;
  const cudaError_t status =
      cudaFuncSetAttribute(gemmPipelined<kStages>, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes);
  if (status != cudaSuccess) return status;
  gemmPipelined<kStages><<<gridOf(problem), kThreads, kSharedBytes, stream>>>(
      problem.a, problem.b, problem.c, problem.m, problem.n, problem.k, problem.lda, problem.ldb, problem.ldc,
      stepsOf(problem));
  return cudaGetLastError();
}

}  // namespace

cudaError_t launchPipelined(const GemmProblem& problem, int stages, cudaStream_t stream) {
  static_assert(kMinStages == 2 && kMaxStages == 5, "one instance for each number of stages");
  switch (stages) {
    case 2:
      return launch<2>(problem, stream);
    case 3:
      return launch<3>(problem, stream);
    case 4:
      return launch<4>(problem, stream);
    case 5:
      return launch<5>(problem, stream);
    default:
      return cudaErrorInvalidValue;
  }
}

const void* pipelinedFunction(int stages) {
  switch (stages) {
    case 2:
      return reinterpret_cast<const void*>(gemmPipelined<2>);
    case 3:
      return reinterpret_cast<const void*>(gemmPipelined<3>);
    case 4:
      return reinterpret_cast<const void*>(gemmPipelined<4>);
    case 5:
      return reinterpret_cast<const void*>(gemmPipelined<5>);
    default:
      return nullptr;
  }
}

int sharedBytes(int stages) { return stages * kSlotBytes; }

}  // namespace handoff::kernels::gemm_cp_async
