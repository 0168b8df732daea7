// SPDX-License-Identifier: Apache-2.0
// The queue lab's arithmetic: a backlog that grows and shrinks at fixed rates. An analogy for outstanding tiles, and no
// model of a kernel: there are no copies, slots, barriers or stages in it.
#pragma once

#include <string>
#include <vector>

namespace handoff::lab {

/// Items a second.
struct Rates {
  double arrivals = 3, service = 2;
};

inline constexpr double kFirstBacklog = 4;    ///< items, after a reset
inline constexpr double kSecondsPerStep = 0.5;
inline constexpr double kMaxRate = 100;       ///< items a second

class Queue {
 public:
  explicit Queue(Rates rates) : rates_(rates) {}

  /// Half a second passes. An empty queue stays empty as long as no more arrives than is served.
  void step();
  double backlog() const { return backlog_; }
  double seconds() const { return steps_ * kSecondsPerStep; }

 private:
  Rates rates_;
  double backlog_ = kFirstBacklog;
  unsigned steps_ = 0;
};

/// One line for the reset and each step: "t = 0.5 s   backlog 4.5".
std::vector<std::string> queueTable(Rates rates, unsigned steps);

/// "5", "4.5": up to three places, without zeros at the end.
std::string amountText(double amount);

}  // namespace handoff::lab
