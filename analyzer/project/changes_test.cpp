// SPDX-License-Identifier: Apache-2.0
#include "analyzer/project/changes.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>

#include "analyzer/frontend/load_for_test.h"

namespace handoff::project {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class ChangesTest : public testing::Test {
 protected:
  void SetUp() override {
    if (std::system("git --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "no git";
    fs::current_path(workspace_.path());
  }
  void TearDown() override { fs::current_path(start_); }
  static void git(const std::string& arguments) {
    const std::string command = "git -c user.name=t -c user.email=t@example.org -c init.defaultBranch=main " +
                                arguments + " > /dev/null 2>&1";
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
  }
  std::string real(const std::string& name) { return fs::weakly_canonical(workspace_.path(name)).string(); }

  const fs::path start_ = fs::current_path();
  frontend::Workspace workspace_;
};

TEST_F(ChangesTest, ChangedNewAndRemovedFiles) {
  git("init .");
  for (const char* name : {"same.cu", "edited.cu", "removed.cuh", "sub/staged name.cu"})
    workspace_.write(name, "x");
  workspace_.write(".gitignore", "*.o\n");
  git("add -A");
  git("commit -m first");
  workspace_.write("edited.cu", "y");
  workspace_.write("sub/staged name.cu", "y");
  git("add -A");
  fs::remove(workspace_.path("removed.cuh"));
  workspace_.write("new.cu", "z");
  workspace_.write("built.o", "z");
  fs::current_path(workspace_.path("sub"));  // names are of the whole tree, wherever one stands
  const auto changed = changedSince("HEAD");
  ASSERT_TRUE(changed) << changed.error().message;
  EXPECT_EQ(*changed, (std::set<std::string>{real("edited.cu"), real("removed.cuh"),
                                             real("sub/staged name.cu"), real("new.cu")}));
}

TEST_F(ChangesTest, WhatGitCannotSayIsAnError) {
  const auto outside = changedSince("HEAD");
  ASSERT_FALSE(outside);
  EXPECT_THAT(outside.error().message, HasSubstr("git"));
  git("init .");
  workspace_.write("a.cu", "x");
  git("add -A");
  git("commit -m first");
  const auto unknown = changedSince("nowhere");
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message, HasSubstr("no revision 'nowhere'"));
  EXPECT_FALSE(changedSince("HEAD; rm -rf x"));
}

TEST_F(ChangesTest, LinksLeadToTheSameFile) {
  workspace_.write("real/a.cuh", "");
  fs::create_directory_symlink(workspace_.path("real"), workspace_.path("link"));
  const Changes changes({real("real/a.cuh")});
  EXPECT_TRUE(changes.touch({workspace_.path("link/b.cuh"), workspace_.path("link/a.cuh")}));
  EXPECT_FALSE(changes.touch({workspace_.path("link/b.cuh")}));
}

}  // namespace
}  // namespace handoff::project
