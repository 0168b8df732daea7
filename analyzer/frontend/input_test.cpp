// SPDX-License-Identifier: Apache-2.0
// Choosing producers, errors of the input, falling back.
#include "analyzer/frontend/input.h"

#include <gmock/gmock.h>

#include "analyzer/frontend/comments.h"
#include "analyzer/frontend/load_for_test.h"
#include "analyzer/frontend/names.h"
#include "analyzer/frontend/nvcc.h"

namespace handoff::frontend {
namespace {

using testing::HasSubstr;

constexpr char kSource[] =
    "#include <cuda_runtime.h>\n__device__ int twice(int x) { return 2 * x; }\nstatic __global__ void k(int* "
    "p, int n) {\n"
    "  asm volatile(\"cp.async.wait_all;\" ::: \"memory\");\n  p[0] = twice(n);\n}\n"
    "int main() { k<<<2, 64>>>(nullptr, 5); }\n";

TEST(Input, MissingFileIsAnError) {
  const auto unit = load("/nowhere/x.cu", {});
  ASSERT_FALSE(unit);
  EXPECT_EQ(unit.error().pos.file, "/nowhere/x.cu");
  EXPECT_THAT(unit.error().message, HasSubstr("no such file"));
}

TEST(Input, FolderIsAnError) {
  const Workspace workspace;
  const auto unit = load(workspace.path(), {});
  ASSERT_FALSE(unit);
  EXPECT_THAT(unit.error().message, HasSubstr("directory"));
}

TEST(Input, PtxIsReadAsItIs) {
  const Workspace workspace;
  const auto unit =
      load(workspace.write(
               "a.ptx", ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n\tret;\n}\n"),
           {});
  ASSERT_TRUE(unit) << toString(unit.error());
  EXPECT_EQ(unit->producer, Producer::kPtxFile);
  EXPECT_NE(unit->module.findFunction("k"), nullptr);
  EXPECT_TRUE(unit->kernels.empty());
}

TEST(Input, SyntaxErrorHasItsPosition) {
  const Workspace workspace;
  const std::string file = workspace.write(
      "t.cu",
      "#include <cuda_runtime.h>\n__global__ void k(int* p) {\n  p[0] = undeclared;\n  p[1] = other;\n}\n");
  const auto unit = load(file, withoutToolkit());
  ASSERT_FALSE(unit);
  EXPECT_EQ(unit.error().pos, (SourcePos{file, 3, 10}));
  EXPECT_THAT(unit.error().message, HasSubstr("undeclared"));
  EXPECT_THAT(unit.error().message, HasSubstr("and 1 more"));
}

TEST(Input, CrashOfTheCompilerIsAnError) {
  for (const char* what : {"crash", "llvm_fatal_error"}) {
    const auto unit =
        loadText(std::string("__attribute__((global)) void k() {}\n#pragma clang __debug ") + what + "\n",
                 withoutToolkit());
    ASSERT_FALSE(unit) << what;
    EXPECT_THAT(unit.error().message, HasSubstr("Clang")) << what;
    EXPECT_THAT(unit.error().pos.file, HasSubstr("t.cu")) << what;
  }
}

TEST(Input, UnknownFlagIsAnError) {
  Options options = withoutToolkit();
  options.extra_args = {"--no-such-flag"};
  const auto unit = loadText(kSource, options);
  ASSERT_FALSE(unit);
  EXPECT_THAT(unit.error().message, HasSubstr("no-such-flag"));
}

TEST(Input, WrongToolkitIsAnError) {
  Options options = clangOnly();
  options.cuda_path = "/nowhere";
  const auto unit = loadText(kSource, options);
  ASSERT_FALSE(unit);
  EXPECT_EQ(unit.error().pos.file, "/nowhere");
}

TEST(Input, FilesAreNamedAsTheUserNamedThem) {
  const Workspace workspace;
  workspace.write("sub/h.cuh", "__device__ inline int one() { return 1; }\n");
  workspace.write(
      "sub/t.cu",
      "#include <cuda_runtime.h>\n#include \"h.cuh\"\n__global__ void k(int* p) { p[0] = one(); }\n");
  const std::string relative = std::filesystem::relative(workspace.path("sub/t.cu")).string();
  const auto unit = load(relative, withoutToolkit());
  ASSERT_TRUE(unit) << toString(unit.error());
  EXPECT_EQ(unit->file, relative);
  EXPECT_EQ(unit->kernels.at(0).pos.file, relative);
}

TEST(Input, NeighboursOfARelativeFileAreRelative) {
  const PathMap map("cases/a.cu", "/build");
  EXPECT_EQ(map.display("../x/h.h"), "/x/h.h");
  EXPECT_EQ(map.display(absolutePath("cases/a.cu")), "cases/a.cu");
  EXPECT_EQ(map.display(absolutePath("cases/h.cuh")), "cases/h.cuh");
  EXPECT_EQ(map.display(absolutePath("include/h.h")), "include/h.h");
  EXPECT_EQ(map.display("/usr/local/cuda/bin/../include/x.h"), "/usr/local/cuda/include/x.h");
}

TEST(Input, BundledHeadersServeWithoutAToolkit) {
  const auto unit = loadText(kSource, withoutToolkit());
  ASSERT_TRUE(unit) << toString(unit.error());
  EXPECT_TRUE(unit->used_bundled_headers);
  EXPECT_EQ(unit->producer, Producer::kClang);
  EXPECT_EQ(unit->launches.size(), 1U);
}

TEST(Input, BundledHeadersKnowWhatSmallKernelsUse) {
  const auto unit = loadText(R"(#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>
__global__ void k(const float4* in, float* out, const __half* h, const __nv_bfloat16* b, int n) {
  __shared__ float4 tile[128]; extern __shared__ int dynamic[];
  __pipeline_memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], 16);
  __pipeline_commit(); __pipeline_wait_prior(0); __syncthreads();
  float sum = tile[threadIdx.x ^ 1].x + __half2float(h[0]) + __bfloat162float(b[0]) + sqrtf(3.f) + dynamic[0];
  for (int i = 16; i > 0; i /= 2) sum += __shfl_xor_sync(0xffffffff, sum, i);
  __syncwarp(); atomicAdd(&out[blockIdx.x], min(sum, 3.f)); printf("%d", n);
  uint32_t a = static_cast<uint32_t>(__cvta_generic_to_shared(tile)); int2 pair = make_int2(1, a); out[pair.x] = pair.y;
}
int main() { float* d; cudaMalloc(&d, 4); cudaMemset(d, 0, 4); k<<<dim3(2), 64, 16>>>(nullptr, d, nullptr, nullptr, 1); return cudaDeviceSynchronize(); })",
                             withoutToolkit());
  ASSERT_TRUE(unit) << toString(unit.error());
  for (const Error& note : unit->notes) ADD_FAILURE() << toString(note);
  EXPECT_EQ(countOpcodes(*unit, "cp.async.cg"), 1U);
  EXPECT_EQ(countOpcodes(*unit, "cp.async.wait_group"), 1U);
}

