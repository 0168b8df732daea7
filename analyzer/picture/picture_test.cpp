// SPDX-License-Identifier: Apache-2.0
// What a picture of a run holds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "analyzer/machine/run_trace.h"
#include "analyzer/picture/covers.h"
#include "analyzer/picture/finding_picture.h"
#include "analyzer/picture/kernel_picture.h"
#include "analyzer/picture/slots.h"
#include "analyzer/test_support/async_kernel.h"

namespace handoff::picture {
namespace {

using diagnose::Picture;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// A run with its trace.
struct Traced {
  explicit Traced(const std::string& statements, test::Setup setup = {.block = {64, 1, 1}}) {
    trace->records_touches = true;
    setup.options.trace = trace.get();
    ran = test::run(statements, setup);
  }
  std::vector<SlotHistory> slots(const SlotQuestion& question = {}) const {
    return slotsOf(ran.program, ran.outcome.log, *trace, question);
  }
  Picture finding(std::size_t index = 0) const {
    const std::vector<diagnose::Diagnosis> all = ran.diagnoses();
    if (index >= all.size()) {
      ADD_FAILURE() << "no finding";
      return {};
    }
    return pictureOfFinding(ran.view(), *trace, all[index]);
  }

  std::unique_ptr<machine::RunTrace> trace = std::make_unique<machine::RunTrace>();
  test::Ran ran;
};

/// A ring of two slots of 1 KiB, one cp.async group for each tile; every thread waits for its own tile.
std::string ring(unsigned tiles, const std::string& wait = "cp.async.wait_group 1;\n") {
  return "mov.u32 %r1, 0;\ncp.async.cg.shared.global [%s], [%g], 16;\ncp.async.commit_group;\nLOOP:\n"
         "add.u32 %r2, %r1, 1;\nand.b32 %r3, %r2, 1;\nshl.b32 %r3, %r3, 10;\nadd.u32 %r3, %r3, %s;\n"
         "cp.async.cg.shared.global [%r3], [%g], 16;\ncp.async.commit_group;\n" +
         wait +
         "bar.sync 0;\nand.b32 %r4, %r1, 1;\nshl.b32 %r4, %r4, 10;\nadd.u32 %r4, %r4, %s;\n"
         "ld.shared.v4.u32 {%r60, %r61, %r62, %r63}, [%r4];\nbar.sync 0;\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 "
         "%p1, %r1, " +
         std::to_string(tiles) + ";\n@%p1 bra LOOP;\ncp.async.wait_all;\n";
}

std::vector<std::string> missing(const Picture& picture) {
  std::vector<std::string> texts;
  for (const Picture::Edge& edge : picture.edges)
    if (edge.kind == Picture::Edge::Kind::kMissing) texts.push_back(edge.text);
  return texts;
}

std::vector<std::string> labels(const Picture& picture) {
  std::vector<std::string> result;
  for (const Picture::Mark& mark : picture.marks) result.push_back(mark.label);
  return result;
}

bool hasState(const Picture::Slot& slot, Picture::SlotState state) {
  return std::any_of(slot.spans.begin(), slot.spans.end(),
                     [&](const auto& span) { return span.state == state; });
}

/// Columns and lanes exist, and the states of a slot follow each other without holes.
void expectWhole(const Picture& picture) {
  for (const Picture::Mark& mark : picture.marks) {
    EXPECT_LT(mark.at, picture.end);
    EXPECT_LT(mark.lane, picture.lanes.size());
  }
  for (const Picture::Span& span : picture.spans) EXPECT_LE(span.from, span.to) << span.label;
  for (const Picture::Edge& edge : picture.edges) {
    EXPECT_LT(edge.from.lane, picture.lanes.size());
    EXPECT_LT(edge.to.lane, picture.lanes.size());
  }
  for (const Picture::Slot& slot : picture.slots) {
    Picture::Time at = 0;
    for (const Picture::SlotSpan& span : slot.spans) {
      EXPECT_EQ(span.from, at) << slot.name;
      EXPECT_LT(span.from, span.to) << slot.name;
      at = span.to;
    }
    EXPECT_EQ(at, picture.end) << slot.name;
  }
}

TEST(Slots, RingHasOneForEachPlace) {
  const std::vector<SlotHistory> slots = Traced(ring(4)).slots();
  ASSERT_THAT(slots, SizeIs(2));
  EXPECT_EQ(slots[0].name, "tile, slot 0");
  EXPECT_EQ(slots[1].begin - slots[0].begin, 1024u);
  ASSERT_THAT(slots[0].fills, SizeIs(3));
  EXPECT_EQ(slots[0].fills[1].number, 2u) << "tiles are numbered over the whole ring";
  EXPECT_LT(slots[0].fills[0].issued, slots[0].fills[0].waited);
  EXPECT_LT(slots[0].fills[0].waited, slots[0].fills[0].first_read);
  EXPECT_LT(slots[0].fills[0].released, slots[0].fills[1].issued);
}

TEST(Slots, PaddingDoesNotDivideATile) {
  // Rows of 16 bytes, 32 apart.
  const std::string copy =
      "shl.b32 %r1, %t, 4;\nadd.u32 %r1, %r1, %s;\ncp.async.cg.shared.global [%r1], [%g], 16;\n"
      "cp.async.commit_group;\ncp.async.wait_all;\nld.shared.u32 %r2, [%r1];\n";
  const std::vector<SlotHistory> slots = Traced(copy).slots();
  ASSERT_THAT(slots, SizeIs(1));
  EXPECT_EQ(slots[0].end - slots[0].begin, 63u * 32 + 16);
}

TEST(Slots, StoreRingIsFilledByThreads) {
  const std::string statements =
      std::string(test::kWriteOwn) + test::kProxyFence + test::kSync +
      test::byThread(0, test::store(0, 1024) + test::kBulkCommit + test::kBulkReadWait);
  const std::vector<SlotHistory> slots = Traced(statements).slots();
  ASSERT_THAT(slots, SizeIs(1));
  ASSERT_THAT(slots[0].fills, SizeIs(1));
  EXPECT_FALSE(slots[0].fills[0].is_copied);
  EXPECT_TRUE(slots[0].fills[0].is_read_later);
  EXPECT_GT(slots[0].fills[0].released, slots[0].fills[0].last_read)
      << "the wait for the store gives the slot free";
}

TEST(Slots, MemoryWithoutCopiesIsShownOnlyWhereItIsAskedFor) {
  const Traced traced(std::string(test::kWriteOwn) + test::kSync + test::kReadOther);
  EXPECT_THAT(traced.slots(), IsEmpty());
  EXPECT_THAT(traced.slots({.place = SlotQuestion::Place{0, machine::kSharedBase}}), SizeIs(1));
}

TEST(Cover, CountsGroupsOfTheThread) {
  const Traced traced(std::string(test::kCopy) + test::kCommit + test::kCopy + test::kCommit +
                      "cp.async.wait_group 1;\n" + test::kWait);
  const machine::EventLog& log = traced.ran.outcome.log;
  std::vector<machine::EventId> copies, waits;
  for (machine::EventId id = 1; id < log.end(); ++id) {
    if (log[id].warp == 0 && log[id].kind == machine::EventKind::kCopy) copies.push_back(id);
    if (log[id].warp == 0 && log[id].kind == machine::EventKind::kWaitGroup) waits.push_back(id);
  }
  ASSERT_THAT(copies, SizeIs(2));
  EXPECT_EQ(coverOf(log, *traced.trace, copies[0], 5, {}), waits[0]);
  EXPECT_EQ(coverOf(log, *traced.trace, copies[1], 5, {}), waits[1]);
}

TEST(KernelPicture, RingHasFillSteadyStateAndDrain) {
  const Traced traced(ring(6));
  const Picture picture = pictureOfKernel(traced.ran.view(), *traced.trace);
  expectWhole(picture);
  std::vector<std::string> names;
  for (const Picture::Phase& phase : picture.phases) names.push_back(phase.name);
  EXPECT_THAT(names, ElementsAre("fill", "steady state", "drain"));
  EXPECT_THAT(picture.slots, SizeIs(2));
}

TEST(KernelPicture, LongMiddleIsCutAndCounted) {
  const Traced traced(ring(200));
  const Picture picture = pictureOfKernel(traced.ran.view(), *traced.trace);
  expectWhole(picture);
  EXPECT_LT(picture.end, 100u);
  ASSERT_THAT(picture.gaps, SizeIs(1));
  EXPECT_THAT(picture.gaps[0].text, HasSubstr("tiles"));
  EXPECT_EQ(picture.phases.back().name, "drain");
}

TEST(KernelPicture, SaysThatThereIsNothing) {
  const Traced traced(test::kWriteOwn);
  const Picture picture = pictureOfKernel(traced.ran.view(), *traced.trace);
  EXPECT_TRUE(picture.isEmpty());
  EXPECT_THAT(picture.notes, ElementsAre(HasSubstr("no slots to show")));
}

TEST(FindingPicture, BarrierOnlyHandOver) {
  const Picture picture =
      Traced(std::string(test::kCopy) + test::kCommit + test::kSync + test::kReadOther).finding();
  expectWhole(picture);
  EXPECT_THAT(missing(picture),
              ElementsAre("no cp.async.wait_group covers group 0: a barrier completes no copy"));
  ASSERT_THAT(picture.lanes, SizeIs(3));
  EXPECT_EQ(picture.lanes[1].kind, Picture::LaneKind::kCopyEngine);
  EXPECT_THAT(picture.lanes[0].role, HasSubstr("issues the copy"));
  EXPECT_THAT(picture.lanes[2].role, HasSubstr("reads"));
  EXPECT_THAT(labels(picture), Contains("commit\ngroup 0"));
  ASSERT_THAT(picture.slots, SizeIs(1));
  EXPECT_TRUE(hasState(picture.slots[0], Picture::SlotState::kStale));
  EXPECT_THAT(picture.spans, Contains(testing::Field(&Picture::Span::is_open, true)))
      << "nothing ever waits for the copy";
}

TEST(FindingPicture, LateWaitEndsTheFlight) {
  const Picture picture =
      Traced(std::string(test::kCopy) + test::kCommit + test::kReadOwn + test::kWait).finding();
  expectWhole(picture);
  EXPECT_EQ(labels(picture).back(), "wait_group\n0");
  ASSERT_THAT(picture.slots, SizeIs(1));
  EXPECT_TRUE(hasState(picture.slots[0], Picture::SlotState::kFilling));
  EXPECT_FALSE(hasState(picture.slots[0], Picture::SlotState::kReading))
      << "the copy is on its way until the wait";
  EXPECT_THAT(picture.edges,
              Contains(testing::Field(&Picture::Edge::kind, Picture::Edge::Kind::kCompletion)));
}

TEST(FindingPicture, WaitThatIsTooLoose) {
  const Picture picture = Traced(ring(4, "cp.async.wait_group 2;\n")).finding();
  expectWhole(picture);
  EXPECT_THAT(missing(picture), ElementsAre(HasSubstr("wait_group 2 leaves group")));
  EXPECT_THAT(picture.slots, SizeIs(2));
}

TEST(FindingPicture, PhasesOfAnMbarrier) {
  const std::string statements = test::initBarriers({1}) +
                                 test::byThread(0, test::expect(1024) + test::load(0, 1024)) +
                                 test::byWarp(1, test::readAt(0)) + test::waitFor(0);
  const Picture picture = Traced(statements).finding();
  expectWhole(picture);
  EXPECT_THAT(missing(picture), ElementsAre(HasSubstr("no wait for the phase of 'bar")));
  const auto barrier = std::find_if(picture.lanes.begin(), picture.lanes.end(), [](const auto& lane) {
    return lane.kind == Picture::LaneKind::kBarrier;
  });
  ASSERT_NE(barrier, picture.lanes.end());
  EXPECT_THAT(barrier->role, HasSubstr("bar"));
  EXPECT_THAT(picture.edges, Contains(testing::Field(&Picture::Edge::kind, Picture::Edge::Kind::kArrival)));
}

TEST(FindingPicture, HangNamesWhatNeverComes) {
  const Picture picture =
      Traced(test::initBarriers({2}) + test::byThread(0, test::arrive()) + test::waitFor(0)).finding();
  expectWhole(picture);
  EXPECT_THAT(missing(picture), ElementsAre("phase 0 needs 2 arrivals and gets 1"));
  EXPECT_EQ(labels(picture).back(), "waits for\nphase 0");
}

TEST(FindingPicture, LongWayIsCutAndCounted) {
  std::string statements = test::kCopy;
  for (int i = 0; i < 40; ++i) statements += test::kSync;
  const Picture picture = Traced(statements + test::kReadOwn).finding();
  expectWhole(picture);
  EXPECT_LE(picture.end, 16u);
  EXPECT_THAT(picture.gaps, SizeIs(1));
}

TEST(FindingPicture, OneOperationByItselfHasNone) {
  const Picture picture =
      Traced("add.u32 %r1, %s, 4;\ncp.async.cg.shared.global [%r1], [%g], 16;\ncp.async.wait_all;\n")
          .finding();
  EXPECT_TRUE(picture.isEmpty());
  EXPECT_THAT(picture.notes, SizeIs(1));
}

}  // namespace
}  // namespace handoff::picture
