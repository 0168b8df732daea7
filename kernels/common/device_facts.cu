// SPDX-License-Identifier: Apache-2.0
// Measures the copy bandwidth that movers are held against, and asks the runtime for resources.
#include <algorithm>
#include <fstream>

#include "common/device.h"
#include "common/device_facts.h"

namespace handoff::kernels {
namespace {

constexpr std::size_t kCopyBytes = std::size_t{1} << 30;  // many times any L2

__global__ void __launch_bounds__(256) copyPlain(const float4* in, float4* out, std::size_t count) {
  constexpr int kEach = 4;
  const std::size_t first = static_cast<std::size_t>(blockIdx.x) * blockDim.x * kEach + threadIdx.x;
  float4 values[kEach];
#pragma unroll
  for (int k = 0; k < kEach; ++k)
    if (first + k * blockDim.x < count) values[k] = in[first + k * blockDim.x];
#pragma unroll
  for (int k = 0; k < kEach; ++k)
    if (first + k * blockDim.x < count) out[first + k * blockDim.x] = values[k];
}

std::string driverRelease() {
  std::ifstream file("/proc/driver/nvidia/version");
  std::string word;
  while (file >> word) {
    const bool is_release = !word.empty() && word.find_first_not_of("0123456789.") == std::string::npos &&
                            word.find('.') != std::string::npos;
    if (is_release) return word;
  }
  return "";
}

}  // namespace

bool hasDevice() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
}

DeviceFacts deviceFacts() {
  int device = 0;
  require(cudaGetDevice(&device), "cudaGetDevice");
  cudaDeviceProp properties{};
  require(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
  DeviceFacts facts;
  facts.name = properties.name;
  facts.sm = properties.major * 10 + properties.minor;
  facts.multiprocessors = properties.multiProcessorCount;
  require(cudaDriverGetVersion(&facts.driver), "cudaDriverGetVersion");
  require(cudaRuntimeGetVersion(&facts.runtime), "cudaRuntimeGetVersion");
  facts.driver_release = driverRelease();
  return facts;
}

CopyBandwidth measureCopyBandwidth() {
  constexpr std::size_t kCount = kCopyBytes / sizeof(float4);
  std::vector<float> pattern = randomFloats(1 << 20, 1);
  DeviceBuffer<float4> in(kCount), out(kCount);
  for (std::size_t at = 0; at < kCopyBytes; at += pattern.size() * sizeof(float))
    require(cudaMemcpy(reinterpret_cast<char*>(in.get()) + at, pattern.data(), pattern.size() * sizeof(float),
                       cudaMemcpyHostToDevice),
            "cudaMemcpy");
  const Times memcpy_times = timeLaunches(
      [&] { require(cudaMemcpyAsync(out.get(), in.get(), kCopyBytes, cudaMemcpyDeviceToDevice), "cudaMemcpyAsync"); });
  const Times kernel_times = timeLaunches([&] {
    copyPlain<<<static_cast<unsigned>(kCount / 1024), 256>>>(in.get(), out.get(), kCount);
    requireLaunch("copyPlain");
  });
  const auto rate = [](const Times& times) { return 2.0 * static_cast<double>(kCopyBytes) / (times.median * 1e-3); };
  return {.memcpy_rate = rate(memcpy_times), .kernel_rate = rate(kernel_times)};
}

Resources resourcesOf(const Variant& variant) {
  Resources resources;
  if (variant.function == nullptr) return resources;
  cudaFuncAttributes attributes{};
  require(cudaFuncGetAttributes(&attributes, variant.function), "cudaFuncGetAttributes");
  resources.registers = attributes.numRegs;
  resources.shared_bytes = attributes.sharedSizeBytes + variant.dynamic_shared_bytes;
  resources.local_bytes = attributes.localSizeBytes;
  require(cudaFuncSetAttribute(variant.function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(variant.dynamic_shared_bytes)),
          "cudaFuncSetAttribute");
  require(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resources.blocks_per_multiprocessor, variant.function,
                                                        variant.block_threads, variant.dynamic_shared_bytes),
          "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  int device = 0, thread_limit = 0;
  require(cudaGetDevice(&device), "cudaGetDevice");
  require(cudaDeviceGetAttribute(&thread_limit, cudaDevAttrMaxThreadsPerMultiProcessor, device),
          "cudaDeviceGetAttribute");
  const int warp_threads = (variant.block_threads + 31) / 32 * 32;
  resources.occupancy = static_cast<double>(resources.blocks_per_multiprocessor * warp_threads) / thread_limit;
  return resources;
}

InstructionCounts instructionsOf(const Variant& variant, const std::map<std::string, InstructionCounts>& counts) {
  if (variant.function == nullptr) return {};
  const char* name = nullptr;
  require(cudaFuncGetName(&name, variant.function), "cudaFuncGetName");
  const auto entry = counts.find(name);
  return entry == counts.end() ? InstructionCounts{} : entry->second;
}

}  // namespace handoff::kernels
