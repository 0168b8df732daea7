// SPDX-License-Identifier: Apache-2.0
// SARIF logs against the official schema, and against the rules of its makers and of GitHub. Both come with
// npm packages (tools/npm/package.json) that `./dev test` installs below build/npm; without them the tests
// are skipped, and say so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "analyzer/tests/command.h"
#include "analyzer/tests/repository.h"

namespace handoff::tests {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// With the mistakes that a log may have to speak of.
constexpr const char* kBad = "testcases/barrier-only-handoff/bad_row_exchange.cu";
constexpr const char* kGood = "testcases/audit/perf_ring3_pipelined.cu";

class SarifSchema : public testing::Test {
 protected:
  SarifSchema()
      : folder_(fs::temp_directory_path() / ("handoff_schema" + std::to_string(getpid()))),
        modules_(repositoryRoot() / "build/npm/node_modules"),
        multitool_(modules_ / "@microsoft/sarif-multitool-linux/Sarif.Multitool") {
    fs::create_directories(folder_);
  }
  ~SarifSchema() override { fs::remove_all(folder_); }

  void SetUp() override {
    const bool has_node =
        std::system("node --version >/dev/null 2>&1") == 0;  // NOLINT(concurrency-mt-unsafe)
    if (!has_node || !fs::exists(modules_ / "ajv") || access(multitool_.c_str(), X_OK) != 0)
      GTEST_SKIP()
          << "node or the packages of tools/npm/package.json are not here; ./dev test installs them";
  }

  void write(const std::string& name, const std::string& text) { std::ofstream(folder_ / name) << text; }
  std::string read(const std::string& name) {
    std::ifstream stream(folder_ / name);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  }
  /// Writes the log of a run, which must say something of the inputs.
  void makeLog(const std::string& name, const std::string& arguments) {
    const CommandResult result = runHandoff("check --format=sarif --cuda-path=none --arch=sm_80 " + arguments,
                                            repositoryRoot().string());
    ASSERT_THAT(result.out, HasSubstr("\"runs\"")) << result.err;
    write(name, result.out);
  }
  std::string run(const std::string& command) {
    // Neither validator may ask the network what is true: one of its rules looks whether links are alive.
    const std::string all = "cd '" + folder_.string() +
                            "' && https_proxy=http://127.0.0.1:9 http_proxy=http://127.0.0.1:9 " + command +
                            " >said.txt 2>&1 </dev/null; echo \"exit code $?\" >>said.txt";
    EXPECT_EQ(std::system(all.c_str()), 0);  // NOLINT(concurrency-mt-unsafe)
    return read("said.txt");
  }
  /// What the schema has against these logs.
  std::string bySchema(const std::string& files) {
    return run("node '" + (repositoryRoot() / "tools/npm/validate_sarif.js").string() + "' '" +
               modules_.string() + "' " + files);
  }
  /// Errors and warnings of the rules.
  std::string byRules(const std::string& files) {
    const std::string said =
        run("DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1 '" + multitool_.string() + "' validate " + files +
            " --rule-kind 'Sarif;Ghas' --level 'Error;Warning' --output out.sarif --log ForceOverwrite");
    EXPECT_THAT(said, HasSubstr("Analysis completed successfully")) << said;
    std::string mistakes;
    std::stringstream stream(said);
    for (std::string line; std::getline(stream, line);)
      if (line.find(": error ") != std::string::npos || line.find(": warning ") != std::string::npos)
        mistakes += line + "\n";
    return mistakes;
  }

  fs::path folder_, modules_, multitool_;
};

TEST_F(SarifSchema, LogsOfAllKindsAreValid) {
  makeLog("clean.sarif", kGood);
  makeLog("bad.sarif", kBad);
  makeLog("advice.sarif", "--checks='*' testcases/audit/perf_wait_right_after_issue.cu");
  makeLog("off.sarif", std::string("--checks=-barrier-only-handoff ") + kBad);
  write("broken.cu", "this is no C++");
  makeLog("failed.sarif", "'" + (folder_ / "broken.cu").string() + "'");
  std::string silenced = textOf(kBad);
  silenced.insert(0, "// NOLINTBEGIN(handoff-*): a test\n");
  write("a b.cu", silenced + "// NOLINTEND(handoff-*)\n");
  makeLog("silenced.sarif", "'" + (folder_ / "a b.cu").string() + "'");
  write("known.json", "{\"version\": 1, \"findings\": []}");
  makeLog("new.sarif", "--baseline='" + (folder_ / "known.json").string() + "' " + kBad);
  const std::string files =
      "clean.sarif bad.sarif advice.sarif off.sarif failed.sarif silenced.sarif new.sarif";
  EXPECT_EQ(bySchema(files), "exit code 0\n");
  EXPECT_THAT(byRules(files), IsEmpty());
  EXPECT_THAT(read("silenced.sarif"), HasSubstr("\"inSource\""));
  EXPECT_THAT(read("new.sarif"), HasSubstr("\"baselineState\": \"new\""));
}

TEST_F(SarifSchema, BrokenLogsAreNot) {
  makeLog("bad.sarif", kBad);
  const std::string right = read("bad.sarif");
  const auto broken = [&](const std::string& from, const std::string& to) {
    const std::size_t at = right.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    write("broken.sarif", std::string(right).replace(at, from.size(), to));
  };
  broken("\"executionSuccessful\"", "\"executionSuccesful\"");
  EXPECT_THAT(bySchema("broken.sarif"), HasSubstr("exit code 1"));
  broken("\"executionOrder\": 1", "\"executionOrder\": \"first\"");
  EXPECT_THAT(bySchema("broken.sarif"), HasSubstr("executionOrder"));
  broken("\"ruleIndex\": ", "\"ruleIndex\": 99");
  EXPECT_THAT(byRules("broken.sarif"), HasSubstr("SARIF1009"));
}

}  // namespace
}  // namespace handoff::tests
