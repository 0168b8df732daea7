// SPDX-License-Identifier: Apache-2.0
// Blocks by leaders, post-dominators over the reversed graph, natural loops from the inside out.
//
// Post-dominators need an exit that every block reaches. A region that never ends ("while (true)" in a
// persistent kernel) has none: there the jumps back to the region's entry count as ways out. Choosing the
// loop's latches, not its header, keeps the join of a branch inside the loop where a reader sees it, in front
// of the latch.
#include "analyzer/ptx/cfg.h"

#include <algorithm>

#include "analyzer/ptx/decode.h"
#include "analyzer/ptx/graph.h"
#include "analyzer/support/check.h"

namespace handoff::ptx {
namespace {

bool leavesFunction(const Effect& effect) {
  return std::holds_alternative<Return>(effect) || std::holds_alternative<Exit>(effect) ||
         std::holds_alternative<Trap>(effect);
}

bool endsBlock(const Effect& effect) {
  return std::holds_alternative<Branch>(effect) || std::holds_alternative<BranchIndexed>(effect) ||
         leavesFunction(effect);
}

/// True when control can run past the end of the instruction into the next one.
bool fallsThrough(const Instruction& instruction) {
  return instruction.guard.has_value() || !endsBlock(instruction.decoded->effect);
}

const BranchTable* tableOf(const Function& function, const Instruction& instruction) {
  for (const Operand& operand : instruction.operands) {
    if (operand.kind != Operand::Kind::kSymbol) continue;
    const auto table = std::ranges::find(function.branch_tables, operand.text, &BranchTable::name);
    if (table != function.branch_tables.end()) return &*table;
  }
  return nullptr;
}

/// Calls `visit` with every target of a branch.
template <typename Visit>
void forEachTarget(const Function& function, const Instruction& instruction, Visit visit) {
  if (std::holds_alternative<Branch>(instruction.decoded->effect)) {
    for (const Operand& operand : instruction.operands) {
      if (operand.kind == Operand::Kind::kLabel) visit(operand.target);
    }
  } else if (std::holds_alternative<BranchIndexed>(instruction.decoded->effect)) {
    if (const BranchTable* table = tableOf(function, instruction)) {
      for (const InstrIndex target : table->targets) visit(target);
    }
  }
}

std::vector<Block> makeBlocks(const Function& function) {
  const auto count = static_cast<InstrIndex>(function.instructions.size());
  std::vector<bool> is_leader(count + std::size_t{1});
  is_leader[0] = true;
  for (const Label& label : function.labels) is_leader[label.target] = true;
  for (InstrIndex i = 0; i < count; ++i) {
    const Instruction& instruction = function.instructions[i];
    if (endsBlock(instruction.decoded->effect)) is_leader[i + 1] = true;
    forEachTarget(function, instruction, [&](InstrIndex target) { is_leader[target] = true; });
  }
  std::vector<Block> blocks;
  for (InstrIndex i = 0; i < count; ++i) {
    if (is_leader[i]) blocks.push_back({.begin = i, .end = i, .successors = {}, .predecessors = {}});
    blocks.back().end = i + 1;
  }
  return blocks;
}

Graph graphOf(const std::vector<Block>& blocks) {
  Graph graph(blocks.size());
  for (Node block = 0; block < blocks.size(); ++block) {
    for (const BlockId successor : blocks[block].successors)
      graph.addEdge(block, static_cast<Node>(successor));
  }
  return graph;
}

}  // namespace

Cfg::Cfg(const Function& function) : blocks_(makeBlocks(function)) {
  block_of_.resize(function.instructions.size());
  for (Node block = 0; block < blocks_.size(); ++block) {
    std::fill(block_of_.begin() + blocks_[block].begin, block_of_.begin() + blocks_[block].end,
              BlockId{block});
  }
  idom_.assign(blocks_.size(), kExitBlock);
  ipdom_.assign(blocks_.size(), kExitBlock);
  loop_header_.assign(blocks_.size(), kExitBlock);
  loop_depth_.assign(blocks_.size(), 0);
  reachable_.assign(blocks_.size(), false);
  if (blocks_.empty()) return;
  connect(function);
  findDominators();
  findPostDominators();
  findLoops();
}

// A label behind the last instruction, or code that runs off the end, leads to the exit.
void Cfg::connect(const Function& function) {
  std::vector<std::vector<Node>> targets(blocks_.size());
  leaves_.assign(blocks_.size(), false);
  for (Node block = 0; block < blocks_.size(); ++block) {
    const Instruction& last = function.instructions[blocks_[block].end - 1];
    const auto link = [&](InstrIndex target) {
      if (target < block_of_.size()) {
        targets[block].push_back(static_cast<Node>(block_of_[target]));
      } else {
        leaves_[block] = true;
      }
    };
    if (fallsThrough(last)) link(blocks_[block].end);
    forEachTarget(function, last, link);
    if (leavesFunction(last.decoded->effect)) leaves_[block] = true;
    // An indexed branch without its table can go anywhere; the exit at least keeps the graph sound for loops.
    if (targets[block].empty()) leaves_[block] = true;
  }
  // Each successor once, the fall-through first.
  std::vector<Node> seen_from(blocks_.size(), kNoNode);
  for (Node block = 0; block < blocks_.size(); ++block) {
    for (const Node target : targets[block]) {
      if (seen_from[target] == block) continue;
      seen_from[target] = block;
      blocks_[block].successors.push_back(BlockId{target});
      blocks_[target].predecessors.push_back(BlockId{block});
    }
  }
}

void Cfg::findDominators() {
  std::vector<Node> idom = immediateDominators(graphOf(blocks_), 0);
  tree_begin_.assign(blocks_.size(), 0);
  tree_end_.assign(blocks_.size(), 0);
  // In post-order a subtree is the interval that ends with its root.
  const std::vector<Node> order = treePostOrder(idom, 0);
  std::vector<std::uint32_t> subtree(blocks_.size(), 1);
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    const Node block = order[i];
    reachable_[block] = true;
    tree_end_[block] = i;
    tree_begin_[block] = i + 1 - subtree[block];
    if (block == 0) continue;
    subtree[idom[block]] += subtree[block];
    idom_[block] = BlockId{idom[block]};
  }
}

