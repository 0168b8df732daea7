// SPDX-License-Identifier: Apache-2.0
// Quantities that are easily taken for one another: bytes, arrivals, and the phases of a barrier.
#pragma once

#include <cstdint>

namespace handoff {

/// A number of bytes. Only made in words, so that a number of elements does not compile in its place.
class Bytes {
 public:
  __host__ __device__ constexpr explicit Bytes(std::uint32_t count) : count_(count) {}
  __host__ __device__ constexpr std::uint32_t count() const { return count_; }

  __host__ __device__ friend constexpr Bytes operator+(Bytes a, Bytes b) { return Bytes(a.count_ + b.count_); }

 private:
  std::uint32_t count_;
};

/// The bytes of `elements` elements of T.
template <class T>
__host__ __device__ constexpr Bytes bytesOf(std::uint32_t elements) {
  return Bytes(elements * static_cast<std::uint32_t>(sizeof(T)));
}

/// How many arrivals complete a phase: 1 to 2^20 - 1. PTX ISA, "mbarrier.init".
class Arrivals {
 public:
  __host__ __device__ constexpr explicit Arrivals(std::uint32_t count) : count_(count) {}
  __host__ __device__ constexpr std::uint32_t count() const { return count_; }

 private:
  std::uint32_t count_;
};

/// A phase of a transaction barrier, as far as waits tell phases apart: by parity. A wait is right for the phase that
/// is running and for the one before it; older ones look like newer ones. PTX ISA, "mbarrier: Phase of the mbarrier".
class Phase {
 public:
  /// The first phase after init: it blocks until it is complete. Where readers of a ring begin.
  __device__ static Phase first() { return Phase(0); }
  /// The one before the first: complete from the start. Where those begin who fill an empty ring.
  __device__ static Phase beforeFirst() { return Phase(1); }

  __device__ std::uint32_t parity() const { return parity_; }
  __device__ void advance() { parity_ ^= 1; }

 private:
  __device__ explicit Phase(std::uint32_t parity) : parity_(parity) {}

  std::uint32_t parity_;
};

}  // namespace handoff
