// SPDX-License-Identifier: Apache-2.0
#include "analyzer/project/manifest.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "analyzer/frontend/load_for_test.h"

namespace handoff::project {
namespace {

class ManifestTest : public testing::Test {
 protected:
  ManifestTest() {
    for (const std::string& file : {file_, header_}) age(file, 100);
  }
  /// Sets the time of change back.
  static void age(const std::string& file, std::int64_t seconds) {
    const std::int64_t then = nowInNanoseconds() / 1'000'000'000 - seconds;
    const timespec times[2] = {{then, 5}, {then, 5}};
    ASSERT_EQ(utimensat(AT_FDCWD, file.c_str(), times, 0), 0);
  }
  std::optional<Manifest> make() {
    FileHashes hashes;
    return makeManifest({file_, header_}, {workspace_.path("first/b.cuh")}, nowInNanoseconds(), hashes);
  }
  static Freshness freshness(Manifest manifest) {
    FileHashes hashes;
    return check(manifest, hashes);
  }

  frontend::Workspace workspace_;
  const std::string file_ = workspace_.write("a.cu", "kernel"),
                    header_ = workspace_.write("second/b.cuh", "header");
};

TEST_F(ManifestTest, FreshAsLongAsNothingChanges) {
  const auto manifest = make();
  ASSERT_TRUE(manifest);
  EXPECT_EQ(manifest->files.size(), 2u);
  EXPECT_EQ(freshness(*manifest), Freshness::kFresh);
}

TEST_F(ManifestTest, OtherContentOfTheSameSizeAndAgeIsNoticedByItsTime) {
  const auto manifest = make();
  workspace_.write("second/b.cuh", "HEADER");
  EXPECT_EQ(freshness(*manifest), Freshness::kStale);
}

TEST_F(ManifestTest, OtherSizeIsStaleWhateverTheTime) {
  const auto manifest = make();
  workspace_.write("second/b.cuh", "longer header");
  age(header_, 100);
  EXPECT_EQ(freshness(*manifest), Freshness::kStale);
}

TEST_F(ManifestTest, TouchedFilesAreComparedByContentAndStampedAgain) {
  auto manifest = make();
  age(header_, 50);
  FileHashes hashes;
  EXPECT_EQ(check(*manifest, hashes), Freshness::kRetouched);
  EXPECT_EQ(check(*manifest, hashes), Freshness::kFresh);
}

TEST_F(ManifestTest, YoungFilesAreAlwaysComparedByContent) {
  age(header_, 1);  // within what a file system may not tell apart
  auto manifest = make();
  ASSERT_TRUE(manifest);
  struct stat before{};
  ASSERT_EQ(stat(header_.c_str(), &before), 0);
  workspace_.write("second/b.cuh", "HEADER");
  const timespec times[2] = {before.st_mtim, before.st_mtim};
  utimensat(AT_FDCWD, header_.c_str(), times, 0);
  EXPECT_EQ(freshness(*manifest), Freshness::kStale);
  workspace_.write("second/b.cuh", "header");
  EXPECT_NE(freshness(*manifest), Freshness::kStale);
}

TEST_F(ManifestTest, FilesThatChangedWhileTheyWereReadMakeNoManifest) {
  FileHashes hashes;
  EXPECT_FALSE(makeManifest({file_}, {}, nowInNanoseconds() - 200'000'000'000, hashes));
  EXPECT_FALSE(makeManifest({workspace_.path("none")}, {}, nowInNanoseconds(), hashes));
}

TEST_F(ManifestTest, RemovedFilesAndNewOnesBeforeThemAreStale) {
  const auto manifest = make();
  workspace_.write("first/b.cuh", "header");  // would be found first now
  EXPECT_EQ(freshness(*manifest), Freshness::kStale);
  std::filesystem::remove(workspace_.path("first/b.cuh"));
  EXPECT_EQ(freshness(*manifest), Freshness::kFresh);
  std::filesystem::remove(header_);
  EXPECT_EQ(freshness(*manifest), Freshness::kStale);
}

}  // namespace
}  // namespace handoff::project
