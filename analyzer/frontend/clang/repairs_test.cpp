// SPDX-License-Identifier: Apache-2.0
// Code that nvcc takes and Clang as it stands does not.
#include <gmock/gmock.h>

#include "analyzer/frontend/load_for_test.h"

namespace handoff::frontend {
namespace {

using testing::IsEmpty;

/// Loads and expects no complaint of any kind.
Unit loadCleanly(const std::string& text, const Options& options = clangOnly()) {
  auto unit = loadText(text, options);
  if (!unit) {
    ADD_FAILURE() << toString(unit.error());
    return {};
  }
  for (const Error& note : unit->notes) ADD_FAILURE() << toString(note);
  for (const KernelDecl& kernel : unit->kernels)
    if (kernel.untrusted) ADD_FAILURE() << kernel.pretty << ": " << toString(*kernel.untrusted);
  return std::move(*unit);
}

TEST(Repairs, SharedLibraryBarrier) {
  HANDOFF_NEEDS_TOOLKIT();
  const Unit unit = loadCleanly(
      "#include <cuda/barrier>\n__global__ void k(int* p) {\n"
      "  __shared__ cuda::barrier<cuda::thread_scope_block> bar;\n"
      "  if (threadIdx.x == 0) init(&bar, blockDim.x);\n  __syncthreads();\n  bar.arrive_and_wait();\n  "
      "p[threadIdx.x] = 1;\n}\n");
  EXPECT_EQ(countOpcodes(unit, "mbarrier.init"), 1U);
  EXPECT_GE(countOpcodes(unit, "mbarrier.arrive"), 1U);
}

TEST(Repairs, ExplicitDestructionOfASharedBarrierStays) {
  HANDOFF_NEEDS_TOOLKIT();
  const Unit unit = loadCleanly(
      "#include <cuda/barrier>\nusing B = cuda::barrier<cuda::thread_scope_block>;\n__global__ void k(int* "
      "p) {\n"
      "  __shared__ B bar;\n  init(&bar, 1);\n  bar.~B();\n  p[0] = 1;\n}\n");
  EXPECT_EQ(countOpcodes(unit, "mbarrier.inval"), 1U);
}

TEST(Repairs, WhatNvccOnlyWarnsOf) {
  const Unit unit = loadCleanly(
      "#include <cuda_runtime.h>\nstruct Coord { int b, d; };\n#define WIDTH \"d\"\n"
      "struct S { template <class T = int> __device__ int get() { return 1; } };\n"
      "template <class A> __device__ int get(A a) { return a.template get(); }\n"
      "__device__ int now() { return threadIdx.x; }\n"
      "__device__ constexpr int later(int x) { return x + now(); }\n"
      "__global__ void k(int* out, int n) {\n  register int r = threadIdx.x;\n"
      "  Coord c = {blockIdx.z, blockIdx.y};\n  const char* text = \"%\"WIDTH;\n"
      "  out[r] = c.b + get(S{}) + later(n) + text[n];\n}\n",
      withoutToolkit());
  EXPECT_EQ(unit.kernels.size(), 1U);
}

TEST(Repairs, SharedPipelineState) {
  HANDOFF_NEEDS_TOOLKIT();
  const Unit unit = loadCleanly(
      "#include <cooperative_groups.h>\n#include <cuda/pipeline>\n__global__ void k(const int* in, int* out) "
      "{\n"
      "  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;\n  __shared__ int "
      "tile[64];\n"
      "  auto block = cooperative_groups::this_thread_block();\n  auto pipe = cuda::make_pipeline(block, "
      "&state);\n"
      "  pipe.producer_acquire();\n  cuda::memcpy_async(block, tile, in, sizeof(tile), pipe);\n  "
      "pipe.producer_commit();\n"
      "  pipe.consumer_wait();\n  out[threadIdx.x] = tile[threadIdx.x];\n  pipe.consumer_release();\n}\n");
  EXPECT_GE(countOpcodes(unit, "mbarrier.init"), 1U);
  EXPECT_GE(countOpcodes(unit, "cp.async"), 1U);
}

constexpr char kCounter[] =
    "#include <cuda_runtime.h>\nstruct Counter { int a = 41; int b = 42; __device__ ~Counter() { a = 0; } "
    "};\n";

TEST(Repairs, UserClassInSharedMemoryIsNotInitialised) {
  const Unit unit =
      loadCleanly(std::string(kCounter) + "__global__ void k(int* p) { __shared__ Counter c; p[0] = c.a; }\n",
                  withoutToolkit());
  EXPECT_EQ(countOpcodes(unit, "st.shared"), 0U);
  EXPECT_EQ(countOpcodes(unit, "ld.shared"), 1U);
}

TEST(Repairs, DefaultedDestructorOfALocalIsDefined) {
  const Unit unit = loadCleanly(
      "#include <cuda_runtime.h>\nstruct Inner { int* p; __device__ Inner() : p(nullptr) {}\n"
      "  __device__ ~Inner() { if (p) *p = 7; } };\nstruct Outer { Inner a; int x = 3; };\n"
      "__global__ void k(int* out) {\n  __shared__ Outer s;\n  Outer local;\n"
      "  local.a.p = out + threadIdx.x;\n  s.x = 1;\n  out[64] = s.x + local.x;\n}\n",
      withoutToolkit());
  EXPECT_EQ(countOpcodes(unit, "call"), 0U);
  EXPECT_EQ(countOpcodes(unit, "st.global"), 2U);
}

TEST(Repairs, LocalsOfThatClassStillAre) {
  const Unit unit = loadCleanly(std::string(kCounter) +
                                    "__global__ void k(int* p) { __shared__ Counter c; c.b = p[1]; Counter "
                                    "local; p[2] = local.a + local.b; p[3] = c.b; }\n",
                                withoutToolkit());
  ASSERT_EQ(unit.kernels.size(), 1U);
  bool is_sum_there = false;
  for (const ptx::Function& function : unit.module.functions)
    for (const ptx::Instruction& instruction : function.instructions)
      for (const ptx::Operand& operand : instruction.operands)
        is_sum_there |= operand.kind == ptx::Operand::Kind::kImmediate && operand.imm == 83;
  EXPECT_TRUE(is_sum_there);
}

TEST(Repairs, NewInSharedMemoryRunsTheConstructor) {
  const Unit unit = loadCleanly(
      "#include <cuda_runtime.h>\n#include <new>\nstruct C { int a; __device__ C() : a(7) {} };\n"
      "__device__ inline void* operator new(size_t, C* p) { return p; }\n"
      "__global__ void k(int* p) { __shared__ C c; new (&c) C(); __syncthreads(); p[threadIdx.x] = c.a; }\n",
      withoutToolkit());
  EXPECT_EQ(countOpcodes(unit, "st.shared"), 1U);
}

TEST(Repairs, ReadsOfSharedMemoryThatNobodyStoresToStay) {
  const Unit unit = loadCleanly(
      "#include <cuda_runtime.h>\n__global__ void k(float* p) { __shared__ float s[64]; p[threadIdx.x] = "
      "s[threadIdx.x]; }\n",
      withoutToolkit());
  EXPECT_EQ(countOpcodes(unit, "ld.shared"), 1U);
}

TEST(Repairs, StoresToSharedMemoryThatNobodyReadsStay) {
  const Unit unit = loadCleanly(
      "#include <cuda_runtime.h>\n__global__ void k(float* p) { __shared__ float s[64]; s[threadIdx.x] = "
      "p[threadIdx.x]; }\n",
      withoutToolkit());
  EXPECT_EQ(countOpcodes(unit, "st.shared"), 1U);
}

TEST(Repairs, SinglePercentInAsm) {
  const Unit unit = loadCleanly(
      "#include <cuda_runtime.h>\n__global__ void k(unsigned* p) { unsigned x, y;\n"
      "  asm volatile(\"mov.u32 %0, %clusterid.x;\\n\" : \"=r\"(x) :);\n"
      "  asm volatile(\"{ .reg .b32 t; mov.u32 t, %laneid; add.u32 %0, t, %1; }\" : \"=r\"(y) : \"r\"(x));\n "
      " p[0] = x + y; }\n",
      withoutToolkit());
  EXPECT_EQ(unit.kernels.size(), 1U);
}

TEST(Repairs, MissingCommaBetweenAsmOperands) {
  const Unit unit = loadCleanly(
      "#include <cuda_runtime.h>\n__global__ void k(int* p, int a, int b) { int x;\n"
      "  asm volatile(\"add.s32 %0, %1, %2;\" : \"=r\"(x) : \"r\"(a)  \"r\"(b)); p[0] = x; }\n",
      withoutToolkit());
  EXPECT_EQ(unit.kernels.size(), 1U);
}

TEST(Repairs, RestrictWhereNoPointerIs) {
  const Unit unit = loadCleanly(
      "#include <cuda_runtime.h>\n"
      "template <int N> __device__ void load(unsigned __restrict__ r[][4], unsigned __restrict__ (*t)[8],\n"
      "                                      int __restrict__ *p) {\n"
      "  for (int i = 0; i < N; ++i) r[i][0] = t[i][1] + p[i]; }\n"
      "__global__ void k(unsigned* p, int* q) { __shared__ unsigned __restrict__ tile[4][8]; unsigned r[2][4];\n"
      "  tile[threadIdx.x][1] = p[threadIdx.x]; __syncthreads(); load<2>(r, tile, q); p[0] = r[1][0]; }\n",
      withoutToolkit());
  EXPECT_EQ(unit.kernels.size(), 1U);
  EXPECT_GE(countOpcodes(unit, "ld.shared"), 1U);
}

TEST(Repairs, CachedStores) {
  HANDOFF_NEEDS_TOOLKIT();
  const Unit unit = loadCleanly(
      "#include <cstdint>\n#include <cuda_fp16.h>\n__global__ void k(uint64_t* p, long* q, float4* f, half* h) {\n"
      "  __stcs(p, 1); __stcg(p + 1, uint64_t(2)); __stwt(q, 3L); __stwb(q + 1, 4L); __stcs(f, f[1]);\n"
      "  __stcg(h, h[1]); __stwt(reinterpret_cast<int*>(f), 5); }\n");
  EXPECT_EQ(unit.kernels.size(), 1U);
}

TEST(Repairs, MissingTypename) {
  const Unit unit = loadCleanly(
      "#include <cuda_runtime.h>\nstruct A { struct In { static constexpr int v = 3; }; };\n"
      "template <typename T> struct Get { static constexpr int v = T::v; };\n"
      "template <typename T> __global__ void k(int* p) { p[0] = Get<T::In>::v; }\nvoid go(int* p) { "
      "k<A><<<1, 1>>>(p); }\n",
      withoutToolkit());
  EXPECT_EQ(unit.kernels.size(), 1U);
}

TEST(Repairs, MissingTemplate) {
  const Unit unit = loadCleanly(
      "#include <cuda_runtime.h>\nstruct A { template <int N> __device__ int get() { return N; } };\n"
      "template <typename T> __global__ void k(int* p) { T t; p[0] = t.get<3>(); p[1] = t.get<4>(); }\n"
      "void go(int* p) { k<A><<<1, 1>>>(p); }\n",
      withoutToolkit());
  EXPECT_EQ(unit.kernels.size(), 1U);
}

TEST(Repairs, ExternSharedStruct) {
  const Unit unit = loadCleanly(
      "#include <cuda_runtime.h>\nstruct S { float a[32]; };\nextern __shared__ S s;\n"
      "__global__ void k(float* p) { s.a[threadIdx.x] = 1; __syncthreads(); p[threadIdx.x] = s.a[31 - "
      "threadIdx.x]; }\n",
      withoutToolkit());
  EXPECT_EQ(unit.kernels.size(), 1U);
  EXPECT_EQ(countOpcodes(unit, "ld.shared"), 1U);
}

TEST(Repairs, HostMinMaxAndImplicitHeaders) {
  HANDOFF_NEEDS_TOOLKIT();
  const Unit unit = loadCleanly(
      "#include <tuple>\n__global__ void k(int* p) { p[0] = max(1, 2); }\n"
      "int main() { srand(time(nullptr)); printf(\"x\"); return max(3u, 4) + min(1.0, 2.0f); }\n");
  EXPECT_EQ(unit.kernels.size(), 1U);
}

TEST(Repairs, ManagedVariables) {
  HANDOFF_NEEDS_TOOLKIT();
  loadCleanly("__managed__ int counter;\n__global__ void k() { atomicAdd(&counter, 1); }\n");
}

TEST(Repairs, ClusterGroups) {
  HANDOFF_NEEDS_TOOLKIT();
  const Unit unit = loadCleanly(
      "#include <cooperative_groups.h>\n__global__ void __cluster_dims__(2, 1, 1) k(int* p) {\n"
      "  auto cluster = cooperative_groups::this_cluster(); cluster.sync(); p[0] = cluster.block_rank(); "
      "}\n");
  ASSERT_EQ(unit.kernels.size(), 1U);
  EXPECT_EQ(unit.kernels[0].cluster_dims[0], 2);
  EXPECT_GE(countOpcodes(unit, "barrier.cluster"), 1U);
}

}  // namespace
}  // namespace handoff::frontend
