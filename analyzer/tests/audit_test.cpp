// SPDX-License-Identifier: Apache-2.0
// Every case of testcases/audit through the audit, in process, with Clang and with nvcc: the advice is that of the marks
// and no other, and the calls became what the marks say.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>

#include "analyzer/audit/audit.h"
#include "analyzer/tests/analysis.h"
#include "analyzer/tests/repository.h"

namespace handoff::tests {
namespace {

using frontend::Choice;

bool isOnLine(const SourceStack& stack, const AuditCase& item, unsigned line) {
  return std::any_of(stack.begin(), stack.end(), [&](const SourceFrame& frame) {
    return frame.pos.line == line && frame.pos.file.ends_with(item.path);
  });
}

std::string linesOfStack(const SourceStack& stack) {
  std::string text;
  for (const SourceFrame& frame : stack) text += " " + std::to_string(frame.pos.line);
  return text;
}

void expectMarks(const AuditCase& item, const audit::KernelAudit& kernel) {
  std::vector<bool> is_expected(kernel.advice.size(), false);
  for (const AuditMark& mark : item.marks()) {
    bool is_met = false;
    if (mark.becomes) {
      for (const audit::Call& call : kernel.calls)
        for (const audit::Instruction& instr : call.instructions)
          is_met |= isOnLine(call.stack, item, mark.line) && instr.text.starts_with(mark.text);
    } else {
      for (std::size_t i = 0; i < kernel.advice.size(); ++i) {
        if (kernel.advice[i].rule != mark.text || !isOnLine(kernel.advice[i].stack, item, mark.line)) continue;
        is_met = is_expected[i] = true;
      }
    }
    EXPECT_TRUE(is_met) << item.file() << ":" << mark.line << ": " << mark.text;
  }
  for (std::size_t i = 0; i < kernel.advice.size(); ++i)
    EXPECT_TRUE(is_expected[i]) << item.file() << ":" << linesOfStack(kernel.advice[i].stack) << ": "
                                << kernel.advice[i].rule << ": " << kernel.advice[i].message;
}

void runCase(const AuditCase& item, Choice choice) {
  if ((choice == Choice::kNvcc || needsToolkit(item.file())) && !hasToolkit())
    GTEST_SKIP() << "needs the CUDA toolkit";
  const std::optional<frontend::Unit> unit = loadCase(item.path, item.arch, choice);
  if (!unit) return;
  const std::vector<audit::KernelAudit> kernels = audit::audit(*unit, {});
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].error, "");
  expectMarks(item, kernels[0]);
}

struct Run {
  AuditCase item;
  Choice choice;
};

class AuditCases : public testing::TestWithParam<Run> {};

TEST_P(AuditCases, SaysWhatTheMarksSay) { runCase(GetParam().item, GetParam().choice); }

std::vector<Run> allRuns() {
  std::vector<Run> runs;
  for (const AuditCase& item : allAuditCases())
    for (const std::string& name : item.frontends)
      runs.push_back({item, name == "nvcc" ? Choice::kNvcc : Choice::kClang});
  return runs;
}

std::string nameOf(const testing::TestParamInfo<Run>& info) {
  std::string name = info.param.item.path + (info.param.choice == Choice::kNvcc ? "_nvcc" : "_clang");
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, AuditCases, testing::ValuesIn(allRuns()), nameOf);

/// "group 0 fills ring[0], cp.async.wait_group 1 at line 31", a line each.
std::string batchesOf(const std::string& path, const std::string& arch) {
  const std::optional<frontend::Unit> unit = loadCase(path, arch, Choice::kClang);
  if (!unit) return "";
  std::string text;
  for (const audit::KernelAudit& kernel : audit::audit(*unit, {}, audit::Detail::kBatches))
    for (const audit::Call& call : kernel.calls) {
      text += std::to_string(call.batch_count) + " batches\n";
      for (const audit::Batch& batch : call.batches) {
        text += batch.name + " fills " + batch.place + ", " + batch.wait;
        text += batch.wait_stack.empty() ? "\n" : " at line " + std::to_string(batch.wait_stack.back().pos.line) + "\n";
      }
    }
  return text;
}

TEST(AuditBatches, GroupsOfARingAreNamedWithTheirSlotsAndWaits) {
  const std::string text = batchesOf("audit/perf_ring3_pipelined.cu", "sm_80");
  EXPECT_THAT(text, testing::HasSubstr("2 batches\n"
                                       "group 0 fills ring[0], cp.async.wait_group 1 at line 31\n"
                                       "group 1 fills ring[1], cp.async.wait_group 1 at line 31\n"
                                       "10 batches\n"
                                       "group 2 fills ring[2], cp.async.wait_group 1 at line 31\n"
                                       "group 3 fills ring[0], cp.async.wait_group 1 at line 31\n"));
}

TEST(AuditBatches, BulkCopiesAreNamedByThePhaseOfTheirBarrier) {
  const std::string text = batchesOf("audit/perf_bulk_two_slots.cu", "sm_90");
  EXPECT_THAT(text, testing::HasSubstr("phase 0 of 'full[0]' fills "));
  EXPECT_THAT(text, testing::HasSubstr("phase 0 of 'full[1]' fills "));
  EXPECT_THAT(text, testing::HasSubstr("phase 1 of 'full[0]' fills "));
}

TEST(AuditBatches, AreNotLookedForUnlessAskedFor) {
  const std::optional<frontend::Unit> unit = loadCase("audit/perf_ring3_pipelined.cu", "sm_80", Choice::kClang);
  ASSERT_TRUE(unit.has_value());
  for (const audit::Call& call : audit::audit(*unit, {}).front().calls) EXPECT_TRUE(call.batches.empty());
}

}  // namespace
}  // namespace handoff::tests
