// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/export_fixes.h"

#include <clang/Tooling/Core/Diagnostic.h>
#include <clang/Tooling/DiagnosticsYaml.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "analyzer/report/apply_repairs.h"

namespace handoff::report {
namespace {

using diagnose::SourceChange;
using Kind = SourceChange::Kind;
namespace tooling = clang::tooling;

class ExportFixes : public testing::Test {
 protected:
  ExportFixes()
      : path_((std::filesystem::temp_directory_path() / ("handoff_export" + std::to_string(getpid()) + ".cu"))
                  .string()) {}
  ~ExportFixes() override { std::filesystem::remove(path_); }

  diagnose::Finding finding(std::uint32_t line, std::vector<SourceChange> changes) {
    diagnose::Finding result;
    result.rule = "missing-wait";
    result.message = "it's \"read\": too early";
    result.stack = {{{path_, line, 2}, "k"}};
    result.related = {{"the copy", {{{path_, 1, 1}, "k"}}}};
    if (changes.empty()) return result;
    result.repair.emplace();
    result.repair->changes = std::move(changes);
    return result;
  }
  SourceChange change(Kind kind, std::uint32_t line, const char* original, const char* text) {
    return {kind, {path_, line, 0}, original, text};
  }

  /// The exported document, read by Clang's own reader.
  tooling::TranslationUnitDiagnostics exported(const std::string& source,
                                               std::vector<diagnose::Finding> findings) {
    std::ofstream(path_, std::ios::binary) << source;
    source_ = source;
    file_.path = path_;
    file_.kernels.resize(1);
    file_.kernels[0].findings = std::move(findings);
    FixExport fixes("/work");
    SourceLines sources;
    fixes.add(file_, Paths("/work", {}), sources);
    yaml_ = fixes.render();
    tooling::TranslationUnitDiagnostics unit;
    llvm::yaml::Input input(yaml_);
    input >> unit;
    EXPECT_FALSE(input.error()) << yaml_;
    return unit;
  }

  /// All replacements of the document applied, as clang-apply-replacements does it.
  std::string applied(const tooling::TranslationUnitDiagnostics& unit) {
    tooling::Replacements all;
    for (const tooling::Diagnostic& diagnostic : unit.Diagnostics)
      for (const auto& fixes : diagnostic.Message.Fix)
        for (const tooling::Replacement& replacement : fixes.second)
          EXPECT_FALSE(!!all.add(replacement)) << yaml_;
    llvm::Expected<std::string> text = tooling::applyAllReplacements(source_, all);
    return text ? *text : llvm::toString(text.takeError());
  }
  std::string byFix() {
    const auto repaired = applyRepairs(source_, path_, file_.kernels[0].findings);
    return repaired ? repaired->text : toString(repaired.error());
  }

  std::string path_, source_, yaml_;
  FileReport file_;
};

TEST_F(ExportFixes, HoldsFindingsAndNotes) {
  const tooling::TranslationUnitDiagnostics unit = exported("one\ntwo\n", {finding(2, {})});
  ASSERT_EQ(unit.Diagnostics.size(), 1U);
  const tooling::Diagnostic& diagnostic = unit.Diagnostics[0];
  EXPECT_EQ(diagnostic.DiagnosticName, "handoff-missing-wait");
  EXPECT_EQ(diagnostic.DiagLevel, tooling::Diagnostic::Error);
  EXPECT_EQ(diagnostic.BuildDirectory, "/work");
  EXPECT_EQ(diagnostic.Message.Message, "it's \"read\": too early");
  EXPECT_EQ(diagnostic.Message.FilePath, path_);
  EXPECT_EQ(diagnostic.Message.FileOffset, 5U);
  ASSERT_EQ(diagnostic.Notes.size(), 1U);
  EXPECT_EQ(diagnostic.Notes[0].FileOffset, 0U);
  EXPECT_TRUE(diagnostic.Message.Fix.empty());
}

TEST_F(ExportFixes, GivesWhatFixGives) {
  const tooling::TranslationUnitDiagnostics unit = exported(
      "one\r\n  two\r\nthree\r\nfour", {finding(2, {change(Kind::kInsertBefore, 2, "  two", "  a();\n  b();"),
                                                    change(Kind::kDelete, 3, "three", "")}),
                                        finding(4, {change(Kind::kReplace, 4, "four", "4: \"x\"")})});
  EXPECT_EQ(applied(unit), byFix()) << yaml_;
  EXPECT_EQ(byFix(), "one\r\n  a();\r\n  b();\r\n  two\r\n4: \"x\"\n");
}

TEST_F(ExportFixes, EditsThatTouchAreOne) {
  const tooling::TranslationUnitDiagnostics unit =
      exported("one\ntwo\nthree\n", {finding(1, {change(Kind::kInsertAfter, 1, "one", "after one")}),
                                     finding(2, {change(Kind::kInsertBefore, 2, "two", "before two")}),
                                     finding(3, {change(Kind::kInsertAfter, 2, "two", "x")})});
  EXPECT_EQ(applied(unit), byFix()) << yaml_;
  EXPECT_EQ(byFix(), "one\nafter one\nbefore two\ntwo\nthree\n");
}

TEST_F(ExportFixes, SharedAndPossibleRepairs) {
  const diagnose::Finding shared = finding(1, {change(Kind::kInsertBefore, 1, "one", "new")});
  diagnose::Finding possible = finding(2, {change(Kind::kDelete, 2, "two", "")});
  possible.severity = diagnose::Severity::kPossible;
  const tooling::TranslationUnitDiagnostics unit = exported("one\ntwo\n", {shared, shared, possible});
  EXPECT_EQ(unit.Diagnostics.size(), 3U);
  EXPECT_EQ(applied(unit), "new\none\ntwo\n");
}

TEST_F(ExportFixes, FileThatHasChangedKeepsItsFindings) {
  const tooling::TranslationUnitDiagnostics unit =
      exported("edited\n", {finding(1, {change(Kind::kDelete, 1, "one", "")})});
  ASSERT_EQ(unit.Diagnostics.size(), 1U);
  EXPECT_TRUE(unit.Diagnostics[0].Message.Fix.empty());
}

TEST_F(ExportFixes, NothingFoundIsADocument) { EXPECT_TRUE(exported("one\n", {}).Diagnostics.empty()); }

}  // namespace
}  // namespace handoff::report
