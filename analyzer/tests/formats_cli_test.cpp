// SPDX-License-Identifier: Apache-2.0
// Formats for services, exported repairs and baselines from the outside.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <llvm/Support/JSON.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "analyzer/tests/command.h"
#include "analyzer/tests/repository.h"

namespace handoff::tests {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

/// Two mistakes of one kind in kernels of their own.
constexpr const char* kBad = R"(#include <cstdint>
#include <cuda_runtime.h>
__device__ void copy16(void* to, const void* from) {
  const uint32_t at = static_cast<uint32_t>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from) : "memory");
  asm volatile("cp.async.commit_group;" ::: "memory");
}
__global__ void left(const float4* in, float4* out) {
  __shared__ alignas(16) float4 rows[64];
  copy16(&rows[threadIdx.x], &in[threadIdx.x]);
  __syncthreads();
  out[threadIdx.x] = rows[(threadIdx.x + 1) % 64];
}
__global__ void right(const float4* in, float4* out) {
  __shared__ alignas(16) float4 tiles[64];
  copy16(&tiles[threadIdx.x], &in[threadIdx.x]);
  __syncthreads();
  out[threadIdx.x] = tiles[(threadIdx.x + 2) % 64];
}
void run(const float4* in, float4* out) {
  left<<<1, 64>>>(in, out);
  right<<<1, 64>>>(in, out);
}
)";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

/// kBad with the wait that `kernel` lacks.
std::string repaired(const std::string& text, const std::string& kernel) {
  const std::size_t at = text.find("  __syncthreads", text.find("void " + kernel));
  return std::string(text).insert(at, "  asm volatile(\"cp.async.wait_all;\" ::: \"memory\");\n");
}

class Formats : public testing::Test {
 protected:
  Formats() {
    const testing::TestInfo* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::temp_directory_path() /
              ("handoff_formats_" + std::string(test->name()) + std::to_string(getpid()));
    fs::create_directories(folder_);
  }
  ~Formats() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  std::string read(const std::string& name) {
    std::ifstream stream(folder_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  }
  /// In a way that does not depend on an installed toolkit.
  CommandResult run(const std::string& command, const std::string& arguments) {
    return runHandoff(command + " --arch=sm_80 --cuda-path=none --frontend=clang " + arguments,
                      folder_.string());
  }
  CommandResult check(const std::string& arguments) { return run("check", arguments); }

  fs::path folder_;
};

/// The results of a SARIF log.
llvm::json::Array resultsOf(const std::string& text) {
  llvm::Expected<llvm::json::Value> log = llvm::json::parse(text);
  if (!log) {
    ADD_FAILURE() << llvm::toString(log.takeError()) << text;
    return {};
  }
  const llvm::json::Array* runs = log->getAsObject()->getArray("runs");
  return *(*runs)[0].getAsObject()->getArray("results");
}

std::string fingerprintOf(const llvm::json::Value& result) {
  return result.getAsObject()
      ->getObject("partialFingerprints")
      ->getString("handoffFinding/v1")
      .value_or("")
      .str();
}

TEST_F(Formats, SarifHasTheFindings) {
  write("a.cu", kBad);
  const CommandResult result = check("--format=sarif a.cu");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, IsEmpty());
  const llvm::json::Array results = resultsOf(result.out);
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(results[0].getAsObject()->getString("ruleId"), "barrier-only-handoff");
  EXPECT_NE(results[0].getAsObject()->getArray("fixes"), nullptr);
  EXPECT_NE(results[0].getAsObject()->getArray("codeFlows"), nullptr);
  EXPECT_NE(fingerprintOf(results[0]), fingerprintOf(results[1]));
  EXPECT_THAT(result.out, HasSubstr("\"exitCode\": 1"));
  EXPECT_THAT(result.out, Not(HasSubstr(folder_.string()))) << "the log is the same on every machine";
}

