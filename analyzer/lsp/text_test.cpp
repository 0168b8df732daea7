// SPDX-License-Identifier: Apache-2.0
// Positions, changes, and lines that move.
#include "analyzer/lsp/text.h"

#include <gtest/gtest.h>

#include "analyzer/lsp/line_map.h"

namespace handoff::lsp {
namespace {

using llvm::lsp::Position;
using llvm::lsp::Range;

SharedText textOf(std::string content) { return std::make_shared<const Text>(std::move(content)); }

TEST(Text, LinesEndWithAnyOfTheThreeEnds) {
  const Text text("a\nb\r\nc\rd");
  ASSERT_EQ(text.lineCount(), 4U);
  EXPECT_EQ(text.line(1), "b");
  EXPECT_EQ(text.line(2), "c");
  EXPECT_EQ(text.line(3), "d");
  EXPECT_EQ(text.line(9), "");
}

TEST(Text, ColumnsCountUtf16UnitsUnlessUtf8WasAgreedOn) {
  const Text text("\xC3\xA4\xF0\x9F\x98\x80x");  // a-umlaut (1 unit), emoji (2 units), x
  EXPECT_EQ(text.offsetOf({0, 1}, Encoding::kUtf16), 2U);
  EXPECT_EQ(text.offsetOf({0, 3}, Encoding::kUtf16), 6U);
  EXPECT_EQ(text.offsetOf({0, 6}, Encoding::kUtf8), 6U);
  EXPECT_EQ(text.positionOf(0, 6, Encoding::kUtf16).character, 3);
  EXPECT_EQ(text.positionOf(0, 6, Encoding::kUtf8).character, 6);
}

TEST(Text, PositionBehindALineIsItsEndAndBehindTheTextIsNone) {
  const Text text("ab\ncd");
  EXPECT_EQ(text.offsetOf({0, 99}, Encoding::kUtf16), 2U);
  EXPECT_EQ(text.offsetOf({2, 0}, Encoding::kUtf16), 5U) << "the line behind the last one";
  EXPECT_EQ(text.offsetOf({2, 1}, Encoding::kUtf16), std::nullopt);
  EXPECT_EQ(text.offsetOf({-1, 0}, Encoding::kUtf16), std::nullopt);
}

TEST(Text, RangeIsTheCallOrTheWord) {
  const Text text("  out[g] = values[codes[g]];  // why\n  f(a,");
  const Range call = text.rangeOf(1, 12, Encoding::kUtf16);
  EXPECT_EQ(call.start.character, 11);
  EXPECT_EQ(call.end.character, 27);
  const Range line = text.rangeOf(1, 0, Encoding::kUtf16);
  EXPECT_EQ(line.start.character, 2);
  EXPECT_EQ(line.end.character, 36);
  EXPECT_EQ(text.rangeOf(2, 3, Encoding::kUtf16).end.character, 3) << "a call that goes on below";
  EXPECT_EQ(text.rangeOf(99, 1, Encoding::kUtf16).start.line, 1);
}

TEST(Text, ChangesApplyInTheirOrder) {
  const SharedText text = textOf("one\ntwo\n");
  const SharedText changed = applyChanges(
      text,
      {{Range{{0, 0}, {0, 3}}, "1"}, {Range{{1, 3}, {1, 3}}, "!\nthree"}, {Range{{0, 1}, {0, 1}}, "st"}},
      Encoding::kUtf16);
  ASSERT_NE(changed, nullptr);
  EXPECT_EQ(changed->content(), "1st\ntwo!\nthree\n");
  EXPECT_EQ(applyChanges(text, {{std::nullopt, "new"}}, Encoding::kUtf16)->content(), "new");
}

TEST(Text, ImpossibleChangeIsRefused) {
  const SharedText text = textOf("one\n");
  EXPECT_EQ(applyChanges(text, {{Range{{7, 0}, {7, 1}}, "x"}}, Encoding::kUtf16), nullptr);
  EXPECT_EQ(applyChanges(text, {{Range{{0, 2}, {0, 1}}, "x"}}, Encoding::kUtf16), nullptr);
}

TEST(LineMap, EditMovesWhatLiesBehindIt) {
  const Text checked("a\nb\nc\nd"), now("a\nX\nY\nZ\nc\nd");
  const LineMap map(checked, now);
  EXPECT_FALSE(map.isIdentity());
  EXPECT_EQ(map.toNow(1), 1U);
  EXPECT_EQ(map.toNow(2), std::nullopt) << "the line itself was changed";
  EXPECT_EQ(map.toNow(3), 5U);
  EXPECT_EQ(map.toChecked(5), 3U);
  EXPECT_EQ(map.toChecked(3), std::nullopt);
  EXPECT_EQ(map.toNow(0), std::nullopt);
  EXPECT_EQ(map.toNow(5), std::nullopt);
}

TEST(LineMap, RepeatedLinesAreNotCountedTwice) {
  const Text checked("x\nx"), now("x\nx\nx");
  const LineMap map(checked, now);
  EXPECT_EQ(map.toNow(1), 1U);
  EXPECT_EQ(map.toNow(2), 2U);
  EXPECT_EQ(LineMap(now, checked).toNow(3), std::nullopt);
  EXPECT_TRUE(LineMap(now, now).isIdentity());
}

}  // namespace
}  // namespace handoff::lsp
