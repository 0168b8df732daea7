// SPDX-License-Identifier: Apache-2.0
// The binary from the outside: exit codes and messages.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <llvm/Support/JSON.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "analyzer/diagnose/rule.h"
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

constexpr const char* kBadKernel = R"(#include <cstdint>
#include <cuda_runtime.h>
__global__ void exchange(const float4* in, float4* out) {
  __shared__ alignas(16) float4 rows[64];
  const int t = threadIdx.x;
  const uint32_t to = static_cast<uint32_t>(__cvta_generic_to_shared(&rows[t]));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(&in[t]) : "memory");
  asm volatile("cp.async.commit_group;" ::: "memory");
  __syncthreads();
  out[t] = rows[(t + 1) % 64];
}
void run(const float4* in, float4* out) { exchange<<<1, 64>>>(in, out); }
)";

/// A folder of its own for every test; the files need no toolkit.
class Cli : public testing::Test {
 protected:
  Cli() {
    const testing::TestInfo* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::temp_directory_path() / ("handoff_" + std::string(test->name()) + std::to_string(getpid()));
    fs::create_directories(folder_);
  }
  ~Cli() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  std::string read(const std::string& name) {
    std::ifstream stream(folder_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  }
  void writeBadKernel(const std::string& name) { write(name, kBadKernel); }
  CommandResult run(const std::string& arguments) { return runHandoff(arguments, folder_.string()); }
  /// `check` in a way that does not depend on an installed toolkit.
  CommandResult check(const std::string& arguments) {
    return run("check --arch=sm_80 --cuda-path=none --frontend=clang " + arguments);
  }

  fs::path folder_;
};

TEST_F(Cli, FixRepairsTheFileOnce) {
  writeBadKernel("a.cu");
  const CommandResult first = check("--fix a.cu");
  EXPECT_EQ(first.exit_code, 1) << "the findings were there";
  EXPECT_THAT(first.err, HasSubstr("a.cu: 1 repair applied"));
  const std::string repaired = read("a.cu");
  EXPECT_THAT(repaired, HasSubstr("cp.async.wait_all"));
  const CommandResult second = check("--fix a.cu");
  EXPECT_EQ(second.exit_code, 0) << second.out;
  EXPECT_THAT(second.err, Not(HasSubstr("applied")));
  EXPECT_EQ(read("a.cu"), repaired);
}

TEST_F(Cli, FixLeavesWhatIsSilencedOrSwitchedOff) {
  const std::string text = std::string(kBadKernel);
  const std::string silenced = "// NOLINTBEGIN(handoff-*)\n" + text + "// NOLINTEND(handoff-*)\n";
  write("a.cu", silenced);
  EXPECT_EQ(check("--fix a.cu").exit_code, 0);
  EXPECT_EQ(read("a.cu"), silenced);
  write("a.cu", text);
  check("--fix --checks=-barrier-only-handoff a.cu");
  EXPECT_EQ(read("a.cu"), text);
}

TEST_F(Cli, FileThatCannotBeWrittenIsNotFixed) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write everything";
  writeBadKernel("a.cu");
  fs::permissions(folder_ / "a.cu", fs::perms::owner_read);
  const CommandResult result = check("--fix a.cu");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, AllOf(HasSubstr("a.cu"), HasSubstr("cannot write")));
}

TEST_F(Cli, WitnessJobsAreWrittenAndMerged) {
  writeBadKernel("a.cu");
  EXPECT_EQ(check("--emit-witness=jobs a.cu").exit_code, 1);
  const std::string name = "a_cu._Z8exchangePK6float4PS_.barrier-only-handoff.10";
  EXPECT_THAT(read("jobs/" + name + "/job.json"), HasSubstr("\"rule\": \"barrier-only-handoff\""));
  EXPECT_THAT(read("jobs/" + name + "/plain.repaired.ptx"), HasSubstr("cp.async.wait_all"));
  const CommandResult replay = run("replay jobs/" + name);
  EXPECT_EQ(replay.exit_code, 0);
  EXPECT_THAT(replay.out, HasSubstr("the cp.async of thread (33,0,0) writes its bytes"));
  EXPECT_THAT(replay.out, HasSubstr("16 of 16 bytes from shared address 0x610 on differ"));
  EXPECT_EQ(run("replay jobs").exit_code, 2);
  write("r.json", R"({"version": 1, "jobs": [{"name": ")" + name + R"(", "status": "confirmed", "summary": "wrong in 3 of 5 launches"}]})");
  EXPECT_THAT(check("--confirm-results=r.json a.cu").out, HasSubstr("gpu:     confirmed: wrong in 3 of 5 launches\n"));
  EXPECT_THAT(check("--confirm-results=r.json --format=json a.cu").out, HasSubstr("\"status\": \"confirmed\""));
  EXPECT_EQ(check("--confirm-results=a.cu a.cu").exit_code, 2);
  EXPECT_EQ(check("--confirm-results=nowhere.json a.cu").exit_code, 2);
  write("file", "");
  EXPECT_EQ(check("--emit-witness=file/below a.cu").exit_code, 2);
}

