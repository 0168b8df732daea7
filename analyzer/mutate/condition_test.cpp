// SPDX-License-Identifier: Apache-2.0
// Which condition around a copy counts as its predicate.
#include "analyzer/mutate/condition.h"

#include <gtest/gtest.h>

#include <string>
#include <variant>

#include "analyzer/explore/source_text.h"
#include "analyzer/mutate/mutants.h"
#include "analyzer/test_support/ptx_kernel.h"

namespace handoff::mutate {
namespace {

/// The predicate of the condition around the first cp.async of the statements; "!" before it: the copy comes where the
/// branch is not taken. "@NAME" of the statements is the position of a source statement.
std::string conditionIn(std::string statements) {
  for (std::uint32_t line = 1; line < 10; ++line) {
    const std::string name = "@L" + std::to_string(line) + " ";
    for (std::size_t at = 0; (at = statements.find(name, at)) != std::string::npos;)
      statements.replace(at, name.size(), ".loc 1 " + std::to_string(line) + " 3\n");
  }
  test::Setup setup;
  setup.functions = ".file 1 \"k.cu\"\n";
  const test::Ran ran = test::run(statements, setup);
  const explore::SourceText text({});
  const explore::Statements copies(ran.program, "", text);
  const ptx::Cfg cfg(ran.program.function);
  const Subject subject{ran.program, copies, cfg};
  for (std::uint32_t i = 0; i < subject.size(); ++i) {
    if (!std::holds_alternative<ptx::CpAsync>(subject.at(i).decoded->effect)) continue;
    const std::optional<Condition> condition = conditionOf(subject, i);
    if (!condition) return "";
    const ptx::Guard guard = *subject.at(condition->branch).guard;
    return (condition->if_taken ? "" : "!") + ran.program.function.registers[static_cast<std::size_t>(guard.reg)].name;
  }
  return "no copy";
}

const std::string kCopyLine = std::string("@L9 ") + test::kCopy;

TEST(Condition, BranchAroundACopy) {
  EXPECT_EQ(conditionIn("@L1 @%p1 bra SKIP;\n" + kCopyLine + "SKIP:\nret;\n"), "!%p1");
  EXPECT_EQ(conditionIn("@L1 @%p1 bra THERE;\nbra.uni SKIP;\nTHERE:\n" + kCopyLine + "SKIP:\nret;\n"), "%p1");
  EXPECT_EQ(conditionIn("@L1 @%p1 bra ELSE;\n" + kCopyLine + "bra.uni JOIN;\nELSE:\nbar.sync 0;\nJOIN:\nret;\n"), "!%p1");
  EXPECT_EQ(conditionIn(kCopyLine), "");
}

TEST(Condition, TheInnermostOfTwo) {
  EXPECT_EQ(conditionIn("@L1 @%p1 bra SKIP;\nbar.sync 0;\n@L2 @%p2 bra SKIP;\n" + kCopyLine + "SKIP:\nret;\n"), "!%p2");
}

TEST(Condition, OneBehindWhichTheWaysHaveMetIsNone) {
  EXPECT_EQ(conditionIn("@L1 @%p1 bra SKIP;\nbar.sync 0;\nSKIP:\n" + kCopyLine), "");
}

TEST(Condition, TestsOfALoopAreNone) {
  EXPECT_EQ(conditionIn("LOOP:\n" + kCopyLine + "@L1 @%p2 bra LOOP;\nret;\n"), "");
  EXPECT_EQ(conditionIn("LOOP:\n@L1 @%p1 bra END;\n" + kCopyLine + "bra.uni LOOP;\nEND:\nret;\n"), "");
}

TEST(Condition, TheTestBeforeTheFirstTurnIsThatOfEachTurn) {
  EXPECT_EQ(conditionIn("@L1 @%p1 bra END;\nLOOP:\n" + kCopyLine + "@L1 @%p2 bra LOOP;\nEND:\nret;\n"), "");
  // Another statement decides on the whole loop.
  EXPECT_EQ(conditionIn("@L2 @%p1 bra END;\nLOOP:\n" + kCopyLine + "@L1 @%p2 bra LOOP;\nEND:\nret;\n"), "!%p1");
}

TEST(Condition, WithoutPositionsTheTestBeforeTheFirstTurnIsLikeAnyOther) {
  EXPECT_EQ(conditionIn("@%p1 bra END;\nLOOP:\n" + std::string(test::kCopy) + "@%p2 bra LOOP;\nEND:\nret;\n"), "!%p1");
}

TEST(Condition, AroundALoopItCountsForWhatIsInIt) {
  EXPECT_EQ(conditionIn("@L2 @%p3 bra END;\nbar.sync 0;\n@L1 @%p1 bra END;\nLOOP:\n" + kCopyLine + "@L1 @%p2 bra LOOP;\nEND:\nret;\n"),
            "!%p3");
}

TEST(Condition, WithinATurn) {
  EXPECT_EQ(conditionIn("LOOP:\n@L2 @%p1 bra NEXT;\n" + kCopyLine + "NEXT:\nbar.sync 0;\n@L1 @%p2 bra LOOP;\nret;\n"), "!%p1");
}

TEST(Condition, ThatOfABreakDecidesOnTheLoop) {
  EXPECT_EQ(conditionIn("LOOP:\n@L2 @%p1 bra END;\n" + kCopyLine + "@L1 @%p2 bra LOOP;\nEND:\nret;\n"), "");
  // The break behind the copy ends the loop from within the condition.
  EXPECT_EQ(conditionIn("LOOP:\n@L2 @%p1 bra NEXT;\n" + kCopyLine + "@L3 @%p3 bra END;\nNEXT:\n@L1 @%p2 bra LOOP;\nEND:\nret;\n"), "");
}

TEST(Condition, ThatOfTheOuterLoopIsNone) {
  EXPECT_EQ(conditionIn("OUTER:\n@L2 @%p1 bra END;\nLOOP:\n" + kCopyLine + "@L1 @%p2 bra LOOP;\nbra.uni OUTER;\nEND:\nret;\n"), "");
}

TEST(Mutants, OneConditionAroundSeveralCopiesIsOne) {
  const test::Ran ran = test::run(std::string("@%p1 bra SKIP;\n") + test::kCopy + test::kCopy + "SKIP:\nret;\n");
  const explore::SourceText text({});
  const explore::Statements copies(ran.program, "", text);
  const ptx::Cfg cfg(ran.program.function);
  std::size_t count = 0;
  for (const Mutant& mutant : mutantsOf({ran.program, copies, cfg, {}})) count += operators()[mutant.op].name == "copy-predicate";
  EXPECT_EQ(count, 1u);
}

}  // namespace
}  // namespace handoff::mutate