TEST_F(Formats, FingerprintsSurviveShiftsAndJobs) {
  write("a.cu", kBad);
  const llvm::json::Array before = resultsOf(check("--format=sarif -j1 a.cu").out);
  std::string shifted = "// two lines\n// more\n" + replaced(kBad, "void run(", "void start(");
  shifted = replaced(shifted, "out[threadIdx.x] = rows", "  out[ threadIdx.x ]=rows");
  write("a.cu", shifted);
  const llvm::json::Array after = resultsOf(check("--format=sarif -j2 ./a.cu").out);
  ASSERT_EQ(before.size(), 2U);
  ASSERT_EQ(after.size(), 2U);
  for (const std::size_t i : {0, 1}) EXPECT_EQ(fingerprintOf(before[i]), fingerprintOf(after[i]));
  write("elsewhere/below/a.cu", shifted);
  const CommandResult elsewhere =
      runHandoff("check --arch=sm_80 --cuda-path=none --frontend=clang --format=sarif a.cu",
                 (folder_ / "elsewhere/below").string());
  EXPECT_EQ(fingerprintOf(resultsOf(elsewhere.out)[0]), fingerprintOf(before[0]));
}

TEST_F(Formats, SilencedFindingsAreInTheLogUnlessLeftOut) {
  write("a.cu", replaced(kBad, "rows[(threadIdx.x + 1) % 64];",
                         "rows[(threadIdx.x + 1) % 64];  // NOLINT(handoff-*): known"));
  const llvm::json::Array all = resultsOf(check("--format=sarif a.cu").out);
  ASSERT_EQ(all.size(), 2U);
  const llvm::json::Array* suppressions = all[1].getAsObject()->getArray("suppressions");
  ASSERT_EQ(suppressions->size(), 1U);
  EXPECT_EQ((*suppressions)[0].getAsObject()->getString("justification"), "NOLINT(handoff-*): known");
  EXPECT_EQ(resultsOf(check("--format=sarif --suppressed=omit a.cu").out).size(), 1U);
  EXPECT_THAT(check("a.cu").out, HasSubstr(", 1 silenced\n"));
  EXPECT_THAT(check("--format=json a.cu").out, HasSubstr("\"by\": \"comment\""));
}

TEST_F(Formats, GithubCommandsForEachFinding) {
  write("src/a.cu", kBad);
  const CommandResult result = check("--format=github src/a.cu");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(
      result.out,
      AllOf(StartsWith("::error file=src/a.cu,line=12,col="), HasSubstr("::error file=src/a.cu,line=18,"),
            HasSubstr("title=handoff barrier-only-handoff::"), HasSubstr("%0Afix: insert cp.async.wait_all"),
            HasSubstr("1 file, 2 kernels")));
}

TEST_F(Formats, PathsCountFromTheRepository) {
  write("repo/src/a.cu", kBad);
  fs::create_directories(folder_ / "repo/.git");
  const CommandResult result =
      runHandoff("check --arch=sm_80 --cuda-path=none --frontend=clang --format=github a.cu",
                 (folder_ / "repo/src").string());
  EXPECT_THAT(result.out, StartsWith("::error file=src/a.cu,"));
}

TEST_F(Formats, OneRunWritesSeveralReports) {
  write("a.cu", kBad);
  const CommandResult result =
      check("--report=sarif:a.sarif --report=json:a.json --report=text:a.txt --color=always a.cu");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.out, HasSubstr("\x1b["));
  EXPECT_EQ(resultsOf(read("a.sarif")).size(), 2U);
  EXPECT_THAT(read("a.json"), HasSubstr("\"verdict\": \"violation\""));
  EXPECT_THAT(read("a.txt"), AllOf(HasSubstr("[barrier-only-handoff]"), Not(HasSubstr("\x1b["))));
}