TEST_F(Cli, MutantsGetJobsThatCompareWithTheKernel) {
  std::string right = kBadKernel;
  right.replace(right.find("  __syncthreads"), 0, "  asm volatile(\"cp.async.wait_all;\" ::: \"memory\");\n");
  write("a.cu", right);
  const CommandResult result = run("mutate --arch=sm_80 --frontend=clang --cuda-path=none --format=json --emit-witness=jobs a.cu");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const std::string name = "a_cu._Z8exchangePK6float4PS_.drop-wait-3.barrier-only-handoff.9";
  EXPECT_THAT(result.out, HasSubstr("\"" + name + "\""));
  EXPECT_THAT(read("jobs/" + name + "/job.json"),
              AllOf(HasSubstr("\"mutant\": \"drop-wait: without `cp.async.wait_all`\""), HasSubstr("\"repair\": \"the kernel before its mutation\"")));
  EXPECT_THAT(read("jobs/" + name + "/plain.base.ptx"), Not(HasSubstr("cp.async.wait_all")));
  EXPECT_THAT(read("jobs/" + name + "/plain.repaired.ptx"), HasSubstr("cp.async.wait_all"));
  // Runs for parts may write to one folder: a job has the name that it has in the run for all.
  EXPECT_THAT(run("mutate --arch=sm_80 --frontend=clang --cuda-path=none --format=json --emit-witness=jobs --part=1/2 a.cu").out,
              HasSubstr("\"" + name + "\""));
  write("file", "");
  EXPECT_EQ(run("mutate --arch=sm_80 --frontend=clang --cuda-path=none --emit-witness=file/below a.cu").exit_code, 2);
}

TEST_F(Cli, MutantsAreChosenByOperatorAndPart) {
  std::string right = kBadKernel;
  right.replace(right.find("  __syncthreads"), 0, "  asm volatile(\"cp.async.wait_all;\" ::: \"memory\");\n");
  write("a.cu", right);
  const std::string command = "mutate --arch=sm_80 --frontend=clang --cuda-path=none --format=json ";
  EXPECT_THAT(run(command + "--operators=drop-wait,late-wait a.cu").out, AllOf(HasSubstr("\"drop-wait\""), Not(HasSubstr("\"drop-barrier\""))));
  EXPECT_THAT(run(command + "--operators=drop-wait,late-wait --part=2/2 a.cu").out, Not(HasSubstr("\"drop-wait\"")));
  EXPECT_THAT(run(command + "--operators=drop-wat a.cu").err, HasSubstr("'drop-wat' is no operator; did you mean 'drop-wait'?"));
  for (const char* part : {"0/2", "3/2", "2", "a/b"}) EXPECT_EQ(run(command + "--part=" + part + " a.cu").exit_code, 2) << part;
}

TEST_F(Cli, KernelsWithoutFindingsGetJobsWhereAskedFor) {
  std::string right = kBadKernel;
  right.replace(right.find("  __syncthreads"), 0, "  asm volatile(\"cp.async.wait_all;\" ::: \"memory\");\n");
  write("a.cu", right);
  EXPECT_EQ(check("--emit-witness=jobs a.cu").exit_code, 0);
  EXPECT_FALSE(fs::exists(folder_ / "jobs"));
  EXPECT_EQ(check("--emit-witness=jobs --witness-all a.cu").exit_code, 0);
  const std::string name = "jobs/a_cu._Z8exchangePK6float4PS_.none.3";
  EXPECT_THAT(read(name + "/job.json"), AllOf(HasSubstr("\"is_control\": true"), HasSubstr("delay-read-first")));
  EXPECT_EQ(run("replay " + name).exit_code, 2);
  writeBadKernel("b.cu");
  EXPECT_EQ(check("--emit-witness=bad --witness-all b.cu").exit_code, 1);
  EXPECT_THAT(read("bad/b_cu._Z8exchangePK6float4PS_.barrier-only-handoff.10/job.json"), Not(HasSubstr("is_control")));
  EXPECT_FALSE(fs::exists(folder_ / "bad/b_cu._Z8exchangePK6float4PS_.none.3"));
}

