// SPDX-License-Identifier: Apache-2.0
// Lanes of jobs, and the workers that serve them.
#include "analyzer/lsp/scheduler.h"

#include <algorithm>
#include <utility>

namespace handoff::lsp {

Scheduler::Scheduler(unsigned workers) {
  for (unsigned i = 0; i < std::max(workers, 1U); ++i) workers_.emplace_back([this] { serve(); });
}

Scheduler::~Scheduler() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
    for (auto& [key, lane] : lanes_) {
      lane.waiting.reset();
      if (lane.running) lane.running->cancel();
    }
  }
  changed_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void Scheduler::schedule(const std::string& key, std::chrono::milliseconds delay, Work work) {
  {
    const std::lock_guard lock(mutex_);
    Lane& lane = lanes_[key];
    lane.waiting = std::make_shared<Job>(Job{std::move(work), Clock::now() + delay});
    if (lane.running) lane.running->cancel();
  }
  changed_.notify_all();
}

void Scheduler::cancel(const std::string& key) {
  {
    const std::lock_guard lock(mutex_);
    const auto lane = lanes_.find(key);
    if (lane == lanes_.end()) return;
    lane->second.waiting.reset();
    if (lane->second.running)
      lane->second.running->cancel();
    else
      lanes_.erase(lane);
  }
  changed_.notify_all();
}

bool Scheduler::waitUntilIdle(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, timeout, [this] { return lanes_.empty(); });
}

std::map<std::string, Scheduler::Lane>::iterator Scheduler::next() {
  auto first = lanes_.end();
  for (auto lane = lanes_.begin(); lane != lanes_.end(); ++lane) {
    if (!lane->second.waiting || lane->second.running) continue;
    if (first == lanes_.end() || lane->second.waiting->due < first->second.waiting->due) first = lane;
  }
  return first;
}

void Scheduler::serve() {
  std::unique_lock lock(mutex_);
  while (!is_ending_) {
    const auto lane = next();
    if (lane == lanes_.end()) {
      changed_.wait(lock);
      continue;
    }
    if (const Clock::time_point due = lane->second.waiting->due; due > Clock::now()) {
      changed_.wait_until(lock, due);
      continue;
    }
    const std::string key = lane->first;
    const std::shared_ptr<Job> job = std::exchange(lane->second.waiting, nullptr);
    const auto token = std::make_shared<CancelToken>();
    lane->second.running = token;
    lock.unlock();
    job->work(*token);
    lock.lock();
    const auto done = lanes_.find(key);
    done->second.running.reset();
    if (!done->second.waiting) lanes_.erase(done);
    changed_.notify_all();
  }
}

}  // namespace handoff::lsp
