// SPDX-License-Identifier: Apache-2.0
// `handoff check --format=html` in headless Chromium: what is there, that nothing overlaps, that nothing is
// fetched.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "analyzer/tests/browser.h"
#include "analyzer/tests/command.h"
#include "analyzer/tests/repository.h"

namespace handoff::tests {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// For every drawing: pairs of texts that overlap, and texts that stick out of it.
constexpr const char* kOverlaps = R"(
  const bad = [];
  for (const svg of document.querySelectorAll('svg.picture')) {
    const frame = svg.getBoundingClientRect();
    const texts = [...svg.querySelectorAll('text')].map((t) => [t.textContent, t.getBoundingClientRect()]);
    for (let i = 0; i < texts.length; ++i) {
      const [name, a] = texts[i];
      if (a.left < frame.left - 1 || a.right > frame.right + 1 || a.top < frame.top - 1 || a.bottom > frame.bottom + 1) bad.push('out: ' + name);
      for (let j = 0; j < i; ++j) {
        const [other, b] = texts[j];
        if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 2.5)
          bad.push(name + ' / ' + other);
      }
    }
  }
  return bad;)";

class HtmlPage : public testing::Test {
 protected:
  void SetUp() override {
    browser_ = findBrowser();
    if (browser_.empty()) GTEST_SKIP() << "Chromium is not installed";
    folder_ = fs::temp_directory_path() / ("handoff_html_" + std::to_string(getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override {
    if (!folder_.empty()) fs::remove_all(folder_);
  }

  /// The page of a run over these inputs.
  std::string pageOf(const std::string& arguments) {
    const std::string file = (folder_ / "report.html").string();
    const CommandResult done =
        runHandoff("check --format=html --output='" + file + "' " + arguments, repositoryRoot().string());
    EXPECT_LT(done.exit_code, 2) << done.err;
    std::ifstream stream(file);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  }

  /// What the script says of the page, which may neither complain nor fetch anything.
  std::string play(const std::string& page, const std::string& script,
                   const std::string& options = "--window-size=1280,900") {
    const Browser browser(browser_, folder_);
    const Browser::Seen seen =
        browser.play(page,
                     "const fetched = performance.getEntriesByType('resource').length; if (fetched) return "
                     "'fetched ' + fetched;" +
                         script,
                     options);
    EXPECT_EQ(seen.console, "");
    return seen.result;
  }

  std::string browser_;
  fs::path folder_;
};

constexpr const char* kRowExchange = "--arch=sm_80 testcases/barrier-only-handoff/bad_row_exchange.cu";

TEST_F(HtmlPage, ShowsAFindingWithItsMissingEdge) {
  const std::string script =
      "const f = document.querySelector('.finding');"
      "return [f.querySelectorAll('tr.culprit').length > 1, f.querySelectorAll('svg .missing.head').length,"
      " f.querySelector('svg .missing-words').textContent, f.querySelectorAll('.steps li').length > 3,"
      " f.querySelector('.diff .add').textContent.includes('cp.async.wait_all'), "
      "document.getElementById('rule-barrier-only-handoff').querySelector('pre') !== null];";
  EXPECT_EQ(play(pageOf(kRowExchange), script),
            "[true,1,'no cp.async.wait_group covers group 0: a barrier completes no copy',true,"
            "true,true]");
}

TEST_F(HtmlPage, StepsAreLinkedWithThePicture) {
  const std::string script =
      "const box = document.querySelector('[data-steps]');"
      "box.querySelector('.steps li[data-step=\"2\"]').dispatchEvent(new FocusEvent('focusin', {bubbles: "
      "true}));"
      "return [...box.querySelectorAll('.lit')].map((e) => e.dataset.step).filter((s) => s !== "
      "'2').concat(box.querySelectorAll('svg .lit').length > 1);";
  EXPECT_EQ(play(pageOf(kRowExchange), script), "[true]");
}

TEST_F(HtmlPage, FiltersByVerdict) {
  const std::string script =
      "document.querySelector('.filters [data-verdict=violation]').click();"
      "const shown = [...document.querySelectorAll('table.index tr[data-of]')].filter((e) => "
      "!e.hidden).map((e) => e.dataset.of);"
      "return [shown, document.querySelectorAll('section.kernel[data-of]:not([hidden])').length];";
  EXPECT_EQ(play(pageOf(std::string(kRowExchange) + " testcases/row-exchange/ok_row_exchange.cu"), script),
            "[['violation'],1]");
}

TEST_F(HtmlPage, LightAndDark) {
  const std::string page = pageOf(kRowExchange);
  const std::string script =
      "const color = () => getComputedStyle(document.body).backgroundColor; const before = color();"
      "document.getElementById('theme').click(); return [before, color(), "
      "getComputedStyle(document.querySelector('svg.picture text')).fill];";
  EXPECT_EQ(play(page, script), "['rgb(255, 255, 255)','rgb(18, 22, 28)','rgb(228, 233, 239)']");
  EXPECT_EQ(play(page, script, kDark), "['rgb(18, 22, 28)','rgb(255, 255, 255)','rgb(28, 33, 40)']");
}

TEST_F(HtmlPage, VerifiedKernelHasFillSteadyStateAndDrain) {
  const std::string script =
      "return [[...document.querySelectorAll('svg .phase-bar title')].map((e) => e.textContent),"
      " ['filling', 'ready', 'reading', 'free'].map((s) => document.querySelectorAll('svg .slot.' + "
      "s).length > 0)];";
  EXPECT_EQ(play(pageOf("--arch=sm_80 testcases/audit/perf_ring3_pipelined.cu"), script),
            "[['fill','steady state','drain'],[true,true,true,true]]");
}

TEST_F(HtmlPage, IsReachedByTheKeyboard) {
  const std::string script =
      "return [...document.querySelectorAll('.canvas, .steps li, .diff, button, summary, a')].filter((e) => "
      "!e.closest('[hidden]') && e.tabIndex < 0).length;";
  EXPECT_EQ(play(pageOf(kRowExchange), script), "0");
}

TEST_F(HtmlPage, EscapesSourceAndNames) {
  fs::copy_file(repositoryRoot() / "testcases/barrier-only-handoff/bad_row_exchange.cu",
                folder_ / "a&b<i>.cu");
  const std::string script =
      "return [document.querySelectorAll('i, script').length, "
      "document.body.textContent.includes('a&b<i>.cu')];";
  EXPECT_EQ(play(pageOf("--arch=sm_80 '" + (folder_ / "a&b<i>.cu").string() + "'"), script), "[2,true]");
}

TEST_F(HtmlPage, IsTheSameEveryTime) { EXPECT_EQ(pageOf(kRowExchange), pageOf(kRowExchange)); }

/// Texts of no drawing overlap, and the page has no sideways scroll, on a desk and on a phone.
class HtmlLayout : public HtmlPage, public testing::WithParamInterface<const char*> {};

TEST_P(HtmlLayout, NothingOverlaps) {
  const std::string page = pageOf(GetParam());
  EXPECT_EQ(play(page, kOverlaps), "[]");
  const std::string width = "const d = document.documentElement; return d.scrollWidth <= d.clientWidth;";
  EXPECT_EQ(play(page, width), "true");
  EXPECT_EQ(play(page, width, "--window-size=500,900"), "true");
}

INSTANTIATE_TEST_SUITE_P(
    Cases, HtmlLayout,
    testing::Values(kRowExchange,
                    "--arch=sm_80 testcases/insufficient-wait/bad_cpasync_ring3_wait_too_loose.cu",
                    "--arch=sm_90 testcases/wrong-parity/bad_bulk_loop_parity_constant.cu",
                    "--arch=sm_90 testcases/missing-proxy-fence/bad_dsmem_exchange_no_fence.cu",
                    "--arch=sm_90a testcases/premature-overwrite/bad_wgmma_release_before_retire.cu",
                    "--arch=sm_80 testcases/hang/bad_exited_warp_counted.cu",
                    "--arch=sm_90 testcases/hang/bad_ws_tile_count_floor_vs_ceil.cu",
                    "--arch=sm_90 testcases/premature-overwrite/bad_two_buffers_two_stores_pending.cu"));

}  // namespace
}  // namespace handoff::tests
