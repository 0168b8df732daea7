// SPDX-License-Identifier: Apache-2.0
// Looking up compile commands.
#include "analyzer/frontend/compile_command.h"

#include <gmock/gmock.h>

#include "analyzer/frontend/database.h"
#include "analyzer/frontend/load_for_test.h"

namespace handoff::frontend {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string entry(const std::string& folder, const std::string& file, const std::string& command) {
  return R"({"directory": ")" + folder + R"(", "file": ")" + file + R"(", "command": ")" + command + R"("})";
}

TEST(CompileCommand, WithoutADatabaseTheArchitectureIsHopper) {
  const Workspace workspace;
  const auto command = commandFor(workspace.write("k.cu", ""), {});
  ASSERT_TRUE(command);
  EXPECT_EQ(command->flags.arch, "sm_90a");
  EXPECT_THAT(command->flags.args, IsEmpty());
}

TEST(CompileCommand, NearestParentFolderIsSearched) {
  const Workspace workspace;
  const std::string file = workspace.write("a/b/k.cu", "");
  workspace.write(
      "compile_commands.json",
      "[" + entry(workspace.path(), "a/b/k.cu", "/cuda/bin/nvcc -DOUTER -arch=sm_80 -c a/b/k.cu") + "]");
  EXPECT_THAT(commandFor(file, {})->flags.args, ElementsAre("-DOUTER"));
  workspace.write("a/compile_commands.json",
                  "[" + entry(workspace.path("a"), "b/k.cu", "nvcc -DINNER -c b/k.cu") + "]");
  EXPECT_THAT(commandFor(file, {})->flags.args, ElementsAre("-DINNER"));
}

TEST(CompileCommand, FolderBuildOfAParentIsSearchedAfterTheParentItself) {
  const Workspace workspace;
  const std::string file = workspace.write("src/k.cu", "");
  const auto database = [&](const std::string& define) {
    return "[" + entry(workspace.path(), "src/k.cu", "nvcc -D" + define + " -c src/k.cu") + "]";
  };
  workspace.write("build/compile_commands.json", database("BUILD"));
  EXPECT_THAT(commandFor(file, {})->flags.args, ElementsAre("-DBUILD"));
  workspace.write("compile_commands.json", database("PARENT"));
  EXPECT_THAT(commandFor(file, {})->flags.args, ElementsAre("-DPARENT"));
}

TEST(CompileCommand, BuildFolderWinsAndArgumentsMayBeAList) {
  const Workspace workspace;
  const std::string file = workspace.write("k.cu", "");
  workspace.write("build/compile_commands.json",
                  R"([{"directory": ")" + workspace.path("build") +
                      R"(", "file": "../k.cu", "arguments": ["nvcc", "-DX=a b", "-arch=sm_86"]}])");
  Options options;
  options.build_path = workspace.path("build");
  const auto command = commandFor(file, options);
  ASSERT_TRUE(command);
  EXPECT_THAT(command->flags.args, ElementsAre("-DX=a b"));
  EXPECT_EQ(command->flags.arch, "sm_86");
  EXPECT_EQ(command->flags.directory, workspace.path("build"));
}

TEST(CompileCommand, UsersArchitectureOverridesTheCommand) {
  const Workspace workspace;
  const std::string file = workspace.write("k.cu", "");
  workspace.write("compile_commands.json", "[" + entry(workspace.path(), "k.cu", "nvcc -arch=sm_80") + "]");
  Options options;
  options.arch = "sm_100a";
  EXPECT_EQ(commandFor(file, options)->flags.arch, "sm_100a");
  options.arch = "hopper";
  EXPECT_FALSE(commandFor(file, options));
}

TEST(CompileCommand, FixedFlagsIgnoreEveryDatabase) {
  const Workspace workspace;
  const std::string file = workspace.write("k.cu", "");
  workspace.write("compile_commands.json", "[" + entry(workspace.path(), "k.cu", "nvcc -DDATABASE") + "]");
  Options options;
  options.has_fixed_flags = true;
  options.extra_args = {"-DFIXED", "-arch=sm_80"};
  const auto command = commandFor(file, options);
  EXPECT_THAT(command->flags.args, ElementsAre("-DFIXED"));
  EXPECT_EQ(command->flags.arch, "sm_80");
}