bool Cfg::dominates(BlockId a, BlockId b) const {
  const auto above = static_cast<Node>(a);
  const auto below = static_cast<Node>(b);
  if (a == b) return true;
  if (!reachable_[above] || !reachable_[below]) return false;
  return tree_begin_[above] <= tree_end_[below] && tree_end_[below] <= tree_end_[above];
}

void Cfg::findPostDominators() {
  const Graph forward = graphOf(blocks_);
  const auto exit = static_cast<Node>(blocks_.size());
  // A way out of the function counts as an edge, so that a component with one is not closed.
  Graph with_exit(blocks_.size() + 1);
  for (Node block = 0; block < exit; ++block) {
    for (const Node successor : forward.successors[block]) with_exit.addEdge(block, successor);
    if (leaves_[block]) with_exit.addEdge(block, exit);
  }
  const std::vector<Node> closed = closedComponents(with_exit);
  Graph reversed(blocks_.size() + 1);
  for (Node block = 0; block < exit; ++block) {
    bool leads_to_exit = leaves_[block];
    for (const Node successor : forward.successors[block]) {
      reversed.addEdge(successor, block);
      if (closed[block] != kNoNode && successor == closed[block]) leads_to_exit = true;
    }
    if (leads_to_exit) reversed.addEdge(exit, block);
  }
  const std::vector<Node> ipdom = immediateDominators(reversed, exit);
  for (Node block = 0; block < exit; ++block) {
    HANDOFF_CHECK(ipdom[block] != kNoNode);
    ipdom_[block] = ipdom[block] == exit ? kExitBlock : BlockId{ipdom[block]};
  }
}

// Headers from the inside out. A block that has a loop already stands for the outermost loop found around it
// so far, so every edge is looked at about once.
void Cfg::findLoops() {
  std::vector<Node> outer(blocks_.size(), kNoNode);  // by header: the header of the loop around it
  std::vector<Node> top(blocks_.size());             // union-find towards the outermost header
  for (Node block = 0; block < blocks_.size(); ++block) top[block] = block;
  const auto outermost = [&](Node header) {
    while (top[header] != header) header = top[header] = top[top[header]];
    return header;
  };
  std::vector<Node> by_tree(tree_end_.size(), kNoNode);
  std::size_t reached = 0;
  for (Node block = 0; block < blocks_.size(); ++block) {
    if (!reachable_[block]) continue;
    by_tree[tree_end_[block]] = block;
    ++reached;
  }
  std::vector<Node> headers;
  for (std::size_t i = 0; i < reached; ++i) {
    const Node header = by_tree[i];
    std::vector<Node> work;
    for (const BlockId predecessor : blocks_[header].predecessors) {
      if (reachable_[static_cast<Node>(predecessor)] && dominates(BlockId{header}, predecessor)) {
        work.push_back(static_cast<Node>(predecessor));
      }
    }
    if (work.empty()) continue;
    headers.push_back(header);
    loop_header_[header] = BlockId{header};
    while (!work.empty()) {
      Node block = work.back();
      work.pop_back();
      if (loop_header_[block] == kExitBlock) {
        loop_header_[block] = BlockId{header};
      } else {
        block = outermost(static_cast<Node>(loop_header_[block]));
        if (block == header) continue;
        outer[block] = top[block] = header;
      }
      for (const BlockId predecessor : blocks_[block].predecessors) {
        if (reachable_[static_cast<Node>(predecessor)]) work.push_back(static_cast<Node>(predecessor));
      }
    }
  }
  for (auto header = headers.rbegin(); header != headers.rend(); ++header) {
    loop_depth_[*header] = outer[*header] == kNoNode ? 1 : loop_depth_[outer[*header]] + 1;
  }
  for (Node block = 0; block < blocks_.size(); ++block) {
    if (loop_header_[block] != kExitBlock)
      loop_depth_[block] = loop_depth_[static_cast<Node>(loop_header_[block])];
  }
}

}  // namespace handoff::ptx