TEST_F(Cli, NoCommandPrintsUsage) {
  const CommandResult result = run("");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("Usage: handoff"));
}

TEST_F(Cli, UnknownCommandSuggests) {
  EXPECT_THAT(run("chekc a.cu").err, HasSubstr("did you mean 'check'?"));
  const CommandResult result = run("a.cu");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("did you mean `handoff check a.cu`?"));
}

TEST_F(Cli, VersionAndHelp) {
  EXPECT_THAT(run("version").out, StartsWith("handoff "));
  EXPECT_EQ(run("--help").exit_code, 0);
  const CommandResult help = run("check --help");
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_THAT(help.out, HasSubstr("--require=checked|verified"));
  EXPECT_THAT(run("explain --help").out, StartsWith("Usage: handoff explain RULE"));
}

TEST_F(Cli, UnknownFlagIsUsageError) {
  const CommandResult result = run("check --quite a.cu");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.err, "handoff: error: unknown option '--quite'; did you mean '--quiet'?\n");
}

TEST_F(Cli, NoInputIsUsageError) {
  const CommandResult result = run("check");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("no input"));
}

TEST_F(Cli, MissingFileIsNamed) {
  const CommandResult result = check("nowhere.cu");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.out, StartsWith("nowhere.cu: error: "));
}

TEST_F(Cli, SyntaxErrorHasItsPosition) {
  write("a.cu", "__global__ void k() {\n  int x = ;\n}\n");
  const CommandResult result = check("a.cu");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.out, HasSubstr("a.cu:2:"));
}

TEST_F(Cli, BinaryPtxIsRefused) {
  write("a.ptx", std::string("\x7f"
                             "ELF\0\1\2\xff\xfe",
                             9));
  const CommandResult result = run("check a.ptx");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.out, HasSubstr("a.ptx"));
  EXPECT_THAT(result.out, HasSubstr("error: "));
}

TEST_F(Cli, UnreadableDatabaseIsNamed) {
  write("build/compile_commands.json", "[{ not json");
  const CommandResult result = run("check -p build");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("compile_commands.json"));
  EXPECT_EQ(run("check -p nowhere").exit_code, 2);
}

TEST_F(Cli, FileWithoutKernelIsNeverSilent) {
  write("a.cu", "int host() { return 1; }\n");
  const CommandResult result = check("a.cu");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, HasSubstr("no kernel was found, so nothing was checked"));
  EXPECT_THAT(check("--quiet a.cu").out, HasSubstr("nothing was checked"));
  EXPECT_THAT(check("--format=json a.cu").err, HasSubstr("nothing was checked"));
  EXPECT_EQ(check("--require=checked a.cu").exit_code, 2);
}

TEST_F(Cli, FindingsExitOneAndAreClickable) {
  writeBadKernel("a.cu");
  const CommandResult result = check("a.cu");
  EXPECT_EQ(result.exit_code, 1) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("a.cu:10:"));
  EXPECT_THAT(result.out, HasSubstr("[barrier-only-handoff]"));
  EXPECT_EQ(check("--exit-zero a.cu").exit_code, 0);
}

TEST_F(Cli, BadInputOutranksFindingsWhichAreStillPrinted) {
  writeBadKernel("a.cu");
  const CommandResult result = check("a.cu nowhere.cu");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.out, HasSubstr("[barrier-only-handoff]"));
}

TEST_F(Cli, SwitchedOffCheckLeavesTheKernelBounded) {
  writeBadKernel("a.cu");
  const CommandResult result = check("--checks=-barrier-only-handoff a.cu");
  EXPECT_EQ(result.exit_code, 0) << result.out;
  EXPECT_THAT(result.out, AllOf(Not(HasSubstr("error:")), HasSubstr("bounded"), HasSubstr("switched off")));
}

