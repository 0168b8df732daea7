// SPDX-License-Identifier: Apache-2.0
// Basic blocks, immediate post-dominators and loops of one function.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/ptx/module.h"

namespace handoff::ptx {

enum class BlockId : std::uint32_t {};

struct Block {
  InstrIndex begin = 0, end = 0;  ///< half-open range of instructions
  std::vector<BlockId> successors, predecessors;
};

/// The virtual exit: returns, exits and traps lead there. It has no instructions.
inline constexpr BlockId kExitBlock{0xffffffff};

class Cfg {
 public:
  explicit Cfg(const Function& function);

  const std::vector<Block>& blocks() const { return blocks_; }
  BlockId blockOf(InstrIndex instr) const { return block_of_[instr]; }
  /// kExitBlock when nothing but the exit post-dominates the block.
  BlockId immediatePostDominator(BlockId block) const { return ipdom_[static_cast<std::uint32_t>(block)]; }
  bool dominates(BlockId a, BlockId b) const;
  /// Header of the innermost natural loop around the block, or kExitBlock outside of loops.
  BlockId loopHeader(BlockId block) const { return loop_header_[static_cast<std::uint32_t>(block)]; }
  unsigned loopDepth(BlockId block) const { return loop_depth_[static_cast<std::uint32_t>(block)]; }
  bool isReachable(BlockId block) const { return reachable_[static_cast<std::uint32_t>(block)]; }

 private:
  std::vector<Block> blocks_;
  std::vector<BlockId> block_of_, idom_, ipdom_, loop_header_;
  std::vector<unsigned> loop_depth_;
  std::vector<bool> reachable_;

  void connect(const Function& function);
  void findDominators();
  void findPostDominators();
  void findLoops();

  std::vector<bool> leaves_;  ///< by block: some way out of it leads to the exit
  std::vector<std::uint32_t> tree_begin_,
      tree_end_;  ///< the block's interval in a walk of the dominator tree
};

}  // namespace handoff::ptx
