// SPDX-License-Identifier: Apache-2.0
// Happens-before: is an access over, as far as a thread can know?
//
// The order that is asked for (PTX ISA, "Memory Consistency Model: Causality Order", "Asynchronous Operations"):
//   generic access -> anything   the observer's clock knows the accessing thread's epoch
//   async operation -> anything  the observer knows the operation to be *complete*: by a wait of the issuer for its group
//                                (in its own program order or through synchronisation after that wait), or by the phase
//                                of the mbarrier that it completes on. Program order does not contain the body of an
//                                asynchronous operation, so a barrier after the issue says nothing.
//   anything -> async operation  the first access is ordered before the *issue*, since a body starts after all earlier
//                                instructions of its thread
// Asked in another view of the clock, the same question is about proxies (was there a fence after it?) or about what is
// merely past.
#pragma once

#include "analyzer/machine/run_state.h"

namespace handoff::machine {

/// Which part of an operation has to be over.
enum class Part : std::uint8_t { kRead, kWrite };

class Order {
 public:
  explicit Order(const RunState& run) : run_(run) {}

  struct Observer {
    const Warp& warp;
    unsigned lane = 0;
  };

  /// The instruction of `first` (of an asynchronous operation: its issue) comes before what the observer does next.
  bool isStartKnown(Access first, Observer observer, View view = View::kOrder) const;
  /// The access itself does: `part` of it, in the memory of the CTA of that rank (a multicast completes in each apart).
  bool isKnown(Access first, Part part, std::uint32_t cta, Observer observer, View view = View::kOrder) const;

 private:
  bool isCopyKnown(Access copy, Observer observer, View view) const;
  bool isBulkKnown(Access copy, Part part, std::uint32_t cta, Observer observer, View view) const;
  bool isMmaKnown(Access mma, Observer observer, View view) const;
  bool isTensorMoveKnown(Access move, Observer observer, View view) const;
  static bool isWarpKnown(const Warp& warp, Epoch epoch, Observer observer, View view);
  static bool isPhaseKnown(ActorId barrier, Epoch phases, Observer observer, View view);

  const RunState& run_;
};

}  // namespace handoff::machine
