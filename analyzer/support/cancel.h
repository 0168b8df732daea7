// SPDX-License-Identifier: Apache-2.0
// A wish to stop, made by one thread or a signal handler and looked at by those that work.
#pragma once

#include <atomic>

namespace handoff {

class CancelToken {
 public:
  void cancel() { is_cancelled_.store(true, std::memory_order_relaxed); }
  bool isCancelled() const { return is_cancelled_.load(std::memory_order_relaxed); }

 private:
  static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler sets it");
  std::atomic<bool> is_cancelled_{false};
};

/// Of a token that need not be there.
inline bool isCancelled(const CancelToken* token) { return token != nullptr && token->isCancelled(); }

}  // namespace handoff