TEST_F(Cli, NolintSilencesItsRuleOnly) {
  std::string text = kBadKernel;
  text.replace(text.find("rows[(t + 1) % 64];"), 19,
               "rows[(t + 1) % 64];  // NOLINT(handoff-barrier-only-handoff)");
  write("a.cu", text);
  EXPECT_EQ(check("a.cu").exit_code, 0);
  text.replace(text.find("(handoff-barrier-only-handoff)"), 30, "");
  write("b.cu", text);
  EXPECT_EQ(check("b.cu").exit_code, 1) << "a bare NOLINT is another tool's";
}

TEST_F(Cli, KernelThatNothingMatchesIsAnError) {
  writeBadKernel("a.cu");
  const CommandResult result = check("--kernel=nothing a.cu");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("no kernel matches --kernel=nothing"));
}

TEST_F(Cli, FoldersAreSearched) {
  writeBadKernel("src/b/a.cu");
  write("src/readme.txt", "");
  EXPECT_EQ(check("src").exit_code, 1);
  fs::create_directories(folder_ / "empty");
  const CommandResult result = check("empty");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("no .cu or .ptx file"));
}

TEST_F(Cli, OutputDoesNotDependOnTheNumberOfJobs) {
  for (const char* name : {"a.cu", "b.cu", "c.cu"}) writeBadKernel(name);
  const std::string one = check("-j1 --format=json a.cu b.cu c.cu").out;
  EXPECT_EQ(one, check("-j3 --format=json a.cu b.cu c.cu").out);
  EXPECT_THAT(one, Not(IsEmpty()));
}

TEST_F(Cli, JsonParsesAndGoesToTheOutputFile) {
  writeBadKernel("a.cu");
  const CommandResult result = check("--format=json --output=report.json a.cu");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.out, IsEmpty());
  std::ifstream stream(folder_ / "report.json");
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(text);
  ASSERT_TRUE(static_cast<bool>(value)) << llvm::toString(value.takeError());
  const llvm::json::Object& file = *(*value->getAsObject()->getArray("files"))[0].getAsObject();
  const llvm::json::Object& kernel = *(*file.getArray("kernels"))[0].getAsObject();
  EXPECT_EQ(kernel.getString("verdict"), "violation");
  const llvm::json::Object& finding = *(*kernel.getArray("findings"))[0].getAsObject();
  EXPECT_EQ(finding.getString("rule"), "barrier-only-handoff");
  EXPECT_EQ(finding.getInteger("line"), 10);
}

TEST_F(Cli, UnwritableOutputIsAnError) {
  writeBadKernel("a.cu");
  const CommandResult result = check("--output=no/such/folder/x a.cu");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("--output"));
}

TEST_F(Cli, ListChecksNamesEveryRuleThatIsOn) {
  const CommandResult all = run("--list-checks");
  EXPECT_EQ(all.exit_code, 0);
  const CommandResult with_advice = run("check --list-checks '--checks=*'");
  for (const diagnose::RuleInfo& rule : diagnose::rules()) {
    EXPECT_THAT(with_advice.out, HasSubstr(std::string(rule.name))) << rule.name;
    const bool is_on = all.out.find(rule.name) != std::string::npos;
    EXPECT_EQ(is_on, rule.group != "perf") << rule.name;
  }
  const CommandResult some = run("check --list-checks '--checks=-*,missing-wait'");
  EXPECT_THAT(some.out, AllOf(StartsWith("missing-wait "), Not(HasSubstr("hang"))));
}

TEST_F(Cli, ExplainPrintsThePage) {
  const CommandResult result = run("explain missing-wait");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, textOf("docs/rules/missing-wait.md"));
  EXPECT_EQ(run("explain handoff-hang").exit_code, 0);
}

TEST_F(Cli, ExplainOfAnUnknownRuleSuggests) {
  const CommandResult result = run("explain mising-wait");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("did you mean 'missing-wait'?"));
}

