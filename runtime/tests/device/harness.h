// SPDX-License-Identifier: Apache-2.0
// What the device tests stand on: memory, random data, a fixture that skips where there is no device.
#pragma once

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace handoff::device_tests {

constexpr std::uint32_t kPoison = 0xdeadbeef;

inline void require(cudaError_t status, const char* what) {
  if (status != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(status));
}

/// Words in device memory; fresh ones are poisoned.
class Words {
 public:
  explicit Words(std::size_t count) : Words(std::vector<std::uint32_t>(count, kPoison)) {}
  explicit Words(const std::vector<std::uint32_t>& values) : count_(values.size()) {
    require(cudaMalloc(reinterpret_cast<void**>(&data_), (count_ + 4) * sizeof(std::uint32_t)), "cudaMalloc");
    require(cudaMemcpy(data_, values.data(), count_ * sizeof(std::uint32_t), cudaMemcpyHostToDevice),
            "cudaMemcpy");
  }
  Words(const Words&) = delete;
  Words& operator=(const Words&) = delete;
  ~Words() { cudaFree(data_); }

  [[nodiscard]] std::uint32_t* get() const { return data_; }

  /// All words, after everything on the device has come to its end.
  [[nodiscard]] std::vector<std::uint32_t> download() const {
    require(cudaGetLastError(), "launch");
    require(cudaDeviceSynchronize(), "kernel");
    std::vector<std::uint32_t> values(count_);
    require(cudaMemcpy(values.data(), data_, count_ * sizeof(std::uint32_t), cudaMemcpyDeviceToHost),
            "cudaMemcpy");
    return values;
  }

 private:
  std::uint32_t* data_ = nullptr;
  std::size_t count_ = 0;
};

/// Skips where there is no device, or one that is too old. Random data are fresh in each run; the seed is
/// told on failure.
class DeviceTest : public testing::Test {
 protected:
  /// Compute capability that the test needs: 80, or 90.
  virtual int neededSm() const { return 80; }

  void SetUp() override {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) GTEST_SKIP() << "skipped: no CUDA device";
    int major = 0, minor = 0;
    require(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0), "cudaDeviceGetAttribute");
    require(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0), "cudaDeviceGetAttribute");
    if (major * 10 + minor < neededSm()) GTEST_SKIP() << "skipped: no CUDA device of sm_" << neededSm();
    const unsigned seed = std::random_device{}();
    random_.seed(seed);
    RecordProperty("seed", static_cast<int>(seed));
  }

  std::vector<std::uint32_t> randomWords(std::size_t count) {
    std::vector<std::uint32_t> words(count);
    for (std::uint32_t& word : words) word = static_cast<std::uint32_t>(random_());
    return words;
  }

  std::mt19937 random_;
};

class HopperTest : public DeviceTest {
 protected:
  int neededSm() const override { return 90; }
};

/// Fails with the first difference.
inline void expectSame(const std::vector<std::uint32_t>& got, const std::vector<std::uint32_t>& want,
                       const std::string& of) {
  ASSERT_EQ(got.size(), want.size()) << of;
  for (std::size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], want[i]) << of << ", word " << i;
}

/// Keeps a thread busy for a while, so that the other side of a ring runs into it.
__device__ __forceinline__ void pause(int clocks) {
  const long long end = clock64() + clocks;
  while (clock64() < end) {
  }
}

/// Who is slow: readers or producers have to wait for the other side, wherever the ring says so.
enum class Slow : int { kNobody, kProducers, kReaders };
constexpr Slow kAllSpeeds[] = {Slow::kNobody, Slow::kProducers, Slow::kReaders};
constexpr int kPause = 3000;  // clocks

}  // namespace handoff::device_tests
