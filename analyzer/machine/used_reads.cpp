// SPDX-License-Identifier: Apache-2.0
// Taint of watched loads through the registers of a warp.
#include "analyzer/machine/used_reads.h"

#include <variant>

#include "analyzer/machine/executor.h"

namespace handoff::machine {

namespace {

constexpr std::size_t kMaxWatched = 64;

}  // namespace

std::vector<bool> usedReads(const Program& whole, const Launch& launch, const RunOptions& options,
                            const std::vector<ReadInstance>& reads) {
  std::vector<bool> used(reads.size(), true);
  ReadWatch watch;
  for (std::size_t i = 0; i < std::min(reads.size(), kMaxWatched); ++i) watch.reads.push_back(reads[i]);
  Executor executor(whole, launch, options);
  executor.watch(&watch);
  const Outcome outcome = executor.run();
  if (!watch.is_complete) return used;
  for (std::size_t i = 0; i < watch.reads.size(); ++i) used[i] = ((watch.used >> i) & 1) != 0 || !((watch.seen >> i) & 1);
  return used;
}

std::uint64_t Executor::watchedIn(const Warp& warp, const Arg& arg) const {
  std::uint64_t bits = 0;
  const bool in_register = arg.slot != kNoSlot && !(arg.slot & kConstantBit);
  if (in_register && arg.slot < warp.watched.size()) bits |= warp.watched[arg.slot];
  for (std::uint32_t i = 0; i < arg.count; ++i) bits |= watchedIn(warp, program_.args[arg.first + i]);
  return bits;
}

void Executor::setWatched(Warp& warp, const Arg& arg, std::uint64_t bits, bool keeps_old) {
  if (arg.slot != kNoSlot && !(arg.slot & kConstantBit) && arg.slot < warp.watched.size()) {
    warp.watched[arg.slot] = bits | (keeps_old ? warp.watched[arg.slot] : 0);
  }
  for (std::uint32_t i = 0; i < arg.count; ++i) setWatched(warp, program_.args[arg.first + i], bits, keeps_old);
}

// Before an instruction runs: what it reads is used, unless it only moves it on.
void Executor::watchStep(Warp& warp, const Op& op, LaneMask lanes) {
  if (warp.watched.empty()) warp.watched.resize(program_.register_count, 0);
  std::uint64_t read = op.guard != kNoSlot && !(op.guard & kConstantBit) ? warp.watched[op.guard] : 0;
  std::uint64_t moved = 0;
  const auto* alu = std::get_if<ptx::Alu>(&op.decoded->effect);
  const bool is_move = alu != nullptr && alu->op == ptx::AluOp::kMov;
  for (std::uint32_t i = op.dst_count; i < op.arg_count; ++i) (is_move ? moved : read) |= watchedIn(warp, arg(op, i));
  watch_->used |= read;
  const bool partial = lanes != warp.live;
  for (std::uint32_t i = 0; i < op.dst_count; ++i) setWatched(warp, arg(op, i), moved, partial);
}

// After a load ran: its destinations carry the watch.
void Executor::watchLoad(Warp& warp, const Op& op, OpIndex index) {
  for (std::size_t i = 0; i < watch_->reads.size(); ++i) {
    const ReadInstance& read = watch_->reads[i];
    if (read.warp != warp.id || read.instr != op.instr || read.pass != warp.passes[index]) continue;
    watch_->seen |= std::uint64_t{1} << i;
    for (std::uint32_t d = 0; d < op.dst_count; ++d) setWatched(warp, arg(op, d), std::uint64_t{1} << i, /*keeps_old=*/true);
  }
}

}  // namespace handoff::machine