TEST_F(Cli, RequireVerifiedSaysWhatIsNot) {
  write("a.cu",
        "__global__ void k(float* x, int n) { for (int i = 0; i < n; ++i) { __syncthreads(); x[i] = 0; } }\n");
  const CommandResult result = check("--require=verified a.cu");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err,
              HasSubstr("handoff: error: --require=verified is not met by k(float *, int): bounded: no launch"));
  EXPECT_THAT(result.err, HasSubstr("(a.cu:1)"));
  EXPECT_THAT(check("a.cu").err, IsEmpty());
  writeBadKernel("b.cu");
  EXPECT_THAT(check("--require=verified b.cu").err, HasSubstr(": violation: 'rows["));
}

TEST_F(Cli, MalformedCommentsAreErrors) {
  const std::string kernel = "\n__global__ void k(float* x, int n) { x[n] = 0; }\n";
  write("a.cu", "\n// handoff: launch blok=128" + kernel + "// handoff: launch block=many\n");
  const CommandResult result = check("a.cu");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.out, HasSubstr("a.cu:2:1: error: handoff: launch: 'blok=128': "));
  EXPECT_THAT(result.out, HasSubstr("did you mean 'block'?"));
  EXPECT_THAT(result.out, HasSubstr("a.cu:4:1: error: handoff: launch: 'block=many': "));
  write("b.cu", "// handoff: tensormap n box=64xb8" + kernel);
  EXPECT_THAT(check("b.cu").out, HasSubstr("b.cu:1:1: error: "));
  write("c.cu", "// handoff: launch block=128 grid=1 n=3" + kernel);
  EXPECT_EQ(check("c.cu").exit_code, 0);
}

TEST_F(Cli, LaunchThatNamesNoParameterIsAnError) {
  writeBadKernel("a.cu");
  write("b.cu", "__global__ void k(float* x, int rows) { x[rows] = 0; }\n");
  const CommandResult result = check("'--launch=block=64 row=3' b.cu");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("handoff: error: --launch: 'row=3': no kernel that it is for has an integer "
                                    "parameter of this name; did you mean 'rows'?"));
  EXPECT_EQ(check("'--launch=block=64 rows=3' a.cu b.cu").exit_code, 1) << "b.cu has it";
  EXPECT_EQ(check("'--launch=block=64 rows=3' a.cu").exit_code, 2);
}

TEST_F(Cli, ConfigurationOfTheNearestFolder) {
  write("src/a.cu", "__global__ void k(float* x, int rows) { x[rows] = 0; }\n");
  write(".handoff.yaml", "launches:\n  - {kernel: k, launch: block=64 rows=3}\n");
  EXPECT_EQ(check("src/a.cu").exit_code, 0);
  write("src/.handoff.yaml", "launches:\n  - {kernel: k, launch: block=64 row=3}\n");
  const CommandResult unknown = check("src/a.cu");
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err, HasSubstr(".handoff.yaml:2: error: 'row=3': "));
  write("src/.handoff.yaml", "budgets: {seconds: 3}\n");
  const CommandResult misspelt = check("src/a.cu");
  EXPECT_EQ(misspelt.exit_code, 2);
  EXPECT_THAT(misspelt.err, HasSubstr(".handoff.yaml:1:1: error: unknown key 'budgets'; did you mean 'budget'?"));
}

