// SPDX-License-Identifier: Apache-2.0
// Reading lines of CUDA C++, and saying edits in them.
#include "analyzer/explore/source_style.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace handoff::explore {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

SourceText textOf(const std::string& source) {
  std::vector<std::string> lines;
  std::stringstream stream(source);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return SourceText(std::move(lines));
}

std::vector<std::string> argumentsOf(const std::string& line, std::string_view name, bool is_template = false) {
  const SourceText text = textOf(line);
  std::vector<std::string> found;
  for (const Piece& piece : text.arguments(1, name, is_template)) found.push_back(text.text(piece));
  return found;
}

TEST(SourceText, ArgumentsOfACall) {
  EXPECT_THAT(argumentsOf("  wait(&full[s], (k / 2) & 1);", "wait"), ElementsAre("&full[s]", "(k / 2) & 1"));
  EXPECT_THAT(argumentsOf("  wait<N - 1>();", "wait", /*is_template=*/true), ElementsAre("N - 1"));
  EXPECT_THAT(argumentsOf("  f(\"a, b\", g(1, 2));", "f"), ElementsAre("\"a, b\"", "g(1, 2)"));
  EXPECT_THAT(argumentsOf("  wait(1); wait(2);", "wait"), IsEmpty()) << "which of the two is not known";
  const SourceText two = textOf("  f(at(a, 1), at(b, 2));");
  ASSERT_EQ(two.arguments(1, "at", false, 15).size(), 2U) << "a column tells";
  EXPECT_EQ(two.text(two.arguments(1, "at", false, 15)[0]), "b");
  EXPECT_THAT(argumentsOf("  bulk_wait(1);", "wait"), IsEmpty()) << "another name";
  EXPECT_THAT(argumentsOf("  wait(1,", "wait"), IsEmpty()) << "goes on in the next line";
}

TEST(SourceText, WhereStatementsStartAndEnd) {
  const SourceText text = textOf("{\n  a();\n  if (x)\n    b();\n  c(1,\n    2);\n  for (;;) d();\n  // end\n  e(); // f(\n}\n");
  EXPECT_TRUE(text.isStatement(2));
  EXPECT_TRUE(text.startsStatement(3));
  EXPECT_FALSE(text.startsStatement(4)) << "under a branch without braces";
  EXPECT_FALSE(text.isStatement(5));
  EXPECT_EQ(text.lastLineOf(5), 6U);
  EXPECT_FALSE(text.startsStatement(6));
  EXPECT_TRUE(text.isLoop(7));
  EXPECT_TRUE(text.isStatement(9)) << "comments do not count";
}

TEST(SourceText, AsmStatementWithItsOperands) {
  const SourceText text = textOf(
      "asm volatile(\"{ .reg .pred p; mbarrier.try_wait.parity.b64 p, [%1], %2; }\"\n"
      "             : \"=r\"(done) : \"r\"(address(bar)), \"r\"(parity) : \"memory\");\n");
  const auto statement = text.asmAt(2);
  ASSERT_TRUE(statement);
  EXPECT_EQ(statement->first_line, 1U);
  EXPECT_THAT(statement->operands, ElementsAre("done", "address(bar)", "parity"));
}

TEST(SourceText, WrappersOfOneInstruction) {
  const SourceText text = textOf(
      "template <int N>\n__device__ void wait() {\n  asm volatile(\"cp.async.wait_group %0;\" ::\"n\"(N) : \"memory\");\n}\n"
      "__device__ int twice(int x) { return 2 * x; }\n"
      "__global__ void k() { asm volatile(\"bar.sync 0;\"); }\n");
  ASSERT_EQ(text.wrappers().size(), 1U) << "neither a function without asm nor a kernel is one";
  EXPECT_EQ(text.wrappers()[0].name, "wait");
  EXPECT_THAT(text.wrappers()[0].template_parameters, ElementsAre("N"));
  EXPECT_THAT(text.wrappers()[0].parameters, IsEmpty());
}

diagnose::Edit inserting(const char* opcode) {
  diagnose::Edit edit;
  edit.changes.emplace_back().opcode = opcode;
  edit.description = std::string("insert ") + opcode;
  return edit;
}

TEST(InStyleOf, WaitOfTheFileIsTaken) {
  const std::string wait = "template <int N>\n__device__ void wait() { asm volatile(\"cp.async.wait_group %0;\" ::\"n\"(N)); }\n";
  const auto variant = inStyleOf(textOf(wait), inserting("cp.async.wait_all"));
  ASSERT_TRUE(variant);
  EXPECT_EQ(variant->changes[0].opcode, "cp.async.wait_group");
  const std::string both = wait + "__device__ void wait_all() { asm volatile(\"cp.async.wait_all;\"); }\n";
  EXPECT_FALSE(inStyleOf(textOf(both), inserting("cp.async.wait_all"))) << "there is one for just this";
  EXPECT_FALSE(inStyleOf(textOf("int x;\n"), inserting("cp.async.wait_all")));
}

std::string completed(const std::string& line) {
  const auto change = completeAsm(textOf(line), "a.cu", 1);
  return change ? change->text : "";
}

TEST(CompleteAsm, AddsWhatIsMissing) {
  EXPECT_EQ(completed("asm(\"bar.sync 0;\");"), "asm volatile(\"bar.sync 0;\" ::: \"memory\");");
  EXPECT_EQ(completed("asm volatile(\"a %0;\" :: \"r\"(x));"), "asm volatile(\"a %0;\" :: \"r\"(x) : \"memory\");");
  EXPECT_EQ(completed("asm volatile(\"a %0;\" : \"=r\"(x));"), "asm volatile(\"a %0;\" : \"=r\"(x) :: \"memory\");");
  EXPECT_EQ(completed("asm volatile(\"a;\" ::: \"cc\");"), "asm volatile(\"a;\" ::: \"cc\", \"memory\");");
  EXPECT_EQ(completed("asm volatile(\"a;\" ::: \"memory\");"), "") << "nothing is missing";
  EXPECT_EQ(completed("asm volatile(\"a;\""), "") << "goes on in the next line";
}

}  // namespace
}  // namespace handoff::explore
