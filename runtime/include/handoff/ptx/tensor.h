// SPDX-License-Identifier: Apache-2.0
// Tensor copies (TMA with a tensor map), one function for each instruction and number of dimensions. sm_90.
//
// `map` points to a tensor map in parameter or constant memory (a __grid_constant__ parameter) or in global memory.
// Coordinates are elements of the tensor, innermost dimension first; a box may reach beyond the tensor: loads fill
// with what the map says and count the bytes of the whole box, stores leave out what lies outside.
// Shared memory is aligned to 128 bytes. PTX ISA, "cp.async.bulk.tensor".
#pragma once

#include <cstdint>

#include "handoff/ptx/address.h"

namespace handoff::ptx {

/// Asks for a tensor map to be brought to the cache. PTX ISA, "prefetch", .tensormap.
__device__ __forceinline__ void prefetchTensorMap(const void* map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

/// Global to shared; `barrier`, in the block of `dst`, counts the bytes of the box down.
__device__ __forceinline__ void tensorLoad1d(std::uint32_t dst, const void* map, std::uint32_t barrier, int x) {
  asm volatile(
      "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3}], "
      "[%2];" ::"r"(dst),
      "l"(map), "r"(barrier), "r"(x)
      : "memory");
}

__device__ __forceinline__ void tensorLoad2d(std::uint32_t dst, const void* map, std::uint32_t barrier, int x, int y) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], "
      "[%2];" ::"r"(dst),
      "l"(map), "r"(barrier), "r"(x), "r"(y)
      : "memory");
}

__device__ __forceinline__ void tensorLoad3d(std::uint32_t dst, const void* map, std::uint32_t barrier, int x, int y,
                                             int z) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5}], "
      "[%2];" ::"r"(dst),
      "l"(map), "r"(barrier), "r"(x), "r"(y), "r"(z)
      : "memory");
}

/// Global to the same place in every block of the cluster whose bit is set in `blocks`; in each of them the barrier
/// at the offset of `barrier` counts the bytes of the whole box down.
__device__ __forceinline__ void tensorLoadMulticast2d(std::uint32_t dst, const void* map, std::uint32_t barrier, int x,
                                                      int y, std::uint16_t blocks) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], "
      "[%1, {%3, %4}], [%2], %5;" ::"r"(dst),
      "l"(map), "r"(barrier), "r"(x), "r"(y), "h"(blocks)
      : "memory");
}

__device__ __forceinline__ void tensorLoadMulticast3d(std::uint32_t dst, const void* map, std::uint32_t barrier, int x,
                                                      int y, int z, std::uint16_t blocks) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], "
      "[%1, {%3, %4, %5}], [%2], %6;" ::"r"(dst),
      "l"(map), "r"(barrier), "r"(x), "r"(y), "r"(z), "h"(blocks)
      : "memory");
}

/// Shared to global, completed by the bulk group that it joins with the next bulkCommit.
__device__ __forceinline__ void tensorStore1d(const void* map, std::uint32_t src, int x) {
  asm volatile("cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%0, {%2}], [%1];" ::"l"(map), "r"(src),
               "r"(x)
               : "memory");
}

__device__ __forceinline__ void tensorStore2d(const void* map, std::uint32_t src, int x, int y) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%2, %3}], [%1];" ::"l"(map),
               "r"(src), "r"(x), "r"(y)
               : "memory");
}

__device__ __forceinline__ void tensorStore3d(const void* map, std::uint32_t src, int x, int y, int z) {
  asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4}], [%1];" ::"l"(map),
               "r"(src), "r"(x), "r"(y), "r"(z)
               : "memory");
}

/// Adds a box in shared memory to the tensor. PTX ISA, "cp.reduce.async.bulk.tensor".
__device__ __forceinline__ void tensorReduceAdd2d(const void* map, std::uint32_t src, int x, int y) {
  asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%0, {%2, %3}], [%1];" ::"l"(map),
               "r"(src), "r"(x), "r"(y)
               : "memory");
}

}  // namespace handoff::ptx
