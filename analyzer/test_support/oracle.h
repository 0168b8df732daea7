// SPDX-License-Identifier: Apache-2.0
// A slow and obvious oracle for cp.async protocols, for tests only.
//
// A protocol is two threads with a straight list of events each. The oracle walks every interleaving of the
// threads and every moment at which a copy may complete, and looks for a state in which two conflicting
// accesses are possible at once: both threads stand before one, or one stands before an access of a slot into
// which a copy is in flight. That is the definition of a race which needs no clocks, and so shares no idea
// with the machine.
//
// As a check of its own it also collects what every read returns and what the slots hold at the end: where
// there is no race, each of these has one value only.
#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace handoff::test {

struct ProtocolEvent {
  enum class Kind : std::uint8_t {
    kCopy,
    kCommit,
    kWaitGroup,
    kWaitAll,
    kSync,
    kLoad,
    kStore
  } kind = Kind::kSync;
  unsigned argument = 0;  ///< slot of an access, N of wait_group
};

inline constexpr unsigned kProtocolSlots = 2;

struct Protocol {
  std::array<std::vector<ProtocolEvent>, 2> threads;
};

/// At most `max_events` events a thread, and as many barriers in one thread as in the other, so that none of
/// them waits for a thread that has left.
Protocol randomProtocol(std::mt19937& random, unsigned max_events);

/// One event a line, for the message of a failed test.
std::string toText(const Protocol& protocol);
/// Statements for test::run with 64 threads, of which only the first of each warp stays.
std::string toPtx(const Protocol& protocol);

struct OracleAnswer {
  bool has_race = false;         ///< at least one of the two is a copy or a read
  bool has_store_race = false;   ///< two ordinary stores, which the tool leaves to other tools
  bool is_deterministic = true;  ///< every read and every slot at the end has one possible value
  std::uint64_t states = 0;
};

OracleAnswer askOracle(const Protocol& protocol);

}  // namespace handoff::test
