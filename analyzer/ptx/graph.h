// SPDX-License-Identifier: Apache-2.0
// Algorithms on directed graphs whose nodes are small integers, for the control-flow graph.
#pragma once

#include <cstdint>
#include <vector>

namespace handoff::ptx {

using Node = std::uint32_t;
inline constexpr Node kNoNode = 0xffffffff;

struct Graph {
  std::vector<std::vector<Node>> successors, predecessors;

  explicit Graph(std::size_t nodes) : successors(nodes), predecessors(nodes) {}
  void addEdge(Node from, Node to) {
    successors[from].push_back(to);
    predecessors[to].push_back(from);
  }
  std::size_t size() const { return successors.size(); }
};

/// By node: its immediate dominator in the flow from `root`. kNoNode for the root and for what it does not
/// reach.
std::vector<Node> immediateDominators(const Graph& graph, Node root);

/// Nodes of the tree given by parents, children before their parents. `root` is last; others without parent
/// are missing.
std::vector<Node> treePostOrder(const std::vector<Node>& parents, Node root);

/// By node: the entry of its component if the component is strongly connected, has a cycle and no way out;
/// else kNoNode. The entry is the node that a depth-first walk (from node 0, then from the rest in order)
/// meets first.
std::vector<Node> closedComponents(const Graph& graph);

}  // namespace handoff::ptx
