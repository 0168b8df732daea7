// SPDX-License-Identifier: Apache-2.0
// For tests of launch sites: a few kernels, and the launches of a small program.
#pragma once

#include <string>
#include <vector>

#include "analyzer/frontend/load_for_test.h"

namespace handoff::frontend {

inline constexpr char kKernels[] = R"(
#include <cuda_runtime.h>
struct Params { int rows; float scale; struct { unsigned char kind; long long stride; } inner; int* data; };
__global__ void k(float* out, int n, Params p) { out[threadIdx.x] = n + p.rows; }
__global__ void plain(float* out, int n) { out[threadIdx.x] = n; }
template <int N> __global__ void t(float* out) { out[threadIdx.x] = N; }
constexpr int ceilDiv(int a, int b) { return (a + b - 1) / b; }
inline int plainDiv(int a, int b) { return (a + b - 1) / b; }
int runtime();
float* d;
)";

inline std::vector<LaunchSite> launchesOf(const std::string& program) {
  auto unit = loadText(kKernels + program, withoutToolkit());
  if (!unit) {
    ADD_FAILURE() << toString(unit.error());
    return {};
  }
  for (const Error& note : unit->notes) ADD_FAILURE() << toString(note);
  return std::move(unit->launches);
}

/// The only launch of a program: declarations, and the body of main.
inline LaunchSite launch(const std::string& body, const std::string& before = {}) {
  const std::vector<LaunchSite> all =
      launchesOf(before + "int main(int argc, char** argv) {\n" + body + "\nreturn 0; }\n");
  EXPECT_EQ(all.size(), 1U);
  return all.empty() ? LaunchSite() : all.front();
}

inline std::array<Folded, 3> dims(Folded x, Folded y, Folded z) { return {x, y, z}; }

inline Folded argument(const LaunchSite& site, std::uint32_t param, std::uint32_t offset = 0) {
  for (const LaunchSite::Argument& a : site.arguments)
    if (a.param == param && a.offset == offset) return a.value;
  return std::nullopt;
}

}  // namespace handoff::frontend
