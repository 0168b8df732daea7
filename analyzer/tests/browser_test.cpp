// SPDX-License-Identifier: Apache-2.0
// docs/queue-lab.html in headless Chromium: a script does what a reader would, and the page says what came of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "analyzer/tests/browser.h"
#include "analyzer/tests/repository.h"

namespace handoff::tests {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

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

  std::string play(const std::string& script, const std::string& options = "") {
    const Browser::Seen seen = Browser(browser_, folder_).play(textOf("docs/queue-lab.html"), script, options);
    EXPECT_EQ(seen.console, "");
    return seen.result;
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
  EXPECT_EQ(play(script, kDark), "'rgb(20, 23, 26)'");
}

}  // namespace
}  // namespace handoff::tests
