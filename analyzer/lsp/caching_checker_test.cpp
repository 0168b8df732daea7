// SPDX-License-Identifier: Apache-2.0
// What is answered from memory, and what is not.
#include "analyzer/lsp/caching_checker.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

namespace handoff::lsp {
namespace {

namespace fs = std::filesystem;

class CountingChecker : public Checker {
 public:
  std::shared_ptr<const Checked> check(const CheckRequest& request) override {
    ++calls;
    auto checked = std::make_shared<Checked>();
    checked->report.path = request.file;
    checked->is_cancelled = is_cancelled;
    checked->dependencies = dependencies;
    return checked;
  }
  int calls = 0;
  bool is_cancelled = false;
  std::vector<std::string> dependencies;
};

class CachingCheckerTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("handoff_cache_" + std::to_string(getpid()));
    fs::create_directories(folder_);
    header_ = (folder_ / "a.cuh").string();
    write("int x;\n");
    counting_.dependencies = {"/a.cu", header_, (folder_ / "absent.cuh").string()};
  }
  void TearDown() override { fs::remove_all(folder_); }

  void write(const std::string& text) {
    std::ofstream(header_) << text;
    std::this_thread::sleep_for(std::chrono::milliseconds(30));  // so that it is older than the next check
  }

  std::shared_ptr<const Checked> check(const std::string& text) {
    CheckRequest request{"/a.cu",
                         {{"/a.cu", std::make_shared<const Text>(text)}},
                         std::make_shared<const frontend::Overlay>()};
    return caching_.check(request);
  }

  fs::path folder_;
  std::string header_;
  CountingChecker counting_;
  CachingChecker caching_{counting_};
};

TEST_F(CachingCheckerTest, SameContentsAreCheckedOnce) {
  const auto first = check("a");
  EXPECT_EQ(check("a"), first);
  EXPECT_EQ(counting_.calls, 1);
}

TEST_F(CachingCheckerTest, OtherTextIsCheckedAndSoIsTheWayBack) {
  check("a");
  check("b");
  check("a");
  EXPECT_EQ(counting_.calls, 3) << "only the last report is kept";
}

TEST_F(CachingCheckerTest, ChangedHeaderCounts) {
  check("a");
  write("int y;\n");
  check("a");
  EXPECT_EQ(counting_.calls, 2);
}

TEST_F(CachingCheckerTest, HeaderThatIsWrittenAgainWithoutAChangeDoesNot) {
  check("a");
  write("int x;\n");
  check("a");
  EXPECT_EQ(counting_.calls, 1);
}

TEST_F(CachingCheckerTest, FileThatAppearsCounts) {
  check("a");
  std::ofstream(folder_ / "absent.cuh") << "int z;\n";
  check("a");
  EXPECT_EQ(counting_.calls, 2);
}

TEST_F(CachingCheckerTest, CancelledReportIsNotKept) {
  counting_.is_cancelled = true;
  check("a");
  check("a");
  EXPECT_EQ(counting_.calls, 2);
}

TEST_F(CachingCheckerTest, ReportWithUnknownDependenciesIsNotKept) {
  counting_.dependencies.clear();
  check("a");
  check("a");
  EXPECT_EQ(counting_.calls, 2);
}

}  // namespace
}  // namespace handoff::lsp