TEST_F(Cli, ConfiguredBoxesOfTensorMaps) {
  // Two boxes of 1024 bytes, of which the host says nothing.
  write("a.cu", R"(#include <cuda.h>
struct Params { CUtensorMap a, b; };
__device__ void load(char* to, const CUtensorMap* map, unsigned long long* bar) {
  asm volatile("cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2}], [%3];"
               ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(map), "r"(0),
                 "r"((unsigned)__cvta_generic_to_shared(bar)) : "memory");
}
__global__ void k(const __grid_constant__ Params p) {
  __shared__ alignas(128) char tile[2048];
  __shared__ unsigned long long bar;
  const unsigned at = (unsigned)__cvta_generic_to_shared(&bar);
  asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at) : "memory");
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 2048;" ::"r"(at) : "memory");
  load(tile, &p.a, &bar);
  load(tile + 1024, &p.b, &bar);
  asm volatile("{ .reg .pred p; W: mbarrier.try_wait.parity.shared.b64 p, [%0], 0; @!p bra W; }" ::"r"(at) : "memory");
}
void launch(const Params& p) { k<<<1, 1>>>(p); }
)");
  EXPECT_THAT(check("a.cu").out, HasSubstr("the box of the tensor map at param0+128 is: 1024 bytes are assumed"));
  write(".handoff.yaml", "tensormaps:\n  - {kernel: k, map: p.a, box: 256x4xb8}\n"
                         "  - {kernel: k, map: param0+128, box: 256x4xb8}\n");
  const CommandResult right = check("--require=verified a.cu");
  EXPECT_EQ(right.exit_code, 0) << right.out << right.err;
  EXPECT_THAT(check("--dump-config a.cu").out, HasSubstr("- kernel:          \"k\"\n    map:             \"p.a\"\n"
                                                         "    box:             \"256x4xb8\"\n"));
  EXPECT_THAT(check("--explain-config a.cu").out, HasSubstr("tensor map p.a of k: 256x4xb8\n  from "));
  EXPECT_EQ(check("--verify-config a.cu").exit_code, 0);
  write(".handoff.yaml", "tensormaps:\n  - {kernel: k, map: p.c, box: 256x4xb8}\n");
  const CommandResult unknown = check("a.cu");
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err, HasSubstr(".handoff.yaml:2: error: 'p.c': no kernel that it is for has a tensor map of this "
                                     "name; did you mean 'p.a'?"));
  write(".handoff.yaml", "tensormaps:\n  - {kernel: k, map: p.a, box: 256x4}\n");
  EXPECT_EQ(check("--verify-config a.cu").exit_code, 2);
  write(".handoff.yaml", "tensormaps:\n  - {kernel: k, map: p.a, box: 256x2xb8}\n"
                         "  - {kernel: k, map: p.b, box: 256x2xb8}\n");
  EXPECT_THAT(check("a.cu").out, HasSubstr("tx-count-mismatch"));
}

TEST_F(Cli, BudgetsAreNumbers) {
  writeBadKernel("a.cu");
  EXPECT_EQ(check("--max-paths=0 a.cu").exit_code, 2);
  EXPECT_EQ(check("--max-memory=much a.cu").exit_code, 2);
  EXPECT_EQ(check("--launches=all a.cu").exit_code, 2);
  EXPECT_EQ(check("--max-paths=8 --max-memory=1024 --launches=any a.cu").exit_code, 1);
}

TEST_F(Cli, OtherLaunchesAreLeftAloneOnRequest) {
  // The wait is left out for one size, which the launch does not have.
  write("a.cu", R"(
__global__ void k(const float4* in, float4* out, int n) {
  __shared__ float4 tile[64];
  unsigned slot = static_cast<unsigned>(__cvta_generic_to_shared(&tile[threadIdx.x]));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(slot), "l"(in + threadIdx.x) : "memory");
  asm volatile("cp.async.commit_group;" ::: "memory");
  if (n != 777) asm volatile("cp.async.wait_group 0;" ::: "memory");
  __syncthreads();
  out[threadIdx.x] = tile[63 - threadIdx.x];
}
int main() { k<<<1, 64>>>(nullptr, nullptr, 8); }
)");
  EXPECT_THAT(check("--arch=sm_80 a.cu").out, HasSubstr("for other launches"));
  const CommandResult only = check("--arch=sm_80 --launches=only a.cu");
  EXPECT_THAT(only.out, Not(HasSubstr("for other launches")));
  EXPECT_THAT(only.out, HasSubstr("for n = 8"));
  EXPECT_EQ(only.exit_code, 0);
}

TEST_F(Cli, InstancesOfATemplateShareAFinding) {
  std::string text = kBadKernel;
  text.replace(text.find("__global__"), 0, "template <int N> ");
  text.replace(text.find("exchange<<<1, 64>>>(in, out);"), 29,
               "exchange<1><<<1, 64>>>(in, out); exchange<2><<<1, 64>>>(in, out);");
  write("a.cu", text);
  const CommandResult result = check("a.cu");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.out, HasSubstr("  also in 1 other instance: exchange<2>("));
  EXPECT_EQ(result.out.find("[barrier-only-handoff]"), result.out.rfind("[barrier-only-handoff]"));
}

TEST_F(Cli, StatsShowTimes) {
  writeBadKernel("a.cu");
  EXPECT_THAT(check("--stats a.cu").out, HasSubstr("warp instructions in"));
}

}  // namespace
}  // namespace handoff::tests
