// SPDX-License-Identifier: Apache-2.0
// Boxes of tensor maps, from annotations and from facts of the front end.
#include "analyzer/explore/tensor_maps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/explore/pointer_use.h"
#include "analyzer/explore/scenario.h"
#include "analyzer/machine/address.h"
#include "analyzer/test_support/ptx_kernel.h"

namespace handoff::explore {
namespace {

using frontend::ParamField;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr const char* kKernel = R"(.version 8.8
.target sm_90
.address_size 64
.visible .entry k(.param .u64 k_param_0, .param .align 64 .b8 k_param_1[192], .param .u64 k_param_2)
{
.reg .b32 %r<8>;
.reg .b64 %d<8>;
.shared .align 128 .b8 tile[8192];
.shared .align 8 .b8 bar[8];
mov.b64 %d1, k_param_1;
cvta.param.u64 %d2, %d1;
ld.param.u64 %d3, [k_param_2];
ld.param.u32 %r6, [k_param_1+64];
mov.u32 %r1, tile;
mov.u32 %r2, bar;
mov.u32 %r3, 0;
cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%d2, {%r3, %r6}], [%r2];
cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%d3, {%r3, %r3}], [%r2];
ld.global.u32 %r4, [%d3];
ret;
}
)";
constexpr std::uint64_t kMapInParam = machine::kParamWindow + 64 + 64;

class TensorMapsTest : public ::testing::Test {
 protected:
  TensorMapsTest() {
    unit_.module = std::move(*test::parseModule(kKernel));
    decl_.name = "k";
    decl_.pos = {"k.cu", 20, 1};
    decl_.fields = {
        {.name = "out", .param = 0, .size = 8, .kind = ParamField::Kind::kPointer},
        {.name = "p.rows", .param = 1, .size = 4, .kind = ParamField::Kind::kInteger},
        {.name = "p.map", .param = 1, .offset = 64, .size = 128, .kind = ParamField::Kind::kTensorMap},
        {.name = "maps", .param = 2, .size = 8, .kind = ParamField::Kind::kPointer}};
  }

  std::vector<Scenario> scenarios() {
    const Result<machine::Program> program =
        machine::buildProgram(unit_.module, unit_.module.functions.front());
    EXPECT_TRUE(program.hasValue());
    return program ? scenariosFor(unit_, has_decl_ ? &decl_ : nullptr, *program, options_) : std::vector<Scenario>();
  }
  Scenario only() {
    auto list = scenarios();
    EXPECT_THAT(list, SizeIs(1));
    return list.empty() ? Scenario{} : list.front();
  }
  std::vector<std::string> assumptions() {
    std::vector<std::string> texts;
    for (const diagnose::Limit& limit : only().assumptions) texts.push_back(limit.reason);
    return texts;
  }
  void annotate(const std::string& text) { unit_.comments = {{{"k.cu", 15, 1}, text}}; }
  static frontend::TensorMapFact fact() {
    return {.kernel = "k",
            .param = 1,
            .offset = 64,
            .variable = "host_map",
            .element_bytes = 2,
            .box = {64, 32},
            .element_strides = {1, 1},
            .interleave = 0,
            .swizzle = 3,
            .pos = {"main.cu", 5, 3},
            .launch_pos = {"main.cu", 7, 3}};
  }
  void launchAt(std::uint32_t line) {
    frontend::LaunchSite site;
    site.kernel = "k";
    site.pos = {"main.cu", line, 3};
    site.grid = {1, 1, 1};
    site.block = {32, 1, 1};
    site.dynamic_smem = 0;
    unit_.launches.push_back(site);
  }

  void configure(const std::string& kernel, const std::string& map, const std::string& box) {
    options_.tensor_maps.push_back({kernel, map, box, {"c.yaml", 4, 0}});
  }

  frontend::Unit unit_;
  frontend::KernelDecl decl_;
  bool has_decl_ = true;
  Options options_;
};

TEST_F(TensorMapsTest, NothingKnownIsNoEntryAndNoAssumption) {
  launchAt(7);
  EXPECT_THAT(only().launch.tensor_maps, IsEmpty());
  EXPECT_THAT(assumptions(), Not(Contains(HasSubstr("p.map"))));
}

TEST_F(TensorMapsTest, AnnotationOfAMapInsideAParameter) {
  annotate("// handoff: tensormap p.map box=64x128xbf16");
  const auto maps = only().launch.tensor_maps;
  ASSERT_THAT(maps, SizeIs(1));
  EXPECT_EQ(maps.begin()->first, kMapInParam);
  EXPECT_EQ(maps.begin()->second.name, "p.map");
  EXPECT_EQ(maps.begin()->second.box_bytes, 64u * 128 * 2);
  EXPECT_EQ(maps.begin()->second.row_bytes, 128u);
  EXPECT_FALSE(maps.begin()->second.is_assumed);
}

