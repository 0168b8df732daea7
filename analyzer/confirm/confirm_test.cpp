// SPDX-License-Identifier: Apache-2.0
// handoff-confirm from the outside, with a driver that only pretends; and with a real one, where there is a
// GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "analyzer/support/json.h"

namespace handoff::confirm {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Confirm : public testing::Test {
 protected:
  Confirm() {
    folder_ =
        fs::temp_directory_path() /
        ("handoff_confirm_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()) +
         std::to_string(getpid()));
    fs::create_directories(folder_);
  }
  ~Confirm() override { fs::remove_all(folder_); }

  /// A job whose kernels do what is said; an empty `repaired`: no repair is known.
  void writeJob(const std::string& name, const std::string& plain, const std::string& delayed,
                const std::string& repaired) {
    const fs::path job = folder_ / name;
    fs::create_directories(job);
    const auto put = [&](const char* file, const std::string& text) { std::ofstream(job / file) << text; };
    put("plain.ptx", plain);
    put("delayed.ptx", delayed);
    put("repaired.ptx", repaired);
    const std::string fixed = repaired.empty() ? "" : R"(, "repaired": "repaired.ptx")";
    put("job.json", R"({"name": ")" + name +
                        R"(", "version": 1, "file": "a.cu", "line": 3, "rule": "missing-wait", "kernel": "k",
      "launch": {"grid": [1,1,1], "block": [32,1,1], "cluster": [1,1,1], "dynamic_shared": 0},
      "parameters": [{"bytes": 8}, {"bytes": 4}], "predicts": ["wrong", "hang"],
      "arguments": [{"param": 0, "offset": 0, "name": "in", "kind": "buffer", "bytes": 4096},
                    {"param": 1, "offset": 0, "name": "n", "kind": "value", "bytes": "07000000"}],
      "variants": [{"name": "plain", "what": "as it is", "base": "plain.ptx")" +
                        fixed + R"(},
                   {"name": "delay", "what": "a delay", "base": "delayed.ptx")" +
                        fixed + "}]}");
  }

  /// Turns a job into one of a kernel without findings.
  void makeControl(const std::string& name) {
    const std::string path = (folder_ / name / "job.json").string();
    json::Value manifest = *json::read(path);
    manifest.set("is_control", true);
    std::ofstream(path) << json::print(manifest);
  }

  /// A job whose kernel and whose reference go wrong under the delay.
  void writeBothWrong(const std::string& name) {
    writeJob(name, "", "fake: wrong", "right");
    std::ofstream(folder_ / name / "other.ptx") << "fake: wrong";
    const std::string path = (folder_ / name / "job.json").string();
    json::Value manifest = *json::read(path);
    json::Array variants = manifest["variants"].array();
    variants.at(1).set("repaired", "other.ptx");
    manifest.set("variants", std::move(variants));
    std::ofstream(path) << json::print(manifest);
  }

