// SPDX-License-Identifier: Apache-2.0
// The flag table.
#include "analyzer/frontend/flags.h"

#include <gmock/gmock.h>

#include "analyzer/frontend/load_for_test.h"

namespace handoff::frontend {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Flags nvcc(const std::string& command, const std::string& directory = "/src") {
  auto flags = translateFlags(splitWords(command), Dialect::kNvcc, directory);
  EXPECT_TRUE(flags) << toString(flags.error());
  return flags ? *flags : Flags();
}

TEST(Flags, WordsFollowTheShell) {
  EXPECT_THAT(splitWords(R"(a  'b c' "d \"e\"" f\ g -DX=\"s\" '')"),
              ElementsAre("a", "b c", "d \"e\"", "f g", "-DX=\"s\"", ""));
}

TEST(Flags, HighestRealArchitectureWins) {
  EXPECT_EQ(nvcc("-gencode arch=compute_80,code=sm_80 -gencode arch=compute_90a,code=sm_90a").arch, "sm_90a");
  EXPECT_EQ(nvcc("--generate-code=arch=compute_90a,code=[compute_90a,sm_90a]").arch, "sm_90a");
  EXPECT_EQ(
      nvcc("--generate-code=arch=compute_80,code=[sm_80] --generate-code=arch=compute_100,code=[compute_100]")
          .arch,
      "sm_80");
  EXPECT_EQ(nvcc("-arch=compute_86 -code=sm_86,compute_86").arch, "sm_86");
  EXPECT_EQ(nvcc("--gpu-architecture sm_120a").arch, "sm_120a");
  EXPECT_EQ(nvcc("-arch=sm_89").arch, "sm_89");
}

TEST(Flags, VirtualArchitectureServesWithoutARealOne) { EXPECT_EQ(nvcc("-arch compute_75").arch, "sm_75"); }

TEST(Flags, FamilyBecomesTheSpecificArchitecture) { EXPECT_EQ(nvcc("-arch=sm_100f").arch, "sm_100a"); }

TEST(Flags, PlaceholdersNameNoArchitecture) {
  for (const char* text : {"-arch=native", "-arch=all", "-arch=all-major"})
    EXPECT_EQ(nvcc(text).arch, "") << text;
}

TEST(Flags, SearchPathsInEverySpelling) {
  EXPECT_THAT(nvcc("-Ia -I b -I=c,d --include-path=e --include-path f").args,
              ElementsAre("-Ia", "-Ib", "-Ic", "-Id", "-Ie", "-If"));
  EXPECT_THAT(nvcc("-isystem=/a -isystem /b --system-include=/c").args,
              ElementsAre("-isystem", "/a", "-isystem", "/b", "-isystem", "/c"));
}

TEST(Flags, MacrosAndForcedIncludes) {
  EXPECT_THAT(
      nvcc("-DA=1 -D B --define-macro=C=2 -UD --undefine-macro E --pre-include f.h -include g.h").args,
      ElementsAre("-DA=1", "-DB", "-DC=2", "-UD", "-UE", "-include", "f.h", "-include", "g.h"));
}

TEST(Flags, StandardInEverySpelling) {
  EXPECT_THAT(nvcc("-std=c++17").args, ElementsAre("-std=c++17"));
  EXPECT_THAT(nvcc("--std c++20").args, ElementsAre("-std=c++20"));
}

TEST(Flags, HostOptionsKeepOnlyTheLanguage) {
  EXPECT_THAT(
      nvcc("-Xcompiler=-fPIC,-DX=1,-Wall -Xcompiler -fno-exceptions --compiler-options=-O3,-I/h").args,
      ElementsAre("-DX=1", "-fno-exceptions", "-I/h"));
}

TEST(Flags, DroppedFlagsTakeTheirValuesAlong) {
  EXPECT_THAT(nvcc("-ccbin g++ -Xptxas -v -Xptxas=-O3 -Xnvlink x -Xlinker y -Xcudafe --z -Xfatbin q "
                   "-diag-suppress 20014 -maxrregcount 64 "
                   "--threads 4 -t 2 -o out.o -MF d -MT e -odir f -split-compile 4 -x cu k.cu")
                  .args,
              IsEmpty());
}

TEST(Flags, DroppedFlagsWithoutValues) {
  EXPECT_THAT(nvcc("-forward-unknown-to-host-compiler --expt-relaxed-constexpr --extended-lambda -lineinfo "
                   "-c -dc -rdc=true -G -g -O3 -dlto "
                   "-res-usage -keep -MD -Werror=all-warnings -lcuda -L/lib -m64 --use_fast_math -ftz=true "
                   "-fmad=false -prec-div=true")
                  .args,
              IsEmpty());
}

TEST(Flags, PerThreadStreamIsAMacro) {
  EXPECT_THAT(nvcc("--default-stream per-thread").args, ElementsAre("-DCUDA_API_PER_THREAD_DEFAULT_STREAM"));
  EXPECT_THAT(nvcc("-default-stream=legacy").args, IsEmpty());
}

TEST(Flags, CommandOfAMakefileGenerator) {
  const Workspace workspace;
  workspace.write("b/CMakeFiles/k.dir/includes_CUDA.rsp", "-I/src/include -isystem=/opt/x \"-DNAME=a b\"\n");
  const Flags flags = nvcc(
      "-forward-unknown-to-host-compiler -DFOO=1 --options-file CMakeFiles/k.dir/includes_CUDA.rsp "
      "--generate-code=arch=compute_90a,code=[compute_90a,sm_90a] -Xcompiler=-fPIC -std=c++17 -x cu -c "
      "/src/k.cu -o k.o",
      workspace.path("b"));
  EXPECT_THAT(flags.args,
              ElementsAre("-DFOO=1", "-I/src/include", "-isystem", "/opt/x", "-DNAME=a b", "-std=c++17"));
  EXPECT_EQ(flags.arch, "sm_90a");
}

TEST(Flags, OptionsFilesInEverySpelling) {
  const Workspace workspace;
  workspace.write("f.rsp", "-DX");
  for (const char* text : {"@f.rsp", "-optf f.rsp", "-optf=f.rsp", "--options-file=f.rsp"})
    EXPECT_THAT(nvcc(text, workspace.path()).args, ElementsAre("-DX")) << text;
}

TEST(Flags, MissingOptionsFileIsAnError) {
  const auto flags = translateFlags({"@nowhere.rsp"}, Dialect::kNvcc, "/src");
  ASSERT_FALSE(flags);
  EXPECT_EQ(flags.error().pos.file, "/src/nowhere.rsp");
}

TEST(Flags, OptionsFileThatNamesItselfEnds) {
  const Workspace workspace;
  workspace.write("f.rsp", "@f.rsp");
  EXPECT_FALSE(translateFlags({"@f.rsp"}, Dialect::kNvcc, workspace.path()));
}

TEST(Flags, MissingValueIsAnError) { EXPECT_FALSE(translateFlags({"-include"}, Dialect::kNvcc, "")); }

TEST(Flags, ClangCommandsKeepWhatNoTableKnows) {
  const auto flags = translateFlags(
      splitWords("--cuda-gpu-arch=sm_80 --cuda-path=/cuda -fno-strict-aliasing -Wall -Ia -c -o x k.cu"),
      Dialect::kClang, "");
  ASSERT_TRUE(flags);
  EXPECT_THAT(flags->args, ElementsAre("-fno-strict-aliasing", "-Wall", "-Ia"));
  EXPECT_EQ(flags->arch, "sm_80");
  EXPECT_EQ(flags->cuda_path, "/cuda");
}

TEST(Flags, NvccSpellingSendsHostFlagsOn) {
  EXPECT_THAT(nvccSpelling({"-Ia", "-std=gnu++17", "-fno-exceptions", "-Wall", "-DX"}),
              ElementsAre("-Ia", "-std=c++17", "-Xcompiler=-fno-exceptions", "-DX"));
}

}  // namespace
}  // namespace handoff::frontend
