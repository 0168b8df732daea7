// SPDX-License-Identifier: Apache-2.0
// The machine against an oracle that walks all schedules of tiny protocols of mbarriers and bulk copies.
//
// What is compared, and why:
//
//   counts      If phases or bytes can go wrong on some schedule, or somebody can wait for ever, the machine
//   must report a
//               misuse of phases or bytes, or a hang; if not, it must report neither. Which of them is free:
//               the machine runs one schedule and proves the others alike, so that it meets the hang itself
//               or the place where they part. A phase that nobody has seen to be over before the next one is
//               used is undefined by the text, but the counts are what they would be: there the machine may
//               say something or not.
//   the rest    is compared only where the counts are good. Where they are not, what an access meets depends
//   on the
//               schedule, and the one finding stands for what follows from it.
//   hangs       Then they do not depend on the schedule either: one for one.
//   conflicts   If an access can meet another under way, or one whose end it has not been told of, the
//   machine must report
//               a conflict, and otherwise none. Two ordinary stores are left to other tools, and hide the
//               earlier one from the shadow: what the machine reports must be true then, but it need not
//               report all.
//   unfenced    One for one where there is no conflict: a conflict goes before the missing fence of the same
//   pair. leaks       One for one where the run ends.
#include "analyzer/test_support/phase_oracle.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "analyzer/test_support/ptx_kernel.h"

