// SPDX-License-Identifier: Apache-2.0
#include "analyzer/explore/given_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/test_support/ptx_kernel.h"

namespace handoff::explore {
namespace {

using frontend::KernelDecl;
using frontend::ParamField;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kTwoKernels = R"(.version 8.8
.target sm_90
.address_size 64
.visible .entry gemm(.param .u32 gemm_param_0) { ret; }
.visible .entry sum(.param .u32 sum_param_0) { ret; }
)";

class GivenCheck : public ::testing::Test {
 protected:
  GivenCheck() {
    unit_.file = "k.cu";
    unit_.module = std::move(*test::parseModule(kTwoKernels));
    unit_.kernels = {kernel("gemm", 20, "K"), kernel("sum", 25, "stride")};
    unit_.kernels[0].fields.push_back({.name = "tma_a", .param = 1, .kind = ParamField::Kind::kTensorMap});
  }
  static KernelDecl kernel(const std::string& name, std::uint32_t line, const std::string& parameter) {
    KernelDecl decl;
    decl.name = decl.pretty = name;
    decl.pos = {"k.cu", line, 1};
    decl.fields = {{.name = parameter, .param = 0, .size = 4, .kind = ParamField::Kind::kInteger}};
    return decl;
  }
  std::vector<std::string> mistakesOf(const std::string& comment, std::uint32_t line = 10) {
    unit_.comments = {{{"k.cu", line, 1}, comment}};
    std::vector<std::string> texts;
    for (const Error& error : commentMistakes(unit_)) texts.push_back(toString(error));
    return texts;
  }
  std::vector<Error> mistakesOf(const Audience& audience, std::string_view text) {
    return audience.mistakes(*parseLaunchText(text, Block::kNeeded), {"c.yaml", 3, 0});
  }

