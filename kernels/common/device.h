// SPDX-License-Identifier: Apache-2.0
// Host-side helpers of the kernels: errors, device buffers, random data, comparison.
#pragma once

#include <cuda_runtime.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/kernel.h"

namespace handoff::kernels {

/// Throws std::runtime_error where a CUDA call failed. `what` names the call.
inline void require(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(status));
}

/// Throws where the launch before, or anything since, failed.
inline void requireLaunch(const char* kernel) { require(cudaGetLastError(), kernel); }

/// Device memory of one owner; count elements of T. Fresh memory is poisoned with 0xff bytes: NaN, or -1. Allocations
/// are whole 16-byte chunks: compute-sanitizer counts all of a chunk as read, whatever the source size of the copy.
template <class T>
class DeviceBuffer {
 public:
  explicit DeviceBuffer(std::size_t count) : count_(count) {
    require(cudaMalloc(reinterpret_cast<void**>(&data_), bytes()), "cudaMalloc");
    poison();
  }
  explicit DeviceBuffer(const std::vector<T>& values) : DeviceBuffer(values.size()) {
    require(cudaMemcpy(data_, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
  }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
  ~DeviceBuffer() { cudaFree(data_); }

  void poison() { require(cudaMemset(data_, 0xff, bytes()), "cudaMemset"); }

  /// All elements, after everything on the device has come to its end.
  [[nodiscard]] std::vector<T> download() const {
    require(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    std::vector<T> values(count_);
    require(cudaMemcpy(values.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy");
    return values;
  }

  [[nodiscard]] T* get() const { return data_; }
  [[nodiscard]] std::size_t size() const { return count_; }

 private:
  [[nodiscard]] std::size_t bytes() const { return (count_ * sizeof(T) / 16 + 1) * 16; }

  T* data_ = nullptr;
  std::size_t count_ = 0;
};

/// SplitMix64 (Steele, Lea, Flood 2014): small, fast, the same on every platform.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t bits() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  /// In [-1, 1), a multiple of 2^-23.
  float real() { return static_cast<float>(static_cast<std::int64_t>(bits() >> 40) - (1 << 23)) * 0x1p-23f; }

 private:
  std::uint64_t state_;
};

inline std::vector<float> randomFloats(std::size_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<float> values(count);
  for (float& value : values) value = random.real();
  return values;
}

/// Fills a buffer with a random pattern, made on the host once and repeated.
inline void fillRandom(DeviceBuffer<float>& buffer, std::uint64_t seed) {
  const std::vector<float> pattern = randomFloats(std::size_t{1} << 20, seed);
  for (std::size_t at = 0; at < buffer.size(); at += pattern.size()) {
    const std::size_t count = buffer.size() - at < pattern.size() ? buffer.size() - at : pattern.size();
    require(cudaMemcpy(buffer.get() + at, pattern.data(), count * sizeof(float), cudaMemcpyHostToDevice), "cudaMemcpy");
  }
}

/// Takes the largest |got - want| / max(|want|, scale) into `check`. NaN counts as infinite, unless both are the poison
/// (elements that nobody may write). `scale` is the size of a typical value where results cancel; 0: bit for bit.
inline void compare(Check& check, const char* variant, const std::vector<float>& got, const std::vector<float>& want,
                    double scale) {
  if (got.size() != want.size()) throw std::runtime_error("compare: sizes differ");
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (std::memcmp(&got[i], &want[i], sizeof(float)) == 0) continue;
    const double size = std::fmax(std::fabs(static_cast<double>(want[i])), scale);
    double error = std::fabs(static_cast<double>(got[i]) - static_cast<double>(want[i])) / size;
    if (!(error <= std::numeric_limits<double>::max())) error = std::numeric_limits<double>::infinity();
    if (error <= check.max_relative_error) continue;
    check.max_relative_error = error;
    check.where = std::string(variant) + ", element " + std::to_string(i);
  }
}

/// What a poisoned float buffer holds.
inline float poisonFloat() {
  float value;
  std::memset(&value, 0xff, sizeof value);
  return value;
}

/// Multiprocessors of the current device.
inline int multiprocessors() {
  int device = 0, count = 0;
  require(cudaGetDevice(&device), "cudaGetDevice");
  require(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device), "cudaDeviceGetAttribute");
  return count;
}

/// Blocks of a kernel that fit on the device at once; raises its limit of dynamic shared memory first.
template <class Function>
int residentBlocks(Function* function, int block_threads, std::size_t dynamic_shared_bytes) {
  require(cudaFuncSetAttribute(reinterpret_cast<const void*>(function), cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(dynamic_shared_bytes)),
          "cudaFuncSetAttribute");
  int per_multiprocessor = 0;
  require(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_multiprocessor, reinterpret_cast<const void*>(function),
                                                        block_threads, dynamic_shared_bytes),
          "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  if (per_multiprocessor == 0) throw std::runtime_error("the kernel does not fit on a multiprocessor");
  return per_multiprocessor * multiprocessors();
}

/// Blocks of a bench for each that fits on the device at once, where a block turns over tiles. Many short blocks read and
/// write places that lie close together; few that stay drift apart, and memory takes up to a tenth longer.
constexpr int kWaves = 32;

inline std::int64_t divideUp(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace handoff::kernels
