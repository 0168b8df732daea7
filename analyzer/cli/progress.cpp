// SPDX-License-Identifier: Apache-2.0
// The line is written over itself, and taken away before anything else is printed.
#include "analyzer/cli/progress.h"

#include <llvm/Support/Process.h>

#include <cstdlib>
#include <string_view>

namespace handoff::cli {

std::string progressLine(std::size_t done, std::size_t total, const std::multiset<std::string>& in_work,
                         std::size_t columns) {
  std::string line = "[" + std::to_string(done) + "/" + std::to_string(total) + "]";
  const char* separator = " ";
  for (const std::string& name : in_work) {
    line += separator + name;
    separator = ", ";
  }
  constexpr std::string_view kCut = "...";
  if (line.size() >= columns && columns > kCut.size())
    line = line.substr(0, columns - 1 - kCut.size()) + std::string(kCut);
  return line;
}

void Progress::start(const std::string& name) {
  const std::lock_guard lock(mutex_);
  in_work_.insert(name);
}

void Progress::end(const std::string& name) {
  const std::lock_guard lock(mutex_);
  if (const auto found = in_work_.find(name); found != in_work_.end()) in_work_.erase(found);
  ++done_;
}

void Progress::show() {
  if (columns_ == 0) return;
  std::string line;
  {
    const std::lock_guard lock(mutex_);
    line = progressLine(done_, total_, in_work_, columns_);
  }
  if (line == shown_) return;
  hide();
  out_ << line << std::flush;
  shown_ = line;
}

void Progress::hide() {
  if (shown_.empty()) return;
  out_ << "\r\x1b[K" << std::flush;
  shown_.clear();
}

std::size_t terminalColumns() {
  const char* const terminal = std::getenv("TERM");
  if (!llvm::sys::Process::StandardErrIsDisplayed() ||
      (terminal != nullptr && std::string_view(terminal) == "dumb"))
    return 0;
  const unsigned columns = llvm::sys::Process::StandardErrColumns();
  return columns == 0 ? 80 : columns;
}

}  // namespace handoff::cli
