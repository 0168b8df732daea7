// SPDX-License-Identifier: Apache-2.0
// Which tensor maps of a launch are followed to their encoding, and which must stay unknown.
#include <gmock/gmock.h>

#include "analyzer/frontend/load_for_test.h"

namespace handoff::frontend {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr char kPrelude[] = R"(
#include <cuda.h>
#include <cuda_runtime.h>
#include <cudaTypedefs.h>
struct Params { int rows; CUtensorMap a, b; };
__global__ void k(const __grid_constant__ CUtensorMap map, int n) {}
__global__ void two(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b) {}
__global__ void s(const __grid_constant__ Params p) {}
__global__ void p(const CUtensorMap* map, float* out) {}
template <int N> __global__ void t(const __grid_constant__ CUtensorMap map) {}
float* d;
int runtime();
#define ENCODE(map, box, steps, rank) \
  cuTensorMapEncodeTiled(map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, rank, d, nullptr, nullptr, box, steps, \
      CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE, \
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)
constexpr cuuint32_t ones[5] = {1, 1, 1, 1, 1};
)";

std::vector<TensorMapFact> maps(const std::string& body, const std::string& before = {},
                                const Options& options = withoutToolkit()) {
  const auto unit = loadText(
      kPrelude + before + "\nint main(int argc, char** argv) {\n" + body + "\nreturn 0; }\n", options);
  if (!unit) {
    ADD_FAILURE() << toString(unit.error());
    return {};
  }
  for (const Error& note : unit->notes) ADD_FAILURE() << toString(note);
  return unit->tensor_maps;
}

/// "host variable: box" of each, in order.
std::vector<std::string> boxes(const std::string& body, const std::string& before = {},
                               const Options& options = withoutToolkit()) {
  std::vector<std::string> out;
  for (const TensorMapFact& map : maps(body, before, options)) {
    std::string text = map.variable + ":";
    for (const std::uint32_t extent : map.box) text += " " + std::to_string(extent);
    out.push_back(text);
  }
  return out;
}

// --- in the function of the launch ---

TEST(TensorMaps, EncodedWhereItIsLaunched) {
  const auto facts = maps(
      "CUtensorMap map; const cuuint32_t box[2] = {64, 32};\n"
      "ENCODE(&map, box, ones, 2);\n"
      "k<<<1, 32>>>(map, 1);");
  ASSERT_THAT(facts, SizeIs(1));
  EXPECT_EQ(facts[0].kernel, "_Z1k14CUtensorMap_sti");
  EXPECT_EQ(facts[0].param, 0U);
  EXPECT_EQ(facts[0].offset, 0U);
  EXPECT_EQ(facts[0].variable, "map");
  EXPECT_EQ(facts[0].element_bytes, 2U);
  EXPECT_THAT(facts[0].box, ElementsAre(64, 32));
  EXPECT_THAT(facts[0].element_strides, ElementsAre(1, 1));
  EXPECT_EQ(facts[0].interleave, 0);
  EXPECT_EQ(facts[0].swizzle, 3);
  EXPECT_EQ(facts[0].launch_pos.line, facts[0].pos.line + 1);
}

TEST(TensorMaps, WithTheToolkitsHeaders) {
  HANDOFF_NEEDS_TOOLKIT();
  EXPECT_THAT(boxes("CUtensorMap map{}; cuuint32_t box[] = {64, 32};"
                    "PFN_cuTensorMapEncodeTiled_v12000 encode; cudaDriverEntryPointQueryResult status;"
                    "cudaGetDriverEntryPointByVersion(\"cuTensorMapEncodeTiled\", (void**)&encode, 12000,"
                    " cudaEnableDefault, &status);"
                    "encode(&map, CU_TENSOR_MAP_DATA_TYPE_UINT8, 2, d, nullptr, nullptr, box, ones,"
                    " CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,"
                    " CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);"
                    "k<<<1, 32>>>(map, 1);",
                    "", clangOnly()),
              ElementsAre("map: 64 32"));
}

