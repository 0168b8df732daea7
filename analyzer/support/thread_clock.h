// SPDX-License-Identifier: Apache-2.0
// Time that the calling thread has run on a processor. Budgets are measured with it: a machine that does other things as
// well takes longer, and finds the same.
#pragma once

#include <time.h>

#include <chrono>

namespace handoff {

/// Time points of one thread say nothing in another.
struct ThreadClock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<ThreadClock>;
  static constexpr bool is_steady = true;

  static time_point now() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time_point(std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec));
  }
};

}  // namespace handoff
