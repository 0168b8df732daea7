// SPDX-License-Identifier: Apache-2.0
// Blocks, joins and loops of small flow graphs, and the two analyses against slow definitions on random ones.
#include "analyzer/ptx/cfg.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <random>

#include "analyzer/ptx/graph.h"
#include "analyzer/ptx/test_modules.h"

namespace handoff::ptx {
namespace {

using test::body;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

BlockId b(std::uint32_t index) { return BlockId{index}; }
const std::vector<BlockId>& successors(const Cfg& cfg, std::uint32_t block) {
  return cfg.blocks()[block].successors;
}

TEST(Cfg, EmptyFunctionHasNoBlocks) { EXPECT_THAT(Cfg(Function{}).blocks(), IsEmpty()); }

TEST(Cfg, StraightCodeIsOneBlock) {
  const Cfg cfg(body("mov.b32 %r1, 1;\nmov.b32 %r2, 2;\nret;"));
  ASSERT_THAT(cfg.blocks(), SizeIs(1));
  EXPECT_EQ(cfg.blocks()[0].end, 3u);
  EXPECT_EQ(cfg.immediatePostDominator(b(0)), kExitBlock);
  EXPECT_EQ(cfg.loopDepth(b(0)), 0u);
}

TEST(Cfg, GuardedExitFallsThrough) {
  const Cfg cfg(body("@%p1 exit;\nbar.sync 0;\nret;"));
  ASSERT_THAT(cfg.blocks(), SizeIs(2));
  EXPECT_THAT(successors(cfg, 0), ElementsAre(b(1)));
  EXPECT_EQ(cfg.immediatePostDominator(b(0)), kExitBlock);
}

TEST(Cfg, UnguardedExitDoesNotFallThrough) {
  const Cfg cfg(body("exit;\nbar.sync 0;\nret;"));
  EXPECT_THAT(successors(cfg, 0), IsEmpty());
  EXPECT_FALSE(cfg.isReachable(b(1)));
}

TEST(Cfg, IfElseJoinsBehindBothSides) {
  const Cfg cfg(
      body("@%p1 bra ELSE;\nmov.b32 %r1, 1;\nbra JOIN;\nELSE: mov.b32 %r1, 2;\nJOIN: bar.sync 0;\nret;"));
  ASSERT_THAT(cfg.blocks(), SizeIs(4));
  EXPECT_THAT(successors(cfg, 0), ElementsAre(b(1), b(2)));
  EXPECT_EQ(cfg.immediatePostDominator(b(0)), b(3));
  EXPECT_EQ(cfg.immediatePostDominator(b(1)), b(3));
  EXPECT_TRUE(cfg.dominates(b(0), b(3)));
  EXPECT_FALSE(cfg.dominates(b(1), b(3)));
}

TEST(Cfg, TrapOnOneSideDoesNotJoin) {
  const Cfg cfg(body("@%p1 bra BAD;\nbar.sync 0;\nret;\nBAD: trap;"));
  EXPECT_EQ(cfg.immediatePostDominator(b(0)), kExitBlock);
}

TEST(Cfg, NestedLoopsHaveHeadersAndDepths) {
  const Cfg cfg(
      body("OUTER: mov.b32 %r1, 0;\nINNER: add.s32 %r1, %r1, 1;\n@%p1 bra INNER;\n@%p2 bra OUTER;\nret;"));
  ASSERT_THAT(cfg.blocks(), SizeIs(4));
  EXPECT_EQ(cfg.loopHeader(b(0)), b(0));
  EXPECT_EQ(cfg.loopHeader(b(1)), b(1));
  EXPECT_EQ(cfg.loopHeader(b(2)), b(0));
  EXPECT_EQ(cfg.loopHeader(b(3)), kExitBlock);
  EXPECT_EQ(cfg.loopDepth(b(0)), 1u);
  EXPECT_EQ(cfg.loopDepth(b(1)), 2u);
  EXPECT_EQ(cfg.loopDepth(b(3)), 0u);
}

TEST(Cfg, BranchInAnEndlessLoopJoinsInFrontOfTheLatch) {
  const Cfg cfg(
      body("HEAD: @%p1 bra ELSE;\nmov.b32 %r1, 1;\nbra JOIN;\nELSE: mov.b32 %r1, 2;\nJOIN: bar.sync 0;\nbra "
           "HEAD;"));
  EXPECT_EQ(cfg.immediatePostDominator(b(0)), b(3));
  EXPECT_EQ(cfg.immediatePostDominator(b(1)), b(3));
  EXPECT_EQ(cfg.immediatePostDominator(b(3)), kExitBlock);
}

TEST(Cfg, LoopInsideAnEndlessLoopStillJoinsBehindItself) {
  const Cfg cfg(
      body("HEAD: mov.b32 %r1, 0;\nINNER: @%p1 bra DONE;\nadd.s32 %r1, %r1, 1;\nbra INNER;\nDONE: bar.sync "
           "0;\nbra HEAD;"));
  EXPECT_EQ(cfg.immediatePostDominator(b(1)), b(3));
}

TEST(Cfg, IndexedBranchReachesItsTable) {
  const Cfg cfg(body("ts: .branchtargets A, B;\nbrx.idx %r1, ts;\nA: exit;\nB: ret;"));
  EXPECT_THAT(successors(cfg, 0), ElementsAre(b(1), b(2)));
}

TEST(Cfg, BothWaysToOneBlockAreOneEdge) {
  const Cfg cfg(body("@%p1 bra NEXT;\nNEXT: ret;"));
  EXPECT_THAT(successors(cfg, 0), ElementsAre(b(1)));
  EXPECT_THAT(cfg.blocks()[1].predecessors, ElementsAre(b(0)));
}

TEST(Cfg, BranchBehindTheLastInstructionLeads) {
  const Cfg cfg(body("@%p1 bra END;\nbar.sync 0;\nEND:"));
  EXPECT_THAT(successors(cfg, 0), ElementsAre(b(1)));
  EXPECT_EQ(cfg.immediatePostDominator(b(0)), kExitBlock);
}

/// By definition: v is dominated by a if removing a cuts v off the root.
std::vector<bool> reachedWithout(const Graph& graph, Node root, Node removed) {
  std::vector<bool> seen(graph.size());
  std::vector<Node> work;
  if (root != removed) work.push_back(root);
  while (!work.empty()) {
    const Node node = work.back();
    work.pop_back();
    if (seen[node]) continue;
    seen[node] = true;
    for (const Node next : graph.successors[node]) {
      if (next != removed) work.push_back(next);
    }
  }
  return seen;
}

TEST(Graph, DominatorsAgreeWithTheirDefinitionOnRandomGraphs) {
  std::mt19937 random(7);
  for (int round = 0; round < 500; ++round) {
    const Node count = 2 + random() % 9;
    Graph graph(count);
    for (Node edge = 0; edge < count * 2; ++edge) graph.addEdge(random() % count, random() % count);
    const std::vector<Node> idom = immediateDominators(graph, 0);
    const std::vector<bool> reached = reachedWithout(graph, 0, kNoNode);
    for (Node a = 0; a < count; ++a) {
      const std::vector<bool> without = reachedWithout(graph, 0, a);
      for (Node v = 1; v < count; ++v) {
        if (!reached[v]) {
          EXPECT_EQ(idom[v], kNoNode);
          continue;
        }
        bool above = false;
        for (Node up = v; up != kNoNode && !above; up = idom[up]) above = up == a;
        EXPECT_EQ(above, !without[v]) << "round " << round << ": " << a << " over " << v;
      }
    }
  }
}

TEST(Graph, LongChainsToOneTargetStayFast) {
  constexpr Node kCount = 200000;
  Graph graph(kCount);
  for (Node node = 0; node + 2 < kCount; ++node) {
    graph.addEdge(node, node + 1);
    graph.addEdge(node, kCount - 1);
  }
  const auto start = std::chrono::steady_clock::now();
  const std::vector<Node> idom = immediateDominators(graph, 0);
  EXPECT_EQ(idom[kCount - 1], 0u);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

TEST(Graph, ClosedComponentsAreTheSinksWithACycle) {
  Graph graph(6);
  graph.addEdge(0, 1);
  graph.addEdge(1, 0);
  graph.addEdge(1, 2);
  graph.addEdge(2, 3);
  graph.addEdge(3, 2);
  graph.addEdge(1, 4);
  EXPECT_THAT(closedComponents(graph), ElementsAre(kNoNode, kNoNode, 2u, 2u, kNoNode, kNoNode));
}

}  // namespace
}  // namespace handoff::ptx
