// SPDX-License-Identifier: Apache-2.0
// Statements, and outcomes in words.
#include "analyzer/test_support/async_kernel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace handoff::test {

namespace {

std::string freshLabel(const char* name) {
  static unsigned count = 0;
  return std::string(name) + std::to_string(++count);
}

std::string onlyIf(const std::string& reg, unsigned value, const std::string& statements) {
  const std::string label = freshLabel("SKIP");
  return "setp.ne.u32 %p15, " + reg + ", " + std::to_string(value) + ";\n@%p15 bra " + label + ";\n" +
         statements + label + ":\n";
}

std::string bar(unsigned barrier) { return "[bar+" + std::to_string(8 * barrier) + "]"; }
std::string at(const char* base, unsigned offset) {
  return std::string("[") + base + "+" + std::to_string(offset) + "]";
}

std::string mapped(const std::string& variable, unsigned rank, const std::string& reg) {
  return "mov.u32 %r50, " + variable + ";\nmapa.shared::cluster.u32 " + reg + ", %r50, " +
         std::to_string(rank) + ";\n";
}

std::string word(machine::EventKind kind) {
  using machine::EventKind;
  switch (kind) {
    case EventKind::kRead:
      return "read";
    case EventKind::kWrite:
      return "write";
    case EventKind::kAtomic:
      return "atomic";
    case EventKind::kCopy:
      return "copy";
    case EventKind::kBulk:
      return "bulk";
    case EventKind::kAsyncStore:
      return "st.async";
    case EventKind::kMma:
      return "mma";
    case EventKind::kTensorMemory:
      return "tmem";
    default:
      return "other";
  }
}

}  // namespace

std::string byThread(unsigned thread, const std::string& statements) {
  return onlyIf("%t", thread, statements);
}
std::string byWarp(unsigned warp, const std::string& statements) { return onlyIf("%w", warp, statements); }
std::string byLane(unsigned lane, const std::string& statements) { return onlyIf("%lane", lane, statements); }
std::string byCta(unsigned rank, const std::string& statements) {
  return "mov.u32 %r51, %cluster_ctarank;\n" + onlyIf("%r51", rank, statements);
}

std::string initBarriers(const std::vector<unsigned>& counts) {
  std::string inits;
  for (unsigned i = 0; i < counts.size(); ++i) {
    inits += "mbarrier.init.shared.b64 " + bar(i) + ", " + std::to_string(counts[i]) + ";\n";
  }
  return byThread(0, inits) + "bar.sync 0;\n";
}

std::string arrive(unsigned barrier) { return "mbarrier.arrive.shared.b64 _, " + bar(barrier) + ";\n"; }

std::string expect(unsigned bytes, unsigned barrier) {
  return "mbarrier.arrive.expect_tx.shared.b64 _, " + bar(barrier) + ", " + std::to_string(bytes) + ";\n";
}

std::string waitFor(unsigned parity, unsigned barrier) {
  const std::string label = freshLabel("WAIT");
  return label + ":\nmbarrier.try_wait.parity.shared.b64 %p14, " + bar(barrier) + ", " +
         std::to_string(parity) + ";\n@!%p14 bra " + label + ";\n";
}

std::string load(unsigned to, unsigned bytes, unsigned barrier, unsigned from) {
  return "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes " + at("tile", to) + ", " +
         at("%in", from) + ", " + std::to_string(bytes) + ", " + bar(barrier) + ";\n";
}

std::string store(unsigned from, unsigned bytes, unsigned to) {
  return "cp.async.bulk.global.shared::cta.bulk_group " + at("%out", to) + ", " + at("tile", from) + ", " +
         std::to_string(bytes) + ";\n";
}

std::string readAt(unsigned offset) {
  return "ld.shared.v4.u32 {%r52, %r53, %r54, %r55}, " + at("tile", offset) + ";\n";
}

std::string writeAt(unsigned offset) {
  return "st.shared.v4.u32 " + at("tile", offset) + ", {%r0, %r0, %r0, %r0};\n";
}

std::string tileOf(unsigned rank, const std::string& reg, unsigned offset) {
  return mapped("tile", rank, reg) + "add.u32 " + reg + ", " + reg + ", " + std::to_string(offset) + ";\n";
}

std::string barrierOf(unsigned rank, const std::string& reg, unsigned barrier) {
  return mapped("bar", rank, reg) + "add.u32 " + reg + ", " + reg + ", " + std::to_string(8 * barrier) +
         ";\n";
}

void expectClean(const Ran& ran) {
  EXPECT_THAT(conflictsOf(ran), ::testing::IsEmpty());
  EXPECT_THAT(misusesOf(ran), ::testing::IsEmpty());
  EXPECT_THAT(stuckOf(ran), ::testing::IsEmpty());
  EXPECT_THAT(limitsOf(ran), ::testing::IsEmpty());
}

std::vector<std::string> conflictsOf(const Ran& ran) {
  std::set<std::string> words;
  const machine::EventLog& log = ran.outcome.log;
  for (const machine::Conflict& conflict : ran.outcome.conflicts) {
    words.insert((conflict.is_unfenced ? "!" : "") + word(log[conflict.first.event].kind) + " -> " +
                 word(log[conflict.second.event].kind));
  }
  return {words.begin(), words.end()};
}

std::vector<machine::Misuse::Kind> misusesOf(const Ran& ran) {
  std::vector<machine::Misuse::Kind> kinds;
  for (const machine::Misuse& misuse : ran.outcome.misuses) kinds.push_back(misuse.kind);
  return kinds;
}

std::vector<machine::Stuck::Kind> stuckOf(const Ran& ran) {
  std::vector<machine::Stuck::Kind> kinds;
  for (const machine::Stuck& stuck : ran.outcome.stuck) kinds.push_back(stuck.kind);
  return kinds;
}

}  // namespace handoff::test
