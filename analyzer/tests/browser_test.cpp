// SPDX-License-Identifier: Apache-2.0
// docs/queue-lab.html in headless Chromium: a script does what a reader would, and the page says what came of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "analyzer/tests/repository.h"

namespace handoff::tests {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// "" where no Chromium is installed.
std::string findBrowser() {
  std::stringstream folders(std::getenv("PATH") != nullptr ? std::getenv("PATH") : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    for (const char* name : {"chromium", "chromium-browser", "google-chrome"})
      if (access((folder + "/" + name).c_str(), X_OK) == 0) return folder + "/" + name;
  return "";
}

class QueueLabPage : public testing::Test {
 protected:
  void SetUp() override {
    browser_ = findBrowser();
    if (browser_.empty()) GTEST_SKIP() << "Chromium is not installed";
    folder_ = fs::temp_directory_path() / ("handoff_browser_" + std::to_string(getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override {
    if (!folder_.empty()) fs::remove_all(folder_);
  }

  /// Loads the page with `script` behind it; what the script returns.
  std::string play(const std::string& script, const std::string& options = "") {
    std::string page = textOf("docs/queue-lab.html");
    page += "<script>document.documentElement.dataset.result = JSON.stringify((() => {" + script + "})());</script>\n";
    std::ofstream(folder_ / "page.html") << page;
    const std::string out = (folder_ / "out").string();
    const std::string command = "HOME='" + folder_.string() + "' timeout 60 '" + browser_ +
                                "' --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir='" +
                                folder_.string() + "/profile' " + options + " --dump-dom 'file://" + folder_.string() +
                                "/page.html' >'" + out + "' 2>/dev/null </dev/null";
    const int status = std::system(command.c_str());  // NOLINT(concurrency-mt-unsafe)
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    std::ifstream stream(out);
    const std::string dom{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
    const std::string mark = "data-result=\"";
    const std::size_t at = dom.find(mark);
    if (at == std::string::npos) return "no result in: " + dom.substr(0, 2000);
    std::string result = dom.substr(at + mark.size(), dom.find('"', at + mark.size()) - at - mark.size());
    for (std::size_t quote = 0; (quote = result.find("&quot;", quote)) != std::string::npos;) result.replace(quote, 6, "'");
    return result;
  }

  std::string browser_;
  fs::path folder_;
};

/// Fills in the form, and steps as the Enter key does.
std::string steps(const char* arrivals, const char* service, const char* prediction, int count) {
  std::string script = "const set = (id, value) => { document.getElementById(id).value = value; };";
  script += "set('arrivals', '" + std::string(arrivals) + "'); set('service', '" + service + "'); set('prediction', '" +
            prediction + "');";
  for (int i = 0; i < count; ++i) script += "document.getElementById('lab').requestSubmit();";
  return script + "return [document.getElementById('backlog').textContent, document.getElementById('message').textContent];";
}

TEST_F(QueueLabPage, ThreeInTwoOutGivesFive) {
  EXPECT_EQ(play(steps("3", "2", "5", 2)), "['5','As predicted: 4 + (3 − 2) × 1 s = 5.']");
}

TEST_F(QueueLabPage, ThreeInFourOutGivesThree) {
  EXPECT_EQ(play(steps("3", "4", "5", 2)), "['3','You said 5: 4 + (3 − 4) × 1 s = 3.']");
}

TEST_F(QueueLabPage, StepsOnlyAfterAPrediction) {
  EXPECT_EQ(play(steps("3", "2", "", 2)), "['4','Write down your prediction first.']");
}

TEST_F(QueueLabPage, StepIsHalfASecond) { EXPECT_THAT(play(steps("3", "2", "5", 1)), HasSubstr("'4.5'")); }

TEST_F(QueueLabPage, ResetGoesBackToFour) {
  EXPECT_EQ(play(steps("3", "2", "5", 2).substr(0, steps("3", "2", "5", 2).find("return")) +
                 "document.getElementById('reset').click();"
                 "return [document.getElementById('backlog').textContent, document.activeElement.id];"),
            "['4','prediction']");
}

TEST_F(QueueLabPage, RatesOutOfRangeAreRefused) {
  EXPECT_EQ(play(steps("-1", "2", "5", 1)), "['4','Rates are numbers from 0 to 100.']");
}

TEST_F(QueueLabPage, EveryControlIsReachedByTheKeyboard) {
  EXPECT_EQ(play("return [...document.querySelectorAll('input, button')].map((e) => e.tabIndex >= 0 && !e.disabled);"),
            "[true,true,true,true,true]");
}

TEST_F(QueueLabPage, EveryInputHasALabel) {
  EXPECT_EQ(play("return [...document.querySelectorAll('input')].map((e) => e.labels.length);"), "[1,1,1]");
}

TEST_F(QueueLabPage, ShowsTheSlots) {
  EXPECT_THAT(play("return document.querySelectorAll('svg rect.flight').length > 3 && "
                   "document.querySelectorAll('svg rect.use').length > 3;"),
              HasSubstr("true"));
}

TEST_F(QueueLabPage, DarkIsDark) {
  const char* const script = "return getComputedStyle(document.body).backgroundColor;";
  EXPECT_EQ(play(script), "'rgb(255, 255, 255)'");
  EXPECT_EQ(play(script, "--blink-settings=preferredColorScheme=0"), "'rgb(20, 23, 26)'");
}

}  // namespace
}  // namespace handoff::tests
