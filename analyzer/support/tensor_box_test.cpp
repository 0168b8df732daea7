// SPDX-License-Identifier: Apache-2.0
#include "analyzer/support/tensor_box.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace handoff {
namespace {

using testing::ElementsAre;

TEST(TensorBox, ExtentsAndTypeGiveBytes) {
  const std::optional<TensorBox> box = parseTensorBox("64x128xbf16");
  ASSERT_TRUE(box);
  EXPECT_EQ(box->bytes, 64u * 128 * 2);
  EXPECT_EQ(box->row_bytes, 128u);
  EXPECT_EQ(box->element_bytes, 2u);
  EXPECT_THAT(box->extents, ElementsAre(64, 128));
  EXPECT_EQ(parseTensorBox("256x256x256x256x256xf64")->bytes, std::uint64_t{8} << 40);
}

TEST(TensorBox, AnythingElseIsNone) {
  for (const char* text : {"", "64", "bf16", "xbf16", "0xbf16", "257xb8", "-1xb8", "+1xb8", "64 x2xb8", "64xfloat",
                           "64x2", "64xb8x", "1x1x1x1x1x1xb8", "99999999999xb8"})
    EXPECT_FALSE(parseTensorBox(text)) << text;
}

TEST(ParamPlace, TextAndBack) {
  EXPECT_EQ(parseParamPlace("param0"), (ParamPlace{0, 0}));
  EXPECT_EQ(parseParamPlace("param12+128"), (ParamPlace{12, 128}));
  EXPECT_EQ(parseParamPlace("param1+0"), (ParamPlace{1, 0}));
  EXPECT_EQ(toString(ParamPlace{0, 0}), "param0");
  EXPECT_EQ(toString(ParamPlace{3, 64}), "param3+64");
  for (const char* text : {"", "param", "param+1", "param1+", "param1+x", "param-1", "params.map", "param1 +2", "Param1",
                           "param1+2+3", "param99999999999"})
    EXPECT_FALSE(parseParamPlace(text)) << text;
}

}  // namespace
}  // namespace handoff
