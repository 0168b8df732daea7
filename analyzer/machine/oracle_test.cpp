// SPDX-License-Identifier: Apache-2.0
// The machine against an oracle that enumerates all interleavings of tiny protocols.
#include "analyzer/test_support/oracle.h"

#include <gtest/gtest.h>

#include "analyzer/test_support/ptx_kernel.h"

namespace handoff::machine {
namespace {

using test::OracleAnswer;
using test::Protocol;
using Kind = test::ProtocolEvent::Kind;

bool machineFindsRace(const Protocol& protocol) {
  const test::Ran ran = test::run(test::toPtx(protocol), {.block = {64, 1, 1}});
  EXPECT_TRUE(ran.outcome.stuck.empty() && ran.outcome.limits.empty()) << test::toText(protocol);
  return !ran.outcome.conflicts.empty();
}

// The oracle itself, on protocols whose answer is known from the manual.

TEST(Oracle, OwnReadAfterWaitIsNoRace) {
  const Protocol protocol{
      .threads = {{{{Kind::kCopy, 0}, {Kind::kCommit}, {Kind::kWaitGroup, 0}, {Kind::kLoad, 0}}, {}}}};
  EXPECT_FALSE(test::askOracle(protocol).has_race);
}

TEST(Oracle, OwnReadAfterWaitThatAllowsTheGroupIsARace) {
  const Protocol protocol{
      .threads = {{{{Kind::kCopy, 0}, {Kind::kCommit}, {Kind::kWaitGroup, 1}, {Kind::kLoad, 0}}, {}}}};
  const OracleAnswer answer = test::askOracle(protocol);
  EXPECT_TRUE(answer.has_race);
  EXPECT_FALSE(answer.is_deterministic);
}

TEST(Oracle, BarrierWithoutWaitIsARace) {
  const Protocol protocol{
      .threads = {{{{Kind::kCopy, 0}, {Kind::kCommit}, {Kind::kSync}}, {{Kind::kSync}, {Kind::kLoad, 0}}}}};
  EXPECT_TRUE(test::askOracle(protocol).has_race);
}

TEST(Oracle, WaitThenBarrierIsNone) {
  const Protocol protocol{
      .threads = {{{{Kind::kCopy, 0}, {Kind::kWaitAll}, {Kind::kSync}}, {{Kind::kSync}, {Kind::kLoad, 0}}}}};
  const OracleAnswer answer = test::askOracle(protocol);
  EXPECT_FALSE(answer.has_race);
  EXPECT_TRUE(answer.is_deterministic);
}

TEST(Oracle, StoresOfTwoThreadsAreKeptApart) {
  const Protocol protocol{.threads = {{{{Kind::kStore, 0}}, {{Kind::kStore, 0}}}}};
  EXPECT_TRUE(test::askOracle(protocol).has_store_race);
  EXPECT_FALSE(test::askOracle(protocol).has_race);
}

class AgainstOracle : public ::testing::TestWithParam<unsigned> {};

TEST_P(AgainstOracle, SameAnswerOnRandomProtocols) {
  constexpr unsigned kProtocols = 2'000;
  std::mt19937 random(GetParam());
  unsigned races = 0, clean = 0;
  for (unsigned i = 0; i < kProtocols && !::testing::Test::HasFailure(); ++i) {
    const Protocol protocol = test::randomProtocol(random, 6);
    const OracleAnswer answer = test::askOracle(protocol);
    // The oracle against itself: without a race nothing depends on the interleaving.
    EXPECT_TRUE(answer.has_race || answer.has_store_race || answer.is_deterministic)
        << test::toText(protocol);
    const bool found = machineFindsRace(protocol);
    // Two ordinary stores that meet are none of the tool's business, and they hide the earlier one from the
    // shadow: what the machine reports must be true, but it need not report all.
    const bool must_agree = found || !answer.has_store_race;
    EXPECT_TRUE(!must_agree || found == answer.has_race) << test::toText(protocol) << "machine: " << found;
    ++(answer.has_race ? races : clean);
  }
  // A generator that produces only one kind of protocol would prove nothing.
  EXPECT_GT(races, kProtocols / 5);
  EXPECT_GT(clean, kProtocols / 5);
}

INSTANTIATE_TEST_SUITE_P(Seeds, AgainstOracle, ::testing::Range(1u, 7u));

}  // namespace
}  // namespace handoff::machine