TEST_F(Formats, MistakesInOutputsAreFoundBeforeTheAnalysis) {
  write("a.cu", kBad);
  for (const char* wrong : {"--report=sarif", "--report=sarif:", "--report=sarff:x",
                            "--report=sarif:no/such/folder/x", "--export-fixes=no/such/folder/x",
                            "--report=sarif:x --report=json:./x", "--suppressed=maybe", "--format=srif"}) {
    const CommandResult result = check(std::string(wrong) + " a.cu");
    EXPECT_EQ(result.exit_code, 2) << wrong;
    EXPECT_THAT(result.out, IsEmpty()) << wrong;
    EXPECT_THAT(result.err, HasSubstr("error: ")) << wrong;
  }
  EXPECT_THAT(check("--report=sarff:x a.cu").err, HasSubstr("did you mean 'sarif'?"));
}

TEST_F(Formats, ExportedFixesGiveWhatFixGives) {
  write("a.cu", kBad);
  EXPECT_EQ(check("--export-fixes=fixes/none.yaml a.cu").exit_code, 2);
  fs::create_directories(folder_ / "fixes");
  EXPECT_EQ(check("--export-fixes=fixes/a.yaml a.cu").exit_code, 1);
  EXPECT_EQ(read("a.cu"), kBad);
  const std::string exported = read("fixes/a.yaml");
  EXPECT_THAT(exported, HasSubstr("DiagnosticName:  handoff-barrier-only-handoff"));
  write("b.cu", kBad);
  EXPECT_EQ(check("--fix b.cu").exit_code, 1);
  ASSERT_NE(read("b.cu"), kBad);
  const std::string command = "cd '" + folder_.string() + "' && clang-apply-replacements-22 fixes 2>err.txt";
  if (std::system("command -v clang-apply-replacements-22 >/dev/null") != 0)  // NOLINT(concurrency-mt-unsafe)
    GTEST_SKIP() << "clang-apply-replacements-22 is not here: apt-get install clang-tools-22";
  ASSERT_EQ(std::system(command.c_str()), 0) << read("err.txt");  // NOLINT(concurrency-mt-unsafe)
  EXPECT_EQ(read("a.cu"), read("b.cu"));
}

TEST_F(Formats, BaselineFromCreationToItsEnd) {
  write("a.cu", kBad);
  const CommandResult created = run("baseline create", "a.cu");
  EXPECT_EQ(created.exit_code, 0) << created.err;
  EXPECT_THAT(created.err, HasSubstr(".handoff-baseline.json: 2 findings\n"));
  EXPECT_EQ(run("baseline create", "a.cu").exit_code, 2) << "it is not overwritten";

  const CommandResult known = check("--baseline=.handoff-baseline.json a.cu");
  EXPECT_EQ(known.exit_code, 0) << known.out;
  EXPECT_THAT(known.out,
              AllOf(HasSubstr("bounded: left("), HasSubstr("limit: 1 known finding of the baseline"),
                    HasSubstr("0 verified, 2 bounded"), HasSubstr(", 2 known\n")));
  EXPECT_EQ(check("--baseline=.handoff-baseline.json --require=verified a.cu").exit_code, 1);
  const std::string log = check("--baseline=.handoff-baseline.json --format=sarif a.cu").out;
  EXPECT_THAT(log, AllOf(HasSubstr("\"baselineState\": \"unchanged\""),
                         Not(HasSubstr("\"baselineState\": \"new\""))));

  // One is mended, another one comes.
  const std::size_t third = std::string(kBad).find("__global__ void right");
  const std::string copy = replaced(
      std::string(kBad).substr(third, std::string(kBad).find("void run(") - third), "right", "third");
  const std::string grown = replaced(repaired(kBad, "left"), "void run(", copy + "void run(");
  write("a.cu", replaced(grown, "  left<<<", "  third<<<1, 64>>>(in, out);\n  left<<<"));
  const CommandResult diff = run("baseline diff", ".handoff-baseline.json a.cu");
  EXPECT_EQ(diff.exit_code, 1);
  EXPECT_THAT(diff.out, AllOf(HasSubstr("new: a.cu: barrier-only-handoff in third("),
                              HasSubstr("fixed: a.cu: barrier-only-handoff in left("),
                              HasSubstr("1 new, 1 fixed, 1 unchanged\n")));
  EXPECT_EQ(check("--baseline=.handoff-baseline.json a.cu").exit_code, 1);

  EXPECT_EQ(run("baseline update", ".handoff-baseline.json a.cu").exit_code, 0);
  EXPECT_THAT(read(".handoff-baseline.json"),
              AllOf(HasSubstr("right("), Not(HasSubstr("left(")), Not(HasSubstr("third("))));
  EXPECT_THAT(run("baseline update", "--add .handoff-baseline.json a.cu").err,
              HasSubstr("2 findings, 0 removed, 1 added"));
  EXPECT_EQ(check("--baseline=.handoff-baseline.json a.cu").exit_code, 0);
}