TEST(TensorMaps, BoxesInEveryForm) {
  for (const char* box :
       {"cuuint32_t box[2] = {64, 32};", "cuuint32_t box[5] = {64, 32, 1, 1, 1};",
        "cuuint32_t box[2]; box[0] = 64; box[1] = 32;", "constexpr cuuint32_t box[] = {64, 16 * 2};",
        "int m = 32; cuuint32_t box[2] = {64, (cuuint32_t)m};", "unsigned int box[2]{64u, 32u};",
        "cuuint32_t all[3] = {1, 64, 32}; const cuuint32_t* box = all + 1;",
        "cuuint32_t all[3] = {1, 64, 32}; const cuuint32_t* box = &all[1];",
        "struct { cuuint32_t x[2]; } in = {{64, 32}}; const cuuint32_t* box = in.x;"}) {
    EXPECT_THAT(
        boxes("CUtensorMap map; " + std::string(box) + "ENCODE(&map, box, ones, 2); k<<<1, 32>>>(map, 1);"),
        ElementsAre("map: 64 32"))
        << box;
  }
}

TEST(TensorMaps, StandardArray) {
  EXPECT_THAT(boxes("CUtensorMap map; std::array<cuuint32_t, 2> box{64, 32};"
                    "ENCODE(&map, box.data(), ones, 2); k<<<1, 32>>>(map, 1);",
                    "#include <array>"),
              ElementsAre("map: 64 32"));
}

TEST(TensorMaps, BoxThatDoesNotFoldIsNoFact) {
  for (const char* box :
       {"cuuint32_t box[2] = {64, (cuuint32_t)runtime()};", "cuuint32_t box[2] = {64, 32}; box[argc] = 8;",
        "cuuint32_t box[2] = {64, 32}; if (argc > 1) box[0] = 8;", "cuuint32_t box[2] = {64, 512};",
        "cuuint32_t box[2] = {64, 0};", "cuuint32_t box[2] = {64, 32}; box[0] += 1;"}) {
    EXPECT_THAT(
        boxes("CUtensorMap map; " + std::string(box) + "ENCODE(&map, box, ones, 2); k<<<1, 32>>>(map, 1);"),
        IsEmpty())
        << box;
  }
  EXPECT_THAT(boxes("CUtensorMap map; cuuint32_t box[2] = {64, 32}; ENCODE(&map, box, ones, argc); k<<<1, "
                    "32>>>(map, 1);"),
              IsEmpty());
  EXPECT_THAT(boxes("CUtensorMap map; cuuint32_t box[2] = {64, 32}, steps[2] = {1, (cuuint32_t)argc};"
                    "ENCODE(&map, box, steps, 2); k<<<1, 32>>>(map, 1);"),
              IsEmpty());
}

TEST(TensorMaps, ElementStrides) {
  const auto facts = maps(
      "CUtensorMap map; cuuint32_t box[2] = {64, 32}, steps[2] = {1, 2};"
      "ENCODE(&map, box, steps, 2); k<<<1, 32>>>(map, 1);");
  ASSERT_THAT(facts, SizeIs(1));
  EXPECT_THAT(facts[0].element_strides, ElementsAre(1, 2));
}

TEST(TensorMaps, Im2colIsChannelsByPixels) {
  const auto facts = maps(
      "CUtensorMap map; int low[2] = {}, high[2] = {}; constexpr int kPixels = 128;"
      "cuTensorMapEncodeIm2col(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, d, nullptr, nullptr, low, high, 16, "
      "kPixels,"
      " ones, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_64B, CU_TENSOR_MAP_L2_PROMOTION_NONE,"
      " CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE); k<<<1, 32>>>(map, 1);");
  ASSERT_THAT(facts, SizeIs(1));
  EXPECT_THAT(facts[0].box, ElementsAre(16, 128));
  EXPECT_EQ(facts[0].element_bytes, 4U);
  EXPECT_EQ(facts[0].swizzle, 2);
}

