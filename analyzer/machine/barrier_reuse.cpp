// SPDX-License-Identifier: Apache-2.0
// Where mbarrier.init stands among the other operations on barriers.
#include "analyzer/machine/barrier_reuse.h"

#include <algorithm>
#include <variant>

namespace handoff::machine {

namespace {

bool isInit(const Op& op) {
  const auto* effect = std::get_if<ptx::Mbarrier>(&op.decoded->effect);
  return effect != nullptr && effect->op == ptx::MbarrierOp::kInit;
}

// Arrivals of copies come with others: somebody announces their bytes or waits.
bool isUse(const Op& op) { return std::holds_alternative<ptx::Mbarrier>(op.decoded->effect) && !isInit(op); }

}  // namespace

// A way from behind an instruction to one before it takes a branch backwards across that one.
bool endsBarriers(const Program& program) {
  bool is_used = false;
  OpIndex first_init = kNoOp, last_init = 0;
  for (OpIndex at = 0; at < program.ops.size(); ++at) {
    const Op& op = program.ops[at];
    const auto* effect = std::get_if<ptx::Mbarrier>(&op.decoded->effect);
    if (effect != nullptr && effect->op == ptx::MbarrierOp::kInval) return true;
    is_used |= isUse(op);
    if (!isInit(op)) continue;
    if (is_used) return true;
    first_init = std::min(first_init, at);
    last_init = at;
  }
  if (first_init == kNoOp) return false;
  const auto goesBack = [&](OpIndex from, OpIndex target) { return from >= first_init && target <= last_init && target <= from; };
  for (OpIndex at = 0; at < program.ops.size(); ++at) {
    const Op& op = program.ops[at];
    if (std::holds_alternative<ptx::Branch>(op.decoded->effect) && goesBack(at, op.target)) return true;
    const bool is_indexed = std::holds_alternative<ptx::BranchIndexed>(op.decoded->effect) && op.table < program.branch_tables.size();
    if (!is_indexed) continue;
    const auto& targets = program.branch_tables[op.table];
    if (std::any_of(targets.begin(), targets.end(), [&](OpIndex target) { return goesBack(at, target); })) return true;
  }
  return false;
}

}  // namespace handoff::machine
