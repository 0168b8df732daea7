// SPDX-License-Identifier: Apache-2.0
// A slow and obvious oracle for protocols of mbarriers and bulk copies, for tests only.
//
// It walks every interleaving of the threads and every moment at which a copy may complete, with the state
// machine of the mbarrier as the PTX ISA gives it: phase, pending count, tx-count. What it says is about that
// walk alone:
//
//   deadlock    a state in which nobody can go on
//   race        an access while a conflicting one is under way. A copy is under way from its issue to its
//   completion; an
//               ordinary access from its execution to the next release of its thread (an arrival or a
//               barrier), since nothing says earlier that it is over
//   handover    a conflicting access that is over on every schedule, but whose end the thread has not been
//   told of by
//               releases and acquires alone: bytes and expects count, but hand over nothing of their threads
//   unfenced    an ordinary access, and then a bulk operation on the same slot, with no proxy fence in
//   between, executed by
//               the accessing thread or by one that has been told of the access. For a load that a bulk copy
//               overwrites, a wait or a barrier of the loading thread will do, too
//   ambiguous   an arrival, an expect, or the issue and the completion of a copy meet different phases on
//   different
//               schedules
//   overtaken   a wait is told of different phases on different schedules, or returns on some and never does
//   on others unconsumed  an arrival, an expect or a copy in a phase while nobody has yet seen the phase
//   before it to be over overrun     an arrival at a barrier whose pending count is zero (it waits for bytes
//   only) late        an expect at a barrier whose pending count is zero leftover    at the end the tx-count
//   of a barrier is not zero leak        at the end a copy is under way
//
// The walk knows no clocks. The one thing that resembles them is for `handover`: a set of accesses that a
// thread has been told to be over.
#pragma once

#include <cstdint>

#include "analyzer/test_support/phase_protocol.h"

namespace handoff::test {

struct PhaseAnswer {
  bool has_deadlock = false;
  bool has_race = false;
  bool has_store_race = false;  ///< of two ordinary stores, which the tool leaves to other tools
  bool has_handover = false;
  bool has_unfenced = false;
  bool is_ambiguous = false;
  bool is_overtaken = false;
  bool is_unconsumed = false;
  bool has_overrun = false;
  bool has_late_expect = false;
  bool has_leftover = false;
  bool has_leak = false;
  std::uint64_t states = 0;

  /// Phases or bytes are wrong: then what an access meets depends on the schedule. An unconsumed phase is
  /// undefined, too, but the counting does not notice.
  bool hasBadCount() const {
    return is_ambiguous || is_overtaken || has_overrun || has_late_expect || has_leftover;
  }
};

PhaseAnswer askPhaseOracle(const PhaseProtocol& protocol);
std::string toText(const PhaseAnswer& answer);

}  // namespace handoff::test
