// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/fingerprint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace handoff::report {
namespace {

namespace fs = std::filesystem;

/// Folders with a file each, in which a finding lies at the line that reads `rows[t]`.
class Fingerprint : public testing::Test {
 protected:
  Fingerprint() {
    base_ = fs::temp_directory_path() / ("handoff_fingerprint" + std::to_string(getpid()));
    fs::create_directories(base_);
  }
  ~Fingerprint() override { fs::remove_all(base_); }

  struct Input {
    std::string source = "int a;\nout[t] = rows[t];  // read\n";
    std::string folder = "one";
    std::string file = "src/a.cu";
    std::string kernel = "k(int*)";
    std::string rule = "missing-wait";
    std::string buffer = "rows[33]";
    unsigned times = 1;
  };

  std::vector<std::string> all(const Input& input) {
    const fs::path root = base_ / input.folder, path = root / input.file;
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << input.source;
    FileReport file;
    file.path = path.string();
    file.kernels.resize(1);
    file.kernels[0].pretty = input.kernel;
    diagnose::Finding finding;
    finding.rule = input.rule;
    finding.witness.buffer = input.buffer;
    finding.stack = {{{file.path, lineOf(input.source, "rows[t]"), 5}, "k"}};
    file.kernels[0].findings.assign(input.times, finding);
    SourceLines sources;
    addFingerprints(file, Paths(root.string(), {}), sources);
    std::vector<std::string> names;
    for (const diagnose::Finding& item : file.kernels[0].findings) names.push_back(item.fingerprint);
    return names;
  }
  std::string one(const Input& input) { return all(input).front(); }

  fs::path base_;

 private:
  static std::uint32_t lineOf(const std::string& source, const std::string& mark) {
    std::uint32_t line = 1;
    const std::size_t at = source.find(mark);
    for (std::size_t i = 0; i < at && at != std::string::npos; ++i) line += source[i] == '\n' ? 1 : 0;
    return line;
  }
};

TEST_F(Fingerprint, HasTheDocumentedForm) {
  EXPECT_THAT(one({}), testing::MatchesRegex("[0-9a-f]+:1"));
  EXPECT_EQ(one({}).size(), 18U);
}

TEST_F(Fingerprint, IsTheOneOfTheFirstVersion) {
  // A change of this value breaks every baseline there is.
  EXPECT_EQ(one({}), "dd1a18ad1061006e:1");
}

TEST_F(Fingerprint, LinesAboveDoNotMatter) {
  EXPECT_EQ(one({.source = "int a;\n\n\n// more\nint b;\nout[t] = rows[t];  // read\n"}), one({}));
}

TEST_F(Fingerprint, BlanksAndCommentsDoNotMatter) {
  EXPECT_EQ(one({.source = "int a;\n\tout[ t ]=rows[t];\r\n"}), one({}));
  EXPECT_EQ(one({.source = "int a;\nout[t] = /* why */ rows[t];  // NOLINT(handoff-hang)\n"}), one({}));
}

TEST_F(Fingerprint, OtherFunctionsDoNotMatter) {
  EXPECT_EQ(one({.source = "int renamed_function_with_another_body();\nout[t] = rows[t];\n"}), one({}));
}

TEST_F(Fingerprint, TheFolderOfTheCheckoutDoesNotMatter) {
  EXPECT_EQ(one({.folder = "else/where"}), one({}));
}

TEST_F(Fingerprint, ARepositoryCountsFromItsRoot) {
  fs::create_directories(base_ / "repo/.git");
  FileReport file;
  const auto fingerprintFrom = [&](const std::string& working_dir) {
    file.path = (base_ / "repo/src/a.cu").string();
    file.kernels.assign(1, {});
    file.kernels[0].findings.resize(1);
    file.kernels[0].findings[0].stack = {{{file.path, 1, 1}, "k"}};
    SourceLines sources;
    addFingerprints(file, Paths((base_ / working_dir).string(), {}), sources);
    return file.kernels[0].findings[0].fingerprint;
  };
  EXPECT_EQ(fingerprintFrom("repo"), fingerprintFrom("repo/src"));
}

TEST_F(Fingerprint, TheSlotDoesNotMatter) {
  EXPECT_EQ(one({.buffer = "rows[1], bytes 16..31"}), one({}));
  EXPECT_EQ(one({.buffer = "rows, byte 12 of CTA 1"}), one({}));
}

TEST_F(Fingerprint, WhatMakesItAnotherFindingDoes) {
  const std::string usual = one({});
  EXPECT_NE(one({.rule = "hang"}), usual);
  EXPECT_NE(one({.kernel = "k(float*)"}), usual);
  EXPECT_NE(one({.file = "src/b.cu"}), usual);
  EXPECT_NE(one({.buffer = "columns[33]"}), usual);
  EXPECT_NE(one({.source = "int a;\nout[t] = rows[t] + 1;\n"}), usual);
}

TEST_F(Fingerprint, EqualsAreCounted) {
  const std::vector<std::string> names = all({.times = 3});
  ASSERT_EQ(names.size(), 3U);
  EXPECT_THAT(names[1], testing::EndsWith(":2"));
  EXPECT_THAT(names[2], testing::EndsWith(":3"));
  EXPECT_EQ(names[0].substr(0, 16), names[2].substr(0, 16));
}

TEST(NormalisedLine, KeepsWhatStandsInQuotes) {
  EXPECT_EQ(normalisedLine(R"(  asm("a // b  c" ::: "m");  // why)", false), R"(asm("a // b  c":::"m");)");
  EXPECT_EQ(normalisedLine("x = 1'000 * y;  // z", false), "x=1'000*y;");
  EXPECT_EQ(normalisedLine("c = '\"'; d = 1;", false), "c='\"';d=1;");
}

TEST(NormalisedLine, RegistersOfPtxHaveNoNumbers) {
  EXPECT_EQ(normalisedLine("\tld.shared.v4.f32 {%f1, %f2}, [%r12+16];", true),
            normalisedLine("\tld.shared.v4.f32 {%f9, %f10}, [%r3+16];", true));
  EXPECT_NE(normalisedLine("ld.shared.f32 %f1, [%r1+16];", true),
            normalisedLine("ld.shared.f32 %f1, [%r1+32];", true));
  EXPECT_EQ(normalisedLine("@%p1 bra $L__BB0_4;", true), normalisedLine("@%p7 bra $L__BB0_12;", true));
}

}  // namespace
}  // namespace handoff::report
