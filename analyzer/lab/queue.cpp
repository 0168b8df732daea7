// SPDX-License-Identifier: Apache-2.0
// Steps of half a second.
#include "analyzer/lab/queue.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace handoff::lab {

void Queue::step() {
  backlog_ = std::max(0.0, backlog_ + (rates_.arrivals - rates_.service) * kSecondsPerStep);
  ++steps_;
}

std::string amountText(double amount) {
  std::array<char, 64> buffer{};
  const int size = std::snprintf(buffer.data(), buffer.size(), "%.3f", amount);
  std::string text(buffer.data(), static_cast<std::size_t>(size));
  while (text.ends_with('0')) text.pop_back();
  if (text.ends_with('.')) text.pop_back();
  return text;
}

std::vector<std::string> queueTable(Rates rates, unsigned steps) {
  std::vector<std::string> lines;
  Queue queue(rates);
  for (unsigned i = 0; i <= steps; ++i) {
    std::array<char, 32> time{};
    std::snprintf(time.data(), time.size(), "%.1f", queue.seconds());
    lines.push_back("t = " + std::string(time.data()) + " s   backlog " + amountText(queue.backlog()));
    queue.step();
  }
  return lines;
}

}  // namespace handoff::lab