TEST_F(Formats, BaselinesAreComparedAsFiles) {
  write("a.cu", kBad);
  EXPECT_EQ(run("baseline create", "--output=old.json a.cu").exit_code, 0);
  write("a.cu", repaired(kBad, "right"));
  EXPECT_EQ(run("baseline create", "--output=new.json a.cu").exit_code, 0);
  const CommandResult shrunk = run("baseline diff", "old.json new.json");
  EXPECT_EQ(shrunk.exit_code, 0);
  EXPECT_THAT(shrunk.out, HasSubstr("0 new, 1 fixed, 1 unchanged\n"));
  EXPECT_EQ(run("baseline diff", "new.json old.json").exit_code, 1);
  EXPECT_THAT(run("baseline diff", "--format=json old.json new.json").out, HasSubstr("\"fixed\": ["));
}

TEST_F(Formats, OnlyWhatWasCheckedCountsAsFixed) {
  write("a.cu", kBad);
  write("b.cu", kBad);
  EXPECT_EQ(run("baseline create", "a.cu b.cu").exit_code, 0);
  write("a.cu", repaired(repaired(kBad, "left"), "right"));
  EXPECT_THAT(run("baseline diff", ".handoff-baseline.json a.cu").out,
              HasSubstr("0 new, 2 fixed, 0 unchanged, 2 not checked\n"));
  EXPECT_THAT(run("baseline diff", "--kernel=left .handoff-baseline.json a.cu b.cu").out,
              HasSubstr("0 new, 0 fixed, 1 unchanged, 3 not checked\n"));
  write("a.cu", "this is no C++");
  const CommandResult broken = run("baseline update", ".handoff-baseline.json a.cu b.cu");
  EXPECT_EQ(broken.exit_code, 2);
  EXPECT_THAT(broken.err, HasSubstr(".handoff-baseline.json: 4 findings, 0 removed"));
  fs::remove(folder_ / "a.cu");
  EXPECT_THAT(run("baseline update", ".handoff-baseline.json b.cu").err, HasSubstr("2 findings, 2 removed"))
      << "the file is gone";
}

TEST_F(Formats, WrongBaselinesAreErrorsWithALine) {
  write("a.cu", kBad);
  write("b.json", "{\"version\": 1,\n \"findings\": [\n  {\"rule\": 7}]}\n");
  for (const char* command :
       {"check --baseline=b.json a.cu", "baseline diff b.json a.cu", "baseline update b.json a.cu"}) {
    const CommandResult result = runHandoff(std::string(command) + " --cuda-path=none", folder_.string());
    EXPECT_EQ(result.exit_code, 2) << command;
    EXPECT_THAT(result.err, HasSubstr("b.json:3: error: this finding needs a \"fingerprint\"")) << command;
    EXPECT_THAT(result.out, IsEmpty()) << command;
  }
  EXPECT_EQ(check("--baseline=nowhere.json a.cu").exit_code, 2);
  EXPECT_THAT(runHandoff("baseline creat", folder_.string()).err, HasSubstr("did you mean 'create'?"));
  for (const char* command :
       {"baseline", "baseline diff", "baseline update", "baseline create --add", "baseline create --fix"})
    EXPECT_EQ(runHandoff(command, folder_.string()).exit_code, 2) << command;
}

}  // namespace
}  // namespace handoff::tests
