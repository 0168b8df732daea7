// SPDX-License-Identifier: Apache-2.0
// One of the sixteen barriers of a CTA (PTX ISA, "bar, barrier").
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "analyzer/machine/clock.h"
#include "analyzer/machine/event.h"

namespace handoff::machine {

inline constexpr unsigned kBarriersPerCta = 16;

/// Threads are counted by warp: a warp counts as 32 each time that all of its lanes that have not exited arrive. One that
/// arrives and then waits in the same round counts twice.
class CtaBarrier {
 public:
  struct Arrival {
    std::uint16_t warp = 0;  ///< within the CTA
    LaneMask lanes = 0;
    bool waits = false;
    EventId event = 0;
  };

  /// Times that the barrier has completed.
  std::uint32_t generation() const { return generation_; }
  bool isActive() const { return !arrivals_.empty(); }
  /// Threads that the participants named; 0: the whole CTA.
  std::uint32_t expectedThreads() const { return expected_threads_; }
  const std::vector<Arrival>& arrivals() const { return arrivals_; }
  Clock& clock() { return *clock_; }
  const Clock& clock() const { return *clock_; }
  ClockRef releaseClock() const { return clock_; }

  /// How often all live lanes of a warp have arrived in the open generation.
  std::uint32_t timesArrived(std::uint16_t warp, LaneMask live) const;
  void arrive(const Arrival& arrival, std::uint32_t expected_threads);
  /// Arrivals of warps whose live lanes (`live`, by warp) have all made them, in threads. Exited lanes count for no explicit count.
  std::uint32_t arrivedThreads(const std::vector<LaneMask>& live) const;
  /// With no explicit count, exited threads are not waited for; with one they are not credited.
  bool isComplete(const std::vector<LaneMask>& live) const;
  void reset();

  /// bar.red: what the predicates of the arrived threads come to.
  struct Reduction {
    bool is_known = true, all = true, any = false;
    std::uint32_t count = 0;
  };
  Reduction& reduction() { return reduction_; }
  const Reduction& reduction() const { return reduction_; }

 private:
  Reduction reduction_;
  std::uint32_t expected_threads_ = 0;
  std::uint32_t generation_ = 0;
  std::vector<Arrival> arrivals_;
  std::shared_ptr<Clock> clock_ = std::make_shared<Clock>();
};

}  // namespace handoff::machine
