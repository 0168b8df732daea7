// SPDX-License-Identifier: Apache-2.0
// Branches, divergence, calls, and what happens when a branch depends on data the machine does not have.
#include <variant>

#include "analyzer/machine/executor.h"
#include "analyzer/machine/slice.h"

namespace handoff::machine {

namespace {

/// A loop whose exit depends on unknown data runs this often before it is left: more turns than a ring of copies has
/// slots, and two without copies.
constexpr std::uint32_t kUnknownLoopPasses = 2, kUnknownRingPasses = 9;

// A failed assertion, or a time-out that gives up: straight from here to a trap, which ends the kernel.
bool isDoomed(const Program& program, OpIndex at) {
  constexpr unsigned kReach = 64;
  for (unsigned i = 0; i < kReach && at < program.ops.size(); ++i) {
    const Op& op = program.ops[at];
    if (std::holds_alternative<ptx::Trap>(op.decoded->effect)) return op.guard == kNoSlot;
    if (std::holds_alternative<ptx::Call>(op.decoded->effect)) {
      for (const ptx::Operand& operand : program.instruction(op).operands) {
        if (operand.kind == ptx::Operand::Kind::kFunction && operand.text == "__assertfail") return true;
      }
    }
    if (std::holds_alternative<ptx::Branch>(op.decoded->effect)) {
      if (op.guard != kNoSlot) return false;
      at = op.target;
      continue;
    }
    const bool is_effect = hasProtocolEffect(program.instruction(op)) && !std::holds_alternative<ptx::Call>(op.decoded->effect);
    if (is_effect && !std::holds_alternative<ptx::Store>(op.decoded->effect)) return false;
    ++at;
  }
  return false;
}

}  // namespace

void Executor::branchTo(Warp& warp, std::size_t fragment, OpIndex target) {
  warp.fragments[fragment].pc = target == kNoOp ? static_cast<OpIndex>(program_.ops.size()) : target;
}

void Executor::split(const Step& step, LaneMask taken, OpIndex target) {
  Warp& warp = step.warp;
  Fragment& fragment = warp.fragments[step.fragment];
  const LaneMask rest = fragment.lanes & ~taken;
  if (rest == 0) return branchTo(warp, step.fragment, target);
  if (taken == 0) return;
  int join = fragment.join;
  // Lanes that leave a loop one by one all meet at the same place: one join serves them.
  const bool shares_join = join >= 0 && warp.joins[join].pc == step.op.reconverge;
  if (!shares_join && step.op.reconverge != kNoOp) {
    warp.joins.push_back({.pc = step.op.reconverge, .expected = fragment.lanes, .parent = fragment.join});
    join = static_cast<int>(warp.joins.size()) - 1;
  }
  fragment.lanes = rest;
  fragment.join = join;
  Fragment other{.pc = target == kNoOp ? static_cast<OpIndex>(program_.ops.size()) : target, .lanes = taken, .join = join};
  warp.fragments.push_back(other);
}

LaneMask Executor::decideUnknown(const Step& step, LaneMask unknown) {
  const bool is_branch = std::holds_alternative<ptx::Branch>(step.op.decoded->effect);
  if (is_branch) {
    // What a trap ends needs no protocol any more, so the other side is all there is to check.
    const bool taken_dies = isDoomed(program_, step.op.target), rest_dies = isDoomed(program_, step.index + 1);
    if (taken_dies != rest_dies) return taken_dies ? 0 : unknown;
  }
  run_.noteAssumption();
  wantWords({step.warp, step.fragment, step.op, step.index, unknown}, step.op.guard);
  const bool by_thread = choices_.mayDifferByThread(step.index);
  const bool may_split_warp = by_thread && choices_.maySplitWarp(step.index);
  outcome_.assumed_by_thread |= by_thread;
  const std::string apart = !by_thread      ? ""
                            : may_split_warp ? ", for a warp and for a lane apart, and by turns"
                                             : ", for a warp apart, and by turns";
  const LaneMask holds = choices_.lanes(step.index, step.warp.id, unknown);
  const bool leaves = step.op.leaves_loop_on_taken || step.op.leaves_loop_on_fallthrough;
  if (is_branch && leaves) {
    ++skips_.guesses;
    const std::uint32_t passes = program_.has_async_copies ? kUnknownRingPasses : kUnknownLoopPasses;
    // Who is held apart leaves early.
    const bool is_mixed = options_.unknown_branches != UnknownBranches::kHoldNowhere &&
                          options_.unknown_branches != UnknownBranches::kHoldEverywhere;
    const bool leave_all = ++step.warp.passes[step.index] >= passes;
    const LaneMask leaving = leave_all ? unknown : is_mixed ? holds : 0;
    addLimit("the loop's exit depends on data that is not known before the launch; it was left after " +
                 std::to_string(passes) + " passes" + (by_thread ? ", and earlier" + apart : ""),
             step.op.instr);
    return step.op.leaves_loop_on_taken ? leaving : unknown & ~leaving;
  }
  addLimit(std::string(is_branch ? "the branch depends" : "the instruction's predicate depends") +
               " on data that is not known before the launch; both values were tried for all threads alike" + apart,
           step.op.instr);
  return holds;
}

// Nothing between the branch and the place where its sides meet takes part in the protocol. Where nothing there touches
// shared memory at all, what the sides would have computed is forgotten; but a few instructions are worth running.
bool Executor::skipRegion(const Step& step, LaneMask unknown) {
  constexpr std::size_t kWorthRunning = 32;
  const Fragment& fragment = step.warp.fragments[step.fragment];
  const Region& region = regions_.at(step.index);
  const bool is_long = region.is_loop || region.size > kWorthRunning;
  if (region.is_silent && (is_long || !region.is_plain)) {
    if (unknown != fragment.lanes) return false;
    // What is skipped may use what a watched read has brought.
    if (watch_ != nullptr) watchSkipped(step.warp, region);
    for (const Slot slot : region.written) assignUnknown(step.warp, {.kind = Arg::Kind::kSlot, .slot = slot}, fragment.lanes);
    branchTo(step.warp, step.fragment, step.op.reconverge);
    return true;
  }
  return runPlainRegion(step);
}

void Executor::operator()(const ptx::Branch&, const Step& step) {
  if (step.op.guard == kNoSlot) return branchTo(step.warp, step.fragment, step.op.target);
  const LaneMask lanes = step.warp.fragments[step.fragment].lanes;
  const LaneMask unknown = value(step.warp, step.op.guard).unknown & lanes;
  LaneMask taken = step.lanes & ~unknown;
  if (unknown != 0) {
    if (skipRegion(step, unknown)) return;
    taken |= decideUnknown(step, unknown);
  }
  split(step, taken, step.op.target);
}

void Executor::operator()(const ptx::BranchIndexed&, const Step& step) {
  if (step.op.table >= program_.branch_tables.size()) return notModelled(step);
  const auto& targets = program_.branch_tables[step.op.table];
  const auto index = uniformValue(step.warp, arg(step.op, 0), step.lanes);
  if (!index || targets.empty()) {
    run_.noteAssumption();
    addLimit("an indexed branch whose index is unknown or differs by thread; its first target was taken", step.op.instr);
    return branchTo(step.warp, step.fragment, targets.empty() ? kNoOp : targets[0]);
  }
  branchTo(step.warp, step.fragment, *index < targets.size() ? targets[*index] : kNoOp);
}

void Executor::operator()(const ptx::Unmodelled&, const Step& step) { notModelled(step); }

void Executor::operator()(const ptx::Call&, const Step& step) {
  // What is left of calls after inlining: functions of the device runtime, recursion, function pointers.
  const ptx::Instruction& instr = program_.instruction(step.op);
  std::string name = "a function pointer";
  for (const ptx::Operand& operand : instr.operands) {
    if (operand.kind == ptx::Operand::Kind::kFunction) name = "'" + operand.text + "'";
  }
  forgetDestinations(step);
  static constexpr std::string_view kHarmless[] = {"'vprintf'", "'malloc'", "'free'", "'__nv_", "'__assertfail'"};
  for (const std::string_view harmless : kHarmless) {
    if (name.starts_with(harmless)) {
      if (name == "'__assertfail'") (*this)(ptx::Trap{}, step);
      return;
    }
  }
  run_.noteUnmodelled();
  addLimit("the call to " + name + " is not modelled", step.op.instr);
}

void Executor::operator()(const ptx::Return&, const Step& step) { exitLanes(step.warp, step.fragment, step.lanes); }
void Executor::operator()(const ptx::Exit&, const Step& step) { exitLanes(step.warp, step.fragment, step.lanes); }
void Executor::operator()(const ptx::Trap&, const Step& step) {
  outcome_.has_trapped = true;
  addLimit("a thread meets a trap or a failed assertion, which ends the kernel: nothing is known of what comes after",
           step.op.instr);
  exitLanes(step.warp, step.fragment, step.lanes);
}

}  // namespace handoff::machine