TEST_F(TensorMapsTest, AnnotationOfAMapBehindAPointer) {
  annotate("/* handoff: tensormap maps box=32xf32 */");
  const Scenario scenario = only();
  ASSERT_THAT(scenario.launch.tensor_maps, SizeIs(1));
  const std::uint64_t address = scenario.launch.tensor_maps.begin()->first;
  EXPECT_EQ(scenario.names.buffers.at(static_cast<unsigned>(address >> machine::kBufferShift) - 1), "maps");
  EXPECT_EQ(scenario.launch.tensor_maps.begin()->second.box_bytes, 128u);
}

TEST_F(TensorMapsTest, APointerThatNamesAMapIsAnAddress) {
  launchAt(7);
  const auto uses = [&](const std::string& statement) {
    std::string text = kKernel;
    text.insert(text.find("ret;"), statement);
    unit_.module = std::move(*test::parseModule(text));
    const Result<machine::Program> program = machine::buildProgram(unit_.module, unit_.module.functions.front());
    return program ? pointerUses(*program, only()).size() : 99;
  };
  EXPECT_EQ(uses(""), 0u);
  EXPECT_EQ(uses("cvt.u32.u64 %r5, %d3;\nbar.sync %r5;\n"), 1u);
}

TEST_F(TensorMapsTest, EveryElementTypeHasItsSize) {
  const std::pair<const char*, std::uint64_t> kTypes[] = {{"b8", 1},   {"e5m2", 1}, {"f16", 2}, {"s16", 2},
                                                          {"tf32", 4}, {"u32", 4},  {"b64", 8}, {"f64", 8}};
  for (const auto& [type, bytes] : kTypes) {
    annotate("// handoff: tensormap p.map box=16x" + std::string(type));
    EXPECT_EQ(only().launch.tensor_maps.at(kMapInParam).box_bytes, 16 * bytes) << type;
  }
}

TEST_F(TensorMapsTest, SeveralAnnotationsInOneComment) {
  annotate("/* handoff: tensormap p.map box=8xb16\n * handoff: tensormap maps box=4xb16\n */");
  EXPECT_THAT(only().launch.tensor_maps, SizeIs(2));
}

TEST_F(TensorMapsTest, MalformedAnnotationIsNamedWithItsLine) {
  for (const char* text : {"p.map", "p.map box=64x128", "p.map box=xbf16", "p.map box=0xbf16",
                           "p.map box=64xfloat", "p.map box=257xb8", "p.map box=1x1x1x1x1x1xb8",
                           "p.map size=64xb8", "p.map box=64xb8 more", "box=64xb8", ""}) {
    annotate("/* a box:\n handoff: tensormap " + std::string(text) + " */");
    const Scenario scenario = only();
    EXPECT_THAT(scenario.launch.tensor_maps, IsEmpty()) << text;
    ASSERT_FALSE(scenario.assumptions.empty()) << text;
    EXPECT_THAT(scenario.assumptions.back().reason, HasSubstr("is not of the form")) << text;
    EXPECT_EQ(scenario.assumptions.back().pos.line, 16u) << text;
  }
}

TEST_F(TensorMapsTest, AnnotationOfNoMapIsNamed) {
  annotate("// handoff: tensormap tma_a box=64xb8");
  EXPECT_THAT(assumptions(), Contains(HasSubstr("'handoff: tensormap tma_a': the kernel has no tensor map")));
  annotate("// handoff: tensormap p.rows box=64xb8");
  EXPECT_THAT(assumptions(),
              Contains(HasSubstr("'handoff: tensormap p.rows': the kernel has no tensor map")));
}

TEST_F(TensorMapsTest, AnnotationOfAnotherKernelIsNotRead) {
  unit_.comments = {{{"k.cu", 2, 1}, "// handoff: tensormap p.map box=64xb8"}};
  EXPECT_THAT(only().launch.tensor_maps, IsEmpty());
}

TEST_F(TensorMapsTest, AnnotationOfAPlace) {
  annotate("// handoff: tensormap param1+64 box=16xb16");
  EXPECT_EQ(only().launch.tensor_maps.at(kMapInParam).name, "p.map");
  annotate("// handoff: tensormap param2 box=32xf32");
  EXPECT_EQ(only().launch.tensor_maps.begin()->second.name, "maps");
  for (const char* place : {"param1", "param1+68"}) {
    annotate("// handoff: tensormap " + std::string(place) + " box=16xb16");
    EXPECT_THAT(assumptions(), Contains(HasSubstr("no tensor map of this name"))) << place;
  }
}

