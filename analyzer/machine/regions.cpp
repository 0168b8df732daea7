// SPDX-License-Identifier: Apache-2.0
// A search through the region behind a branch.
#include "analyzer/machine/regions.h"

#include <algorithm>
#include <unordered_set>
#include <variant>

#include "analyzer/machine/slice.h"
#include "analyzer/machine/strength.h"

namespace handoff::machine {

using ptx::Space;

namespace {

/// Larger regions are not searched for effects.
constexpr std::size_t kMaxRegionOps = 20'000;

bool isRelaxed(const ptx::Decoded& decoded) { return isWeak(decoded) || decoded.sem == ptx::Sem::kRelaxed; }

bool computes(const Op& op) {
  const ptx::Effect& effect = op.decoded->effect;
  return std::holds_alternative<ptx::Alu>(effect) || std::holds_alternative<ptx::Opaque>(effect) ||
         std::holds_alternative<ptx::Hint>(effect) || std::holds_alternative<ptx::Branch>(effect);
}

bool isRegister(const Arg& arg) {
  return arg.kind != Arg::Kind::kSink && arg.slot != kNoSlot && (arg.slot & kConstantBit) == 0;
}

}  // namespace

bool touchesGlobal(const Program& program, const Op& op) {
  if (op.decoded->space() != Space::kGlobal || op.is_apart) return false;
  const ptx::Effect& effect = op.decoded->effect;
  if (std::holds_alternative<ptx::Load>(effect)) return program.has_bulk_stores;
  const bool writes = std::holds_alternative<ptx::Store>(effect) || std::holds_alternative<ptx::Atomic>(effect);
  return writes && program.has_async_copies;
}

bool Regions::isPlain(const Op& op) const {
  const ptx::Decoded& decoded = *op.decoded;
  const ptx::Effect& effect = decoded.effect;
  const Space space = decoded.space();
  // Stores to global memory matter where they may meet the source of a copy, loads where a copy may write.
  const bool is_free_store = space == Space::kGlobal && (!program_.has_async_copies || op.is_apart);
  if (std::holds_alternative<ptx::Load>(effect)) {
    const bool is_known_space = space != Space::kGeneric && space != Space::kSharedCluster;
    return isWeak(decoded) && is_known_space && (space != Space::kGlobal || !program_.has_bulk_stores || op.is_apart);
  }
  if (std::holds_alternative<ptx::Store>(effect)) return isWeak(decoded) && (space == Space::kShared || is_free_store);
  if (std::holds_alternative<ptx::Atomic>(effect)) return isRelaxed(decoded) && (space == Space::kShared || is_free_store);
  return computes(op);
}

// In a loop that turns until data say otherwise: what an atomic finds there may be a lock.
bool Regions::handsOn(const Op& op) const {
  if (!std::holds_alternative<ptx::Atomic>(op.decoded->effect) || op.dst_count == 0) return false;
  const Arg& destination = program_.args[op.first_arg];
  return destination.kind != Arg::Kind::kSink && destination.slot != kNoSlot;
}

const Region& Regions::at(OpIndex branch) {
  const auto [it, is_new] = known_.try_emplace(branch);
  Region& region = it->second;
  const Op& op = program_.ops[branch];
  if (!is_new || op.reconverge == kNoOp) return region;
  std::unordered_set<OpIndex> seen;
  std::unordered_set<Slot> written, read;
  std::vector<OpIndex> work{branch + 1, op.target};
  const auto noteWrites = [&](const Arg& destination, const auto& self) -> void {
    if (destination.kind == Arg::Kind::kSlot && isRegister(destination)) written.insert(destination.slot);
    for (std::uint32_t i = 0; i < destination.count; ++i) self(program_.args[destination.first + i], self);
  };
  const auto noteReads = [&](const Arg& source, const auto& self) -> void {
    if (isRegister(source)) read.insert(source.slot);
    for (std::uint32_t i = 0; i < source.count; ++i) self(program_.args[source.first + i], self);
  };
  bool is_silent = true, is_plain = true, hands_on = false, is_arithmetic = true;
  while (!work.empty()) {
    const OpIndex at = work.back();
    work.pop_back();
    if (at == op.reconverge || !seen.insert(at).second) continue;
    if (at >= program_.ops.size() || seen.size() > kMaxRegionOps) return region;
    const Op& inner = program_.ops[at];
    const bool is_store = std::holds_alternative<ptx::Store>(inner.decoded->effect) && inner.decoded->space() != Space::kGlobal;
    const bool is_jump = std::holds_alternative<ptx::Branch>(inner.decoded->effect);
    is_silent &= !hasProtocolEffect(program_.instruction(inner)) && !is_store && !touchesGlobal(program_, inner) &&
                 !std::holds_alternative<ptx::BranchIndexed>(inner.decoded->effect);
    is_plain &= isPlain(inner);
    is_arithmetic &= computes(inner);
    hands_on |= handsOn(inner);
    if (!is_silent && !is_plain) return region;
    for (std::uint32_t d = 0; d < inner.dst_count; ++d) noteWrites(program_.args[inner.first_arg + d], noteWrites);
    for (std::uint32_t i = inner.dst_count; i < inner.arg_count; ++i) noteReads(program_.args[inner.first_arg + i], noteReads);
    if (inner.guard != kNoSlot && (inner.guard & kConstantBit) == 0) read.insert(inner.guard);
    if (is_jump) work.push_back(inner.target);
    if (!is_jump || inner.guard != kNoSlot) work.push_back(at + 1);
  }
  region.is_silent = is_silent;
  region.is_loop = seen.contains(branch);
  region.is_plain = is_plain && (!region.is_loop || !hands_on);
  region.size = seen.size();
  region.is_arithmetic = is_arithmetic && !region.is_loop;
  if (region.is_arithmetic) region.ops.assign(seen.begin(), seen.end());
  region.written.assign(written.begin(), written.end());
  std::sort(region.written.begin(), region.written.end());
  region.read.assign(read.begin(), read.end());
  return region;
}

}  // namespace handoff::machine
