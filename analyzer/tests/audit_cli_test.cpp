// SPDX-License-Identifier: Apache-2.0
// `handoff audit`, `handoff queue` and the advice of `handoff check` from the outside.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <llvm/Support/JSON.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "analyzer/tests/command.h"
#include "analyzer/tests/repository.h"

namespace handoff::tests {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kIdle = "testcases/audit/perf_wait_right_after_issue.cu";
/// Does not depend on an installed toolkit.
constexpr const char* kPlain = " --cuda-path=none ";

CommandResult runHere(const std::string& arguments) { return runHandoff(arguments, repositoryRoot().string()); }

class AuditCli : public testing::Test {
 protected:
  AuditCli() : folder_(fs::temp_directory_path() / ("handoff_audit_" + std::to_string(getpid()))) {
    fs::create_directories(folder_);
    if (const char* path = std::getenv("PATH")) path_ = path;
  }
  ~AuditCli() override {
    setenv("PATH", path_.c_str(), 1);
    fs::remove_all(folder_);
  }
  std::string write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return (folder_ / name).string();
  }
  /// A cuobjdump that prints `text`, first on PATH.
  void fakeCuobjdump(const std::string& text, int status = 0) {
    write("text", text);
    const std::string tool =
        write("cuobjdump", "#!/bin/sh\ncat '" + (folder_ / "text").string() + "'\nexit " + std::to_string(status) + "\n");
    fs::permissions(tool, fs::perms::owner_all);
    setenv("PATH", (folder_.string() + ":" + path_).c_str(), 1);
  }

  fs::path folder_;
  std::string path_;
};

TEST_F(AuditCli, SaysInstructionWaitAndAdvice) {
  const CommandResult result = runHere(std::string("audit") + kPlain + "--arch=sm_80 " + kIdle);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("async: inline PTX became cp.async.cg, 16 bytes"), HasSubstr("called:  line 24"),
                                HasSubstr("'cp.async.wait_group 0' at line 26; work in between: none"),
                                HasSubstr("[perf-no-overlap]"), HasSubstr("1 asynchronous call, 0 of them plain; 1 note")));
}

TEST_F(AuditCli, QuietLeavesTheAdvice) {
  const CommandResult result = runHere(std::string("audit --quiet") + kPlain + "--arch=sm_80 " + kIdle);
  EXPECT_THAT(result.out, AllOf(HasSubstr("[perf-no-overlap]"), Not(HasSubstr("became"))));
}

TEST_F(AuditCli, JsonHoldsTheSame) {
  const CommandResult result = runHere(std::string("audit --format=json") + kPlain + "--arch=sm_80 " + kIdle);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  llvm::Expected<llvm::json::Value> json = llvm::json::parse(result.out);
  ASSERT_TRUE(static_cast<bool>(json)) << result.out;
  const llvm::json::Object& file = *(*json->getAsObject()->getArray("audit"))[0].getAsObject();
  const llvm::json::Object& kernel = *(*file.getArray("kernels"))[0].getAsObject();
  const llvm::json::Object& call = *(*kernel.getArray("calls"))[0].getAsObject();
  EXPECT_EQ(call.getString("api"), llvm::StringRef("inline PTX"));
  const llvm::json::Object& instruction = *(*call.getArray("instructions"))[0].getAsObject();
  EXPECT_EQ(instruction.getString("kind"), llvm::StringRef("cp.async"));
  EXPECT_EQ((*call.getArray("waits"))[0].getAsObject()->getObject("most_work")->getInteger("global"), 0);
  EXPECT_EQ((*kernel.getArray("advice"))[0].getAsObject()->getString("rule"), llvm::StringRef("perf-no-overlap"));
}

TEST_F(AuditCli, OutputDoesNotDependOnJobs) {
  const std::string arguments = std::string("audit --format=json --arch=sm_80") + kPlain + kIdle +
                                " testcases/audit/perf_ring3_wait_all.cu testcases/audit/perf_work_before_wait.cu -j";
  EXPECT_EQ(runHere(arguments + "1").out, runHere(arguments + "3").out);
}

TEST_F(AuditCli, BadInputIsAnError) {
  for (const char* arguments : {"audit", "audit missing.cu", "audit --fix x.cu", "audit --arch=80 x.cu",
                                "audit --kernel=nobody --cuda-path=none testcases/audit/perf_work_before_wait.cu"}) {
    const CommandResult result = runHere(arguments);
    EXPECT_EQ(result.exit_code, 2) << arguments;
    EXPECT_THAT(result.out + result.err, HasSubstr("error: ")) << arguments;
  }
}