TEST_F(TensorMapsTest, PlaceThatTheDeclarationDoesNotTakeApart) {
  decl_.fields.erase(decl_.fields.begin() + 2);
  annotate("// handoff: tensormap param1+64 box=16xb16");
  EXPECT_EQ(only().launch.tensor_maps.at(kMapInParam).name, "param1+64");
  for (const char* place : {"param1+128", "param3"}) {  // the parameter ends before the map; there are three
    annotate("// handoff: tensormap " + std::string(place) + " box=16xb16");
    EXPECT_THAT(only().launch.tensor_maps, IsEmpty()) << place;
    EXPECT_THAT(assumptions(), Contains(HasSubstr("no room for a tensor map at " + std::string(place))));
  }
}

TEST_F(TensorMapsTest, ConfiguredMaps) {
  configure("other", "p.map", "8xb8");
  EXPECT_THAT(only().launch.tensor_maps, IsEmpty());
  configure("*", "p.map", "16xb16");
  configure("k", "maps", "32xf32");
  configure("k", "of_another_kernel", "8xb8");
  const Scenario scenario = only();
  EXPECT_THAT(scenario.launch.tensor_maps, SizeIs(2));
  EXPECT_EQ(scenario.launch.tensor_maps.at(kMapInParam).box_bytes, 32u);
  EXPECT_THAT(assumptions(), Not(Contains(HasSubstr("of_another_kernel"))));
}

TEST_F(TensorMapsTest, ConfigurationStandsBetweenCommentAndHostCode) {
  launchAt(7);
  unit_.tensor_maps = {fact()};
  configure("k", "param1+64", "16xb16");
  EXPECT_EQ(only().launch.tensor_maps.at(kMapInParam).box_bytes, 32u);
  annotate("// handoff: tensormap p.map box=8xb16");
  EXPECT_EQ(only().launch.tensor_maps.at(kMapInParam).box_bytes, 16u);
}

TEST_F(TensorMapsTest, PtxHasPlacesAndNoNames) {
  has_decl_ = false;
  configure("k", "param1+64", "16xb16");
  configure("k", "param2", "32xf32");
  EXPECT_THAT(only().launch.tensor_maps, SizeIs(2));
  EXPECT_EQ(only().launch.tensor_maps.at(kMapInParam).box_bytes, 32u);
  EXPECT_THAT(assumptions(), Not(Contains(HasSubstr("have no names"))));
  configure("k", "tma_a", "16xb16");
  EXPECT_THAT(assumptions(), Contains(HasSubstr("have no names: the tensor map 'tma_a' is one at param0")));
}

TEST_F(TensorMapsTest, FactOfTheLaunchSite) {
  launchAt(7);
  unit_.tensor_maps = {fact()};
  const machine::TensorMap map = only().launch.tensor_maps.at(kMapInParam);
  EXPECT_EQ(map.name, "p.map");
  EXPECT_EQ(map.box_bytes, 64u * 32 * 2);
  EXPECT_EQ(map.row_bytes, 128u);
}

TEST_F(TensorMapsTest, ElementStridesThinTheBoxOut) {
  launchAt(7);
  unit_.tensor_maps = {fact()};
  unit_.tensor_maps[0].element_strides = {2, 5};
  EXPECT_EQ(only().launch.tensor_maps.at(kMapInParam).box_bytes, 64u * 7 * 2)
      << "the first is ignored without interleave";
  unit_.tensor_maps[0].interleave = 1;
  EXPECT_EQ(only().launch.tensor_maps.at(kMapInParam).box_bytes, 32u * 7 * 2);
}

TEST_F(TensorMapsTest, AnnotationBeatsFacts) {
  launchAt(7);
  unit_.tensor_maps = {fact()};
  annotate("// handoff: tensormap p.map box=16xb16");
  EXPECT_EQ(only().launch.tensor_maps.at(kMapInParam).box_bytes, 32u);
}

TEST_F(TensorMapsTest, EachLaunchSiteHasItsOwnMaps) {
  launchAt(7);
  launchAt(9);
  unit_.tensor_maps = {fact(), fact()};
  unit_.tensor_maps[1].launch_pos.line = 9;
  EXPECT_THAT(scenarios(), SizeIs(1));
  unit_.tensor_maps[1].box = {64, 64};
  const auto list = scenarios();
  ASSERT_THAT(list, SizeIs(2));
  EXPECT_EQ(list[1].launch.tensor_maps.at(kMapInParam).box_bytes, 8192u);
}

TEST_F(TensorMapsTest, LaunchTextTakesFactsOnWhichAllSitesAgree) {
  annotate("// handoff: launch block=32 grid=1 smem=0");
  unit_.tensor_maps = {fact(), fact()};
  unit_.tensor_maps[1].launch_pos.line = 9;
  EXPECT_THAT(only().launch.tensor_maps, SizeIs(1));
  unit_.tensor_maps[1].box = {64, 64};
  EXPECT_THAT(only().launch.tensor_maps, IsEmpty());
}

}  // namespace
}  // namespace handoff::explore
