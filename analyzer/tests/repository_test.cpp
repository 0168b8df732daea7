// SPDX-License-Identifier: Apache-2.0
// Rules about the sources themselves: who may include whom, how long files are, and that every rule of the
// table has its page and its cases.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <regex>
#include <set>

#include "analyzer/diagnose/rule.h"
#include "analyzer/tests/repository.h"

namespace handoff::tests {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kSources = {".cpp", ".h"};

/// "analyzer/report/text.cpp" -> "report".
std::string folderOf(const std::string& file) {
  const std::size_t start = file.find('/') + 1;
  return file.substr(start, file.find('/', start) - start);
}

std::vector<std::string> includesOf(const std::string& file) {
  static const std::regex kInclude(R"re(^\s*#include\s*["<]([^">]+)[">])re");
  std::vector<std::string> result;
  for (const std::string& line : linesOf(file)) {
    std::smatch match;
    if (std::regex_search(line, match, kInclude)) result.push_back(match[1]);
  }
  return result;
}

TEST(Layering, FoldersIncludeOnlyWhatLiesBelow) {
  // A folder may include itself and these.
  const std::map<std::string, std::set<std::string>> allowed = {
      {"support", {}},
      {"ptx", {"support"}},
      {"symbolic", {"support"}},
      {"machine", {"ptx", "symbolic", "support"}},
      // The front end fills in a Unit and knows no analysis; explore reads it.
      {"frontend", {"ptx", "support"}},
      {"diagnose", {"machine", "ptx", "support"}},
      {"picture", {"diagnose", "machine", "ptx", "support"}},
      {"witness", {"diagnose", "machine", "ptx", "support"}},
      // Runs on machines with a GPU and nothing else.
      {"confirm", {"support"}},
      {"explore", {"picture", "witness", "diagnose", "machine", "ptx", "symbolic", "frontend", "support"}},
      {"audit", {"explore", "picture", "witness", "diagnose", "machine", "ptx", "frontend", "support"}},
      {"lab", {"audit", "explore", "picture", "witness", "diagnose", "machine", "ptx", "frontend", "support"}},
      {"mutate", {"explore", "witness", "picture", "diagnose", "machine", "ptx", "frontend", "support"}},
      {"report", {"audit", "diagnose", "support"}},
      {"config", {"support"}},
      {"project", {"config", "report", "audit", "explore", "diagnose", "frontend", "ptx", "support"}},
      {"lsp", {"project", "config", "report", "audit", "explore", "diagnose", "frontend", "support"}},
      {"cli", {"lsp", "project", "config", "report", "lab", "mutate", "audit", "explore", "witness", "diagnose", "frontend", "support"}},
  };
  for (const std::string& file : filesBelow("analyzer", kSources)) {
    const auto folder = allowed.find(folderOf(file));
    if (folder == allowed.end()) continue;  // tests, benchmarks, fuzz targets
    const bool is_test = file.ends_with("_test.cpp");
    for (const std::string& include : includesOf(file)) {
      if (!include.starts_with("analyzer/")) continue;
      const std::string target = folderOf(include);
      const bool is_allowed = target == folder->first || folder->second.count(target) != 0 ||
                              (is_test && target == "test_support");
      EXPECT_TRUE(is_allowed) << file << " includes " << include;
    }
  }
}

/// "report/sarif" of "analyzer/report/sarif_test.cpp".
std::string unitOf(const std::string& file) {
  const std::size_t begin = std::string("analyzer/").size();
  return file.substr(begin, std::min(file.find("_test.", begin), file.rfind('.')) - begin);
}

TEST(Layering, ForeignHeadersStayInTheirFolders) {
  // Folders, or single units within one.
  const std::map<std::string, std::set<std::string>> owners = {
      {"clang/", {"frontend", "report/export_fixes"}},
      {"llvm/", {"frontend", "report", "config", "project", "lsp", "cli", "tests", "fuzz/fuzz_lsp"}},
      {"z3", {"symbolic"}},
      {"cuda", {}},
  };
  for (const std::string& file : filesBelow("analyzer", kSources)) {
    if (file.find("/bundled/") != std::string::npos) continue;  // declarations for the code under analysis
    for (const std::string& include : includesOf(file))
      for (const auto& [prefix, folders] : owners) {
        const bool is_in_test_input =
            prefix == "cuda" && (file.ends_with("_test.cpp") || file.ends_with("_for_test.h"));
        if (!include.starts_with(prefix) || is_in_test_input) continue;
        EXPECT_TRUE(folders.count(folderOf(file)) != 0 || folders.count(unitOf(file)) != 0)
            << file << " includes <" << include << ">";
      }
  }
}

TEST(FileSize, StaysReadable) {
  // Files that are longer than they should be, with the length that they may not exceed. This list only
  // shrinks.
  const std::map<std::string, std::size_t> exempt = {};
  for (const std::string& file : filesBelow("analyzer", kSources)) {
    const std::size_t limit = file.ends_with("_test.cpp") ? 800 : file.ends_with(".h") ? 250 : 500;
    const auto exemption = exempt.find(file);
    const std::size_t lines = linesOf(file).size();
    if (exemption == exempt.end()) {
      EXPECT_LE(lines, limit) << file;
      continue;
    }
    EXPECT_LE(lines, exemption->second) << file << " grew";
    EXPECT_GT(lines, limit) << file << " no longer needs its exemption";
  }
}

TEST(Sources, StartWithTheirLicence) {
  for (const std::string& file : filesBelow("analyzer", {".cpp", ".h", ".def", "CMakeLists.txt"})) {
    const std::vector<std::string> lines = linesOf(file);
    ASSERT_FALSE(lines.empty()) << file;
    EXPECT_THAT(lines[0], testing::HasSubstr("SPDX-License-Identifier: Apache-2.0")) << file;
  }
}

TEST(RulesComplete, EveryRuleHasAPageWithAllItsParts) {
  for (const diagnose::RuleInfo& rule : diagnose::rules()) {
    const std::string page = "docs/rules/" + std::string(rule.name) + ".md";
    ASSERT_TRUE(fs::exists(repositoryRoot() / page)) << page;
    const std::string text = textOf(page);
    EXPECT_TRUE(text.starts_with("# " + std::string(rule.name) + "\n")) << page;
    for (const char* part : {"## What fires", "## What does not", "## Why it is wrong", "## Example",
                             "## Repair", "## Limits", "## How to silence"})
      EXPECT_THAT(text, testing::HasSubstr(part)) << page;
  }
}

/// What the console blocks of a page show, each with its command line first.
std::vector<std::string> consoleBlocks(const std::string& page) {
  std::vector<std::string> blocks;
  bool is_inside = false;
  for (const std::string& line : linesOf(page)) {
    if (line == "```console") blocks.emplace_back();
    if (is_inside && line != "```") blocks.back() += line + "\n";
    is_inside = line == "```console" || (is_inside && line != "```");
  }
  return blocks;
}

// The blocks themselves are run by docs_test.
TEST(RulesComplete, EveryPageShowsAFindingAndAKernelWithoutOne) {
  for (const diagnose::RuleInfo& rule : diagnose::rules()) {
    const std::string page = "docs/rules/" + std::string(rule.name) + ".md";
    const std::string mark = "[" + std::string(rule.name) + "]";
    int with = 0, without = 0;
    for (const std::string& block : consoleBlocks(page)) {
      const bool has_finding = block.find(mark) != std::string::npos;
      const bool is_clean = block.find("verified:") != std::string::npos && block.find(": error:") == std::string::npos;
      with += has_finding ? 1 : 0;
      without += !has_finding && is_clean ? 1 : 0;
    }
    EXPECT_GE(with, 1) << page;
    EXPECT_GE(without, 1) << page;
  }
}

TEST(RulesComplete, EveryPageIsAboutARule) {
  for (const std::string& page : filesBelow("docs/rules", {".md"})) {
    const std::string name = fs::path(page).stem();
    if (name == "README") continue;  // the index
    EXPECT_NE(diagnose::findRule(name), nullptr) << page;
  }
}

TEST(RulesComplete, EveryRuleHasTwoBadAndTwoGoodCases) {
  for (const diagnose::RuleInfo& rule : diagnose::rules()) {
    if (rule.group == "perf") continue;  // below
    const std::string folder(rule.name);
    int bad = 0, good = 0;
    for (const Case& item : allCases()) {
      if (!item.is_active || !item.path.starts_with(folder + "/")) continue;
      ++(item.isBad() ? bad : good);
    }
    EXPECT_GE(bad, 2) << folder;
    EXPECT_GE(good, 2) << folder;
  }
}

TEST(RulesComplete, EveryPieceOfAdviceHasTwoCases) {
  for (const diagnose::RuleInfo& rule : diagnose::rules()) {
    if (rule.group != "perf") continue;
    std::set<std::string> files;
    for (const AuditCase& item : allAuditCases())
      for (const AuditMark& mark : item.marks())
        if (!mark.becomes && mark.text == rule.name) files.insert(item.path);
    EXPECT_GE(files.size(), 2u) << rule.name;
  }
}

TEST(Cases, IndexAndFilesAgree) {
  std::set<std::string> indexed;
  for (const AuditCase& item : allAuditCases()) indexed.insert(item.file());
  for (const Case& item : allCases()) indexed.insert("testcases/" + item.path);
  for (const SizeCase& item : allSizeCases()) indexed.insert(item.file());
  std::vector<std::string> files = filesBelow("testcases", {".cu"});
  // A project of its own, with tests of its own (project_cli_test).
  std::erase_if(files, [](const std::string& file) { return file.starts_with("testcases/project/"); });
  EXPECT_EQ(indexed, std::set<std::string>(files.begin(), files.end()));
}

/// What follows `mark`, for each line that has it.
std::vector<std::string> textsBehind(const std::string& file, const std::string& mark) {
  std::vector<std::string> texts;
  for (const std::string& line : linesOf(file)) {
    const std::size_t at = line.find(mark);
    if (at != std::string::npos) texts.push_back(line.substr(at + mark.size()));
  }
  return texts;
}

TEST(Cases, HeadsOfSizeCasesSayWhatTheIndexSays) {
  using Texts = std::vector<std::string>;
  for (const SizeCase& item : allSizeCases()) {
    SCOPED_TRACE(item.path);
    EXPECT_EQ(textsBehind(item.file(), "// Expected verdict: "), Texts{item.expectation});
    const Texts wrong_sizes = item.wrong_size.empty() ? Texts() : Texts{item.wrong_size};
    EXPECT_EQ(textsBehind(item.file(), "// wrong-size: "), wrong_sizes);
    EXPECT_EQ(textsBehind(item.file(), "// right-size: "), item.right_sizes);
    EXPECT_EQ(textsBehind(item.file(), "// BUG: "), item.rules.empty() ? Texts() : Texts{item.rules[0]});
    EXPECT_EQ(item.rules.empty(), item.expectation == "verified" || item.expectation == "silent");
    for (const std::string& rule : item.rules) EXPECT_NE(diagnose::findRule(rule), nullptr) << rule;
  }
}

TEST(Cases, MarkedLineIsTheIndexedOne) {
  for (const Case& item : allCases()) {
    const std::vector<std::string> lines = linesOf("testcases/" + item.path);
    const std::string mark = "// BUG: ";
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const std::size_t at = lines[i].find(mark);
      if (at == std::string::npos) continue;
      EXPECT_EQ(item.bug_line, i + 1) << item.path;
      EXPECT_EQ(item.rule, lines[i].substr(at + mark.size())) << item.path;
    }
    EXPECT_EQ(item.isBad(), item.bug_line != 0) << item.path;
  }
}

