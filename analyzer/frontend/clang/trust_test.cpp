// SPDX-License-Identifier: Apache-2.0
// Errors that are tolerated, and kernels that they touch. Every source has a sound kernel "fine", so that the
// file loads.
#include <gmock/gmock.h>

#include "analyzer/frontend/load_for_test.h"

namespace handoff::frontend {
namespace {

struct Verdict {
  bool is_loaded = false;
  bool is_fine_trusted = false;
  bool is_other_trusted = false;
  std::string text;
};

/// `source` defines the kernel "other".
Verdict judge(const std::string& source) {
  const auto unit =
      loadText("#include <cuda_runtime.h>\n__global__ void fine(float* p) { p[threadIdx.x] = 1; }\n" + source,
               withoutToolkit());
  Verdict verdict;
  if (!unit) {
    verdict.text = toString(unit.error());
    return verdict;
  }
  verdict.is_loaded = true;
  for (const Error& note : unit->notes) verdict.text += toString(note) + "\n";
  const KernelDecl* fine = findKernel(*unit, "fine");
  const KernelDecl* other = findKernel(*unit, "other");
  verdict.is_fine_trusted = fine != nullptr && !fine->untrusted;
  verdict.is_other_trusted = other != nullptr && !other->untrusted;
  return verdict;
}

void expectDistrust(const std::string& source) {
  const Verdict verdict = judge(source);
  EXPECT_TRUE(verdict.is_loaded) << source << "\n" << verdict.text;
  EXPECT_TRUE(verdict.is_fine_trusted) << source << "\n" << verdict.text;
  EXPECT_FALSE(verdict.is_other_trusted) << source << "\n" << verdict.text;
}

void expectTrust(const std::string& source) {
  const Verdict verdict = judge(source);
  EXPECT_TRUE(verdict.is_loaded && verdict.is_fine_trusted && verdict.is_other_trusted) << source << "\n"
                                                                                        << verdict.text;
}

TEST(Trust, HostErrorTouchesNoKernel) {
  expectTrust("__global__ void other(float* p) { p[0] = 2; }\nint host() { return undeclared(); }");
}

TEST(Trust, ErrorInTheKernelItself) {
  expectDistrust("__global__ void other(float* p) { p[0] = undeclared; }");
}

TEST(Trust, ErrorInACalledFunction) {
  expectDistrust(
      "__device__ float helper(float x) { return x + undeclared; }\n__global__ void other(float* p) { p[0] = "
      "helper(1); }");
}

TEST(Trust, ErrorTwoCallsAway) {
  expectDistrust(
      "__device__ float a() { return undeclared; }\n__device__ float b() { return a(); }\n__global__ void "
      "other(float* p) { p[0] = b(); }");
}

TEST(Trust, ErrorInALambda) {
  expectDistrust(
      "__global__ void other(float* p) { auto f = [=](int i) { return undeclared; }; p[0] = 1; f(1); }");
}

TEST(Trust, ErrorInAGenericLambda) {
  expectDistrust(
      "__global__ void other(float* p) { auto f = [=](auto i) { return i.nothing; }; p[0] = f(1); }");
}

TEST(Trust, ErrorInADefaultArgument) {
  expectDistrust(
      "__device__ int f(int x = undeclared) { return x; }\n__global__ void other(float* p) { p[0] = f(); }");
}

TEST(Trust, ErrorInAConstexprVariable) {
  expectDistrust(
      "constexpr int kSize = undeclared;\n__global__ void other(float* p) { __shared__ float s[kSize]; s[0] "
      "= p[0]; p[1] = s[0]; }");
}

TEST(Trust, ErrorInAConstexprVariableOfANamespace) {
  expectDistrust(
      "namespace a { constexpr int kSize = undeclared + 1; }\n__global__ void other(float* p) { p[a::kSize] "
      "= 1; }");
}

TEST(Trust, ErrorInADefaultMemberInitialiser) {
  expectDistrust("struct S { int x = undeclared; };\n__global__ void other(float* p) { S s; p[0] = s.x; }");
}

TEST(Trust, ErrorInAMemberOfAClassWithADefaultedConstructor) {
  expectDistrust(
      "struct S { Unknown u; int x; S() = default; };\n__global__ void other(float* p) { S s; s.x = 1; p[0] "
      "= s.x; }");
}

TEST(Trust, ErrorInABase) {
  expectDistrust(
      "struct B { Unknown u; int x; };\nstruct D : B { };\n__global__ void other(float* p) { D d; d.x = 1; "
      "p[0] = d.x; }");
}

TEST(Trust, ErrorInATemplateInstantiation) {
  expectDistrust(
      "template <typename T> __device__ int f(T t) { return t.nothing; }\n__global__ void other(float* p) { "
      "p[0] = f(1); }");
}

TEST(Trust, ErrorInATemplateThatNobodyUses) {
  expectTrust(
      "template <typename T> __device__ int f(T t) { return undeclared; }\n__global__ void other(float* p) { "
      "p[0] = 1; }");
}

TEST(Trust, ErrorInABlockThatIfConstexprDiscards) {
  expectTrust(
      "template <int N> __device__ int f() { if constexpr (N == 1) { return undeclared; } else { return 2; } "
      "}\n"
      "__global__ void other(float* p) { p[0] = f<0>(); }");
}

TEST(Trust, ErrorInABlockThatIfConstexprKeeps) {
  expectDistrust(
      "template <int N> __device__ int f() { if constexpr (N == 1) { return undeclared; } else { return 2; } "
      "}\n"
      "__global__ void other(float* p) { p[0] = f<1>(); }");
}

TEST(Trust, ErrorInATemplateKernel) {
  expectDistrust(
      "template <int N> __global__ void other(float* p) { p[0] = undeclared; }\nvoid host(float* p) { "
      "other<1><<<1, 1>>>(p); }");
}

TEST(Trust, DeclarationThatVanishedTakesItsOverloadsAlong) {
  expectDistrust(
      "__device__ int f(long) { return 1; }\n__device__ int f(Unknown, int);\n__global__ void other(float* "
      "p) { p[0] = f(1L); }");
}

TEST(Trust, SpecialisationThatVanished) {
  expectDistrust(
      "template <typename T> struct Size { static constexpr int value = 4; };\n"
      "template <> struct Size<Unknown> { static constexpr int value = 8; };\n"
      "__global__ void other(float* p) { p[Size<int>::value] = 1; }");
}

TEST(Trust, HostFunctionCalledFromTheDevice) {
  expectDistrust("int onHost(int);\n__global__ void other(float* p) { p[0] = onHost(1); }");
}

TEST(Trust, BadAsmOperand) {
  expectDistrust(
      "__global__ void other(float* p) { int x; asm volatile(\"mov.u32 %0, %3;\" : \"=r\"(x)); p[0] = x; }");
}

TEST(Trust, MissingHeaderIsToleratedAndNamed) {
  const Verdict verdict = judge("#include <nowhere/at_all.h>\n__global__ void other(float* p) { p[0] = 1; }");
  EXPECT_TRUE(verdict.is_other_trusted) << verdict.text;
  EXPECT_THAT(verdict.text, testing::HasSubstr("nowhere/at_all.h"));
}

TEST(Trust, LostKernelIsAnError) {
  const Verdict verdict = judge("int host() { int x = 0;\n__global__ void other(float* p) { p[0] = 1; }\n");
  EXPECT_FALSE(verdict.is_loaded) << verdict.text;
}

TEST(Trust, KernelThatThePreprocessorEmptied) {
  expectDistrust("__global__ void other(float* p) {\n#if __CUDA_ARCH__ >= 10000\n p[0] = 1;\n#endif\n}");
  expectTrust("__global__ void other(float* p) { /* nothing to do */ }");
  expectTrust("__global__ void other(float* p) { extern __shared__ int unused[]; int x = 1; x += 2; }");
}

TEST(Trust, KernelThatTheOptimiserEmptied) {
  expectDistrust("__global__ void other(float* p) { p[0] = 1; __builtin_unreachable(); }");
}

}  // namespace
}  // namespace handoff::frontend
