// SPDX-License-Identifier: Apache-2.0
#include "analyzer/project/cache.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "analyzer/frontend/load_for_test.h"

namespace handoff::project {
namespace {

namespace fs = std::filesystem;

class CacheTest : public testing::Test {
 protected:
  fs::path entry() const {
    for (const auto& item : fs::directory_iterator(folder_))
      if (item.path().filename().string().starts_with("llvmcache-")) return item.path();
    return {};
  }
  frontend::Workspace workspace_;
  const std::string folder_ = workspace_.path("cache/deep");
  const Hash key_ = hashOf("question");
};

TEST_F(CacheTest, WhatWasWrittenIsRead) {
  const Cache cache(folder_);
  EXPECT_TRUE(cache.isOn());
  EXPECT_EQ(cache.read(key_), std::nullopt);
  EXPECT_TRUE(cache.write(key_, "answer"));
  EXPECT_EQ(cache.read(key_), "answer");
  EXPECT_TRUE(cache.write(key_, ""));
  EXPECT_EQ(cache.read(key_), "");
  EXPECT_EQ(Cache(folder_).read(hashOf("another")), std::nullopt);
}

TEST_F(CacheTest, FolderIsForTheUserAlone) {
  const Cache cache(folder_);
  EXPECT_EQ(fs::status(folder_).permissions() & (fs::perms::group_all | fs::perms::others_all),
            fs::perms::none);
}

TEST_F(CacheTest, DamagedEntriesAreMisses) {
  const Cache cache(folder_);
  ASSERT_TRUE(cache.write(key_, "an answer of some length"));
  std::ifstream stream(entry(), std::ios::binary);
  const std::string good{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  const auto put = [&](const std::string& text) {
    std::ofstream(entry(), std::ios::binary | std::ios::trunc) << text;
  };
  for (std::size_t size = 0; size < good.size(); ++size) {
    put(good.substr(0, size));
    EXPECT_EQ(cache.read(key_), std::nullopt) << "cut at " << size;
  }
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 1);
    put(bad);
    EXPECT_EQ(cache.read(key_), std::nullopt) << "changed at " << at;
  }
  put(good + "more");
  EXPECT_EQ(cache.read(key_), std::nullopt);
  put(good);
  EXPECT_TRUE(cache.read(key_).has_value());
}

TEST_F(CacheTest, FolderInPlaceOfAnEntryIsAMiss) {
  const Cache cache(folder_);
  fs::create_directories(folder_ + "/llvmcache-" + toHex(key_));
  EXPECT_EQ(cache.read(key_), std::nullopt);
  EXPECT_FALSE(cache.write(key_, "answer"));
}

TEST_F(CacheTest, UnusableFolderIsOff) {
  const Cache cache(workspace_.write("file", "") + "/below");
  EXPECT_FALSE(cache.isOn());
  EXPECT_FALSE(cache.problem().empty());
  EXPECT_FALSE(cache.write(key_, "answer"));
  EXPECT_EQ(cache.read(key_), std::nullopt);
  EXPECT_FALSE(Cache().isOn());
}

TEST_F(CacheTest, FolderThatVanishesKeepsNothing) {
  const Cache cache(folder_);
  fs::remove_all(folder_);
  EXPECT_FALSE(cache.write(key_, "answer")) << "the folder is gone";
  EXPECT_EQ(cache.read(key_), std::nullopt);
  cache.prune();
}

TEST_F(CacheTest, ManyWritersOfOneEntry) {
  const Cache cache(folder_);
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&, i] {
      for (int n = 0; n < 50; ++n) {
        cache.write(key_, std::string(1000, static_cast<char>('a' + i)));
        const std::optional<std::string> read = cache.read(key_);
        ASSERT_TRUE(read.has_value());
        EXPECT_EQ(*read, std::string(1000, read->front()));
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1)
      << "no temporary files are left";
}

TEST_F(CacheTest, PruningKeepsWhatWasUsedLast) {
  const Cache cache(folder_);
  const std::string content(10'000, 'x');
  const auto key = [](int i) { return hashOf("key " + std::to_string(i)); };
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(cache.write(key(i), content));
    const timespec old[2] = {{1'700'000'000 + i, 0}, {1'700'000'000 + i, 0}};
    ASSERT_EQ(utimensat(AT_FDCWD, (folder_ + "/llvmcache-" + toHex(key(i))).c_str(), old, 0), 0);
  }
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(cache.read(key(i)).has_value());  // used just now
  cache.prune(/*max_bytes=*/50'000, /*now=*/true);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(cache.read(key(i)).has_value()) << i;
  int left = 0;
  for (int i = 3; i < 10; ++i) left += cache.read(key(i)).has_value() ? 1 : 0;
  EXPECT_LE(left, 2);
}

TEST(ProgramHash, IsStable) { EXPECT_EQ(hashOfProgram(), hashOfProgram()); }

TEST(CacheFolder, FollowsTheEnvironment) {
  const char* const home = std::getenv("HOME");
  const std::string old_home = home != nullptr ? home : "";
  setenv("XDG_CACHE_HOME", "/x", 1);
  EXPECT_EQ(Cache::defaultFolder(), "/x/handoff");
  setenv("XDG_CACHE_HOME", "relative", 1);  // the specification says to ignore it
  setenv("HOME", "/h", 1);
  EXPECT_EQ(Cache::defaultFolder(), "/h/.cache/handoff");
  unsetenv("XDG_CACHE_HOME");
  EXPECT_EQ(Cache::defaultFolder(), "/h/.cache/handoff");
  unsetenv("HOME");
  EXPECT_EQ(Cache::defaultFolder(), "");
  setenv("HOME", old_home.c_str(), 1);
}

}  // namespace
}  // namespace handoff::project