TEST(TensorMaps, PackedTypesAreLeftOut) {
  EXPECT_THAT(
      boxes("CUtensorMap map; cuuint32_t box[2] = {128, 32};"
            "cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B, 2, d, nullptr, nullptr, box,"
            " ones, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,"
            " CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE); k<<<1, 32>>>(map, 1);"),
      IsEmpty());
}

// --- on the way to the launch ---

constexpr char kTwoMaps[] =
    "CUtensorMap a, b; cuuint32_t box_a[2] = {64, 8}, box_b[2] = {32, 16};"
    "ENCODE(&a, box_a, ones, 2); ENCODE(&b, box_b, ones, 2);";

TEST(TensorMaps, EveryLaunchFunction) {
  EXPECT_THAT(boxes(std::string(kTwoMaps) + "two<<<1, 32>>>(a, b);"), ElementsAre("a: 64 8", "b: 32 16"));
  EXPECT_THAT(boxes(std::string(kTwoMaps) + "two<<<1, 32>>>(b, a);"), ElementsAre("b: 32 16", "a: 64 8"));
  EXPECT_THAT(
      boxes(std::string(kTwoMaps) + "void* args[] = {&a, &b}; cudaLaunchKernel((void*)two, 1, 32, args);"),
      ElementsAre("a: 64 8", "b: 32 16"));
  EXPECT_THAT(boxes(std::string(kTwoMaps) + "cudaLaunchConfig_t c = {}; cudaLaunchKernelEx(&c, two, a, b);"),
              ElementsAre("a: 64 8", "b: 32 16"));
}

TEST(TensorMaps, InsideAStructure) {
  for (const char* how : {"Params p{1, a, b};", "Params p; p.rows = 1; p.a = a; p.b = b;",
                          "Params p = {.rows = 1, .a = a, .b = b};"}) {
    const auto facts = maps(std::string(kTwoMaps) + how + "s<<<1, 32>>>(p);");
    ASSERT_THAT(facts, SizeIs(2)) << how;
    EXPECT_EQ(facts[0].offset, 64U);
    EXPECT_THAT(facts[0].box, ElementsAre(64, 8));
    EXPECT_EQ(facts[1].offset, 192U);
    EXPECT_THAT(facts[1].box, ElementsAre(32, 16));
  }
  EXPECT_THAT(boxes("Params p; cuuint32_t box[2] = {8, 4}; ENCODE(&p.b, box, ones, 2); s<<<1, 32>>>(p);"),
              ElementsAre("p: 8 4"));
}

TEST(TensorMaps, ElementOfAnArray) {
  EXPECT_THAT(boxes("CUtensorMap m[2]; cuuint32_t x[1] = {8}, y[1] = {16}; ENCODE(m, x, ones, 1); "
                    "ENCODE(&m[1], y, ones, 1);"
                    "two<<<1, 32>>>(m[1], m[0]);"),
              ElementsAre("m: 16", "m: 8"));
  EXPECT_THAT(
      boxes("CUtensorMap m[2]; cuuint32_t x[1] = {8}; for (int i = 0; i < 2; ++i) ENCODE(&m[i], x, ones, 1);"
            "k<<<1, 32>>>(m[1], 1);"),
      IsEmpty());
}

TEST(TensorMaps, CopiedToTheDevice) {
  const auto facts = maps(
      "CUtensorMap host, *device; cuuint32_t box[2] = {64, 32}; ENCODE(&host, box, ones, 2);"
      "cudaMalloc(&device, sizeof(CUtensorMap));"
      "cudaMemcpy(device, &host, sizeof(CUtensorMap), cudaMemcpyHostToDevice); p<<<1, 32>>>(device, d);");
  ASSERT_THAT(facts, SizeIs(1));
  EXPECT_EQ(facts[0].param, 0U);
  EXPECT_EQ(facts[0].variable, "device");
  EXPECT_THAT(facts[0].box, ElementsAre(64, 32));
}

