// SPDX-License-Identifier: Apache-2.0
// One job a key at a time, the newest wins, and cancellation reaches the one that runs.
#include "analyzer/lsp/scheduler.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

namespace handoff::lsp {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds kLong{20'000};

void waitFor(const std::atomic<bool>& flag) {
  while (!flag) std::this_thread::sleep_for(milliseconds(1));
}

TEST(Scheduler, RunsWhatItIsGiven) {
  Scheduler scheduler(2);
  std::atomic<int> runs = 0;
  for (int i = 0; i < 10; ++i)
    scheduler.schedule("file " + std::to_string(i), {}, [&](const CancelToken&) { ++runs; });
  EXPECT_TRUE(scheduler.waitUntilIdle(kLong));
  EXPECT_EQ(runs, 10);
}

TEST(Scheduler, NewJobReplacesTheWaitingOne) {
  Scheduler scheduler(1);
  std::string order;
  for (const char* name : {"a", "b", "c"})
    scheduler.schedule("file", milliseconds(50), [&, name](const CancelToken&) { order += name; });
  EXPECT_TRUE(scheduler.waitUntilIdle(kLong));
  EXPECT_EQ(order, "c");
}

TEST(Scheduler, NewJobCancelsTheRunningOneAndWaitsForIt) {
  Scheduler scheduler(4);
  std::atomic<bool> has_started = false, is_running = false, was_alone = true;
  scheduler.schedule("file", {}, [&](const CancelToken& cancel) {
    is_running = true;
    has_started = true;
    while (!cancel.isCancelled()) std::this_thread::sleep_for(milliseconds(1));
    std::this_thread::sleep_for(milliseconds(20));
    is_running = false;
  });
  waitFor(has_started);
  scheduler.schedule("file", {}, [&](const CancelToken& cancel) {
    was_alone = !is_running;
    EXPECT_FALSE(cancel.isCancelled());
  });
  EXPECT_TRUE(scheduler.waitUntilIdle(kLong));
  EXPECT_TRUE(was_alone);
}

TEST(Scheduler, FilesRunBesideEachOther) {
  Scheduler scheduler(2);
  std::promise<void> first, second;
  std::shared_future<void> first_is_there = first.get_future(), second_is_there = second.get_future();
  scheduler.schedule("a", {}, [&](const CancelToken&) {
    first.set_value();
    second_is_there.wait();
  });
  scheduler.schedule("b", {}, [&](const CancelToken&) {
    second.set_value();
    first_is_there.wait();
  });
  EXPECT_TRUE(scheduler.waitUntilIdle(kLong)) << "each waits for the other to have started";
}

TEST(Scheduler, DelayedJobKeepsNobodyWaiting) {
  Scheduler scheduler(1);
  std::atomic<bool> has_run = false;
  scheduler.schedule("later", milliseconds(60'000), [](const CancelToken&) { FAIL() << "it was cancelled"; });
  scheduler.schedule("now", {}, [&](const CancelToken&) { has_run = true; });
  waitFor(has_run);
  scheduler.cancel("later");
  EXPECT_TRUE(scheduler.waitUntilIdle(kLong));
}

TEST(Scheduler, EndCancelsWhatRuns) {
  std::atomic<bool> has_started = false, was_cancelled = false;
  {
    Scheduler scheduler(1);
    scheduler.schedule("file", {}, [&](const CancelToken& cancel) {
      has_started = true;
      while (!cancel.isCancelled()) std::this_thread::sleep_for(milliseconds(1));
      was_cancelled = true;
    });
    scheduler.schedule("other", {},
                       [](const CancelToken&) { FAIL() << "it waited when the scheduler ended"; });
    waitFor(has_started);
  }
  EXPECT_TRUE(was_cancelled);
}

}  // namespace
}  // namespace handoff::lsp