  frontend::Unit unit_;
};

TEST_F(GivenCheck, CommentsThatAreRight) {
  EXPECT_THAT(mistakesOf("// handoff: launch block=128 K=64"), IsEmpty());
  EXPECT_THAT(mistakesOf("/* handoff: launch K=64 */"), IsEmpty());
  EXPECT_THAT(mistakesOf("/* handoff: launch K=64\n   and more about it */"), IsEmpty());
  EXPECT_THAT(mistakesOf("// NOLINT(handoff-hang)"), IsEmpty());
  EXPECT_THAT(mistakesOf("// handoff: tensormap tma_a box=64x128xbf16"), IsEmpty());
}

TEST_F(GivenCheck, MisspeltFieldIsAnErrorWithASuggestion) {
  EXPECT_THAT(
      mistakesOf("// handoff: launch blok=128"),
      ElementsAre(
          "k.cu:10:1: error: handoff: launch: 'blok=128': no kernel below has an integer parameter of "
          "this name; did you mean 'block'?"));
  EXPECT_THAT(mistakesOf("// handoff: launch block=128 strid=3", 15),
              ElementsAre(HasSubstr("did you mean 'stride'?")));
}

TEST_F(GivenCheck, MalformedLaunchIsAnError) {
  EXPECT_THAT(mistakesOf("// handoff: launch block=many"),
              ElementsAre(HasSubstr("'block=many': expected up to")));
  EXPECT_THAT(mistakesOf("// handoff: launch block=1 block=2"), ElementsAre(HasSubstr("given twice")));
  EXPECT_THAT(mistakesOf("// handoff: launch block=128 as in main()"),
              ElementsAre(HasSubstr("'as' is not of")));
  EXPECT_THAT(mistakesOf("// handoff: launch K=1.5", 1), ElementsAre(HasSubstr("integer value")))
      << "also where no kernel is near";
}

TEST_F(GivenCheck, PositionIsTheLineOfTheAnnotation) {
  EXPECT_THAT(mistakesOf("/*\n * handoff: launch K=1\n * handoff: launch K=x\n */", 10),
              ElementsAre(HasSubstr("k.cu:12:")));
}

TEST_F(GivenCheck, CommentHasToBeRightForOneOfItsKernels) {
  EXPECT_THAT(mistakesOf("// handoff: launch block=128 K=64", 15), IsEmpty()) << "K is gemm's, not sum's";
  EXPECT_THAT(mistakesOf("// handoff: launch block=128 K=64", 22), SizeIs(1)) << "only sum is below";
  EXPECT_THAT(mistakesOf("// handoff: tensormap tma_a box=64xb8", 15), IsEmpty());
  EXPECT_THAT(mistakesOf("// handoff: launch block=128 N=64", 1), IsEmpty())
      << "a template without instances";
}

TEST_F(GivenCheck, TensorMapComments) {
  EXPECT_THAT(mistakesOf("// handoff: tensormap tma_b box=64xb8"),
              ElementsAre(HasSubstr("did you mean 'tma_a'?")));
  EXPECT_THAT(mistakesOf("// handoff: tensormap tma_a box=64"), ElementsAre(HasSubstr("is not of the form")));
}

TEST_F(GivenCheck, AudienceOfAGlob) {
  Audience gemm, all, nobody;
  gemm.add(unit_, "ge*", "");
  all.add(unit_, "*", "");
  nobody.add(unit_, "other", "");
  EXPECT_THAT(mistakesOf(gemm, "block=1 K=3"), IsEmpty());
  EXPECT_THAT(mistakesOf(gemm, "block=1 stride=3"), SizeIs(1));
  EXPECT_THAT(mistakesOf(all, "block=1 stride=3 K=3"), IsEmpty()) << "a parameter of one of them is enough";
  EXPECT_THAT(mistakesOf(nobody, "block=1 M=3"), IsEmpty())
      << "nothing is known about kernels of other files";
  const std::vector<Error> mistakes = mistakesOf(all, "block=1 M=3");
  ASSERT_THAT(mistakes, SizeIs(1));
  EXPECT_EQ(mistakes[0].pos.line, 3u);
}

TEST_F(GivenCheck, AudienceWithoutDeclarationsSaysNothing) {
  unit_.kernels.clear();
  Audience audience;
  audience.add(unit_, "*", "");
  EXPECT_THAT(mistakesOf(audience, "block=1 M=3"), IsEmpty());
}

TEST_F(GivenCheck, PointersAreNullOrNotSaid) {
  unit_.kernels[0].fields.push_back({.name = "bias", .param = 2, .size = 8, .kind = ParamField::Kind::kPointer});
  Audience gemm, sum;
  gemm.add(unit_, "gemm", "");
  sum.add(unit_, "sum", "");
  EXPECT_THAT(mistakesOf(gemm, "block=1 bias=0"), IsEmpty());
  ASSERT_THAT(mistakesOf(gemm, "block=1 bias=3"), SizeIs(1));
  EXPECT_THAT(mistakesOf(gemm, "block=1 bias=3")[0].message, HasSubstr("only that it is null, as bias=0"));
  EXPECT_THAT(mistakesOf(sum, "block=1 bias=0"), SizeIs(1));
  sum.add(gemm);
  EXPECT_THAT(mistakesOf(sum, "block=1 bias=0"), IsEmpty());
  EXPECT_THAT(mistakesOf("// handoff: launch block=128 bias=0"), IsEmpty());
  EXPECT_THAT(mistakesOf("// handoff: launch block=128 bias=1"), ElementsAre(HasSubstr("that it is null")));
}

TEST_F(GivenCheck, AudienceOfATensorMap) {
  const auto mistake = [&](const MapAudience& audience, std::string_view name) {
    const std::optional<Error> error = audience.mistake(name, {"c.yaml", 3, 0});
    return error ? toString(*error) : "";
  };
  MapAudience all, sum, place, taken, nobody;
  all.add(unit_, "*", "", "tma_a");
  EXPECT_EQ(mistake(all, "tma_a"), "");
  sum.add(unit_, "sum", "", "tma_a");
  EXPECT_EQ(mistake(sum, "tma_a"), "c.yaml:3: error: 'tma_a': no kernel that it is for has a tensor map of this name");
  sum.add(all);
  EXPECT_EQ(mistake(sum, "tma_a"), "") << "a kernel of another file has it";
  place.add(unit_, "gemm", "", "param1");
  EXPECT_EQ(mistake(place, "param1"), "");
  taken.add(unit_, "gemm", "", "param0");
  EXPECT_THAT(mistake(taken, "param0"), HasSubstr("no kernel that it is for")) << "an integer";
  nobody.add(unit_, "other", "", "tma_a");
  EXPECT_EQ(mistake(nobody, "tma_a"), "");
}

TEST_F(GivenCheck, MisspeltTensorMapHasASuggestion) {
  MapAudience audience;
  audience.add(unit_, "*", "", "tma_b");
  EXPECT_THAT(toString(*audience.mistake("tma_b", {"c.yaml", 3, 0})), HasSubstr("did you mean 'tma_a'?"));
}

TEST_F(GivenCheck, AudiencesOfSeveralFilesAreJoined) {
  Audience one, other;
  one.add(unit_, "*", "gemm");
  other.add(unit_, "*", "sum");
  EXPECT_THAT(mistakesOf(one, "block=1 stride=3"), SizeIs(1));
  one.add(other);
  EXPECT_THAT(mistakesOf(one, "block=1 stride=3"), IsEmpty());
}

}  // namespace
}  // namespace handoff::explore