TEST(Cases, NamesOfActiveCasesAreRules) {
  for (const Case& item : allCases()) {
    if (!item.is_active || !item.isBad()) continue;
    EXPECT_NE(diagnose::findRule(item.rule), nullptr) << item.path;
    for (const std::string& rule : item.also_acceptable)
      EXPECT_NE(diagnose::findRule(rule), nullptr) << item.path << ": " << rule;
  }
}

/// The anchors of a page's headings, as GitHub makes them.
std::set<std::string> anchorsOf(const std::string& page) {
  std::set<std::string> anchors;
  for (const std::string& line : linesOf(page)) {
    if (!line.starts_with("#") || line.find("# ") == std::string::npos) continue;
    std::string anchor;
    for (const char c : line.substr(line.find(' ') + 1)) {
      if (c == ' ') anchor += '-';
      if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_')
        anchor += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    anchors.insert(anchor);
  }
  return anchors;
}

TEST(Docs, MutationNamesEveryOperator) {
  const std::regex row("^    \\{\"([a-z-]+)\", \"");
  std::size_t operators = 0;
  const std::string page = textOf("docs/mutation.md");
  for (const std::string& line : linesOf("analyzer/mutate/operators.cpp")) {
    std::smatch match;
    if (!std::regex_search(line, match, row)) continue;
    ++operators;
    EXPECT_NE(page.find("`" + match[1].str() + "`"), std::string::npos) << match[1];
  }
  EXPECT_GT(operators, 20u);
}

TEST(Docs, RelativeLinksLeadSomewhere) {
  static const std::regex kLink(R"(\]\(([^)#\s]*)(#[^)]*)?\))");
  std::vector<std::string> pages;
  for (const char* folder : {"docs", "kernels", "runtime", "testcases", "tools"})
    for (const std::string& page : filesBelow(folder, {".md"})) pages.push_back(page);
  for (const char* page : {"README.md", "CONTRIBUTING.md", "CHANGELOG.md"}) pages.emplace_back(page);
  for (const std::string& page : pages) {
    const std::string text = textOf(page);
    for (std::sregex_iterator link(text.begin(), text.end(), kLink), end; link != end; ++link) {
      const std::string target = (*link)[1], anchor = (*link)[2];
      if (target.starts_with("http")) continue;
      const fs::path file = target.empty() ? fs::path(page) : (fs::path(page).parent_path() / target).lexically_normal();
      EXPECT_TRUE(fs::exists(repositoryRoot() / file)) << page << ": " << target;
      if (anchor.empty() || file.extension() != ".md" || !fs::exists(repositoryRoot() / file)) continue;
      EXPECT_THAT(anchorsOf(file.string()), testing::Contains(anchor.substr(1))) << page << ": " << target << anchor;
    }
  }
}

}  // namespace
}  // namespace handoff::tests
