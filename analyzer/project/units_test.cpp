// SPDX-License-Identifier: Apache-2.0
#include "analyzer/project/units.h"

#include <gmock/gmock.h>

#include "analyzer/frontend/compile_command.h"
#include "analyzer/frontend/load_for_test.h"

namespace handoff::project {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class UnitsTest : public testing::Test {
 protected:
  /// A database in build/; entries are file and flags, relative to the workspace.
  void writeDatabase(const std::vector<std::pair<std::string, std::string>>& entries) {
    std::string text = "[";
    for (const auto& [file, flags] : entries)
      text += (text.size() == 1 ? "" : ",") + std::string(R"({"directory": ")") + workspace_.path("build") +
              R"(", "file": "../)" + file + R"(", "command": "nvcc )" + flags + " -c ../" + file + R"("})";
    workspace_.write("build/compile_commands.json", text + "]");
    options_.build_path = workspace_.path("build");
    options_.no_toolkit = true;
  }
  std::vector<std::string> select(const std::vector<std::string>& inputs) {
    const auto units = selectUnits(inputs, options_);
    if (!units) return {toString(units.error())};
    std::vector<std::string> names;
    for (const TranslationUnit& unit : *units) {
      std::string name = unit.file;
      if (name.starts_with(workspace_.path() + "/")) name = name.substr(workspace_.path().size() + 1);
      names.push_back(name + (unit.variant.empty() ? "" : " (" + unit.variant + ")"));
    }
    return names;
  }

  frontend::Workspace workspace_;
  frontend::Options options_;
};

TEST_F(UnitsTest, WithoutInputAllCudaFilesInTheOrderOfTheDatabase) {
  writeDatabase({{"src/b.cu", ""}, {"src/host.cpp", ""}, {"src/a.cu", ""}});
  EXPECT_THAT(select({}), ElementsAre("src/b.cu", "src/a.cu"));
}

TEST_F(UnitsTest, BuildTreesBelowAFolderAreLeftOut) {
  workspace_.write("a.cu", "");
  workspace_.write("build/CMakeCache.txt", "");
  workspace_.write("build/CMakeFiles/try.cu", "");
  EXPECT_THAT(select({workspace_.path()}), ElementsAre("a.cu"));
  EXPECT_THAT(select({workspace_.path("build")}), ElementsAre("build/CMakeFiles/try.cu")) << "unless it is named";
}

TEST_F(UnitsTest, ABuildWithoutCudaFilesIsAnError) {
  writeDatabase({{"src/host.cpp", ""}});
  EXPECT_THAT(select({}), ElementsAre(testing::HasSubstr("no CUDA file is in this database")));
}

TEST_F(UnitsTest, FoldersAndGlobsSelectFromTheDatabase) {
  writeDatabase({{"src/b.cu", ""}, {"src/deep/c.cu", ""}, {"other/a.cu", ""}});
  workspace_.write("src/not_built.cu", "");
  EXPECT_THAT(select({workspace_.path("src")}), ElementsAre("src/b.cu", "src/deep/c.cu"));
  EXPECT_THAT(select({"*/deep/*"}), ElementsAre("src/deep/c.cu"));
  EXPECT_THAT(select({"*/[ab].cu"}), ElementsAre("src/b.cu", "other/a.cu"));
  EXPECT_THAT(select({"*/{a,c}.cu", workspace_.path("src")}),
              ElementsAre("src/deep/c.cu", "other/a.cu", "src/b.cu"));
}

TEST_F(UnitsTest, InputsThatStandForNothingAreErrors) {
  writeDatabase({{"src/b.cu", ""}});
  workspace_.write("empty/readme", "");
  EXPECT_THAT(select({"*/none*"}), ElementsAre(HasSubstr("matches no CUDA file of this database")));
  EXPECT_THAT(select({workspace_.path("empty")}), ElementsAre(HasSubstr("lies in this folder")));
  EXPECT_THAT(select({"[a"}), ElementsAre(HasSubstr("is no glob")));
  options_.build_path = workspace_.path("nowhere");
  EXPECT_THAT(select({}), ElementsAre(HasSubstr("nowhere/compile_commands.json")));
  options_.build_path.reset();
  EXPECT_THAT(select({}), ElementsAre(HasSubstr("no input")));
}

TEST_F(UnitsTest, FileOnItsOwnNeedNotBeInTheDatabase) {
  writeDatabase({{"src/b.cu", ""}});
  EXPECT_THAT(select({"loose.cu"}), ElementsAre("loose.cu"));
}

TEST_F(UnitsTest, OneUnitForEachCommandThatDiffers) {
  writeDatabase({{"a.cu", "-DN=1 -o one.o"},
                 {"b.cu", ""},
                 {"a.cu", "-DN=2"},
                 {"a.cu", "-o again.o -DN=1"},
                 {"a.cu", "-DN=2 -arch=sm_80"}});
  EXPECT_THAT(select({}), ElementsAre("a.cu (1 of 3: -DN=1 sm_90a)", "a.cu (2 of 3: -DN=2 sm_90a)",
                                      "a.cu (3 of 3: -DN=2 sm_80)", "b.cu"));
  const auto units = selectUnits({}, options_);
  const auto flags = [&](std::size_t i) {
    return frontend::commandFor((*units)[i].file, optionsOf((*units)[i], options_))->flags.args;
  };
  EXPECT_THAT(flags(0), ElementsAre("-DN=1"));
  EXPECT_THAT(flags(1), ElementsAre("-DN=2"));
}

TEST_F(UnitsTest, WithoutADatabaseFoldersStandForTheirFiles) {
  workspace_.write("src/b.cu", "");
  workspace_.write("src/a.ptx", "");
  workspace_.write("src/.hidden/c.cu", "");
  workspace_.write("src/readme.md", "");
  EXPECT_THAT(select({workspace_.path("src")}), ElementsAre("src/a.ptx", "src/b.cu"));
  EXPECT_THAT(select({workspace_.path("src/b.cu"), workspace_.path("src")}),
              ElementsAre("src/b.cu", "src/a.ptx"));
}

TEST_F(UnitsTest, NearestDatabaseCountsForFilesOnTheirOwn) {
  workspace_.write("compile_commands.json", R"([{"directory": ")" + workspace_.path() +
                                                R"(", "file": "k.cu", "command": "nvcc -DA k.cu"},
      {"directory": ")" + workspace_.path() + R"(", "file": "k.cu", "command": "nvcc -DB k.cu"}])");
  workspace_.write("k.cu", "");
  EXPECT_THAT(select({workspace_.path("k.cu")}), ElementsAre("k.cu (1 of 2: -DA)", "k.cu (2 of 2: -DB)"));
  options_.has_fixed_flags = true;
  EXPECT_THAT(select({workspace_.path("k.cu")}), ElementsAre("k.cu"));
}

}  // namespace
}  // namespace handoff::project