TEST(Input, CompileCommandsReachTheCompiler) {
  const Workspace workspace;
  workspace.write("inc/h.h", "#define WHAT 3\n");
  const std::string file = workspace.write(
      "src/t.cu",
      "#include <cuda_runtime.h>\n#include <h.h>\n__global__ void k(int* p) { p[WHAT] = NAME; }\n");
  workspace.write(
      "build/compile_commands.json",
      R"([{"directory": ")" + workspace.path("build") +
          R"(", "file": "../src/t.cu", "command": )"
          R"("/cuda/bin/nvcc -DNAME=4 -I../inc -arch=sm_80 -Xcompiler=-fPIC --expt-relaxed-constexpr -x cu -c ../src/t.cu -o t.o"}])");
  Options options = withoutToolkit();
  options.has_fixed_flags = false;
  options.build_path = workspace.path("build");
  const auto unit = load(file, options);
  ASSERT_TRUE(unit) << toString(unit.error());
  EXPECT_EQ(unit->module.target, "sm_80");
  EXPECT_EQ(unit->kernels.at(0).pos.file, file);
}

TEST(Input, NvccServesWhenAsked) {
  HANDOFF_NEEDS_NVCC();
  Options options = clangOnly();
  options.frontend = Choice::kNvcc;
  const auto unit = loadText(kSource, options);
  ASSERT_TRUE(unit) << toString(unit.error());
  EXPECT_EQ(unit->producer, Producer::kNvcc);
  ASSERT_EQ(unit->kernels.size(), 1U);
  EXPECT_NE(unit->module.findFunction(unit->kernels[0].name), nullptr);
  EXPECT_EQ(unit->kernels[0].pretty, "k(int *, int)");
  ASSERT_EQ(unit->launches.size(), 1U);
  EXPECT_EQ(unit->launches[0].kernel, unit->kernels[0].name);
  EXPECT_EQ(unit->asm_facts.size(), 1U);
}