TEST(CompileCommand, ExtraArgumentsComeBehindTheCommand) {
  const Workspace workspace;
  const std::string file = workspace.write("k.cu", "");
  workspace.write("compile_commands.json", "[" + entry(workspace.path(), "k.cu", "nvcc -DA") + "]");
  Options options;
  options.extra_args = {"-UA"};
  EXPECT_THAT(commandFor(file, options)->flags.args, ElementsAre("-DA", "-UA"));
}

TEST(CompileCommand, HeaderBorrowsTheFlagsOfANeighbourAndSaysSo) {
  const Workspace workspace;
  const std::string header = workspace.write("src/k.cuh", "");
  workspace.write("compile_commands.json", "[" + entry(workspace.path(), "other.cpp", "g++ -DHOST") + "," +
                                               entry(workspace.path(), "src/k.cu", "nvcc -DNEAR") + "]");
  const auto command = commandFor(header, {});
  ASSERT_TRUE(command);
  EXPECT_THAT(command->flags.args, ElementsAre("-DNEAR"));
  ASSERT_TRUE(command->note);
  EXPECT_THAT(command->note->message, HasSubstr("src/k.cu"));
}

TEST(CompileCommand, MissingDatabaseIsAnError) {
  const Workspace workspace;
  Options options;
  options.build_path = workspace.path("nowhere");
  const auto command = commandFor(workspace.write("k.cu", ""), options);
  ASSERT_FALSE(command);
  EXPECT_EQ(command.error().pos.file, workspace.path("nowhere/compile_commands.json"));
}

TEST(CompileCommand, IllFormedDatabaseIsAnErrorWithItsLine) {
  const Workspace workspace;
  const std::string file = workspace.write("k.cu", "");
  const std::string database = workspace.write("compile_commands.json", "[\n  {\"file\": }\n]");
  const auto command = commandFor(file, {});
  ASSERT_FALSE(command);
  EXPECT_EQ(command.error().pos.file, database);
  EXPECT_EQ(command.error().pos.line, 2U);
}

TEST(CompileCommand, DatabaseOfAnotherShapeIsAnError) {
  const Workspace workspace;
  const std::string file = workspace.write("k.cu", "");
  for (const char* text :
       {"{}", "[1]", R"([{"file": "k.cu"}])", R"([{"file": "k.cu", "directory": "/", "arguments": [1]}])"}) {
    workspace.write("compile_commands.json", text);
    EXPECT_FALSE(commandFor(file, {})) << text;
  }
}

TEST(CompileCommand, EntryIsChosenByNumber) {
  const Workspace workspace;
  const std::string file = workspace.write("k.cu", "");
  workspace.write("compile_commands.json", "[" + entry(workspace.path(), "k.cu", "nvcc -DA") + "," +
                                               entry(workspace.path(), "k.cu", "nvcc -DB") + "]");
  Options options;
  const auto database = Database::read(workspace.path("compile_commands.json"));
  ASSERT_TRUE(database);
  options.database = *database;
  EXPECT_THAT(commandFor(file, options)->flags.args, ElementsAre("-DA"));
  options.entry = 1;
  EXPECT_THAT(commandFor(file, options)->flags.args, ElementsAre("-DB"));
}

TEST(CompileCommand, CompilerBehindALauncher) {
  const Workspace workspace;
  const std::string file = workspace.write("k.cu", "");
  workspace.write(
      "compile_commands.json",
      "[" + entry(workspace.path(), "k.cu", "/usr/bin/ccache /opt/cuda/bin/nvcc -Xptxas -v -DA -c k.cu") +
          "]");
  const auto command = commandFor(file, {});
  ASSERT_TRUE(command);
  EXPECT_THAT(command->flags.args, ElementsAre("-DA")) << "nvcc's own flags are known as such";
  EXPECT_EQ(command->flags.cuda_path, "/opt/cuda");
}

TEST(Database, KnowsItsCudaFiles) {
  const auto is_cuda = [](const std::string& file, std::vector<std::string> words) {
    return isCuda({file, "/src", std::move(words)});
  };
  EXPECT_TRUE(is_cuda("/src/b.cu", {"nvcc", "-c", "b.cu"}));
  EXPECT_FALSE(is_cuda("/src/host.cpp", {"g++", "host.cpp"}));
  EXPECT_TRUE(is_cuda("/src/a.cpp", {"nvcc", "-x", "cu", "a.cpp"}));
  EXPECT_TRUE(is_cuda("/src/c.cpp", {"clang++", "-x", "cuda", "c.cpp"}));
}

}  // namespace
}  // namespace handoff::frontend
