// SPDX-License-Identifier: Apache-2.0
// Edits of a program, and when one counts as a repair.
#include "analyzer/explore/repair.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "analyzer/test_support/ptx_kernel.h"

namespace handoff::explore {
namespace {

using diagnose::Edit;
using ::testing::HasSubstr;

std::uint32_t indexOf(const ptx::Function& function, std::string_view opcode) {
  const auto it = std::find_if(function.instructions.begin(), function.instructions.end(),
                               [&](const ptx::Instruction& instr) { return instr.opcode == opcode; });
  EXPECT_NE(it, function.instructions.end()) << opcode;
  return static_cast<std::uint32_t>(it - function.instructions.begin());
}

ptx::InstrIndex targetOf(const ptx::Function& function, std::uint32_t branch) {
  for (const ptx::Operand& operand : function.instructions[branch].operands) {
    if (operand.kind == ptx::Operand::Kind::kLabel) return operand.target;
  }
  ADD_FAILURE() << "no label";
  return 0;
}

/// A loop around a barrier, and a forward branch over it.
constexpr const char* kLoop =
    "LOOP:\nbar.warp.sync 0xffffffff;\nsetp.lt.u32 %p1, %t, 5;\n@%p1 bra.uni DONE;\nbar.sync 0;\n"
    "@%p2 bra LOOP;\nDONE:\nmembar.cta;\n";

ptx::Function loop() { return test::parseModule(test::kernelText(kLoop))->functions.front(); }

Edit insertBefore(std::uint32_t at, const char* opcode) {
  Edit edit;
  edit.at = at;
  edit.opcode = opcode;
  return edit;
}

TEST(ApplyEdit, InsertionShiftsTargetsBehindIt) {
  const ptx::Function before = loop();
  const std::uint32_t barrier = indexOf(before, "bar.sync");
  const ptx::Function after = applyEdit(before, insertBefore(barrier, "cp.async.wait_all"));
  ASSERT_EQ(after.instructions.size(), before.instructions.size() + 1);
  EXPECT_EQ(after.instructions[barrier].opcode, "cp.async.wait_all");
  EXPECT_EQ(after.instructions[barrier + 1].opcode, "bar.sync");
  EXPECT_EQ(after.instructions[targetOf(after, indexOf(after, "bra.uni"))].opcode, "membar.cta")
      << "behind the insertion";
  EXPECT_EQ(after.instructions[targetOf(after, indexOf(after, "bra"))].opcode, "bar.warp.sync")
      << "before it";
}

TEST(ApplyEdit, JumpToThePlaceOfAnInsertionRunsIt) {
  const ptx::Function before = loop();
  const ptx::Function after =
      applyEdit(before, insertBefore(indexOf(before, "membar.cta"), "cp.async.wait_all"));
  EXPECT_EQ(after.instructions[targetOf(after, indexOf(after, "bra.uni"))].opcode, "cp.async.wait_all");
}

TEST(ApplyEdit, InsertedBarrierHasItsNumber) {
  Edit edit = insertBefore(0, "bar.sync");
  edit.has_immediate = true;
  const ptx::Function after = applyEdit(loop(), edit);
  ASSERT_EQ(after.instructions[0].operands.size(), 1u);
  EXPECT_EQ(after.instructions[0].operands[0].imm, 0);
}

TEST(ApplyEdit, ImmediateIsReplaced) {
  const ptx::Function before =
      test::parseModule(test::kernelText("cp.async.wait_group 3;"))->functions.front();
  const Edit edit{.kind = Edit::Kind::kSetImmediate,
                  .at = indexOf(before, "cp.async.wait_group"),
                  .immediate = 1,
                  .has_immediate = true};
  const ptx::Function after = applyEdit(before, edit);
  EXPECT_EQ(after.instructions[edit.at].operands[0].imm, 1);
  EXPECT_EQ(after.instructions.size(), before.instructions.size());
}

TEST(ApplyEdit, PlaceBeyondTheEndChangesNothing) {
  const ptx::Function before = loop();
  EXPECT_EQ(applyEdit(before, insertBefore(100'000, "bar.sync")).instructions.size(),
            before.instructions.size());
}

std::optional<diagnose::Repair> repairOf(const std::string& statements, std::uint32_t threads = 64) {
  const test::Ran ran = test::run(statements, {.block = {threads, 1, 1}});
  const auto all = ran.diagnoses();
  EXPECT_FALSE(all.empty());
  if (all.empty()) return std::nullopt;
  return tryRepairs(ran.view(), machine::RunOptions{}, all.front(), all);
}

const std::string kCopyAndCommit = std::string(test::kCopy) + test::kCommit;

TEST(Repair, WaitIsPutBeforeTheBarrierThatHandsOver) {
  const auto repair = repairOf(kCopyAndCommit + test::kSync + test::kReadOther);
  ASSERT_TRUE(repair.has_value());
  EXPECT_THAT(repair->description, HasSubstr("insert cp.async.wait_all"));
  EXPECT_THAT(repair->insert_before, HasSubstr("cp.async.wait_all"));
}

TEST(Repair, MissingBarrierIsInserted) {
  const auto repair = repairOf(kCopyAndCommit + test::kWait + test::kReadOther);
  ASSERT_TRUE(repair.has_value());
  EXPECT_THAT(repair->description, HasSubstr("__syncthreads()"));
}

TEST(Repair, LooseWaitIsTightenedNoMoreThanNeeded) {
  const auto repair = repairOf(kCopyAndCommit + "cp.async.cg.shared.global [%s+2048], [%g+2048], 16;\n" +
                               test::kCommit + "cp.async.wait_group 2;\n" + test::kReadOwn + test::kWait);
  ASSERT_TRUE(repair.has_value());
  EXPECT_THAT(repair->description, HasSubstr("at most 1 pending"));
}

TEST(Repair, UncommittedCopyGetsItsCommit) {
  const auto repair = repairOf(std::string(test::kCopy) + test::kWait + test::kReadOwn);
  ASSERT_TRUE(repair.has_value());
  EXPECT_THAT(repair->description, HasSubstr("cp.async.commit_group"));
}

TEST(Repair, EditThatBringsANewFindingIsNoRepair) {
  // The reader stands under a divergent condition: a barrier there would be wrong in another way.
  const test::Ran ran = test::run(kCopyAndCommit + test::kWait + "setp.ge.u32 %p1, %t, 16;\n@%p1 bra END;\n" +
                                      test::kReadOther + "END:\n",
                                  {.block = {64, 1, 1}});
  auto all = ran.diagnoses();
  ASSERT_FALSE(all.empty());
  all.front().edits.erase(all.front().edits.begin(),
                          all.front().edits.end() - 1);  // only the one right before the read
  EXPECT_FALSE(tryRepairs(ran.view(), machine::RunOptions{}, all.front(), all).has_value());
}

TEST(Repair, FindingWithoutEditsHasNone) {
  const test::Ran ran =
      test::run("setp.ge.u32 %p1, %t, 32;\n@%p1 ret;\nbar.sync 0, 64;", {.block = {64, 1, 1}});
  const auto all = ran.diagnoses();
  ASSERT_FALSE(all.empty());
  EXPECT_FALSE(tryRepairs(ran.view(), machine::RunOptions{}, all.front(), all).has_value());
}

}  // namespace
}  // namespace handoff::explore
