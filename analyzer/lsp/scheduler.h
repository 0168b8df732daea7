// SPDX-License-Identifier: Apache-2.0
// Which check runs when.
//
// Threads
// -------
// Three kinds of thread meet in the server:
//   - the reader takes messages from the client, changes documents, and answers what can be answered at once.
//   It must never
//     wait for an analysis: an editor that types has to be heard;
//   - the workers of this class run checks, a second or a minute each;
//   - none else. Timers are no thread: a worker that has nothing to run sleeps until the first job is due.
//
// What the jobs of one key (a file) promise:
//   - at most one of them runs at a time, so results of one file come in the order in which they were asked
//   for;
//   - at most one more waits. A new job replaces a waiting one, which then never runs: a user who saves three
//   times in a
//     second gets one check, of the last text. This is the debouncing; the delay of a job only makes it
//     likelier;
//   - a new job cancels the running one through its token. The check notices between the steps of its work
//   and comes to
//     an end soon; its worker is then free for the new one.
//
// What they do not promise is that a cancelled job has no result: it may have been done already. So whoever
// takes results compares generations: each job carries a number that only grows, and a result is dropped when
// its file has one of a larger number (Server::accept). Order is decided there, under one lock, and not by
// the timing of threads.
//
// Rejected: a thread a document, as clangd has it. An AST is worth keeping warm in its own thread; a check
// starts over every time, and ten open files would run ten analyses of up to 2 GiB each. Rejected as well:
// LLVM's ThreadPool, whose jobs can be neither replaced nor delayed.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "analyzer/support/cancel.h"

namespace handoff::lsp {

class Scheduler {
 public:
  using Clock = std::chrono::steady_clock;
  /// Runs on a worker. Looks at the token now and then. Must not throw.
  using Work = std::function<void(const CancelToken& cancel)>;

  explicit Scheduler(unsigned workers);
  /// Forgets what waits, cancels what runs, and waits for it to end.
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  void schedule(const std::string& key, std::chrono::milliseconds delay, Work work);
  /// Forgets the waiting job of the key and cancels the running one.
  void cancel(const std::string& key);
  /// Until nothing runs or waits, at most so long; false: something still does. For tests.
  bool waitUntilIdle(std::chrono::milliseconds timeout);

 private:
  struct Job {
    Work work;
    Clock::time_point due;
  };
  struct Lane {
    std::shared_ptr<Job> waiting;
    std::shared_ptr<CancelToken> running;
  };

  void serve();
  /// The lane whose job is due first of those that may run; end: none.
  std::map<std::string, Lane>::iterator next();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, Lane> lanes_;  ///< with something in them
  bool is_ending_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace handoff::lsp