TEST(Input, NvccStepsInForAnUntrustedKernel) {
  HANDOFF_NEEDS_NVCC();
  Options options = clangOnly();
  options.frontend = Choice::kAuto;
  // Clang has no constraint "C"; nvcc prints a string constant with it.
  const auto unit = loadText(
      "template <const char* s> struct S;\n__device__ const char kOp[] = \"add.s32\";\n"
      "__global__ void k(int* p) { int x; asm volatile(\"%1 %0, 1, 2;\" : \"=r\"(x) : \"C\"(kOp)); p[0] = x; "
      "}\n"
      "__global__ void fine(int* p) { p[0] = 1; }\n",
      options);
  ASSERT_TRUE(unit) << toString(unit.error());
  if (unit->producer != Producer::kNvcc) GTEST_SKIP() << "this nvcc refuses the source, too";
  ASSERT_FALSE(unit->notes.empty());
  EXPECT_THAT(unit->notes.back().message, HasSubstr("nvcc did"));
  for (const KernelDecl& kernel : unit->kernels) EXPECT_FALSE(kernel.untrusted);
}

TEST(Input, KernelThatBothCompilersFindEmptyIsNotTrusted) {
  HANDOFF_NEEDS_NVCC();
  Options options = clangOnly();
  options.frontend = Choice::kAuto;
  const auto unit =
      loadText("__global__ void k(int* p) {\n#if __CUDA_ARCH__ >= 10000\n  p[0] = 1;\n#endif\n}\n", options);
  ASSERT_TRUE(unit) << toString(unit.error());
  ASSERT_EQ(unit->kernels.size(), 1U);
  EXPECT_TRUE(unit->kernels[0].untrusted);
}

TEST(Input, ErrorOfBothCompilersIsClangs) {
  HANDOFF_NEEDS_NVCC();
  Options options = clangOnly();
  options.frontend = Choice::kAuto;
  const auto unit = loadText("__global__ void k(int* p) {\n  p[0] = undeclared;\n}\n", options);
  ASSERT_FALSE(unit);
  EXPECT_EQ(unit.error().pos.line, 2U);
  EXPECT_EQ(unit.error().pos.column, 10U);
}

TEST(Input, MissingHeadersAreNamedBesideTheFirstError) {
  const auto unit = loadText(
      "#include <a/gone.h>\n#include \"lost.cuh\"\n__global__ void k(int* p) { p[0] = lost::f(); }\n",
      withoutToolkit());
  ASSERT_FALSE(unit);
  EXPECT_EQ(unit.error().pos.line, 3U);
  EXPECT_THAT(unit.error().message, HasSubstr("(and 2 more; not found: 'a/gone.h', 'lost.cuh')"));
}

TEST(Nvcc, MessagesGiveTheFirstErrorAndTheCount) {
  const PathMap paths("t.cu", "");
  const Error error = firstNvccError(
      "t.cu(1): warning #1-D: x\nt.cu(7): error: identifier \"y\" is undefined\n\nt.cu(8): error: z\n2 "
      "errors detected\n",
      paths);
  EXPECT_EQ(error.pos, (SourcePos{"t.cu", 7, 0}));
  EXPECT_EQ(error.message, "identifier \"y\" is undefined (and 1 more)");
  EXPECT_EQ(firstNvccError("t.cu:3:10: fatal error: h.h: No such file or directory\n", paths).pos,
            (SourcePos{"t.cu", 3, 10}));
  EXPECT_THAT(firstNvccError("nvcc fatal   : Unsupported gpu architecture\n", paths).message,
              HasSubstr("Unsupported gpu"));
}

TEST(Names, ShortAndPretty) {
  EXPECT_EQ(shortFunctionName("_ZN2M44loadILi2EEEvPKf"), "M4::load<2>");
  EXPECT_EQ(prettyFunctionName("_Z8ring_sumPKfi"), "ring_sum(float const*, int)");
  EXPECT_EQ(shortFunctionName("plain"), "plain");
}

TEST(Names, LinkageOfStaticKernelsIsIgnored) {
  EXPECT_EQ(linkageFreeName("_ZL4kernPi"), "_Z4kernPi");
  EXPECT_EQ(linkageFreeName("_ZN2nsL4kernEPi"), "_ZN2ns4kernEPi");
  EXPECT_EQ(linkageFreeName("_ZN2L44kernEPi"), "_ZN2L44kernEPi");
}

TEST(Comments, ScannerKnowsStrings) {
  const auto comments = scanComments(
      "int a = 1'000; // NOLINT\nconst char* s = \"// NOLINT\";\n/* x\n handoff: y */ int b; // other\n",
      "f");
  ASSERT_EQ(comments.size(), 2U);
  EXPECT_EQ(comments[0].pos, (SourcePos{"f", 1, 16}));
  EXPECT_EQ(comments[1].pos, (SourcePos{"f", 3, 1}));
}

}  // namespace
}  // namespace handoff::frontend