TEST(TensorMaps, FunctionPointers) {
  for (const char* pointer :
       {"PFN_cuTensorMapEncodeTiled encode = nullptr; cudaGetDriverEntryPoint(\"cuTensorMapEncodeTiled\", "
        "(void**)&encode, 0);",
        "void* address; auto encode = reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(address);",
        "auto encode = get();", "auto& encode = cuTensorMapEncodeTiled;"}) {
    EXPECT_THAT(
        boxes(
            "CUtensorMap map; cuuint32_t box[2] = {64, 32};" + std::string(pointer) +
                "encode(&map, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, d, nullptr, nullptr, box, ones,"
                " CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,"
                " CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE); k<<<1, 32>>>(map, 1);",
            "PFN_cuTensorMapEncodeTiled_v12000 get();"),
        ElementsAre("map: 64 32"))
        << pointer;
  }
}

// --- helpers ---

constexpr char kTemplateHelper[] = R"(
template <int BlockMajor, int BlockMinor>
void create_tensor_map(CUtensorMap* tma_map, float* source, int height, int width) {
  uint32_t smem_box_shape[5] = {uint32_t(BlockMinor), uint32_t(BlockMajor), 1, 1, 1};
  uint32_t smem_box_stride[5] = {1, 1, 1, 1, 1};
  CUresult result = ENCODE(tma_map, smem_box_shape, smem_box_stride, 2);
  if (result != CUDA_SUCCESS) return;
})";

TEST(TensorMaps, HelperTemplate) {
  EXPECT_THAT(boxes("CUtensorMap a, b; create_tensor_map<128, 64>(&a, d, argc, 4);"
                    "create_tensor_map<256, 64>(&b, d, argc, 4); two<<<1, 32>>>(a, b);",
                    kTemplateHelper),
              ElementsAre("a: 64 128", "b: 64 256"));
}

TEST(TensorMaps, HelperTemplateInAHostTemplate) {
  const auto facts =
      maps("run<4>(); run<8>();", std::string(kTemplateHelper) +
                                      "template <int N> void run() { constexpr int BM = N * 8; CUtensorMap m;"
                                      "create_tensor_map<BM, 64>(&m, d, 1, 1); t<N><<<1, 32>>>(m); }");
  ASSERT_THAT(facts, SizeIs(2));
  EXPECT_EQ(facts[0].kernel, "_Z1tILi4EEv14CUtensorMap_st");
  EXPECT_THAT(facts[0].box, ElementsAre(64, 32));
  EXPECT_THAT(facts[1].box, ElementsAre(64, 64));
}

TEST(TensorMaps, HelperThatAllocates) {
  EXPECT_THAT(boxes("if (!map_a) map_a = allocate<128, 64>(d, argc); p<<<1, 32>>>(map_a, d);",
                    std::string(kTemplateHelper) + R"(
CUtensorMap* map_a = 0;
template <int M, int N> CUtensorMap* allocate(float* source, int blocks) {
  CUtensorMap* on_device; CUtensorMap on_host;
  cudaMalloc(&on_device, sizeof(CUtensorMap));
  create_tensor_map<M, N>(&on_host, source, blocks, blocks);
  cudaMemcpy(on_device, &on_host, sizeof(CUtensorMap), cudaMemcpyHostToDevice);
  return on_device;
})"),
              ElementsAre("map_a: 64 128"));
}

constexpr char kValueHelper[] = R"(
inline CUtensorMap make(float* source, int rows, int columns, bool swizzle = true) {
  CUtensorMap map{};
  cuuint32_t box[2] = {static_cast<cuuint32_t>(columns), static_cast<cuuint32_t>(rows)}, steps[2] = {1, 1};
  ENCODE(&map, box, steps, 2);
  return map;
})";

