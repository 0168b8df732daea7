// SPDX-License-Identifier: Apache-2.0
// Control dependence by post-dominators, and the tests of loops told apart.
//
// Compilers test a loop at its end, and once more in front of it: "if (n > 0) do { ... } while (++i < n)". The test in front
// looks like any condition around a loop, say that of a warp's role; but it is a copy of the loop's own test, and a change
// of one is a change of both.
#include "analyzer/mutate/condition.h"

#include <algorithm>
#include <variant>
#include <vector>

namespace handoff::mutate {
namespace {

using ptx::BlockId;
using ptx::Cfg;

std::uint32_t indexOf(BlockId block) { return static_cast<std::uint32_t>(block); }

/// The blocks of the natural loop with this header; none: it is no header.
std::vector<bool> loopOf(const Cfg& cfg, BlockId header) {
  std::vector<bool> body(cfg.blocks().size());
  std::vector<BlockId> work;
  for (const BlockId latch : cfg.blocks()[indexOf(header)].predecessors)
    if (cfg.isReachable(latch) && cfg.dominates(header, latch)) work.push_back(latch);
  if (work.empty()) return body;
  body[indexOf(header)] = true;
  while (!work.empty()) {
    const BlockId block = work.back();
    work.pop_back();
    if (body[indexOf(block)]) continue;
    body[indexOf(block)] = true;
    for (const BlockId before : cfg.blocks()[indexOf(block)].predecessors)
      if (cfg.isReachable(before)) work.push_back(before);
  }
  return body;
}

/// One of its ways stays in a loop around it, another leaves that loop.
bool endsLoop(const Cfg& cfg, BlockId block) {
  const std::vector<BlockId>& ways = cfg.blocks()[indexOf(block)].successors;
  for (std::uint32_t header = 0; header < cfg.blocks().size(); ++header) {
    if (!cfg.dominates(BlockId{header}, block)) continue;
    const std::vector<bool> loop = loopOf(cfg, BlockId{header});
    if (!loop[indexOf(block)]) continue;
    const auto stays = std::count_if(ways.begin(), ways.end(), [&](BlockId way) { return loop[indexOf(way)]; });
    if (stays != 0 && stays != static_cast<std::ptrdiff_t>(ways.size())) return true;
  }
  return false;
}

bool isConditionalJump(const Subject& subject, std::uint32_t instr) {
  const ptx::Instruction& jump = subject.at(instr);
  return std::holds_alternative<ptx::Branch>(jump.decoded->effect) && jump.guard && !jump.operands.empty() &&
         jump.operands[0].kind == ptx::Operand::Kind::kLabel;
}

bool isLoopTest(const Subject& subject, std::uint32_t branch) {
  const std::vector<std::uint32_t> twins = subject.statements.twinsOf(branch);
  return std::any_of(twins.begin(), twins.end(), [&](std::uint32_t twin) {
    return isConditionalJump(subject, twin) && endsLoop(subject.cfg, subject.cfg.blockOf(twin));
  });
}

/// Both ways meet again before the turn of the loop around it is over; outside of loops, at the end of the kernel at the latest.
bool rejoins(const Cfg& cfg, BlockId block) {
  const BlockId header = cfg.loopHeader(block);
  if (header == ptx::kExitBlock) return true;
  const BlockId join = cfg.immediatePostDominator(block);
  return join != ptx::kExitBlock && loopOf(cfg, header)[indexOf(join)];
}

bool isAlwaysReached(const Cfg& cfg, BlockId from, BlockId block) {
  while (from != ptx::kExitBlock && from != block) from = cfg.immediatePostDominator(from);
  return from == block;
}

/// Whether the branch decides on the block, which then comes where it is taken (true) or where it is not (false).
std::optional<bool> sideOf(const Subject& subject, std::uint32_t branch, BlockId block) {
  if (!isConditionalJump(subject, branch)) return std::nullopt;
  const ptx::InstrIndex target = subject.at(branch).operands[0].target;
  if (target >= subject.size() || branch + 1 >= subject.size()) return std::nullopt;
  const bool if_taken = isAlwaysReached(subject.cfg, subject.cfg.blockOf(target), block);
  const bool if_not = isAlwaysReached(subject.cfg, subject.cfg.blockOf(branch + 1), block);
  if (if_taken == if_not) return std::nullopt;
  return if_taken;
}

}  // namespace

std::optional<Condition> conditionOf(const Subject& subject, std::uint32_t instr) {
  BlockId inner = subject.cfg.blockOf(instr);
  for (std::uint32_t i = instr; i-- > 0;) {
    const std::optional<bool> taken = sideOf(subject, i, inner);
    if (!taken) continue;
    const BlockId block = subject.cfg.blockOf(i);
    if (!isLoopTest(subject, i) && rejoins(subject.cfg, block)) {
      const std::vector<std::uint32_t> twins = subject.statements.twinsOf(i);
      return Condition{*std::min_element(twins.begin(), twins.end()), *taken};
    }
    inner = block;  // what decides on this test decides on the instruction, too
  }
  return std::nullopt;
}

}  // namespace handoff::mutate
