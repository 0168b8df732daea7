// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/sarif.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <llvm/Support/JSON.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "analyzer/diagnose/rule.h"
#include "analyzer/report/baseline.h"
#include "analyzer/report/sarif_parts.h"

namespace handoff::report {
namespace {

namespace json = llvm::json;
using diagnose::SourceChange;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// A value of a document by its path, as "runs/0/results"; null when there is none.
json::Value at(const json::Value& root, std::string_view path) {
  const json::Value* value = &root;
  while (!path.empty() && value != nullptr) {
    const std::string part(path.substr(0, path.find('/')));
    path.remove_prefix(std::min(path.size(), part.size() + 1));
    if (const json::Object* object = value->getAsObject()) {
      value = object->get(part);
    } else if (const json::Array* array = value->getAsArray()) {
      const auto index = static_cast<std::size_t>(std::stoul(part));
      value = index < array->size() ? &(*array)[index] : nullptr;
    } else {
      value = nullptr;
    }
  }
  return value == nullptr ? json::Value(nullptr) : *value;
}

std::string textAt(const json::Value& root, std::string_view path) {
  return at(root, path).getAsString().value_or("(none)").str();
}
std::int64_t numberAt(const json::Value& root, std::string_view path) {
  return at(root, path).getAsInteger().value_or(-1);
}
std::size_t sizeAt(const json::Value& root, std::string_view path) {
  const json::Value value = at(root, path);
  return value.getAsArray() == nullptr ? 0 : value.getAsArray()->size();
}

class Sarif : public testing::Test {
 protected:
  Sarif() : folder_(std::filesystem::temp_directory_path() / ("handoff_sarif" + std::to_string(getpid()))) {
    std::filesystem::create_directories(folder_ / "src");
    file_ = (folder_ / "src/a b.cu").string();
    std::ofstream(file_, std::ios::binary)
        << "copy(rows);\n  /* \u00e9\U0001F600 */ out = rows[t];\nend();\n";
    report_.files.resize(1);
    report_.files[0].path = file_;
    report_.files[0].kernels.resize(1);
    kernel().pretty = "k(int*)";
    kernel().pos = {file_, 1, 1};
    kernel().verdict = diagnose::Verdict::kViolation;
    diagnose::Finding finding;
    finding.rule = "missing-wait";
    finding.message = "'rows[3]' is read too early";
    finding.fingerprint = "0123456789abcdef:1";
    // Characters of two and of four bytes stand before it: byte 16, UTF-16 code unit 13.
    finding.stack = {{{file_, 2, 16}, "k"}};
    finding.related = {{"the copy into rows[3]", {{{file_, 1, 1}, "k"}}}, {"the barrier", {}}};
    finding.witness.launch = "grid=(1,1,1)";
    finding.witness.steps = {{"thread 1", "issues a copy", {{{file_, 1, 1}, "k"}}},
                             {"thread 0", "waits", {}},
                             {"thread 1", "commits", {{{file_, 1, 1}, "k"}}},
                             {"thread 0", "reads", {{{file_, 2, 16}, "k"}}}};
    finding.repair.emplace();
    finding.repair->description = "insert a wait";
    finding.repair->changes = {{SourceChange::Kind::kInsertAfter, {file_, 1, 0}, "copy(rows);", "wait();"}};
    kernel().findings.push_back(finding);
  }
  ~Sarif() override { std::filesystem::remove_all(folder_); }

  diagnose::KernelReport& kernel() { return report_.files[0].kernels[0]; }
  diagnose::Finding& finding() { return kernel().findings[0]; }

  json::Value rendered(SarifOptions options = {.checks = GlobList("*,-perf-*")}) {
    SourceLines sources;
    llvm::Expected<json::Value> value =
        json::parse(renderSarif(report_, Paths(folder_.string(), {}), sources, options));
    if (value) return *value;
    ADD_FAILURE() << llvm::toString(value.takeError());
    return nullptr;
  }

