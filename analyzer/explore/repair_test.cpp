// SPDX-License-Identifier: Apache-2.0
// Edits of a program, and when one counts as a repair.
#include "analyzer/explore/repair.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "analyzer/test_support/ptx_kernel.h"

namespace handoff::explore {
namespace {

using diagnose::Change;
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

class ApplyEdit : public testing::Test {
 protected:
  explicit ApplyEdit(const char* statements = kLoop) : ran_(test::run(statements)) {}

  const ptx::Function& before() const { return ran_.program.function; }
  std::uint32_t at(std::string_view opcode) const { return indexOf(before(), opcode); }
  std::optional<Edited> apply(std::vector<Change> changes) const {
    return applyEdit(ran_.program, Statements(ran_.program, "", text_), {std::move(changes), ""});
  }

  test::Ran ran_;
  SourceText text_{{}};
};

Change change(Change::Kind kind, std::uint32_t at, const char* opcode = "") {
  Change result;
  result.kind = kind;
  result.at = at;
  result.opcode = opcode;
  return result;
}

TEST_F(ApplyEdit, InsertionShiftsTargetsBehindIt) {
  const std::uint32_t barrier = at("bar.sync");
  const auto after = apply({change(Change::Kind::kInsertBefore, barrier, "cp.async.wait_all")});
  ASSERT_TRUE(after);
  ASSERT_EQ(after->function.instructions.size(), before().instructions.size() + 1);
  EXPECT_EQ(after->function.instructions[barrier].opcode, "cp.async.wait_all");
  EXPECT_EQ(after->origin[barrier], Edited::kInserted);
  EXPECT_EQ(after->function.instructions[barrier + 1].opcode, "bar.sync");
  EXPECT_EQ(after->origin[barrier + 1], barrier);
  EXPECT_EQ(after->function.instructions[targetOf(after->function, indexOf(after->function, "bra.uni"))].opcode, "membar.cta")
      << "behind the insertion";
  EXPECT_EQ(after->function.instructions[targetOf(after->function, indexOf(after->function, "bra"))].opcode, "bar.warp.sync")
      << "before it";
}

TEST_F(ApplyEdit, JumpToThePlaceOfAnInsertionRunsIt) {
  const auto after = apply({change(Change::Kind::kInsertBefore, at("membar.cta"), "cp.async.wait_all")});
  ASSERT_TRUE(after);
  EXPECT_EQ(after->function.instructions[targetOf(after->function, indexOf(after->function, "bra.uni"))].opcode, "cp.async.wait_all");
}

TEST_F(ApplyEdit, JumpOverAStatementPassesWhatIsBehindIt) {
  const auto after = apply({change(Change::Kind::kInsertAfter, at("bar.sync"), "cp.async.wait_all")});
  ASSERT_TRUE(after);
  const std::uint32_t inserted = indexOf(after->function, "cp.async.wait_all");
  EXPECT_EQ(after->function.instructions[inserted - 1].opcode, "bar.sync");
  EXPECT_GT(targetOf(after->function, indexOf(after->function, "bra.uni")), inserted);
}

TEST_F(ApplyEdit, DeletionLeadsJumpsToWhatFollows) {
  const auto after = apply({change(Change::Kind::kDelete, at("bar.warp.sync"))});
  ASSERT_TRUE(after);
  EXPECT_EQ(after->function.instructions.size(), before().instructions.size() - 1);
  EXPECT_EQ(after->function.instructions[targetOf(after->function, indexOf(after->function, "bra"))].decoded->modifiers[0], "setp");
}

TEST_F(ApplyEdit, MoveKeepsTheInstruction) {
  Change move = change(Change::Kind::kMoveAfter, at("bar.warp.sync"));
  move.to = at("membar.cta");
  const auto after = apply({move});
  ASSERT_TRUE(after);
  EXPECT_EQ(after->function.instructions.size(), before().instructions.size());
  EXPECT_EQ(after->function.instructions[indexOf(after->function, "membar.cta") + 1].opcode, "bar.warp.sync");
}

TEST_F(ApplyEdit, BranchIsSplitAtABarrier) {
  Change split = change(Change::Kind::kSplitBranch, at("bra.uni"));
  split.to = at("bar.sync");
  const auto after = apply({split});
  ASSERT_TRUE(after);
  const std::uint32_t barrier = indexOf(after->function, "bar.sync");
  EXPECT_EQ(targetOf(after->function, indexOf(after->function, "bra.uni")), barrier) << "all come to the barrier";
  EXPECT_EQ(after->function.instructions[barrier + 1].opcode, "bra.uni") << "and part again behind it";
  EXPECT_EQ(after->function.instructions[targetOf(after->function, barrier + 1)].opcode, "membar.cta");
}

TEST_F(ApplyEdit, PlaceBeyondTheEndIsRefused) {
  EXPECT_FALSE(apply({change(Change::Kind::kInsertBefore, 100'000, "bar.sync")}));
}

TEST(ApplyEditOperands, ImmediateIsReplacedAndFlipped) {
  const test::Ran ran = test::run("cp.async.wait_group 3;\nL:\nmbarrier.try_wait.parity.shared.b64 %p1, [bar], 1;\n");
  const SourceText text{{}};
  const Statements statements(ran.program, "", text);
  Change set = change(Change::Kind::kSetOperand, indexOf(ran.program.function, "cp.async.wait_group"));
  set.value = 1;
  Change flip = change(Change::Kind::kFlipOperand, indexOf(ran.program.function, "mbarrier.try_wait.parity.shared.b64"));
  flip.operand = 2;
  const auto after = applyEdit(ran.program, statements, {{set, flip}, ""});
  ASSERT_TRUE(after);
  EXPECT_EQ(after->function.instructions[set.at].operands[0].imm, 1);
  EXPECT_EQ(after->function.instructions[flip.at].operands[2].imm, 0);
  flip.operand = 7;
  EXPECT_FALSE(applyEdit(ran.program, statements, {{flip}, ""})) << "no such operand";
}

TEST(ApplyEditOperands, CopyIsSplitIntoPieces) {
  const test::Ran ran = test::run("cp.async.cg.shared.global [%s+16], [%g], 16;\ncp.async.wait_all;\n");
  const SourceText text{{}};
  const Statements statements(ran.program, "", text);
  Change split = change(Change::Kind::kSplitCopy, indexOf(ran.program.function, "cp.async.cg.shared.global"));
  split.value = 8;
  const auto after = applyEdit(ran.program, statements, {{split}, ""});
  ASSERT_TRUE(after);
  for (const std::int64_t piece : {0, 1}) {
    const ptx::Instruction& copy = after->function.instructions[split.at + static_cast<std::uint32_t>(piece)];
    EXPECT_EQ(copy.opcode, "cp.async.ca.shared.global");
    EXPECT_EQ(copy.operands[0].imm, 16 + 8 * piece);
    EXPECT_EQ(copy.operands[1].imm, 8 * piece);
    EXPECT_EQ(copy.operands[2].imm, 8);
  }
}

TEST(ApplyEditOperands, InsertedWaitPollsAgain) {
  const test::Ran ran = test::run("mbarrier.init.shared.b64 [bar], 1;\nbar.sync 0;\n");
  const SourceText text{{}};
  const Statements statements(ran.program, "", text);
  Change wait = change(Change::Kind::kWaitBefore, indexOf(ran.program.function, "bar.sync"), "mbarrier.try_wait.parity.shared.b64");
  wait.to = indexOf(ran.program.function, "mbarrier.init.shared.b64");
  wait.value = 1;
  const auto after = applyEdit(ran.program, statements, {{wait}, ""});
  ASSERT_TRUE(after);
  const std::uint32_t poll = indexOf(after->function, "mbarrier.try_wait.parity.shared.b64");
  EXPECT_EQ(after->function.instructions[poll].operands[2].imm, 1);
  EXPECT_EQ(targetOf(after->function, poll + 1), poll);
  EXPECT_EQ(after->function.instructions[poll + 2].opcode, "bar.sync");
}

TEST(ApplyEditOperands, InsertionForThoseWhoTakeABranch) {
  const test::Ran ran = test::run(kLoop);
  const SourceText text{{}};
  const Statements statements(ran.program, "", text);
  const std::uint32_t branch = indexOf(ran.program.function, "bra.uni");
  const auto after = applyEdit(ran.program, statements, {{change(Change::Kind::kInsertTaken, branch, "cp.async.wait_all")}, ""});
  ASSERT_TRUE(after);
  const ptx::Instruction& inserted = after->function.instructions[branch];
  EXPECT_EQ(inserted.opcode, "cp.async.wait_all");
  ASSERT_TRUE(inserted.guard);
  EXPECT_EQ(inserted.guard->reg, after->function.instructions[branch + 1].guard->reg);
}

std::vector<std::optional<diagnose::Repair>> repairsOf(const test::Ran& ran, std::vector<Input> inputs = {}) {
  if (inputs.empty()) inputs.push_back({ran.launch, machine::RunOptions{}, ran.names});
  std::vector<Repairer::Open> open;
  for (const diagnose::Diagnosis& diagnosis : ran.diagnoses()) open.push_back({diagnosis, 0});
  EXPECT_FALSE(open.empty());
  return Repairer(ran.program, std::move(inputs), "", SourceText({}), {}).repairAll(open);
}

std::optional<diagnose::Repair> repairOf(const std::string& statements, std::uint32_t threads = 64) {
  const test::Ran ran = test::run(statements, {.block = {threads, 1, 1}});
  const auto repairs = repairsOf(ran);
  return repairs.empty() ? std::nullopt : repairs.front();
}

const std::string kCopyAndCommit = std::string(test::kCopy) + test::kCommit;

TEST(Repair, WaitIsPutBeforeTheBarrierThatHandsOver) {
  const auto repair = repairOf(kCopyAndCommit + test::kSync + test::kReadOther);
  ASSERT_TRUE(repair.has_value());
  EXPECT_THAT(repair->description, HasSubstr("insert cp.async.wait_all"));
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
  Change barrier = change(Change::Kind::kInsertBefore, all.front().primary_instr, "bar.sync");
  barrier.operands.emplace_back().kind = ptx::Operand::Kind::kImmediate;
  all.front().edits = {{{barrier}, "insert __syncthreads()"}};
  Repairer repairer(ran.program, {{ran.launch, machine::RunOptions{}, ran.names}}, "", SourceText({}), {});
  EXPECT_FALSE(repairer.repairAll({{all.front(), 0}}).front().has_value());
}

TEST(Repair, HoldsUnderEveryInputOrIsNone) {
  // A count of 64 is right for this launch and wrong for one of 96 threads.
  const std::string kernel = "bar.sync 1, 128;\n";
  const test::Ran ran = test::run(kernel, {.block = {64, 1, 1}});
  const auto alone = repairsOf(ran);
  ASSERT_EQ(alone.size(), 1U);
  ASSERT_TRUE(alone.front().has_value());
  EXPECT_THAT(alone.front()->description, HasSubstr("64 threads"));
  machine::Launch larger = ran.launch;
  larger.block = {96, 1, 1};
  const auto both = repairsOf(ran, {{ran.launch, {}, ran.names}, {larger, {}, ran.names}});
  EXPECT_FALSE(both.front().has_value());
}

TEST(Repair, WaitThatNeverWaitsIsNone) {
  // Any parity that lets the thread go on would end the hang; nobody arrives, so there is nothing to wait for.
  const auto repair = repairOf("setp.eq.u32 %p2, %t, 0;\n@%p2 mbarrier.init.shared.b64 [bar], 1;\nbar.sync 0;\n"
                               "WAIT:\nmbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;\n@!%p1 bra WAIT;\n");
  EXPECT_FALSE(repair.has_value());
}

TEST(Repair, LeaversArriveFirst) {
  const auto repair = repairOf("setp.eq.u32 %p2, %t, 0;\n@%p2 mbarrier.init.shared.b64 [bar], 64;\nbar.sync 0;\n"
                               "setp.ge.u32 %p1, %t, 40;\n@%p1 bra END;\nmbarrier.arrive.shared.b64 _, [bar];\n"
                               "WAIT:\nmbarrier.try_wait.parity.shared.b64 %p3, [bar], 0;\n@!%p3 bra WAIT;\n"
                               "st.shared.u32 [%s], 0;\nld.shared.u32 %r1, [%s];\nst.global.u32 [%out], %r1;\nEND:\n");
  ASSERT_TRUE(repair.has_value());
}

TEST(Repair, MisalignedCopyIsMadeInPieces) {
  const auto repair = repairOf("cp.async.cg.shared.global [%s+4], [%g], 16;\n" + std::string(test::kCommit) + test::kWait);
  ASSERT_TRUE(repair.has_value());
  EXPECT_THAT(repair->description, HasSubstr("pieces of 4 bytes"));
}

TEST(Repair, RunThatGoesOnFurtherThanATryIsNoRefutation) {
  // As many turns as there are blocks. With the other parity one input takes more steps than a try may.
  const test::Ran ran = test::run(
      "setp.eq.u32 %p2, %t, 0;\n@%p2 mbarrier.init.shared.b64 [bar], 32;\nbar.sync 0;\nmov.u32 %r1, 0;\nmov.u32 %r3, %nctaid.x;\n"
      "LOOP:\nmbarrier.arrive.shared.b64 _, [bar];\nand.b32 %r2, %r1, 1;\nxor.b32 %r2, %r2, 1;\n"
      "WAIT:\nmbarrier.try_wait.parity.shared.b64 %p1, [bar], %r2;\n@!%p1 bra WAIT;\n"
      "add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p3, %r1, %r3;\n@%p3 bra LOOP;\n",
      {.block = {32, 1, 1}, .grid = {4, 1, 1}});
  machine::Launch longer = ran.launch;
  longer.grid = {30'000, 1, 1};
  const auto both = repairsOf(ran, {{ran.launch, {}, ran.names}, {longer, {}, ran.names}});
  ASSERT_TRUE(both.front().has_value());
  EXPECT_THAT(both.front()->description, HasSubstr("parity"));
  EXPECT_FALSE(repairsOf(ran, {{longer, {}, ran.names}}).front().has_value()) << "some run has to come to its end";
}

TEST(Repair, OneThatLeavesNothingRepairsAllFindings) {
  const test::Ran ran = test::run(
      "setp.eq.u32 %p2, %t, 0;\n@%p2 mbarrier.init.shared.b64 [bar], 2;\nbar.sync 0;\n"
      "@!%p2 bra SKIP;\nmbarrier.arrive.expect_tx.shared.b64 _, [bar], 100;\n"
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%in], 128, [bar];\n"
      "mbarrier.arrive.shared.b64 _, [bar];\nSKIP:\n"
      "WAIT:\nmbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;\n@!%p1 bra WAIT;\nld.shared.u32 %r1, [%s];\nst.global.u32 [%out], %r1;\n",
      {.block = {8, 1, 1}});
  for (const auto& repair : repairsOf(ran)) {
    ASSERT_TRUE(repair.has_value());
    EXPECT_THAT(repair->description, HasSubstr("expect 128 bytes"));
  }
}

TEST(Repair, RunsOfARepairHaveABudget) {
  const test::Ran ran = test::run(kCopyAndCommit + test::kWait + test::kReadOther, {.block = {64, 1, 1}});
  std::vector<Repairer::Open> open;
  for (const diagnose::Diagnosis& diagnosis : ran.diagnoses()) open.push_back({diagnosis, 0});
  ASSERT_FALSE(open.empty());
  const std::vector<Input> inputs = {{ran.launch, machine::RunOptions{}, ran.names}};
  EXPECT_FALSE(Repairer(ran.program, inputs, "", SourceText({}), {.steps = 10}).repairAll(open).front().has_value()) << "a run takes more";
  EXPECT_TRUE(Repairer(ran.program, inputs, "", SourceText({}), {}).repairAll(open).front().has_value());
}

TEST(Repair, FindingWithoutEditsHasNone) {
  const test::Ran ran =
      test::run("setp.ge.u32 %p1, %t, 32;\n@%p1 ret;\nbar.sync 0, 64;", {.block = {64, 1, 1}});
  auto all = ran.diagnoses();
  ASSERT_FALSE(all.empty());
  all.front().edits.clear();
  Repairer repairer(ran.program, {{ran.launch, machine::RunOptions{}, ran.names}}, "", SourceText({}), {});
  EXPECT_FALSE(repairer.repairAll({{all.front(), 0}}).front().has_value());
}

}  // namespace
}  // namespace handoff::explore