TEST(TensorMaps, ReturnedByValue) {
  EXPECT_THAT(boxes("CUtensorMap map = make(d, 16, 64); k<<<1, 32>>>(map, 1);", kValueHelper),
              ElementsAre("map: 64 16"));
  EXPECT_THAT(boxes("const auto map = make(d, 16, 64); k<<<1, 32>>>(map, 1);", kValueHelper),
              ElementsAre("map: 64 16"));
  EXPECT_THAT(boxes("k<<<1, 32>>>(make(d, 16, 64), 1);", kValueHelper), ElementsAre(": 64 16"));
  EXPECT_THAT(boxes("Params p{4, make(d, 16, 64), make(d, 8, 64)}; s<<<1, 32>>>(p);", kValueHelper),
              ElementsAre("p: 64 16", "p: 64 8"));
  EXPECT_THAT(boxes("static_map = make(d, 16, 64); k<<<1, 32>>>(static_map, 1);",
                    std::string("static CUtensorMap static_map;") + kValueHelper),
              ElementsAre("static_map: 64 16"));
  EXPECT_THAT(boxes("CUtensorMap map = make(d, argc, 64); k<<<1, 32>>>(map, 1);", kValueHelper), IsEmpty());
}

TEST(TensorMaps, TwoHelpersDeepByReferenceAndByArray) {
  EXPECT_THAT(
      boxes("CUtensorMap map; const cuuint32_t box[2] = {64, 32}; outer(map, box); k<<<1, 32>>>(map, 1);", R"(
void inner(CUtensorMap& map, int rank, const cuuint32_t* box) { ENCODE(&map, box, ones, rank); }
void outer(CUtensorMap& map, const cuuint32_t (&box)[2]) { inner(map, 2, box); })"),
      ElementsAre("map: 64 32"));
}

TEST(TensorMaps, Lambdas) {
  EXPECT_THAT(boxes("cuuint32_t rows = 32; auto make = [&](CUtensorMap* m, cuuint32_t columns) {"
                    " cuuint32_t box[2] = {columns, rows}; ENCODE(m, box, ones, 2); };"
                    "CUtensorMap a, b; make(&a, 64); make(&b, 16); two<<<1, 32>>>(a, b);"),
              ElementsAre("a: 64 32", "b: 16 32"));
}

TEST(TensorMaps, WhatCallersPass) {
  const std::string run =
      "void run(int rows) { CUtensorMap map; cuuint32_t box[2] = {64, (cuuint32_t)rows}; ENCODE(&map, box, "
      "ones, 2);"
      " k<<<1, 32>>>(map, 1); }";
  EXPECT_THAT(boxes("run(32);", run), ElementsAre("map: 64 32"));
  EXPECT_THAT(boxes("run(32); run(16);", run), IsEmpty()) << "one launch, two boxes";
  EXPECT_THAT(boxes("CUtensorMap m = make(d, 8, 16); go(m);",
                    std::string(kValueHelper) + "void go(const CUtensorMap& map) { k<<<1, 32>>>(map, 1); }"),
              ElementsAre("map: 16 8"));
}

TEST(TensorMaps, BranchOfIfConstexpr) {
  EXPECT_THAT(boxes("run<true>();", R"(
template <bool wide> void run() {
  CUtensorMap map; cuuint32_t box[2] = {0, 8};
  if constexpr (wide) box[0] = 64; else box[0] = 32;
  ENCODE(&map, box, ones, 2); t<1><<<1, 32>>>(map);
})"),
              ElementsAre("map: 64 8"));
}

// --- what could be another map ---

