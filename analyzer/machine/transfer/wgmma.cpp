// SPDX-License-Identifier: Apache-2.0
// Asynchronous warpgroup multiplication (PTX ISA, "wgmma.mma_async", "wgmma.fence", "wgmma.commit_group",
// "wgmma.wait_group"): what it reads of shared memory, and until when.
//
// Four warps execute one multiplication. The machine runs them one by one, so a wait for its group holds a warp back
// until all four have committed that group: none of them can have been done before.
#include "analyzer/machine/executor.h"
#include "analyzer/machine/matrix_operand.h"

namespace handoff::machine {

namespace {

constexpr std::size_t kMaxPendingGroups = 8;

}  // namespace

const std::vector<ByteRange>& Executor::operandRanges(OpIndex op, bool is_b, std::uint64_t descriptor, const MatrixShape& shape) {
  const auto [known, is_new] = operand_ranges_.try_emplace({op, is_b, descriptor});
  if (is_new) known->second = wgmmaOperandRanges(descriptor, shape);
  return known->second;
}

// `first`: where another warp of the warpgroup has begun the same multiplication; 0: none has.
void Executor::readOperand(const Step& step, EventId event, EventId first, const std::vector<ByteRange>& ranges) {
  for (const ByteRange& range : ranges) {
    Cta* const cta = checkSharedRange(step, range.address, range.bytes, step.lanes);
    if (cta == nullptr) return;
    if (first != 0) races_.checkUnwrittenSince({cta, withinCta(range.address), range.bytes, laneBit(0)}, first);
    // The four warps' reads are over together, so those of the first one stand for all.
    const bool is_recorded = step.warp.rank % kWarpsPerWarpgroup == 0;
    races_.readShared({cta, withinCta(range.address), range.bytes, laneBit(0)}, event, is_recorded);
  }
}

void Executor::multiply(const Step& step) {
  Warp& warp = step.warp;
  forgetDestinations(step);
  if (step.lanes != kAllLanes && !step.warp.has_broken_join) {
    addMisuse(step, {.kind = Misuse::Kind::kSplitWarpgroup, .lanes = step.lanes, .wanted = kAllLanes});
  }
  const auto form = wgmmaForm(program_.instruction(step.op));
  if (!form) return notModelled(step);
  const EventId event = log(step, EventKind::kMma, step.lanes, warp.mma.openGroup(0));
  AsyncOp op{.event = event, .lane = 0, .group = warp.mma.openGroup(0)};
  outcome_.log.addOp(op);
  warp.mma.noteCopy(kAllLanes);
  auto& steps = multiplications_[run_.cluster.warpgroupOf(warp).front().id];
  const std::size_t turn = warp.multiplications++;
  const EventId first = turn < steps.size() ? steps[turn].event : 0;
  const auto readBy = [&](unsigned operand, bool is_b, const MatrixShape& shape) -> std::uint64_t {
    const auto descriptor = uniformValue(warp, arg(step.op, operand), step.lanes);
    if (!descriptor) {
      addLimit("a matrix descriptor of '" + step.op.decoded->opcode + "' is not known before the launch", step.op.instr);
      run_.noteUnmodelled();
      return 0;
    }
    readOperand(step, event, first, operandRanges(step.index, is_b, *descriptor, shape));
    return *descriptor;
  };
  const std::uint64_t a = form->is_a_in_registers ? 0 : readBy(WgmmaForm::kA, false, form->a);
  const std::uint64_t b = readBy(WgmmaForm::kB, true, form->b);
  // All four warps execute the same instruction with the same descriptors.
  if (turn == steps.size()) {
    steps.push_back({event, a, b});
  } else if (turn < steps.size() && (outcome_.log[steps[turn].event].op != step.index || steps[turn].a != a || steps[turn].b != b)) {
    addMisuse(step, {.kind = Misuse::Kind::kWarpgroupMismatch, .event = event, .lanes = step.lanes, .other = steps[turn].event});
  }
}

// What the multiplications of these groups are done with, all four warps have issued: so they have come that far.
void Executor::learnWarpgroup(const Step& step, std::uint32_t groups) {
  Warp& warp = step.warp;
  for (const Warp& other : run_.cluster.warpgroupOf(warp)) {
    if (other.id == warp.id) continue;
    if (const auto issued = other.mma_issued.find(groups); issued != other.mma_issued.end()) {
      warp.clock.learnTime(step.lanes, issued->second);
    }
  }
}

// False: the fragment waits at this instruction for the rest of its warpgroup.
bool Executor::waitForWarpgroup(const Step& step, std::uint32_t groups) {
  for (const Warp& other : run_.cluster.warpgroupOf(step.warp)) {
    if (other.mma.committed(0) >= groups) continue;
    Fragment& fragment = step.warp.fragments[isolate(step)];
    fragment.state = Fragment::State::kAtMmaWait;
    fragment.pc = step.index;
    return false;
  }
  return true;
}

void Executor::operator()(const ptx::Wgmma& effect, const Step& step) {
  Warp& warp = step.warp;
  switch (effect.op) {
    case ptx::WgmmaOp::kMma: return multiply(step);
    case ptx::WgmmaOp::kFence: log(step, EventKind::kMmaFence, step.lanes); return;
    case ptx::WgmmaOp::kCommit:
      warp.mma.commit(kAllLanes);
      // A wait leaves at most seven groups pending (CuTe), so older ones are of no use any more.
      warp.clock.publishTime(step.lanes, warp.mma_issued[warp.mma.committed(0)]);
      if (warp.mma_issued.size() > kMaxPendingGroups + 1) warp.mma_issued.erase(warp.mma_issued.begin());
      log(step, EventKind::kMmaCommit, step.lanes, warp.mma.committed(0));
      progress();
      return wakePollers();
    case ptx::WgmmaOp::kWait: break;
  }
  const auto pending = uniformValue(warp, arg(step.op, 0), step.lanes);
  if (!pending) return notModelled(step);
  const auto allowed = static_cast<std::uint32_t>(*pending);
  const std::uint32_t committed = warp.mma.committed(0);
  if (committed > allowed && !waitForWarpgroup(step, committed - allowed)) return;
  const EventId event = log(step, EventKind::kMmaWait, step.lanes, allowed);
  warp.mma.waitGroup(kAllLanes, allowed, event, warp.clock.epoch());
  if (committed > allowed) learnWarpgroup(step, committed - allowed);
  // The warp executes the wait together, after all of its earlier loads have returned.
  warp.clock.settleLoads(step.lanes, View::kConverged);
}

// All warps of a warpgroup execute the same ones (PTX ISA, "setmaxnreg": .aligned).
void Executor::reportSplitRegisters() {
  for (const Warp& warp : run_.cluster.warps) {
    const Warp& first = run_.cluster.warpgroupOf(warp).front();
    if (register_moves_.empty() || register_moves_[warp.id] == register_moves_[first.id]) continue;
    const bool is_shorter = register_moves_[warp.id].size() < register_moves_[first.id].size();
    const Warp& by = is_shorter ? first : warp;
    Warp& shown = run_.cluster.warps[by.id];
    const OpIndex at = register_moves_[by.id].back();
    addMisuse({shown, 0, program_.ops[at], at, by.started},
              {.kind = Misuse::Kind::kSplitRegisters, .lanes = by.started, .value = is_shorter ? warp.rank : first.rank});
  }
}

// setmaxnreg: an increase waits until the CTA's pool has the registers (PTX ISA, "setmaxnreg").
void Executor::operator()(const ptx::SetMaxNReg& effect, const Step& step) {
  constexpr std::uint64_t kRegistersOfSm = 65'536;
  constexpr std::uint64_t kMaxPerThread = 255, kGranularity = 8;
  const auto wanted = uniformValue(step.warp, arg(step.op, 0), step.lanes);
  if (!wanted) return notModelled(step);
  const Cta& cta = ctaOf(step);
  if (registers_.empty()) {
    // The kernel starts with what its launch bound leaves room for; what it really has is no more.
    const std::uint64_t even = kRegistersOfSm / (std::uint64_t{launch_.warps()} * kWarpSize) / kGranularity * kGranularity;
    register_moves_.resize(run_.cluster.warps.size());
    registers_.assign(run_.cluster.warps.size(), static_cast<std::uint32_t>(std::min(even, kMaxPerThread)));
  }
  std::uint64_t others = 0;
  for (std::size_t w = cta.first_warp; w < cta.first_warp + cta.warp_count; ++w) {
    const bool has_left = run_.cluster.warps[w].live == 0;
    others += w == step.warp.id || has_left ? 0 : registers_[w] * kWarpSize;
  }
  if (effect.is_increase && others + *wanted * kWarpSize > kRegistersOfSm) {
    Fragment& fragment = step.warp.fragments[isolate(step)];
    fragment.state = Fragment::State::kAtRegisterPool;
    fragment.pc = step.index;
    return;
  }
  registers_[step.warp.id] = static_cast<std::uint32_t>(*wanted);
  register_moves_[step.warp.id].push_back(step.index);
  progress();
  wakePollers();
}

}  // namespace handoff::machine
