// SPDX-License-Identifier: Apache-2.0
// One line on a terminal that says what is being worked on; it never mixes with the report.
#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>
#include <ostream>
#include <set>
#include <string>

namespace handoff::cli {

/// "[3/10] a.cu, b.cu" cut to `columns`: how many are done, and what is in work.
std::string progressLine(std::size_t done, std::size_t total, const std::multiset<std::string>& in_work,
                         std::size_t columns);

class Progress {
 public:
  /// `out`: a terminal of `columns`; 0 columns: show nothing.
  Progress(std::ostream& out, std::size_t columns, std::size_t total)
      : out_(out), columns_(columns), total_(total) {}
  ~Progress() { hide(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// By any thread.
  void start(const std::string& name);
  void end(const std::string& name);
  /// By the thread that prints.
  void show();
  void hide();

 private:
  std::ostream& out_;
  const std::size_t columns_, total_;
  std::mutex mutex_;
  std::multiset<std::string> in_work_;
  std::size_t done_ = 0;
  std::string shown_;
};

/// Width of standard error where a person may look at it; 0 where none does.
std::size_t terminalColumns();

}  // namespace handoff::cli
