// SPDX-License-Identifier: Apache-2.0
// A page in headless Chromium: a script does what a reader would, and says what came of it.
#pragma once

#include <filesystem>
#include <string>

namespace handoff::tests {

/// The path of a Chromium; "" where none is installed.
std::string findBrowser();

class Browser {
 public:
  struct Seen {
    std::string result;   ///< what the script returned, as JSON with ' instead of "
    std::string console;  ///< errors of the page, and what it asked the network for; empty: none
  };

  /// Works in `folder`, which has to exist.
  Browser(std::string program, std::filesystem::path folder)
      : program_(std::move(program)), folder_(std::move(folder)) {}

  /// Loads the page with the script behind it, as the body of a function.
  Seen play(const std::string& page, const std::string& script, const std::string& options = "") const;

 private:
  std::string program_;
  std::filesystem::path folder_;
};

inline constexpr const char* kDark = "--blink-settings=preferredColorScheme=0";

}  // namespace handoff::tests