  std::filesystem::path folder_;
  std::string file_;
  Report report_;
};

TEST_F(Sarif, CleanRunHasAllRulesAndNoResults) {
  kernel().findings.clear();
  const json::Value root =
      rendered({.tool_version = "1.2.3",
                .docs_uri = "file:///d",
                .rule_page = [](std::string_view) { return "see [hang](hang.md) and [x](https://x.y)"; },
                .checks = GlobList("*,-perf-*")});
  EXPECT_EQ(textAt(root, "version"), "2.1.0");
  EXPECT_NE(at(root, "runs/0/results").getAsArray(), nullptr);
  EXPECT_EQ(sizeAt(root, "runs/0/results"), 0U);
  ASSERT_EQ(sizeAt(root, "runs/0/tool/driver/rules"), diagnose::rules().size());
  const json::Value rule = at(root, "runs/0/tool/driver/rules/0");
  EXPECT_EQ(textAt(rule, "id"), "missing-wait");
  EXPECT_EQ(textAt(rule, "name"), "MissingWait");
  EXPECT_EQ(textAt(rule, "helpUri"), "file:///d/rules/missing-wait.md");
  EXPECT_EQ(textAt(rule, "help/markdown"), "see hang and [x](https://x.y)");
  EXPECT_EQ(textAt(rule, "defaultConfiguration/level"), "error");
  EXPECT_THAT(textAt(rule, "fullDescription/text"), HasSubstr("PTX ISA"));
  EXPECT_EQ(textAt(root, "runs/0/tool/driver/version"), "1.2.3");
}

TEST_F(Sarif, ResultSaysWhereInUtf16) {
  const json::Value result = at(rendered(), "runs/0/results/0");
  EXPECT_EQ(textAt(result, "ruleId"), "missing-wait");
  EXPECT_EQ(numberAt(result, "ruleIndex"), 0);
  EXPECT_EQ(textAt(result, "level"), "error");
  const json::Value place = at(result, "locations/0/physicalLocation");
  EXPECT_EQ(textAt(place, "artifactLocation/uri"), "src/a%20b.cu");
  EXPECT_EQ(textAt(place, "artifactLocation/uriBaseId"), "%SRCROOT%");
  EXPECT_EQ(numberAt(place, "region/startLine"), 2);
  EXPECT_EQ(numberAt(place, "region/startColumn"), 13);
  EXPECT_EQ(numberAt(place, "region/endColumn"), 16);
  EXPECT_THAT(textAt(place, "region/snippet/text"), HasSubstr("out = rows[t];"));
  EXPECT_EQ(textAt(result, "locations/0/logicalLocations/0/fullyQualifiedName"), "k(int*)");
  const json::Value names = at(result, "partialFingerprints");
  EXPECT_EQ(names.getAsObject()->getString("handoffFinding/v1").value_or(""), "0123456789abcdef:1");
  EXPECT_TRUE(at(result, "baselineState").getAsNull());
}

TEST_F(Sarif, MessageLinksToTheRelatedLocations) {
  const json::Value result = at(rendered(), "runs/0/results/0");
  EXPECT_EQ(textAt(result, "message/text"),
            "'rows[3]' is read too early. See: [the copy into rows\\[3\\]](1); [the barrier](2).");
  EXPECT_EQ(numberAt(result, "relatedLocations/0/id"), 1);
  EXPECT_EQ(textAt(result, "relatedLocations/0/message/text"), "the copy into rows[3]");
  EXPECT_EQ(textAt(result, "relatedLocations/1/physicalLocation/artifactLocation/uri"), "src/a%20b.cu")
      << "one without a position is at the kernel";
}

TEST_F(Sarif, EveryActorHasItsThreadFlow) {
  const json::Value flow = at(rendered(), "runs/0/results/0/codeFlows/0");
  ASSERT_EQ(sizeAt(flow, "threadFlows"), 2U);
  EXPECT_EQ(textAt(flow, "message/text"), "launch grid=(1,1,1)");
  EXPECT_EQ(textAt(flow, "threadFlows/0/id"), "thread 1");
  EXPECT_EQ(numberAt(flow, "threadFlows/0/locations/0/executionOrder"), 1);
  EXPECT_EQ(numberAt(flow, "threadFlows/0/locations/1/executionOrder"), 3);
  EXPECT_EQ(textAt(flow, "threadFlows/1/id"), "thread 0");
  EXPECT_EQ(numberAt(flow, "threadFlows/1/locations/0/executionOrder"), 2);
  EXPECT_EQ(textAt(flow, "threadFlows/1/locations/1/location/message/text"), "thread 0 reads");
  EXPECT_EQ(textAt(flow, "threadFlows/1/locations/1/importance"), "essential");
}

TEST_F(Sarif, LongTracesAreCutBehindTheirSecondStep) {
  const diagnose::Step step = finding().witness.steps[0];
  finding().witness.steps.assign(kMaxSarifSteps + 50, step);
  const json::Value flow = at(rendered(), "runs/0/results/0/codeFlows/0");
  ASSERT_EQ(sizeAt(flow, "threadFlows/0/locations"), kMaxSarifSteps);
  EXPECT_EQ(numberAt(flow, "threadFlows/0/locations/1/executionOrder"), 2);
  EXPECT_EQ(numberAt(flow, "threadFlows/0/locations/2/executionOrder"), 53);
  EXPECT_EQ(numberAt(flow, "threadFlows/0/locations/199/executionOrder"), 250);
  EXPECT_THAT(textAt(flow, "message/text"), HasSubstr("50 steps behind the second one are left out"));
}

TEST_F(Sarif, FixIsTheTriedRepair) {
  const json::Value fix = at(rendered(), "runs/0/results/0/fixes/0");
  EXPECT_EQ(textAt(fix, "description/text"), "insert a wait");
  const json::Value replacement = at(fix, "artifactChanges/0/replacements/0");
  EXPECT_EQ(numberAt(replacement, "deletedRegion/startLine"), 2);
  EXPECT_EQ(numberAt(replacement, "deletedRegion/startColumn"), 1);
  EXPECT_EQ(numberAt(replacement, "deletedRegion/endLine"), 2);
  EXPECT_EQ(textAt(replacement, "insertedContent/text"), "wait();\n");
  finding().repair->is_tested = false;
  EXPECT_TRUE(at(rendered(), "runs/0/results/0/fixes").getAsNull()) << "nobody has tried it";
  finding().repair->is_tested = true;
  finding().repair->changes[0].original = "edited meanwhile";
  EXPECT_TRUE(at(rendered(), "runs/0/results/0/fixes").getAsNull());
}

TEST_F(Sarif, SilencedFindingsAreSuppressedResults) {
  SetAside by_comment, by_config;
  by_comment.finding = by_config.finding = finding();
  by_comment.spelling = "NOLINT(handoff-missing-wait)";
  by_comment.reason = "by design";
  by_comment.pos = {file_, 2, 3};
  by_config.by = SetAside::By::kConfig;
  by_config.spelling = "suppress: missing-wait";
  report_.files[0].set_aside = {by_comment, by_config};
  const json::Value root = rendered();
  ASSERT_EQ(sizeAt(root, "runs/0/results"), 3U);
  EXPECT_NE(at(root, "runs/0/results/0/suppressions").getAsArray(), nullptr) << "[]: known to have none";
  EXPECT_EQ(sizeAt(root, "runs/0/results/0/suppressions"), 0U);
  const json::Value in_source = at(root, "runs/0/results/1/suppressions/0");
  EXPECT_EQ(textAt(in_source, "kind"), "inSource");
  EXPECT_EQ(textAt(in_source, "status"), "accepted");
  EXPECT_EQ(textAt(in_source, "justification"), "NOLINT(handoff-missing-wait): by design");
  EXPECT_EQ(numberAt(in_source, "location/physicalLocation/region/startLine"), 2);
  EXPECT_EQ(textAt(root, "runs/0/results/2/suppressions/0/kind"), "external");
  EXPECT_EQ(sizeAt(rendered({.checks = GlobList("*"), .omits_silenced = true}), "runs/0/results"), 1U);
}

TEST_F(Sarif, BaselineGivesEveryResultItsState) {
  SetAside known;
  known.by = SetAside::By::kBaseline;
  known.finding = finding();
  known.finding.fingerprint = "1123456789abcdef:1";
  report_.files[0].set_aside = {known};
  Baseline baseline;
  BaselineEntry entry;
  entry.fingerprint = known.finding.fingerprint;
  baseline.add({entry});
  const json::Value root = rendered({.checks = GlobList("*,-perf-*"), .baseline = &baseline});
  EXPECT_EQ(textAt(root, "runs/0/results/0/baselineState"), "new");
  EXPECT_EQ(textAt(root, "runs/0/results/1/baselineState"), "unchanged");
  EXPECT_EQ(sizeAt(root, "runs/0/results/1/suppressions"), 0U) << "known is not silenced";
}

TEST_F(Sarif, WhatIsNotVerifiedIsANotification) {
  kernel().findings.clear();
  kernel().verdict = diagnose::Verdict::kBounded;
  kernel().limits = {{"no launch fixes 'n'", {}}};
  report_.files.emplace_back();
  report_.files[1].path = "b.cu";
  report_.files[1].error = Error{"cannot be read", {}};
  report_.end.is_interrupted = true;
  report_.end.unchecked_files = {"c.cu"};
  report_.end.exit_code = 2;
  const json::Value root = rendered();
  EXPECT_EQ(sizeAt(root, "runs/0/results"), 0U);
  const json::Value invocation = at(root, "runs/0/invocations/0");
  EXPECT_EQ(at(invocation, "executionSuccessful").getAsBoolean(), false);
  EXPECT_EQ(numberAt(invocation, "exitCode"), 2);
  ASSERT_EQ(sizeAt(invocation, "toolExecutionNotifications"), 3U);
  const json::Value bounded = at(invocation, "toolExecutionNotifications/0");
  EXPECT_EQ(textAt(bounded, "message/text"), "k(int*) is bounded; limit: no launch fixes 'n'.");
  EXPECT_EQ(textAt(bounded, "descriptor/id"), "bounded");
  EXPECT_EQ(textAt(bounded, "level"), "note");
  EXPECT_EQ(textAt(invocation, "toolExecutionNotifications/1/level"), "error");
  EXPECT_THAT(textAt(invocation, "toolExecutionNotifications/2/message/text"),
              HasSubstr("not checked: c.cu"));
  EXPECT_EQ(textAt(root, "runs/0/properties/kernels/0/verdict"), "bounded");
}

TEST_F(Sarif, SwitchedOffRulesAreOverrides) {
  const json::Value off = at(rendered({.checks = GlobList("*,-perf-*,-hang")}), "runs/0/invocations/0");
  ASSERT_EQ(sizeAt(off, "ruleConfigurationOverrides"), 1U);
  EXPECT_EQ(textAt(off, "ruleConfigurationOverrides/0/descriptor/id"), "hang");
  EXPECT_EQ(at(off, "ruleConfigurationOverrides/0/configuration/enabled").getAsBoolean(), false);
  EXPECT_EQ(sizeAt(rendered(), "runs/0/invocations/0/ruleConfigurationOverrides"), 0U);
}

TEST_F(Sarif, LessThanAWarningIsANote) {
  finding().severity = diagnose::Severity::kPossible;
  EXPECT_EQ(textAt(rendered(), "runs/0/results/0/level"), "note");
  EXPECT_EQ(at(rendered(), "runs/0/results/0/properties/isPossible").getAsBoolean(), true);
  finding().severity = diagnose::Severity::kError;
  finding().is_for_other_launches = true;
  EXPECT_EQ(textAt(rendered(), "runs/0/results/0/level"), "note");
}

TEST(UriOf, EscapesWhatAPathMayHold) {
  EXPECT_EQ(uriOf("a b/c:%.cu"), "a%20b/c%3A%25.cu");
  EXPECT_EQ(uriOf("/x/\xc3\xa9#?.cu"), "file:///x/%C3%A9%23%3F.cu");
}

}  // namespace
}  // namespace handoff::report
