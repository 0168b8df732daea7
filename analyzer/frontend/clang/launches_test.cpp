// SPDX-License-Identifier: Apache-2.0
// What folds at a launch site, and what must not.
#include <gmock/gmock.h>

#include "analyzer/frontend/clang/launches_for_test.h"

namespace handoff::frontend {
namespace {

TEST(Launches, LiteralsAndDim3) {
  const LaunchSite site = launch("k<<<dim3(8, 4), 128, 64 * sizeof(float)>>>(d, 12, Params{});");
  EXPECT_EQ(site.grid, dims(8, 4, 1));
  EXPECT_EQ(site.block, dims(128, 1, 1));
  EXPECT_EQ(site.dynamic_smem, 256);
  EXPECT_EQ(site.cluster, dims({}, {}, {}));
  EXPECT_EQ(argument(site, 1), 12);
}

TEST(Launches, WithoutSharedBytesThereAreNone) {
  EXPECT_EQ(launch("k<<<1, 32>>>(d, 1, Params{});").dynamic_smem, 0);
}

TEST(Launches, LocalsConstantOrAssignedOnce) {
  const LaunchSite site = launch(
      "const int threads = 64; int n = 1000; int blocks = (n + threads - 1) / threads;"
      "dim3 grid(blocks, 2); dim3 block = threads; size_t smem = n * sizeof(int);"
      "k<<<grid, block, smem>>>(d, n, Params{});");
  EXPECT_EQ(site.grid, dims(16, 2, 1));
  EXPECT_EQ(site.block, dims(64, 1, 1));
  EXPECT_EQ(site.dynamic_smem, 4000);
  EXPECT_EQ(argument(site, 1), 1000);
}

TEST(Launches, LocalsThatMayChangeDoNotFold) {
  for (const char* text :
       {"int n = 8; n = 9;", "int n = 8; ++n;", "int n = 8; n += 2;", "int n = 8; int* p = &n; *p = 3;",
        "int n = 8; int& r = n; r = 2;", "int n = 8; auto f = [&] { n = 3; }; f();",
        "int n = 8; auto f = [&m = n] { m = 3; }; f();", "int n = 8; auto f = [&](auto x) { n += x; }; f(1);",
        "int n; if (argc > 1) n = 8;", "int n; n = 8; n = 9;", "int n = 8; if (argc > 1) n = 9;",
        "int n = argc;", "int n = runtime();", "static int n = 8;"}) {
    const LaunchSite site = launch(std::string(text) + " k<<<n, 128>>>(d, n, Params{});");
    EXPECT_EQ(site.grid[0], Folded()) << text;
    EXPECT_EQ(argument(site, 1), Folded()) << text;
    EXPECT_EQ(site.block[0], 128) << text;
  }
}

TEST(Launches, GlobalsFoldOnlyWhenConstant) {
  EXPECT_EQ(launch("k<<<kGrid, 1>>>(d, 1, Params{});", "constexpr int kGrid = 7;").grid[0], 7);
  EXPECT_EQ(launch("k<<<kGrid, 1>>>(d, 1, Params{});", "const int kGrid = 7;").grid[0], 7);
  EXPECT_EQ(launch("k<<<kGrid, 1>>>(d, 1, Params{});", "int kGrid = 7;").grid[0], Folded());
}

TEST(Launches, HelperCalls) {
  const LaunchSite site =
      launch("int n = 1001; k<<<ceilDiv(n, 128), plainDiv(n, 2)>>>(d, n > 5 ? 3 : 4, Params{});");
  EXPECT_EQ(site.grid[0], 8);
  EXPECT_EQ(site.block[0], 501);
  EXPECT_EQ(argument(site, 1), 3);
}

TEST(Launches, RecursionEnds) {
  EXPECT_EQ(
      launch("int n = 1; k<<<f(n), 1>>>(d, 1, Params{});", "inline int f(int n) { return f(n); }").grid[0],
      Folded());
}

TEST(Launches, DivisionByZeroDoesNotFold) {
  EXPECT_EQ(launch("int n = 0; k<<<4 / n, 1>>>(d, 1, Params{});").grid[0], Folded());
}

TEST(Launches, UnsignedArithmeticWraps) {
  EXPECT_EQ(launch("unsigned n = 3; k<<<1, 1>>>(d, (n - 4) >> 28, Params{});").arguments[0].value, 15);
}

TEST(Launches, MembersAssignedOneByOne) {
  EXPECT_EQ(launch("dim3 g; g.x = 5; g.y = 6; k<<<g, 1>>>(d, 1, Params{});").grid, dims(5, 6, 1));
  EXPECT_EQ(launch("dim3 g(2); g.x = 5; g.x = 6; k<<<g, 1>>>(d, 1, Params{});").grid, dims({}, 1, 1));
  EXPECT_EQ(launch("dim3 g(2); if (argc > 1) g.x = 5; k<<<g, 1>>>(d, 1, Params{});").grid, dims({}, 1, 1));
}

TEST(Launches, FieldsOfAStructArgument) {
  const LaunchSite site =
      launch("Params p{}; p.rows = 40; p.inner.stride = 1LL << 40; k<<<1, 1>>>(d, 1, p);");
  EXPECT_EQ(argument(site, 2, 0), 40);
  EXPECT_EQ(argument(site, 2, 8), 0);           // inner.kind, zero by "{}"
  EXPECT_EQ(argument(site, 2, 16), 1LL << 40);  // inner.stride
  EXPECT_EQ(argument(site, 2, 4), Folded());    // a float
  EXPECT_EQ(argument(site, 2, 24), Folded());   // a pointer
}

TEST(Launches, KernelThroughAPointer) {
  EXPECT_EQ(launch("auto kernel = &t<3>; cudaFuncSetAttribute(kernel, "
                   "cudaFuncAttributeMaxDynamicSharedMemorySize, 65536);"
                   "kernel<<<4, 32>>>(d);")
                .kernel,
            "_Z1tILi3EEvPf");
}

TEST(Launches, TemplateArgumentsOfTheHostFunction) {
  const LaunchSite site = launch("go<6>();", "template <int N> void go() { t<N><<<N * 2, N + 1>>>(d); }");
  EXPECT_EQ(site.kernel, "_Z1tILi6EEvPf");
  EXPECT_EQ(site.grid[0], 12);
  EXPECT_EQ(site.block[0], 7);
}

TEST(Launches, CudaLaunchKernel) {
  const LaunchSite site = launch(
      "int n = 9; Params p{7}; void* args[] = {&d, &n, &p};"
      "cudaLaunchKernel((const void*)k, dim3(3, 2, 1), dim3(96), args, 512, nullptr);");
  EXPECT_EQ(site.kernel, "_Z1kPfi6Params");
  EXPECT_EQ(site.grid, dims(3, 2, 1));
  EXPECT_EQ(site.block, dims(96, 1, 1));
  EXPECT_EQ(site.dynamic_smem, 512);
  EXPECT_EQ(argument(site, 1), 9);
  EXPECT_EQ(argument(site, 2), 7);
}

constexpr char kConfig[] = R"(
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(8, 2); config.blockDim = 128; config.dynamicSmemBytes = 1 << 10;
  cudaLaunchAttribute attrs[2];
  attrs[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attrs[0].val.programmaticStreamSerializationAllowed = 1;
  attrs[1].id = cudaLaunchAttributeClusterDimension;
  attrs[1].val.clusterDim.x = 4; attrs[1].val.clusterDim.y = 1; attrs[1].val.clusterDim.z = 1;
  config.attrs = attrs; config.numAttrs = 2;
)";

TEST(Launches, CudaLaunchKernelExWithClusters) {
  const LaunchSite site =
      launch(std::string(kConfig) + "int n = 5; cudaLaunchKernelEx(&config, k, d, n, Params{});");
  EXPECT_EQ(site.grid, dims(8, 2, 1));
  EXPECT_EQ(site.block, dims(128, 1, 1));
  EXPECT_EQ(site.cluster, dims(4, 1, 1));
  EXPECT_EQ(site.dynamic_smem, 1024);
  EXPECT_EQ(argument(site, 1), 5);
}

TEST(Launches, CudaLaunchKernelExC) {
  const LaunchSite site = launch(std::string(kConfig) +
                                 "int n = 5; Params p{}; void* args[] = {&d, &n, &p};"
                                 "cudaLaunchKernelExC(&config, (void*)&k, args);");
  EXPECT_EQ(site.cluster, dims(4, 1, 1));
  EXPECT_EQ(argument(site, 1), 5);
}

TEST(Launches, OneClusterAttributeWithoutAnArray) {
  const LaunchSite site = launch(
      "cudaLaunchAttribute a; a.id = cudaLaunchAttributeClusterDimension; a.val.clusterDim = {2, 1, 1};"
      "cudaLaunchConfig_t c{dim3(4), dim3(64), 0, 0, &a, 1}; cudaLaunchKernelEx(&c, t<1>, d);");
  EXPECT_EQ(site.cluster, dims(2, 1, 1));
  EXPECT_EQ(site.grid, dims(4, 1, 1));
}

TEST(Launches, AttributesInOnePiece) {
  const LaunchSite site = launch(
      "cudaLaunchAttribute a[1] = {}; a[0] = {.id = cudaLaunchAttributeClusterDimension, .val = {.clusterDim "
      "= {2, 2, 1}}};"
      "cudaLaunchConfig_t c{.gridDim = 4, .blockDim = 64, .attrs = a, .numAttrs = 1}; cudaLaunchKernelEx(&c, "
      "t<1>, d);");
  EXPECT_EQ(site.cluster, dims(2, 2, 1));
  EXPECT_EQ(site.block, dims(64, 1, 1));
}

TEST(Launches, WhatIsDeclaredWithoutAValueIsItsOnlyAssignment) {
  const LaunchSite site = launch(
      "int n; n = 8; dim3 grid; grid = dim3(4, n); int m; { m = 3; }"
      "k<<<grid, 128>>>(d, m, Params{});");
  EXPECT_EQ(site.grid, dims(4, 8, 1));
  EXPECT_EQ(argument(site, 1), 3);
}

TEST(Launches, ValuesAreThoseAtTheAssignment) {
  EXPECT_EQ(launch("dim3 g(2); int n = g.x; g.x = 7; k<<<n, 128>>>(d, 1, Params{});").grid[0], Folded())
      << "g.x was 2 when n was initialised";
  EXPECT_EQ(launch("dim3 g(2); g.x = 7; int n = g.x; k<<<n, 128>>>(d, 1, Params{});").grid[0], 7);
}

TEST(Launches, HelpersWithLocalsAndStructs) {
  const LaunchSite site = launch(
      "int n = 1001; const auto c = configure(n); k<<<c.grid, c.block, c.smem>>>(d, rounded(n), Params{});",
      "struct Config { dim3 grid, block; int smem; };"
      "Config configure(int n) { const int block = 128; Config c{}; c.grid = dim3(ceilDiv(n, block));"
      "  c.block = block; c.smem = block * 4; return c; }"
      "int rounded(int n) { int tiles = (n + 63) / 64; return tiles * 64; }");
  EXPECT_EQ(site.grid, dims(8, 1, 1));
  EXPECT_EQ(site.block, dims(128, 1, 1));
  EXPECT_EQ(site.dynamic_smem, 512);
  EXPECT_EQ(argument(site, 1), 1024);
}

TEST(Launches, HelperWithSeveralReturnsDoesNotFold) {
  EXPECT_EQ(launch("int n = argc; k<<<pick(n), 1>>>(d, 1, Params{});",
                   "int pick(int n) { if (n > 4) return 8; return 16; }")
                .grid[0],
            Folded());
}

TEST(Launches, MembersOfAnObject) {
  const LaunchSite site = launch("Shape s{300, 64}; k<<<s.tiles(), s.block>>>(d, Shape::kStages, Params{});",
                                 "struct Shape { int rows, block; static constexpr int kStages = 3;"
                                 "  int tiles() const { return (rows + block - 1) / block; } };");
  EXPECT_EQ(site.grid[0], 5);
  EXPECT_EQ(site.block[0], 64);
  EXPECT_EQ(argument(site, 1), 3);
}

TEST(Launches, ResultsOfTheRuntimeAreUnknown) {
  const LaunchSite site = launch(
      "int blocks = 0; cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, k, 128, 0);"
      "k<<<blocks, 128>>>(d, 1, Params{});",
      "template <class T> cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int*, T, int, size_t);");
  EXPECT_EQ(site.grid[0], Folded());
  EXPECT_EQ(site.block[0], 128);
}

TEST(Launches, PointersDoNotFold) {
  const LaunchSite site = launch("k<<<1, 1>>>(nullptr, 4, Params{});");
  EXPECT_EQ(argument(site, 0), Folded());
}

TEST(Launches, MinAndMax) {
  EXPECT_EQ(launch("int n = 300; k<<<std::min(n, 128), std::max(n, 400)>>>(d, 1, Params{});",
                   "#include <algorithm>\n")
                .grid[0],
            128);
}

}  // namespace
}  // namespace handoff::frontend