TEST(TensorMaps, EncodingsThatDisagreeAreNoFact) {
  EXPECT_THAT(boxes("CUtensorMap map = argc > 1 ? make(d, 8, 16) : make(d, 8, 32); k<<<1, 32>>>(map, 1);",
                    kValueHelper),
              IsEmpty());
  EXPECT_THAT(boxes("CUtensorMap map = argc > 1 ? make(d, 8, 16) : make(d + 1, 8, 16); k<<<1, 32>>>(map, 1);",
                    kValueHelper),
              ElementsAre("map: 16 8"));
  EXPECT_THAT(
      boxes("CUtensorMap map; cuuint32_t x[1] = {8}, y[1] = {16}; if (argc > 1) ENCODE(&map, x, ones, 1);"
            "else ENCODE(&map, y, ones, 1); k<<<1, 32>>>(map, 1);"),
      IsEmpty());
}

TEST(TensorMaps, WritesThatAreNotUnderstoodAreNoFact) {
  constexpr char kMap[] = "CUtensorMap map = make(d, 8, 16);";
  const std::string before = std::string(kValueHelper) +
                             "void elsewhere(CUtensorMap*); void other(CUtensorMap&); CUtensorMap from();"
                             "struct Holder { CUtensorMap* p; };";
  for (const char* more :
       {"elsewhere(&map);", "other(map);", "map = from();", "CUtensorMap* q = &map; elsewhere(q);",
        "map.opaque[0] = 1;", "auto& r = map; r = from();", "[&] { map = from(); }();",
        "[&m = map] { m = from(); }();", "Holder h{&map};", "CUtensorMap o; map = o = from();"}) {
    EXPECT_THAT(boxes(std::string(kMap) + more + "k<<<1, 32>>>(map, 1);", before), IsEmpty()) << more;
  }
  for (const char* more :
       {"const CUtensorMap& r = map;", "CUtensorMap copy = map; other(copy);", "sizeof(map);",
        "cuTensorMapReplaceAddress(&map, d);", "const CUtensorMap* q = &map;"}) {
    EXPECT_THAT(boxes(std::string(kMap) + more + "k<<<1, 32>>>(map, 1);", before), SizeIs(1)) << more;
  }
}

TEST(TensorMaps, GlobalWrittenElsewhere) {
  const std::string global =
      std::string(kValueHelper) + "CUtensorMap map; void again() { map = make(d, 8, 32); }";
  EXPECT_THAT(boxes("map = make(d, 8, 16); k<<<1, 32>>>(map, 1);", global), IsEmpty());
  EXPECT_THAT(boxes("map = make(d, 8, 32); k<<<1, 32>>>(map, 1);", global), ElementsAre("map: 32 8"));
}

TEST(TensorMaps, RecursionEnds) {
  EXPECT_THAT(
      boxes("CUtensorMap map = f(argc); k<<<1, 32>>>(map, 1);",
            "CUtensorMap f(int n) { if (n > 3) return f(n - 1); CUtensorMap m = f(n - 2); return m; }"),
      IsEmpty());
}

TEST(TensorMaps, ClusterOfTheLaunch) {
  const auto unit = loadText(std::string(kPrelude) +
                                 "__global__ void __cluster_dims__(2, 1, 1) c() {}\n"
                                 "int main() { cudaLaunchConfig_t config = {}; config.gridDim = 8;"
                                 "config.blockDim = 64; cudaLaunchAttribute attribute[1] = {};"
                                 "attribute[0].id = cudaLaunchAttributeClusterDimension;"
                                 "attribute[0].val.clusterDim = {2, 1, 1};"
                                 "config.attrs = attribute; config.numAttrs = 1; CUtensorMap map;"
                                 "cudaLaunchKernelEx(&config, k, map, 1); }",
                             withoutToolkit());
  ASSERT_TRUE(unit) << toString(unit.error());
  ASSERT_THAT(unit->launches, SizeIs(1));
  EXPECT_EQ(unit->launches[0].cluster, (std::array<Folded, 3>{2, 1, 1}));
  EXPECT_EQ(findKernel(*unit, "c")->cluster_dims, (std::array<Folded, 3>{2, 1, 1}));
}

}  // namespace
}  // namespace handoff::frontend
