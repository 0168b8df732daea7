// SPDX-License-Identifier: Apache-2.0
// Kernels as declared, asm statements, comments, positions.
#include <gmock/gmock.h>

#include <thread>

#include "analyzer/frontend/load_for_test.h"

namespace handoff::frontend {
namespace {

using testing::HasSubstr;

std::string show(const ParamField& field) {
  constexpr const char* kKinds[] = {"int", "ptr", "float", "other", "tensormap"};
  return field.name + "@" + std::to_string(field.param) + "+" + std::to_string(field.offset) + ":" +
         std::to_string(field.size) + " " + kKinds[static_cast<int>(field.kind)] +
         (field.is_signed ? " signed" : "") +
         (field.pointee_size != 0 ? " to " + std::to_string(field.pointee_size) : "");
}

TEST(Kernels, FieldsAreFlattened) {
  const auto unit = loadText(R"(#include <cuda.h>
    struct Base { short tag; };
    struct P : Base { double scale; unsigned shape[2]; struct { const float4* data; } in; bool on; char table[100]; enum E : unsigned char { A } e; };
    __global__ void k(const __grid_constant__ CUtensorMap map, P p, void* raw, unsigned long long n, float f) {})",
                             withoutToolkit());
  ASSERT_TRUE(unit) << toString(unit.error());
  ASSERT_EQ(unit->kernels.size(), 1U);
  std::vector<std::string> fields;
  for (const ParamField& field : unit->kernels[0].fields) fields.push_back(show(field));
  EXPECT_THAT(fields,
              testing::ElementsAre("map@0+0:128 tensormap", "p.tag@1+0:2 int signed", "p.scale@1+8:8 float",
                                   "p.shape[0]@1+16:4 int", "p.shape[1]@1+20:4 int",
                                   "p.in.data@1+24:8 ptr to 16", "p.on@1+32:1 int", "p.table@1+33:100 other",
                                   "p.e@1+133:1 int", "raw@2+0:8 ptr", "n@3+0:8 int", "f@4+0:4 float"));
}

TEST(Kernels, NamesAndAttributes) {
  const auto unit = loadText(R"(#include <cuda_runtime.h>
namespace ns { template <typename T, int N> __global__ void __launch_bounds__(N * 2) k(const T* a) { asm volatile("" ::"l"(a)); } }
__global__ void __cluster_dims__(4, 2) c(int* p) { p[0] = 1; }
void go(float* p) { ns::k<float, 64><<<1, 1>>>(p); })",
                             withoutToolkit());
  ASSERT_TRUE(unit) << toString(unit.error());
  const KernelDecl* k = findKernel(*unit, "ns::k");
  const KernelDecl* c = findKernel(*unit, "c");
  ASSERT_TRUE(k != nullptr && c != nullptr);
  EXPECT_EQ(k->pretty, "ns::k<float, 64>(const float *)");
  EXPECT_EQ(k->max_threads, 128);
  EXPECT_EQ(k->pos.line, 2U);
  EXPECT_EQ(c->cluster_dims, (std::array<Folded, 3>{4, 2, 1}));
  EXPECT_EQ(c->max_threads, Folded());
  for (const KernelDecl& kernel : unit->kernels)
    EXPECT_NE(unit->module.findFunction(kernel.name), nullptr) << kernel.name;
}

TEST(Kernels, AsmFacts) {
  const auto unit = loadText(R"(#include <cuda_runtime.h>
template <int N> __device__ void wait() { asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory"); }
__device__ void commit() { asm volatile("cp.async.commit_group;\n\t"); }
__device__ int lane() { int x; asm("mov.u32 %0, %%laneid;" : "=r"(x)); return x; }
__global__ void k(int* p) { commit(); wait<0>(); wait<1>(); p[0] = lane(); })",
                             withoutToolkit());
  ASSERT_TRUE(unit) << toString(unit.error());
  ASSERT_EQ(unit->asm_facts.size(), 2U);
  EXPECT_EQ(unit->asm_facts[0].text, "cp.async.wait_group %0;");
  EXPECT_TRUE(unit->asm_facts[0].is_volatile && unit->asm_facts[0].has_memory_clobber);
  EXPECT_EQ(unit->asm_facts[1].text, "cp.async.commit_group;");
  EXPECT_FALSE(unit->asm_facts[1].has_memory_clobber);
  EXPECT_EQ(unit->asm_facts[1].pos.line, 3U);
}

TEST(Kernels, CommentsOfTheFileAndItsHeaders) {
  const Workspace workspace;
  workspace.write("h.cuh", "#pragma once\n// handoff: in a header\n");
  const auto unit =
      load(workspace.write(
               "t.cu",
               "#include <cuda_runtime.h>\n#include \"h.cuh\"\n// plain\n// handoff: launch block=128\n"
               "__global__ void k(int* p) { p[0] = 1; /* NOLINT(x) */ }\n"),
           withoutToolkit());
  ASSERT_TRUE(unit) << toString(unit.error());
  ASSERT_EQ(unit->comments.size(), 3U);
  EXPECT_EQ(unit->comments[0].pos.file, workspace.path("h.cuh"));
  EXPECT_EQ(unit->comments[1].text, "// handoff: launch block=128");
  EXPECT_EQ(unit->comments[1].pos.line, 4U);
  EXPECT_EQ(unit->comments[2].text, "/* NOLINT(x) */");
}

TEST(Kernels, PositionsCarryTheInlineChain) {
  const auto unit = loadText(
      "#include <cuda_runtime.h>\ntemplate <int N> __device__ void wait() {\n  asm "
      "volatile(\"cp.async.wait_group %0;\" ::\"n\"(N));\n}\n"
      "struct M { static __device__ void all() { wait<2>(); } };\n__global__ void k() {\n  M::all();\n}\n",
      withoutToolkit());
  ASSERT_TRUE(unit) << toString(unit.error());
  const SourceStack* stack = nullptr;
  for (const ptx::Function& function : unit->module.functions)
    for (const ptx::Instruction& instruction : function.instructions)
      if (instruction.opcode.starts_with("cp.async.wait_group"))
        stack = &unit->module.locations[instruction.loc];
  ASSERT_NE(stack, nullptr);
  ASSERT_EQ(stack->size(), 3U);
  EXPECT_EQ((*stack)[0].function, "wait<2>");
  EXPECT_EQ((*stack)[0].pos.line, 3U);
  EXPECT_EQ((*stack)[1].function, "M::all");
  EXPECT_EQ((*stack)[1].pos.line, 5U);
  EXPECT_EQ((*stack)[2].function, "k");
  EXPECT_EQ((*stack)[2].pos.line, 7U);
}

TEST(Kernels, LoadsInParallel) {
  std::vector<std::thread> threads;
  std::array<std::size_t, 4> kernels{};
  for (std::size_t i = 0; i < kernels.size(); ++i)
    threads.emplace_back([&, i] {
      const auto unit =
          loadText("#include <cuda_runtime.h>\n__global__ void k(int* p) { p[0] = 1; }\n", withoutToolkit());
      kernels[i] = unit ? unit->kernels.size() : 0;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(kernels, testing::Each(1U));
}

}  // namespace
}  // namespace handoff::frontend
