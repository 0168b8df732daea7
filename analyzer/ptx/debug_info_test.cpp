// SPDX-License-Identifier: Apache-2.0
// Source stacks from both dialects of line tables.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/ptx/debug_info.h"
#include "analyzer/ptx/test_modules.h"

namespace handoff::ptx {
namespace {

using test::parseOk;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

SourceFrame frame(const char* file, unsigned line, unsigned column, const char* function) {
  return {{file, line, column}, function};
}

/// The stack of instruction `index` of a kernel "_Z1kv" with two inlined functions, f() and g(), to refer to.
SourceStack stackAt(const std::string& statements, std::size_t index) {
  const Module module = parseOk(std::string(test::kHeader) + ".entry _Z1kv()\n{\n" + statements +
                                "\n}\n.file 1 \"k.cu\"\n.file 2 \"/a/b/../lib.h\"\n"
                                ".section .debug_str\n{\n$L__info_string0:\n.b8 95,90,49,102\n.b8 118,0\n"
                                "$L__info_string1:\n.b8 95,90,49,103,118,0\n}\n");
  return module.locations[module.functions[0].instructions[index].loc];
}

TEST(DebugInfo, InstructionBeforeTheFirstLineHasNoPosition) {
  EXPECT_THAT(stackAt("ret;\n.loc 1 4 3\nret;", 0), IsEmpty());
}

TEST(DebugInfo, OwnLineNamesTheKernel) {
  EXPECT_THAT(stackAt(".loc 1 4 3\nret;", 0), ElementsAre(frame("k.cu", 4, 3, "k()")));
}

TEST(DebugInfo, InlinedLineNamesTheInlinedFunctionInnermostFirst) {
  EXPECT_THAT(stackAt(".loc 1 4 3\n.loc 2 9 5, function_name $L__info_string0, inlined_at 1 4 3\nret;", 0),
              ElementsAre(frame("/a/lib.h", 9, 5, "f()"), frame("k.cu", 4, 3, "k()")));
}

TEST(DebugInfo, EveryLevelOfAChainIsALineOfItsOwn) {
  EXPECT_THAT(stackAt(".loc 1 4 3\n.loc 2 9 5, function_name $L__info_string0, inlined_at 1 4 3\n"
                      ".loc 2 20 7, function_name $L__info_string1, inlined_at 2 9 5\nret;",
                      0),
              ElementsAre(frame("/a/lib.h", 20, 7, "g()"), frame("/a/lib.h", 9, 5, "f()"),
                          frame("k.cu", 4, 3, "k()")));
}

TEST(DebugInfo, ChainContinuesWithoutItsOuterLines) {
  EXPECT_THAT(stackAt(".loc 1 4 3\n.loc 2 9 5, function_name $L__info_string0, inlined_at 1 4 3\nret;\n"
                      ".loc 1 5 1\nret;\n.loc 2 21 7, function_name $L__info_string1, inlined_at 2 9 5\nret;",
                      2),
              ElementsAre(frame("/a/lib.h", 21, 7, "g()"), frame("/a/lib.h", 9, 5, "f()"),
                          frame("k.cu", 4, 3, "k()")));
}

TEST(DebugInfo, MostRecentCallerOfAPositionCounts) {
  const std::string chain = ", function_name $L__info_string0, inlined_at ";
  const std::string inner = ".loc 2 20 7, function_name $L__info_string1, inlined_at 2 9 5\nret;\n";
  EXPECT_THAT(stackAt(".loc 1 4 3\n.loc 2 9 5" + chain + "1 4 3\n" + inner + ".loc 1 8 3\n.loc 2 9 5" +
                          chain + "1 8 3\n" + inner,
                      1),
              ElementsAre(frame("/a/lib.h", 20, 7, "g()"), frame("/a/lib.h", 9, 5, "f()"),
                          frame("k.cu", 8, 3, "k()")));
}

TEST(DebugInfo, UnknownCallerPositionStillMakesAFrame) {
  EXPECT_THAT(stackAt(".loc 2 9 5, function_name $L__info_string0, inlined_at 1 4 3\nret;", 0),
              ElementsAre(frame("/a/lib.h", 9, 5, "f()"), frame("k.cu", 4, 3, "k()")));
}

TEST(DebugInfo, LabelMayCarryAnOffset) {
  EXPECT_THAT(stackAt(".loc 2 9 5, function_name $L__info_string0+6, inlined_at 1 4 3\nret;", 0),
              ElementsAre(frame("/a/lib.h", 9, 5, "g()"), frame("k.cu", 4, 3, "k()")));
}

TEST(DebugInfo, MissingNamesAreEmpty) {
  EXPECT_THAT(stackAt(".loc 7 9 5, function_name $L__gone, inlined_at 1 4 3\nret;", 0),
              ElementsAre(frame("", 9, 5, ""), frame("k.cu", 4, 3, "k()")));
}

TEST(DebugInfo, SelfReferringLinesStayShort) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += ".loc 1 4 3, function_name $L__info_string0, inlined_at 1 4 3\n";
  EXPECT_LE(stackAt(text + "ret;", 0).size(), 64u);
}

TEST(DebugInfo, EqualStacksShareAnId) {
  const Module module =
      parseOk(std::string(test::kHeader) +
              ".file 1 \"k.cu\"\n.entry k() { .loc 1 4 3\nret;\n.loc 1 5 3\nret;\n.loc 1 4 3\nret; }");
  EXPECT_EQ(module.locations.size(), 3u);
  EXPECT_EQ(module.functions[0].instructions[0].loc, module.functions[0].instructions[2].loc);
}

TEST(Demangle, OtherNamesStayAsTheyAre) {
  EXPECT_EQ(demangle("kernel"), "kernel");
  EXPECT_EQ(demangle("f"), "f");
  EXPECT_EQ(demangle("_Z1fv"), "f()");
  EXPECT_EQ(demangle("_Zbroken"), "_Zbroken");
}

}  // namespace
}  // namespace handoff::ptx
