// SPDX-License-Identifier: Apache-2.0
// Times of launches by CUDA events: what the device took, never what the host took to submit.
#include <algorithm>
#include <cstddef>

#include "common/device.h"

namespace handoff::kernels {

Times timeLaunches(const std::function<void()>& launch, int warmup, int launches) {
  cudaEvent_t begin = nullptr, end = nullptr;
  require(cudaEventCreate(&begin), "cudaEventCreate");
  require(cudaEventCreate(&end), "cudaEventCreate");
  for (int i = 0; i < warmup; ++i) launch();
  require(cudaDeviceSynchronize(), "warm-up");

  std::vector<double> times;
  for (int i = 0; i < launches; ++i) {
    require(cudaEventRecord(begin), "cudaEventRecord");
    launch();
    require(cudaEventRecord(end), "cudaEventRecord");
    require(cudaEventSynchronize(end), "timed launch");
    float milliseconds = 0;
    require(cudaEventElapsedTime(&milliseconds, begin, end), "cudaEventElapsedTime");
    times.push_back(milliseconds);
  }
  require(cudaEventDestroy(begin), "cudaEventDestroy");
  require(cudaEventDestroy(end), "cudaEventDestroy");

  std::sort(times.begin(), times.end());
  const auto at = [&](double share) { return times[static_cast<std::size_t>(share * static_cast<double>(times.size() - 1))]; };
  return {.median = at(0.5), .low = at(0.1), .high = at(0.9), .launches = launches};
}

void measure(Bench& bench, Variant variant) {
  const Times times = timeLaunches(variant.launch);
  variant.launch = nullptr;  // what it holds on to may go before the report is written
  bench.measured.push_back({std::move(variant), times});
}

}  // namespace handoff::kernels
