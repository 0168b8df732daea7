// SPDX-License-Identifier: Apache-2.0
// What a result looks like in a document, that may have changed since: diagnostics, edits, hovers, lenses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "analyzer/lsp/code_actions.h"
#include "analyzer/lsp/fake_checker_for_test.h"
#include "analyzer/lsp/hover.h"
#include "analyzer/lsp/lenses.h"

namespace handoff::lsp {
namespace {

namespace json = llvm::json;
using llvm::lsp::Range;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kFile = "/w/a.cu";

std::string dump(const json::Value& value) { return llvm::formatv("{0:2}", value); }
std::string dump(json::Array value) { return dump(json::Value(std::move(value))); }

class ViewsTest : public testing::Test {
 protected:
  /// Opens and checks a document.
  void open(const std::string& path, const std::string& text) {
    Document& document = documents_[path];
    document.uri = llvm::cantFail(llvm::lsp::URIForFile::fromFile(path));
    document.version = 7;
    document.text = std::make_shared<const Text>(text);
    check(path);
  }
  void check(const std::string& path) {
    CheckRequest request{path, {}, std::make_shared<const frontend::Overlay>()};
    for (const auto& [file, document] : documents_) request.texts[file] = document.text;
    CheckResult result{1, checker_.check(request), request.texts, nullptr};
    result.audits =
        std::make_shared<const std::vector<audit::KernelAudit>>(result.checked->audit(CancelToken()));
    documents_[path].result = result;
  }
  void change(const std::string& text) { documents_[kFile].text = std::make_shared<const Text>(text); }

  json::Array actions(int line, std::vector<std::string> only = {}) {
    return codeActions(documents_,
                       {kFile, Range({line, 0}, {line, 0}), std::move(only), /*has_document_changes=*/true},
                       context_);
  }
  static const json::Object* action(const json::Array& actions, llvm::StringRef part) {
    for (const json::Value& value : actions)
      if (value.getAsObject()->getString("title")->contains(part)) return value.getAsObject();
    return nullptr;
  }
  /// The text after the edits of an action, as a client applies them: all at once.
  std::string applied(const json::Object& action) {
    const json::Object& change = *(*action.getObject("edit")->getArray("documentChanges"))[0].getAsObject();
    EXPECT_EQ(change.getObject("textDocument")->getInteger("version"), 7);
    std::vector<Change> changes;
    for (const json::Value& value : *change.getArray("edits")) {
      llvm::lsp::TextEdit edit;
      json::Path::Root root;
      EXPECT_TRUE(llvm::lsp::fromJSON(value, edit, root));
      changes.push_back({edit.range, edit.newText});
    }
    // From the back, so that positions stay true; of two at one place the insertion comes first in the text.
    std::stable_sort(changes.begin(), changes.end(),
                     [](const Change& a, const Change& b) { return b.range->start < a.range->start; });
    return applyChanges(documents_[kFile].text, changes, Encoding::kUtf16)->content();
  }
  std::string hover(int line) {
    const auto hover = hoverOf(documents_, kFile, line, context_);
    return hover ? hover->contents.value : "";
  }
  std::string lensTitles() {
    std::string titles;
    for (const json::Value& lens : codeLenses(documents_, kFile, context_))
      titles += lens.getAsObject()->getObject("command")->getString("title")->str() + "\n";
    return titles;
  }

