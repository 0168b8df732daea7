// SPDX-License-Identifier: Apache-2.0
// Chromium by its command line; the result comes back in the dumped page.
#include "analyzer/tests/browser.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

namespace handoff::tests {

namespace {

std::string readAll(const std::filesystem::path& path) {
  std::ifstream stream(path);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

/// What the page itself complained about: lines of the log with its console's messages.
std::string consoleOf(const std::string& log) {
  std::string result;
  std::stringstream stream(log);
  for (std::string line; std::getline(stream, line);)
    if (line.find("CONSOLE") != std::string::npos) result += line + "\n";
  return result;
}

}  // namespace

std::string findBrowser() {
  std::stringstream folders(std::getenv("PATH") != nullptr ? std::getenv("PATH") : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    for (const char* name : {"chromium", "chromium-browser", "google-chrome"})
      if (access((folder + "/" + name).c_str(), X_OK) == 0) return folder + "/" + name;
  return "";
}

Browser::Seen Browser::play(const std::string& page, const std::string& script,
                            const std::string& options) const {
  // Whatever the page would fetch is noted, as resources that the browser timed.
  std::ofstream(folder_ / "page.html")
      << page
      << "<script>document.documentElement.dataset.result = JSON.stringify((() => {" + script +
             "})());</script>\n";
  const std::string out = (folder_ / "out").string(), log = (folder_ / "log").string();
  const std::string command = "HOME='" + folder_.string() + "' timeout 90 '" + program_ +
                              "' --headless --no-sandbox --disable-gpu --disable-dev-shm-usage "
                              "--enable-logging=stderr --user-data-dir='" +
                              folder_.string() + "/profile' " + options + " --dump-dom 'file://" +
                              folder_.string() + "/page.html' >'" + out + "' 2>'" + log + "' </dev/null";
  const int status = std::system(command.c_str());  // NOLINT(concurrency-mt-unsafe)
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << command;
  Seen seen{"", consoleOf(readAll(log))};
  const std::string dom = readAll(out), mark = "data-result=\"";
  const std::size_t at = dom.find(mark);
  if (at == std::string::npos) return {"no result in: " + dom.substr(0, 2000), seen.console};
  seen.result = dom.substr(at + mark.size(), dom.find('"', at + mark.size()) - at - mark.size());
  for (std::size_t quote = 0; (quote = seen.result.find("&quot;", quote)) != std::string::npos;)
    seen.result.replace(quote, 6, "'");
  return seen;
}

}  // namespace handoff::tests