namespace handoff::machine {
namespace {

using test::askPhaseOracle;
using test::PhaseAnswer;
using test::PhaseEvent;
using test::PhaseProtocol;
using Kind = PhaseEvent::Kind;

/// What the machine says, in the classes that are compared.
struct Verdict {
  bool has_conflict = false, has_unfenced = false;
  bool has_bad_count = false;      ///< misuses of phases and bytes
  bool is_only_early_wait = true;  ///< and of what kind they are
  bool is_stuck = false;
  bool has_leak = false;
  std::string other;  ///< anything else, which no protocol should provoke
};

Verdict askMachine(const PhaseProtocol& protocol) {
  const Dim3 ctas{protocol.is_cluster ? 2u : 1u, 1, 1};
  const test::Ran ran = test::run(
      test::toPtx(protocol), {.block = {32 * test::warpsOf(protocol), 1, 1}, .grid = ctas, .cluster = ctas});
  Verdict verdict;
  for (const Conflict& conflict : ran.outcome.conflicts) {
    (conflict.is_unfenced ? verdict.has_unfenced : verdict.has_conflict) = true;
  }
  for (const Misuse& misuse : ran.outcome.misuses) {
    switch (misuse.kind) {
      case Misuse::Kind::kOverArrival:
      case Misuse::Kind::kEarlyArrival:
      case Misuse::Kind::kEarlyWait:
      case Misuse::Kind::kLappedWait:
      case Misuse::Kind::kLateExpect:
      case Misuse::Kind::kByteMismatch:
        verdict.has_bad_count = true;
        verdict.is_only_early_wait &= misuse.kind == Misuse::Kind::kEarlyWait;
        break;
      case Misuse::Kind::kLeakedAtExit:
      case Misuse::Kind::kUndrainedAtExit:
      case Misuse::Kind::kPeerMayHaveExited:
        verdict.has_leak = true;
        break;
      default:
        verdict.other += " misuse " + std::to_string(static_cast<int>(misuse.kind));
    }
  }
  verdict.is_stuck = !ran.outcome.stuck.empty();
  for (const std::string& limit : test::limitsOf(ran)) verdict.other += " limit: " + limit;
  return verdict;
}

std::string toText(const Verdict& verdict) {
  std::string text;
  const auto add = [&](bool holds, const char* name) { text += holds ? std::string(" ") + name : ""; };
  add(verdict.has_conflict, "conflict");
  add(verdict.has_unfenced, "unfenced");
  add(verdict.has_bad_count, "count");
  add(verdict.is_stuck, "stuck");
  add(verdict.has_leak, "leak");
  return "machine:" + (text.empty() && verdict.other.empty() ? " nothing" : text) + verdict.other + "\n";
}

/// In what the two disagree; empty: in nothing.
std::string disagreement(const PhaseAnswer& oracle, const Verdict& machine) {
  if (!machine.other.empty()) return "something else";
  const bool is_wrong = oracle.hasBadCount() || oracle.has_deadlock;
  const bool is_reported = machine.has_bad_count || machine.is_stuck;
  if (is_wrong && !is_reported) return "missed count";
  if (is_reported && !is_wrong && !oracle.is_unconsumed) return "false count";
  if (oracle.hasBadCount()) return "";
  if (oracle.has_race && !oracle.has_handover) return "the oracle with itself";
  if (oracle.has_deadlock != machine.is_stuck) return "hang";
  if (machine.has_conflict && !oracle.has_handover) return "false conflict";
  if (machine.has_unfenced && !oracle.has_unfenced) return "false unfenced";
  if (!oracle.has_deadlock && oracle.has_leak != machine.has_leak) return "leak";
  if (oracle.has_store_race) return "";
  if (!machine.has_conflict && oracle.has_handover) return "missed conflict";
  if (!machine.has_unfenced && oracle.has_unfenced && !oracle.has_handover) return "missed unfenced";
  return "";
}

std::string disagreement(const PhaseProtocol& protocol) {
  return disagreement(askPhaseOracle(protocol), askMachine(protocol));
}

/// Drops events for as long as the two disagree in the same way.
PhaseProtocol shrink(PhaseProtocol protocol, const std::string& why) {
  for (bool is_smaller = true; is_smaller;) {
    is_smaller = false;
    for (std::size_t t = 0; t < protocol.threads.size(); ++t) {
      // The last barrier of a cluster keeps its CTAs alive.
      for (std::size_t i = 0; i + (protocol.is_cluster ? 1 : 0) < protocol.threads[t].size();) {
        PhaseProtocol less = protocol;
        less.threads[t].erase(less.threads[t].begin() + static_cast<std::ptrdiff_t>(i));
        const bool is_same = test::isLegal(less) && disagreement(less) == why;
        if (!is_same) ++i;
        if (is_same) protocol = less;
        is_smaller |= is_same;
      }
    }
  }
  return protocol;
}

std::string explain(const PhaseProtocol& protocol) {
  return test::toText(protocol) + test::toText(askPhaseOracle(protocol)) + toText(askMachine(protocol));
}

void expectAgreement(const PhaseProtocol& protocol) {
  EXPECT_EQ(disagreement(protocol), "") << explain(protocol);
}

constexpr PhaseEvent arrive(unsigned barrier) { return {.kind = Kind::kArrive, .barrier = barrier}; }
constexpr PhaseEvent arriveExpect(unsigned barrier, unsigned bytes = 16) {
  return {.kind = Kind::kArriveExpect, .barrier = barrier, .argument = bytes};
}
constexpr PhaseEvent expect(unsigned barrier) {
  return {.kind = Kind::kExpect, .barrier = barrier, .argument = 16};
}
constexpr PhaseEvent wait(unsigned barrier, unsigned parity) {
  return {.kind = Kind::kWait, .barrier = barrier, .argument = parity};
}
constexpr PhaseEvent copy(unsigned slot, unsigned barrier) {
  return {.kind = Kind::kCopy, .barrier = barrier, .slot = slot};
}
constexpr PhaseEvent load(unsigned slot) { return {.kind = Kind::kLoad, .slot = slot}; }
constexpr PhaseEvent store(unsigned slot) { return {.kind = Kind::kStore, .slot = slot}; }
constexpr PhaseEvent bulkStore(unsigned slot) { return {.kind = Kind::kBulkStore, .slot = slot}; }
constexpr PhaseEvent kFence{.kind = Kind::kFence}, kSync{.kind = Kind::kSync}, kCommit{.kind = Kind::kCommit};
constexpr PhaseEvent waitRead(unsigned pending) { return {.kind = Kind::kWaitRead, .argument = pending}; }
constexpr PhaseEvent wide(PhaseEvent event) {
  event.is_wide = true;
  return event;
}

// The oracle itself, on protocols whose answer is known from the manual.

using Threads = std::vector<std::vector<PhaseEvent>>;

std::string ask(const Threads& threads, std::array<unsigned, 2> counts = {1, 1}, bool is_cluster = false) {
  const PhaseProtocol protocol{.counts = counts, .threads = threads, .is_cluster = is_cluster};
  expectAgreement(protocol);
  std::string text = test::toText(askPhaseOracle(protocol));
  return text.substr(8, text.size() - 9);  // without "oracle: "
}

TEST(PhaseOracle, RingOfOneSlotIsCorrect) {
  EXPECT_EQ(ask({{wait(1, 1), arriveExpect(0), copy(0, 0), wait(1, 0), arriveExpect(0), copy(0, 0)},
                 {wait(0, 0), load(0), kFence, arrive(1), wait(0, 1), load(0), arrive(1)}}),
            "nothing");
}

TEST(PhaseOracle, RefillWithoutFenceIsUnfenced) {
  EXPECT_EQ(ask({{arriveExpect(0), copy(0, 0), wait(1, 0), arriveExpect(0), copy(0, 0), wait(0, 1)},
                 {wait(0, 0), load(0), arrive(1)}}),
            "unfenced");
}

TEST(PhaseOracle, WaitOfTheReaderNeedsItsValues) {
  EXPECT_EQ(ask({{arriveExpect(0), copy(0, 0), wait(1, 0), arriveExpect(0), copy(0, 0), wait(0, 1)},
                 {wait(0, 0), load(0), wait(0, 0), arrive(1)}}),
            "nothing");
}

TEST(PhaseOracle, LoadWithoutTheWaitIsARace) {
  EXPECT_EQ(ask({{arriveExpect(0), copy(0, 0), wait(0, 0)}, {load(0)}}), "race handover unfenced");
}

TEST(PhaseOracle, OrdinaryDataIsNotHandedOverByBytes) {
  EXPECT_EQ(ask({{store(1), copy(0, 0)}, {arriveExpect(0), wait(0, 0), load(1)}}), "race handover");
}

TEST(PhaseOracle, CopyThatWasSeenIsNotHandedOverByALaterOne) {
  EXPECT_EQ(
      ask({{arriveExpect(0), copy(0, 0), wait(0, 0), copy(1, 1)}, {arriveExpect(1), wait(1, 0), load(0)}}),
      "handover");
}

TEST(PhaseOracle, StoreIsFencedByWriterOrByIssuer) {
  const auto drain = [](PhaseEvent after_store, PhaseEvent before_issue) {
    return ask(
        {{store(0), after_store, arrive(0)}, {wait(0, 0), before_issue, bulkStore(0), kCommit, waitRead(0)}});
  };
  EXPECT_EQ(drain(kFence, kCommit), "nothing");
  EXPECT_EQ(drain(kCommit, kFence), "nothing");
  EXPECT_EQ(drain(kCommit, kCommit), "unfenced");
}

TEST(PhaseOracle, FenceBeforeTheStoreIsNone) {
  EXPECT_EQ(ask({{kFence, store(0), kSync}, {kSync, bulkStore(0), kCommit, waitRead(0)}}), "unfenced");
}

TEST(PhaseOracle, WaitThatAllowsTheGroupIsARace) {
  EXPECT_EQ(ask({{bulkStore(0), kCommit, waitRead(1), store(0), waitRead(0)}, {}}), "race handover");
}

TEST(PhaseOracle, CopyUnderWayAtTheEndIsALeak) {
  EXPECT_EQ(ask({{arriveExpect(0), copy(0, 0)}, {}}), "leak");
  EXPECT_EQ(ask({{bulkStore(0), kCommit}, {}}), "leak");
}

TEST(PhaseOracle, TooFewAndTooManyBytes) {
  EXPECT_EQ(ask({{arriveExpect(0, 32), copy(0, 0), wait(0, 0)}, {}}), "deadlock");
  EXPECT_EQ(ask({{arriveExpect(0), copy(0, 0), copy(1, 0)}, {}}), "ambiguous unconsumed leftover leak");
}

TEST(PhaseOracle, WrongParityWaitsForEver) {
  EXPECT_EQ(ask({{arrive(0)}, {wait(0, 0), wait(0, 1)}}), "deadlock");
}

TEST(PhaseOracle, ArrivalThatMayComeAPhaseLater) {
  EXPECT_EQ(ask({{arrive(0), wait(0, 0), arrive(0)}, {arrive(0)}, {arrive(0)}}, {2, 1}),
            "ambiguous unconsumed");
}

TEST(PhaseOracle, ExpectAfterTheLastArrival) {
  EXPECT_EQ(ask({{arrive(0), wait(0, 0)}, {expect(0), copy(0, 0), wait(0, 0)}}), "ambiguous unconsumed leak");
}

TEST(PhaseOracle, OvertakenWait) {
  EXPECT_EQ(ask({{arrive(0), wait(0, 0), arrive(0)}, {wait(0, 0)}}), "deadlock overtaken");
}

TEST(PhaseOracle, NarrowRemoteArrivalReleasesASlotButNoData) {
  // The producer is in CTA 0, the slot and its barrier are in CTA 1.
  const auto exchange = [](PhaseEvent full, PhaseEvent empty) {
    return ask(
        {{store(1), full, wide(wait(0, 0)), store(1), kSync}, {wide(wait(1, 0)), load(1), empty, kSync}},
        {1, 1}, true);
  };
  EXPECT_EQ(exchange(wide(arrive(1)), wide(arrive(0))), "nothing");
  EXPECT_EQ(exchange(wide(arrive(1)), arrive(0)), "nothing");
  EXPECT_EQ(exchange(arrive(1), wide(arrive(0))), "race handover");
}

// What the machine does not get right yet, each with its smallest protocol.

// A wait by parity 1 on a fresh barrier returns at once, but only for as long as the first phase is open.
TEST(PhaseGap, WaitOfAFreshBarrierIsOvertaken) {
  expectAgreement({.threads = {{arrive(0)}, {wait(0, 1)}}});
}

// Of two waits for one phase the second is the one that may come too late.
TEST(PhaseGap, RepeatedWaitIsOvertaken) {
  expectAgreement({.threads = {{arrive(0), wait(1, 0), arrive(0)}, {wait(0, 0), arrive(1), wait(0, 0)}}});
}

// The second thread's own arrival completes phase 0.
TEST(PhaseGap, WhoCompletesAPhaseMayWaitForTheNext) {
  expectAgreement({.threads = {{wait(0, 0), arrive(0)}, {arrive(0), wait(0, 1)}}});
}

// The expect counts for phase 0 if it comes before the arrival, for phase 1 if it comes later.
TEST(PhaseGap, ExpectInAPhaseThatItsThreadDoesNotKnow) {
  expectAgreement({.threads = {{expect(0)}, {}, {arrive(0), copy(0, 0)}}});
}

// With its last arrival made, the phase is over or waits for bytes; then an expect is late even if the phase
// stays open.
TEST(PhaseGap, LateExpectOfAPhaseThatStaysOpen) {
  expectAgreement({.threads = {{expect(0), copy(0, 0), copy(1, 0), arrive(0), expect(0)}, {}}});
}

// Lane 1 does not know whether lane 0 has arrived: its second arrival may complete the phase instead.
TEST(PhaseGap, ArrivalOfAnotherLaneIsNotKnown) {
  const PhaseProtocol protocol{
      .counts = {2, 1}, .threads = {{arrive(0)}, {arrive(0), arrive(0)}}, .is_one_warp = true};
  expectAgreement(protocol);
}

// What one lane publishes says nothing about a wait of another.
TEST(PhaseGap, LaneIsOvertakenByAnotherOfItsWarp) {
  const PhaseProtocol protocol{
      .counts = {1, 2},
      .threads = {{arriveExpect(0), copy(0, 0)}, {wait(0, 0)}, {wait(0, 0), arrive(0)}},
      .is_one_warp = true};
  expectAgreement(protocol);
}

class AgainstPhaseOracle : public ::testing::TestWithParam<unsigned> {};

// HANDOFF_PHASE_PROTOCOLS: how many protocols a seed, for a longer run.
TEST_P(AgainstPhaseOracle, SameAnswerOnRandomProtocols) {
  constexpr unsigned kProtocols = 6'000, kMaxFailures = 5;
  const char* const wanted = std::getenv("HANDOFF_PHASE_PROTOCOLS");
  const unsigned protocols = wanted != nullptr ? static_cast<unsigned>(std::atoi(wanted)) : kProtocols;
  std::mt19937 random(GetParam());
  unsigned clean = 0, races = 0, bad = 0, unfenced = 0, failures = 0;
  for (unsigned i = 0; i < protocols && failures < kMaxFailures; ++i) {
    const PhaseProtocol protocol = test::randomPhaseProtocol(random);
    const PhaseAnswer oracle = askPhaseOracle(protocol);
    const Verdict machine = askMachine(protocol);
    const std::string why = disagreement(oracle, machine);
    if (!why.empty()) {
      ADD_FAILURE() << why << "\n" << explain(shrink(protocol, why)) << "from\n" << explain(protocol);
      ++failures;
    }
    bad += oracle.hasBadCount();
    races += oracle.has_handover;
    unfenced += oracle.has_unfenced;
    clean += !oracle.hasBadCount() && !oracle.has_deadlock && !oracle.has_handover && !oracle.has_unfenced;
  }
  // A generator that produces only one kind of protocol would prove nothing.
  if (failures != 0) return;
  for (const unsigned kind : {clean, races, bad, unfenced}) EXPECT_GT(kind, protocols / 8);
}

INSTANTIATE_TEST_SUITE_P(Seeds, AgainstPhaseOracle, ::testing::Range(1u, 7u));

}  // namespace
}  // namespace handoff::machine