  test::FakeChecker checker_;
  Documents documents_;
  Context context_{test::optionsForTest().paths, Encoding::kUtf16, test::optionsForTest().rule_link};
};

TEST_F(ViewsTest, RepairIsAPreferredQuickFix) {
  open(kFile, "k\n  BUG(x);\nend\n");
  const json::Array all = actions(1);
  const json::Object* const repair = action(all, "insert wait()");
  ASSERT_NE(repair, nullptr) << dump(json::Array(all));
  EXPECT_EQ(repair->getBoolean("isPreferred"), true);
  EXPECT_EQ(repair->getString("kind"), llvm::StringRef("quickfix"));
  EXPECT_EQ(applied(*repair), "k\nwait();\n  fix(x);\nend\n");
  EXPECT_EQ(repair->getArray("diagnostics")->size(), 1U);
  EXPECT_EQ(action(actions(2), "insert wait()"), nullptr) << "another line";
}

TEST_F(ViewsTest, RepairFollowsItsLineAndKeepsLineEnds) {
  open(kFile, "k\r\n  BUG(x);\r\nend");
  change("new\r\nk\r\n  BUG(x);\r\nend");
  const json::Array all = actions(2);
  ASSERT_NE(action(all, "insert wait()"), nullptr);
  EXPECT_EQ(applied(*action(all, "insert wait()")), "new\r\nk\r\nwait();\r\n  fix(x);\r\nend");
  change("k\r\n  BUG(y);\r\nend");
  EXPECT_EQ(action(actions(1), "insert wait()"), nullptr) << "the line is not the one that was checked";
}

TEST_F(ViewsTest, SilencingWritesOrExtendsAComment) {
  open(kFile, "BUG 1;\nBUG 2;  // NOLINT(bugprone-x)\nBUG 3 \\\nBUG 4;  // NOLINT\n");
  EXPECT_THAT(applied(*action(actions(0), "silence")),
              HasSubstr("BUG 1;  // NOLINT(handoff-missing-wait)\n"));
  EXPECT_THAT(applied(*action(actions(1), "silence")),
              HasSubstr("BUG 2;  // NOLINT(bugprone-x, handoff-missing-wait)\n"));
  EXPECT_EQ(action(actions(2), "silence"), nullptr) << "a comment would end the macro";
  EXPECT_EQ(action(actions(3), "silence"), nullptr) << "the NOLINT that is there comes first";
}

TEST_F(ViewsTest, KindsAreFiltered) {
  open(kFile, "BUG 1;\nBUG 2;\n");
  EXPECT_TRUE(actions(0, {"refactor"}).empty());
  EXPECT_EQ(action(actions(0, {"source"}), "explain"), nullptr);
  ASSERT_NE(action(actions(0, {"quickfix"}), "explain"), nullptr);
  EXPECT_EQ(action(actions(0, {"quickfix"}), "apply"), nullptr);
  const json::Array fix_all = actions(0, {"source.fixAll"});
  ASSERT_NE(action(fix_all, "apply 2 verified repairs"), nullptr) << dump(json::Array(fix_all));
  EXPECT_EQ(applied(*action(fix_all, "apply 2")), "wait();\nfix 1;\nwait();\nfix 2;\n");
}

TEST_F(ViewsTest, ClientWithoutVersionedEditsGetsPlainOnes) {
  open(kFile, "BUG;\n");
  const json::Array all = codeActions(documents_, {kFile, Range({0, 0}, {0, 0}), {}, false}, context_);
  EXPECT_NE(action(all, "insert")->getObject("edit")->getObject("changes"), nullptr);
}

TEST_F(ViewsTest, DiagnosticsFollowTheirLines) {
  open(kFile, "k\nBUG(x);\n");
  change("\n\nk\nBUG(x);\n");
  const std::vector<Shown> shown = shownIn(documents_, kFile, context_);
  ASSERT_EQ(shown.size(), 1U);
  EXPECT_EQ(shown[0].range.start.line, 3);
  EXPECT_EQ(shown[0].range.end.character, 6);
}

TEST_F(ViewsTest, FindingInAHeaderStandsWhereItCanBeSeen) {
  open("/w/h.cuh", "h\nBUG(x);\n");
  documents_["/w/h.cuh"].result.reset();
  open(kFile, "k\n#include \"/w/h.cuh\"\n");
  EXPECT_TRUE(shownIn(documents_, kFile, context_).empty());
  EXPECT_EQ(shownIn(documents_, "/w/h.cuh", context_).size(), 1U);
  documents_.erase("/w/h.cuh");
  std::vector<Shown> shown = shownIn(documents_, kFile, context_);
  ASSERT_EQ(shown.size(), 1U);
  EXPECT_EQ(shown[0].range.start.line, 0);
  const std::string text = dump(json::Value(std::move(shown[0].diagnostic)));
  EXPECT_THAT(text, HasSubstr("/w/h.cuh:2: read too early"));
  EXPECT_THAT(text, HasSubstr("file:///w/h.cuh"));
}

TEST_F(ViewsTest, SameFindingOfTwoFilesIsShownOnce) {
  open("/w/h.cuh", "BUG(x);\n");
  documents_["/w/h.cuh"].result.reset();
  open(kFile, "#include \"/w/h.cuh\"\n");
  open("/w/b.cu", "#include \"/w/h.cuh\"\n");
  EXPECT_EQ(shownIn(documents_, "/w/h.cuh", context_).size(), 1U);
}

TEST_F(ViewsTest, LimitsOfAKernelAreOneHint) {
  open(kFile, "k\nLIMIT\nLIMIT\n");
  std::vector<Shown> shown = shownIn(documents_, kFile, context_);
  ASSERT_EQ(shown.size(), 1U);
  EXPECT_EQ(shown[0].range.start.line, 0);
  const std::string text = dump(json::Value(std::move(shown[0].diagnostic)));
  EXPECT_THAT(text, HasSubstr("\"severity\": 4"));
  EXPECT_THAT(text, HasSubstr("bounded by 2 limits"));
}

TEST_F(ViewsTest, FailureIsShownWithAllItsErrors) {
  open(kFile, "k\n");
  auto checked = std::make_shared<Checked>();
  checked->report.path = kFile;
  checked->report.error = Error{"expected ';'", {kFile, 1, 1}};
  checked->report.more_errors = {{"unknown key", {"/w/.handoff.yaml", 3, 1}}};
  documents_[kFile].result->checked = checked;
  std::vector<Shown> shown = shownIn(documents_, kFile, context_);
  ASSERT_EQ(shown.size(), 2U);
  EXPECT_THAT(dump(json::Value(std::move(shown[0].diagnostic))), HasSubstr("not checked: expected ';'"));
  EXPECT_THAT(dump(json::Value(std::move(shown[1].diagnostic))),
              HasSubstr("/w/.handoff.yaml:3: not checked: unknown key"));
  documents_["/w/h.cuh"] = documents_[kFile];
  EXPECT_EQ(shownIn(documents_, kFile, context_).size(), 2U)
      << "a header that cannot be compiled by itself is no mistake";
}

TEST_F(ViewsTest, HoverShowsTheTraceShortened) {
  open(kFile, "k\nBUG\n");
  const std::string text = hover(1);
  EXPECT_THAT(text, HasSubstr("**missing-wait**: read too early"));
  EXPECT_THAT(text, HasSubstr("1. thread 0 does step 0 (line 2)"));
  EXPECT_THAT(text, HasSubstr("- ... 4 steps left out"));
  EXPECT_THAT(text, Not(HasSubstr("step 3 ")));
  EXPECT_THAT(text, HasSubstr("12. thread 0 does step 11"));
  EXPECT_THAT(text, HasSubstr("Repair: insert wait(); re-run with it, the finding is gone"));
}

TEST_F(ViewsTest, HoverOnACallSaysWhatItBecame) {
  open(kFile, "k\nCOPY\nwait\n");
  change("k\n\nCOPY\nwait\n");
  const std::string text = hover(2);
  EXPECT_THAT(text,
              HasSubstr("`cuda::memcpy_async` became `cp.async.cg, 16 bytes` (cp.async, 2 in the PTX)"));
  EXPECT_THAT(text, HasSubstr("(line 4)"));
  EXPECT_THAT(text, HasSubstr("group 1: fills `ring[1]`, no wait covers it"));
  EXPECT_THAT(text, HasSubstr("... 12 in all"));
  EXPECT_EQ(hover(0), "");
  EXPECT_EQ(hover(99), "");
}

TEST_F(ViewsTest, LensIsTheVerdict) {
  open(kFile, "k\n");
  EXPECT_EQ(lensTitles(), "handoff: verified for all n >= 0, block = (128,1,1)\n");
  open(kFile, "k LIMIT\n");
  EXPECT_EQ(lensTitles(), "handoff: bounded: 1 limit\n");
  open(kFile, "k\nBUG\nBUG\n");
  EXPECT_EQ(lensTitles(), "handoff: violation: 2 findings\n");
  change("above\nk\nBUG\nBUG\n");
  EXPECT_EQ(dump(codeLenses(documents_, kFile, context_)).find("\"line\": 0"), std::string::npos);
  EXPECT_THAT(describeKernels(documents_, kFile, 2, context_).value_or(""),
              HasSubstr("### `k`\n\nviolation: 2 findings"));
  EXPECT_EQ(describeKernels(documents_, kFile, 1, context_), std::nullopt);
}

TEST_F(ViewsTest, InstancesShareALens) {
  open(kFile, "k\n");
  auto checked = std::make_shared<Checked>(*documents_[kFile].result->checked);
  checked->report.kernels.push_back(checked->report.kernels.front());
  checked->report.kernels.back().verdict = diagnose::Verdict::kBounded;
  documents_[kFile].result->checked = checked;
  EXPECT_EQ(lensTitles(), "handoff: 2 instances: 1 verified, 1 bounded\n");
}

}  // namespace
}  // namespace handoff::lsp
