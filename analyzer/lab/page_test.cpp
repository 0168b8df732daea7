// SPDX-License-Identifier: Apache-2.0
#include "analyzer/lab/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace handoff::lab {
namespace {

using testing::HasSubstr;
using testing::Not;

Timeline twoSlots() {
  Timeline timeline;
  timeline.file = "ring.cu";
  timeline.kernel = "ring<2>(const float *)";
  timeline.launch = "grid=(1,1,1)";
  timeline.slots = {{"ring, slot 0", {{0, 10, 40, 60}, {2, 70, 90, 100}}}, {"ring, slot 1", {{1, 20, 65, 80}}}};
  timeline.filled = 40;
  timeline.drained_from = 70;
  timeline.end = 100;
  return timeline;
}

TEST(Page, HasEverySlotAndTile) {
  const std::string page = renderPage(twoSlots());
  EXPECT_THAT(page, HasSubstr("ring, slot 1"));
  EXPECT_THAT(page, HasSubstr("<title>tile 2 on its way: 70 to 90</title>"));
  EXPECT_THAT(page, HasSubstr("<td>ring, slot 0</td><td>2</td><td>70</td><td>90</td><td>100</td>"));
  EXPECT_THAT(page, Not(HasSubstr("<!-- TIMELINE -->")));
}

TEST(Page, EscapesNames) {
  EXPECT_THAT(renderPage(twoSlots()), HasSubstr("<code>ring&lt;2&gt;(const float *)</code>"));
}

TEST(Page, NamesAllPhases) {
  const std::string page = renderPage(twoSlots());
  for (const char* phase : {">fill<", ">steady<", ">drain<"}) EXPECT_THAT(page, HasSubstr(phase));
}

TEST(Page, NeedsNoNetwork) {
  for (const char* word : {"http://", "https://", "src=", "@import", "url("})
    EXPECT_THAT(std::string(pageTemplate()), Not(HasSubstr(word)));
}

TEST(Page, SaysWhatTheQueueIsNot) {
  const std::string page(pageTemplate());
  EXPECT_THAT(page, HasSubstr("no copies, no slots, no barriers and no stages that overlap"));
  EXPECT_THAT(page, HasSubstr("validates no kernel"));
}

TEST(Timeline, TextHasTheSameNumbers) {
  const std::string text = renderTimeline(twoSlots());
  EXPECT_THAT(text, HasSubstr("tile 1: 20 .. 65 .. 80"));
  EXPECT_THAT(text, HasSubstr("fill until 40, steady until 70, drain until 100"));
}

}  // namespace
}  // namespace handoff::lab
