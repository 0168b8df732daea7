// SPDX-License-Identifier: Apache-2.0
// Lengauer and Tarjan's dominators with path compression (O(E log V), whatever the graph), and Tarjan's
// components. Everything walks with explicit stacks: functions of a hundred thousand blocks must not exhaust
// the real one.
#include "analyzer/ptx/graph.h"

#include <algorithm>
#include <utility>

namespace handoff::ptx {
namespace {

/// All arrays are by number in depth-first order; 0 is the root.
class Dominators {
 public:
  Dominators(const Graph& graph, Node root) : graph_(graph) { number(root); }

  std::vector<Node> run() {
    const auto count = static_cast<Node>(nodes_.size());
    std::vector<std::vector<Node>> bucket(count);
    std::vector<Node> idom(count, 0);
    for (Node w = count; w-- > 1;) {
      for (const Node predecessor : graph_.predecessors[nodes_[w]]) {
        const Node v = numbers_[predecessor];
        if (v != kNoNode) semi_[w] = std::min(semi_[w], semi_[evaluate(v)]);
      }
      bucket[semi_[w]].push_back(w);
      ancestor_[w] = parents_[w];
      for (const Node v : bucket[parents_[w]]) {
        const Node u = evaluate(v);
        idom[v] = semi_[u] < semi_[v] ? u : parents_[w];
      }
      bucket[parents_[w]].clear();
    }
    std::vector<Node> result(graph_.size(), kNoNode);
    for (Node w = 1; w < count; ++w) {
      if (idom[w] != semi_[w]) idom[w] = idom[idom[w]];
      result[nodes_[w]] = nodes_[idom[w]];
    }
    return result;
  }

 private:
  void number(Node root) {
    numbers_.assign(graph_.size(), kNoNode);
    std::vector<std::pair<Node, std::size_t>> stack;
    const auto visit = [&](Node node, Node parent) {
      numbers_[node] = static_cast<Node>(nodes_.size());
      nodes_.push_back(node);
      parents_.push_back(parent);
      stack.emplace_back(node, 0);
    };
    visit(root, 0);
    while (!stack.empty()) {
      auto& [node, next] = stack.back();
      if (next == graph_.successors[node].size()) {
        stack.pop_back();
        continue;
      }
      const Node parent = numbers_[node];
      const Node successor = graph_.successors[node][next++];
      if (numbers_[successor] == kNoNode) visit(successor, parent);
    }
    ancestor_.assign(nodes_.size(), kNoNode);
    for (Node i = 0; i < nodes_.size(); ++i) {
      semi_.push_back(i);
      label_.push_back(i);
    }
  }

  /// The node of least semidominator on the way from `v` up the forest built so far.
  Node evaluate(Node v) {
    if (ancestor_[v] == kNoNode) return label_[v];
    path_.clear();
    for (Node u = v; ancestor_[ancestor_[u]] != kNoNode; u = ancestor_[u]) path_.push_back(u);
    for (auto u = path_.rbegin(); u != path_.rend(); ++u) {
      const Node above = ancestor_[*u];
      if (semi_[label_[above]] < semi_[label_[*u]]) label_[*u] = label_[above];
      ancestor_[*u] = ancestor_[above];
    }
    return label_[v];
  }

  const Graph& graph_;
  std::vector<Node> numbers_, nodes_, parents_, semi_, label_, ancestor_, path_;
};

/// Tarjan's strongly connected components, iteratively.
class Components {
 public:
  explicit Components(const Graph& graph)
      : graph_(graph),
        number_(graph.size(), 0),
        low_(graph.size(), 0),
        entry_(graph.size(), kNoNode),
        component_(graph.size(), kNoNode) {}

  std::vector<Node> run() {
    for (Node node = 0; node < graph_.size(); ++node) {
      if (number_[node] == 0) walk(node);
    }
    return entry_;
  }

 private:
  void open(Node node) {
    number_[node] = low_[node] = ++clock_;
    pending_.push_back(node);
    stack_.emplace_back(node, 0);
  }

  void walk(Node root) {
    open(root);
    while (!stack_.empty()) {
      auto& [node, next] = stack_.back();
      if (next < graph_.successors[node].size()) {
        const Node successor = graph_.successors[node][next++];
        if (number_[successor] == 0) {
          open(successor);
        } else if (component_[successor] == kNoNode) {
          low_[node] = std::min(low_[node], number_[successor]);
        }
        continue;
      }
      const Node done = node;
      stack_.pop_back();
      if (!stack_.empty()) low_[stack_.back().first] = std::min(low_[stack_.back().first], low_[done]);
      if (low_[done] == number_[done]) close(done);
    }
  }

  void close(Node entry) {
    const auto begin = std::find(pending_.rbegin(), pending_.rend(), entry).base() - 1;
    for (auto member = begin; member != pending_.end(); ++member) component_[*member] = entry;
    bool is_closed = true;
    bool has_cycle = false;
    for (auto member = begin; member != pending_.end(); ++member) {
      for (const Node successor : graph_.successors[*member]) {
        (component_[successor] == entry ? has_cycle : is_closed) = component_[successor] == entry;
      }
    }
    if (is_closed && has_cycle) {
      for (auto member = begin; member != pending_.end(); ++member) entry_[*member] = entry;
    }
    pending_.erase(begin, pending_.end());
  }

  const Graph& graph_;
  std::uint32_t clock_ = 0;
  std::vector<std::uint32_t> number_, low_;
  std::vector<Node> entry_, component_, pending_;
  std::vector<std::pair<Node, std::size_t>> stack_;
};

}  // namespace

std::vector<Node> immediateDominators(const Graph& graph, Node root) { return Dominators(graph, root).run(); }

std::vector<Node> closedComponents(const Graph& graph) { return Components(graph).run(); }

std::vector<Node> treePostOrder(const std::vector<Node>& parents, Node root) {
  std::vector<std::vector<Node>> children(parents.size());
  for (Node node = 0; node < parents.size(); ++node) {
    if (parents[node] != kNoNode) children[parents[node]].push_back(node);
  }
  std::vector<Node> order;
  std::vector<std::pair<Node, std::size_t>> stack = {{root, 0}};
  while (!stack.empty()) {
    auto& [node, next] = stack.back();
    if (next == children[node].size()) {
      order.push_back(node);
      stack.pop_back();
    } else {
      const Node child = children[node][next++];
      stack.emplace_back(child, 0);
    }
  }
  return order;
}

}  // namespace handoff::ptx
