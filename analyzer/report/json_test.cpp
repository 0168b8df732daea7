// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <llvm/Support/JSON.h>

namespace handoff::report {
namespace {

Report oneFinding() {
  Report report;
  report.files.resize(2);
  FileReport& file = report.files[0];
  file.path = "a.cu";
  file.frontend = "clang";
  file.kernels.resize(1);
  file.kernels[0].name = "_Z1kv";
  file.kernels[0].verdict = diagnose::Verdict::kViolation;
  file.kernels[0].launches = {"grid=(1,1,1)"};
  file.kernels[0].holds_for = {"all tiles >= 0"};
  file.kernels[0].paths = 7;
  file.kernels[0].limits = {{"assumed launch", {"/p/a.cu", 3, 0}}};
  diagnose::Finding finding;
  finding.rule = "hang";
  finding.severity = diagnose::Severity::kWarning;
  finding.message = "\xff is not UTF-8";
  finding.stack = {{{"/p/a.cu", 31, 9}, "k()"}};
  finding.related = {{"the copy", {{{"/p/a.cu", 12, 5}, "k()"}}}};
  finding.witness.parameters = {{"n", "4"}};
  file.kernels[0].findings.push_back(finding);
  report.files[1].path = "b.cu";
  report.files[1].error = Error{"cannot be read", {"b.cu", 0, 0}};
  report.files[1].more_errors = {{"and more", {"b.cu", 4, 0}}};
  return report;
}

llvm::json::Value parsed(const std::string& text) {
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(text);
  if (value) return *value;
  ADD_FAILURE() << llvm::toString(value.takeError());
  return nullptr;
}

TEST(Json, HasTheDocumentedShape) {
  const llvm::json::Value root = parsed(renderJson(oneFinding(), Paths("/p", {}), {.tool_version = "1.2.3"}));
  const llvm::json::Object& object = *root.getAsObject();
  EXPECT_EQ(object.getInteger("version"), 1);
  const llvm::json::Object& file = *(*object.getArray("files"))[0].getAsObject();
  EXPECT_EQ(file.getString("path"), "a.cu");
  EXPECT_EQ(file.getString("frontend"), "clang");
  const llvm::json::Object& kernel = *(*file.getArray("kernels"))[0].getAsObject();
  EXPECT_EQ(kernel.getString("name"), "_Z1kv");
  EXPECT_EQ(kernel.getString("verdict"), "violation");
  EXPECT_EQ((*kernel.getArray("launches"))[0].getAsString(), "grid=(1,1,1)");
  EXPECT_EQ((*kernel.getArray("holds_for"))[0].getAsString(), "all tiles >= 0");
  EXPECT_EQ(kernel.getInteger("paths"), 7);
  EXPECT_EQ((*kernel.getArray("limits"))[0].getAsObject()->getInteger("line"), 3);
  const llvm::json::Object& finding = *(*kernel.getArray("findings"))[0].getAsObject();
  EXPECT_EQ(finding.getString("rule"), "hang");
  EXPECT_EQ(finding.getString("severity"), "warning");
  EXPECT_EQ(finding.getString("file"), "a.cu");
  EXPECT_EQ(finding.getInteger("group"), 1);
  EXPECT_EQ(finding.getBoolean("for_other_launches"), false);
  EXPECT_EQ(finding.getInteger("line"), 31);
  EXPECT_EQ(finding.getInteger("column"), 9);
  EXPECT_EQ((*finding.getArray("related"))[0].getAsObject()->getInteger("line"), 12);
  EXPECT_NE(finding.getObject("witness"), nullptr);
  EXPECT_TRUE(finding.get("repair")->getAsNull());
}

TEST(Json, FailedFileHasItsError) {
  const llvm::json::Value root = parsed(renderJson(oneFinding(), Paths("/p", {}), {}));
  const llvm::json::Object& file = *(*root.getAsObject()->getArray("files"))[1].getAsObject();
  EXPECT_EQ(file.getObject("error")->getString("message"), "cannot be read");
  EXPECT_EQ((*file.getArray("more_errors"))[0].getAsObject()->getInteger("line"), 4);
}

TEST(Json, SeveritiesAndOtherLaunches) {
  Report report = oneFinding();
  diagnose::Finding& finding = report.files[0].kernels[0].findings[0];
  finding.severity = diagnose::Severity::kPossible;
  finding.is_for_other_launches = true;
  const std::string text = renderJson(report, Paths("/p", {}), {});
  EXPECT_THAT(text, testing::HasSubstr("\"severity\": \"possible\""));
  EXPECT_THAT(text, testing::HasSubstr("\"for_other_launches\": true"));
}

TEST(Json, TimesAppearOnlyWhenAskedFor) {
  EXPECT_THAT(renderJson(oneFinding(), Paths("/p", {}), {}), testing::Not(testing::HasSubstr("seconds")));
  EXPECT_THAT(renderJson(oneFinding(), Paths("/p", {}), {.show_stats = true}), testing::HasSubstr("seconds"));
}

TEST(Json, SameReportSameBytes) {
  EXPECT_EQ(renderJson(oneFinding(), Paths("/p", {}), {}), renderJson(oneFinding(), Paths("/p", {}), {}));
}

}  // namespace
}  // namespace handoff::report