  /// Exit code; results_ has the JSON. `launcher`: a program that runs it.
  int run(const std::string& options = "", const std::string& launcher = "") {
    const std::string json = (folder_ / "results.json").string();
    const std::string command = "HANDOFF_LIBCUDA=" HANDOFF_FAKE_DRIVER " " + launcher + " " HANDOFF_CONFIRM " " +
                                folder_.string() + " --launches 20 --timeout 1 --json " + json + " " +
                                options + " > " + (folder_ / "out").string() + " 2>&1";
    const int status = std::system(command.c_str());
    if (Result<json::Value> read = json::read(json)) results_ = *read;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  json::Value job(std::size_t index = 0) const { return results_["jobs"].array().at(index); }

  fs::path folder_;
  json::Value results_;
};

TEST_F(Confirm, WrongUnderAPerturbationIsConfirmed) {
  writeJob("a", "", "fake: wrong", "right");
  EXPECT_EQ(run(), 1);
  EXPECT_EQ(job()["status"].text(), "confirmed");
  EXPECT_EQ(job()["summary"].text(),
            "wrong in 20 of 20 launches, with this: a delay; repaired: wrong in 0 of 20 launches");
  EXPECT_EQ(results_["repaired_failures"].integer(), 0);
  EXPECT_EQ(results_["device"].text(), "Fake");
}

TEST_F(Confirm, NoFailureIsNotReproduced) {
  writeJob("a", "", "", "right");
  EXPECT_EQ(run(), 0);
  EXPECT_EQ(job()["status"].text(), "not reproduced");
}

TEST_F(Confirm, HangIsEndedAndCounts) {
  writeJob("a", "fake: hang", "", "right");
  EXPECT_EQ(run(), 1);
  EXPECT_EQ(job()["status"].text(), "confirmed");
  EXPECT_THAT(job()["summary"].text(), HasSubstr("hangs"));
  EXPECT_EQ(job()["variants"].array()[0]["repaired"]["launches"].integer(), 20);
}

TEST_F(Confirm, FaultIsNamed) {
  writeJob("a", "fake: fault", "", "right");
  EXPECT_EQ(run(), 1);
  EXPECT_THAT(job()["summary"].text(), HasSubstr("CUDA_ERROR_ILLEGAL_INSTRUCTION"));
}

TEST_F(Confirm, RepairThatFailsMakesItInvalid) {
  writeJob("a", "", "", "fake: fault");
  EXPECT_EQ(run(), 0);
  EXPECT_EQ(job()["status"].text(), "invalid");
  EXPECT_THAT(job()["summary"].text(), HasSubstr("cannot serve as the reference"));
}

TEST_F(Confirm, WithoutARepairOnlyWhatIsPredictedCounts) {
  writeJob("a", "fake: fault", "", "");
  writeJob("b", "fake: hang", "", "");
  EXPECT_EQ(run(), 1);
  EXPECT_NE(job(0)["status"].text(), "confirmed") << "a fault is not what this finding predicts";
  EXPECT_EQ(job(1)["status"].text(), "confirmed");
}

TEST_F(Confirm, KernelThatCannotBeLoadedIsInvalid) {
  writeJob("a", "", "", "fake: no image");
  EXPECT_EQ(run(), 0);
  EXPECT_EQ(job()["status"].text(), "invalid");
  EXPECT_THAT(job()["summary"].text(), HasSubstr("CUDA_ERROR_NO_BINARY_FOR_GPU"));
}

TEST_F(Confirm, BrokenJobDoesNotStopTheOthers) {
  writeJob("b", "", "fake: wrong", "right");
  fs::create_directories(folder_ / "a");
  std::ofstream(folder_ / "a" / "job.json") << "{ not json";
  EXPECT_EQ(run(), 1);
  EXPECT_EQ(results_["invalid"].integer(), 1);
  EXPECT_EQ(results_["confirmed"].integer(), 1);
}

TEST_F(Confirm, ControlHoldsOrFails) {
  writeJob("a", "", "", "");
  writeJob("b", "", "fake: wrong", "");
  for (const char* name : {"a", "b"}) makeControl(name);
  EXPECT_EQ(run(), 1);
  EXPECT_EQ(job(0)["status"].text(), "held");
  EXPECT_EQ(job(1)["status"].text(), "failed");
  EXPECT_EQ(results_["held"].integer(), 1);
  EXPECT_EQ(results_["failed"].integer(), 1);
  EXPECT_EQ(results_["control_launches"].integer(), 80);
  EXPECT_EQ(results_["launches"].integer(), 0);
}

TEST_F(Confirm, ControlMayHaveAnotherKernelAsItsReference) {
  // What is wrong everywhere is not seen by a kernel that is its own reference; what is wrong with both is the perturbation's mistake.
  for (const auto& [name, base, repaired] : {std::tuple("a", "", "right"), std::tuple("b", "fake: wrong", "right"), std::tuple("c", "", "")}) {
    writeJob(name, base, base, repaired);
    if (name == std::string("c")) writeBothWrong(name);
    makeControl(name);
  }
  EXPECT_EQ(run(), 1);
  EXPECT_EQ(job(0)["status"].text(), "held");
  EXPECT_EQ(job(1)["status"].text(), "failed");
  EXPECT_EQ(job(1)["reference"].text(), "repaired");
  EXPECT_EQ(job(2)["status"].text(), "held");
  EXPECT_THAT(job(0)["variants"].array().at(1)["repaired"].object(), testing::IsEmpty()) << "nobody has to ask";
}

TEST_F(Confirm, WhatIsLearnedBeforeASignalIsWritten) {
  writeJob("a", "", "fake: wrong", "right");
  writeJob("b", "fake: hang", "fake: hang", "right");
  EXPECT_EQ(run("--jobs 1 --timeout 60", "timeout --foreground --preserve-status 2"), 1);
  EXPECT_TRUE(results_["interrupted"].boolean());
  ASSERT_THAT(results_["jobs"].array(), testing::SizeIs(1));
  EXPECT_EQ(job()["name"].text(), "a");
}

TEST_F(Confirm, OnlyTheVariantsThatAreAskedFor) {
  writeJob("a", "", "fake: wrong", "right");
  EXPECT_EQ(run("--variants other"), 0);
  EXPECT_THAT(job()["variants"].array(), testing::SizeIs(1));
  EXPECT_EQ(run("--variants delay --blocks 100"), 1);
  EXPECT_THAT(job()["variants"].array(), testing::SizeIs(2));
  EXPECT_EQ(results_["blocks"].integer(), 100);
}

TEST_F(Confirm, OneLaunchComparesNothing) {
  writeJob("a", "fake: wrong", "", "right");
  const std::string command = "HANDOFF_LIBCUDA=" HANDOFF_FAKE_DRIVER " " HANDOFF_CONFIRM " --one-launch " +
                              (folder_ / "a").string() + " > /dev/null";
  EXPECT_EQ(std::system(command.c_str()), 0);
}

TEST_F(Confirm, BadInputIsRefused) {
  EXPECT_EQ(run(), 2) << "no job in the folder";
  writeJob("a", "", "", "right");
  EXPECT_EQ(run("--no-such-option"), 2);
  EXPECT_EQ(run("--launches 0"), 2);
  EXPECT_EQ(run("--args /nowhere.json"), 2);
}

TEST_F(Confirm, ArgumentsCanBeGiven) {
  writeJob("a", "", "", "right");
  std::ofstream(folder_ / "args.json") << R"({"in": {"bytes": 3}})";
  EXPECT_EQ(run("--args " + (folder_ / "args.json").string()), 0);
  EXPECT_EQ(results_["invalid"].integer(), 1) << "a buffer of three bytes";
}

}  // namespace
}  // namespace handoff::confirm