TEST_F(AuditCli, CommentSilencesAdvice) {
  const std::string file = write("silent.cu", R"(#include <cstdint>
__global__ void row(const float4* in, float4* out) {
  __shared__ alignas(16) float4 rows[64];
  const uint32_t to = static_cast<uint32_t>(__cvta_generic_to_shared(&rows[threadIdx.x]));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(&in[threadIdx.x]) : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");  // NOLINT(handoff-perf-no-overlap)
  out[threadIdx.x] = rows[threadIdx.x];
}
)");
  const CommandResult result = runHere(std::string("audit") + kPlain + file);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("1 asynchronous call"), Not(HasSubstr("perf-no-overlap"))));
}

TEST_F(AuditCli, MachineCodeNeedsCuobjdump) {
  setenv("PATH", folder_.c_str(), 1);
  const CommandResult result = runHere("audit --cubin --cuda-path=none " + write("a.cubin", "no matter"));
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.out, HasSubstr("machine code needs cuobjdump or nvdisasm"));
}

TEST_F(AuditCli, CubinIsReadThroughCuobjdump) {
  fakeCuobjdump("\tcode for sm_90a\n\t\tFunction : ring\n        /*0010*/  @P0 LDGSTS.E.BYPASS.128 [R3], [R6] ;  /* 0x1 */\n");
  const CommandResult result = runHere("audit --cubin --cuda-path=none " + write("a.cubin", "no matter"));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("audit: ring, sm_90a: LDGSTS.E.BYPASS.128 (1)"));
}

TEST_F(AuditCli, FaultOfCuobjdumpIsNamed) {
  fakeCuobjdump("cuobjdump fatal   : a.cubin is not a known file\n", 255);
  const CommandResult result = runHere("audit --cubin --cuda-path=none " + write("a.cubin", "no matter"));
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.out, HasSubstr("cuobjdump failed: cuobjdump fatal   : a.cubin is not a known file"));
}

TEST_F(AuditCli, CubinWithoutTheOptionIsAnError) {
  const CommandResult result = runHere("audit --cuda-path=none " + write("a.cubin", "no matter"));
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.out, HasSubstr("audit it with --cubin"));
}

TEST_F(AuditCli, CheckHasAdviceWhenItIsAskedFor) {
  const std::string check = std::string("check") + kPlain + "--arch=sm_80 " + kIdle;
  EXPECT_THAT(runHere(check).out, Not(HasSubstr("perf-")));
  const CommandResult result = runHere(check + " --checks=perf-*");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, AllOf(HasSubstr("note: "), HasSubstr("[perf-no-overlap]"), HasSubstr("verified: ")));
}

TEST_F(AuditCli, AdviceNeverChangesTheExitCodeOfCheck) {
  const CommandResult result =
      runHere(std::string("check --checks=perf-* --warnings-as-errors=* --require=verified") + kPlain + "--arch=sm_80 " + kIdle);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("[perf-no-overlap]"));
}

TEST(QueueCli, StepsByHalfASecond) {
  const CommandResult result = runHere("queue");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, "t = 0.0 s   backlog 4\nt = 0.5 s   backlog 4.5\nt = 1.0 s   backlog 5\n");
  EXPECT_THAT(runHere("queue --arrivals=3 --service=4").out, HasSubstr("t = 1.0 s   backlog 3\n"));
}

TEST(QueueCli, BadInputIsAnError) {
  for (const char* arguments :
       {"queue --arrivals=-1", "queue --service=many", "queue --service=nan", "queue --steps=0", "queue --steps=100000",
        "queue --html", "queue kernel.cu", "queue --timeline=missing.cu", "queue --format=json",
        "queue --cuda-path=none --timeline=testcases/row-exchange/ok_row_exchange_synchronous.cu"}) {
    const CommandResult result = runHere(arguments);
    EXPECT_EQ(result.exit_code, 2) << arguments;
    EXPECT_THAT(result.err, HasSubstr("error: ")) << arguments;
    EXPECT_THAT(result.out, IsEmpty()) << arguments;
  }
}

TEST(QueueCli, TimelineOfARing) {
  const CommandResult result =
      runHere("queue --cuda-path=none --arch=sm_80 --timeline=testcases/audit/perf_ring3_pipelined.cu");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("ring, slot 0"), HasSubstr("ring, slot 2"), Not(HasSubstr("ring, slot 3")),
                                HasSubstr("tile 11: "), HasSubstr("fill until ")));
}

TEST(QueueCli, TimelineOfBulkCopies) {
  const CommandResult result =
      runHere("queue --cuda-path=none --arch=sm_90 --timeline=testcases/audit/perf_bulk_two_slots.cu");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("tile, slot 1"), Not(HasSubstr("tile, slot 2")), HasSubstr("tile 9: ")));
}

}  // namespace
}  // namespace handoff::tests
