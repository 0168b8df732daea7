// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/svg.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace handoff::report {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(EscapeMarkup, NoMarkupIsLeft) {
  EXPECT_EQ(escapeMarkup("k<4>(a & \"b\", 'c')"), "k&lt;4&gt;(a &amp; &quot;b&quot;, &#39;c&#39;)");
}

TEST(EscapeMarkup, TextIsValidUtf8WithoutControls) {
  EXPECT_EQ(escapeMarkup("a\x01"
                         "b\n"),
            "a\xef\xbf\xbd"
            "b\n");
  EXPECT_EQ(escapeMarkup("\xc3\xa4"), "\xc3\xa4");
  EXPECT_THAT(escapeMarkup("\xff"), Not(HasSubstr("\xff")));
}

TEST(Svg, NumbersAreShort) {
  Svg svg(100, 20.25, "two & three");
  svg.rect(1.0 / 3, 2, 10, 4, "slot", "a<b");
  const std::string text = svg.take();
  EXPECT_THAT(text, HasSubstr("viewBox=\"0 0 100 20.3\""));
  EXPECT_THAT(text, HasSubstr("aria-label=\"two &amp; three\""));
  EXPECT_THAT(text, HasSubstr("x=\"0.3\""));
  EXPECT_THAT(text, HasSubstr("<title>a&lt;b</title>"));
}

}  // namespace
}  // namespace handoff::report
