// SPDX-License-Identifier: Apache-2.0
// Register-only effects.
#include "analyzer/machine/alu.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "analyzer/machine/executor.h"

namespace handoff::machine {

namespace {

bool reads(const Arg& arg) { return arg.kind == Arg::Kind::kSlot || arg.kind == Arg::Kind::kAddress; }

Lanes negatedPredicate(Lanes lanes) {
  for (std::uint64_t& word : lanes.word) word ^= 1;
  return lanes;
}

// "mov.b64 {lo, hi}, x" and "mov.b64 x, {lo, hi}".
Lanes packed(const std::vector<const Lanes*>& parts, unsigned part_bits) {
  Lanes out;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    out.unknown |= parts[p]->unknown;
    const std::uint64_t mask = part_bits >= 64 ? ~0ull : (1ull << part_bits) - 1;
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      out.word[lane] |= (parts[p]->word[lane] & mask) << (p * part_bits);
    }
  }
  return out;
}

Lanes part(const Lanes& whole, std::size_t index, unsigned part_bits) {
  Lanes out;
  out.unknown = whole.unknown;
  const std::uint64_t mask = part_bits >= 64 ? ~0ull : (1ull << part_bits) - 1;
  for (unsigned lane = 0; lane < kWarpSize; ++lane) out.word[lane] = (whole.word[lane] >> (index * part_bits)) & mask;
  return out;
}

/// A known source, and whether its word comes from inputs.
struct Source { const Lanes* words = nullptr; bool is_input = false; };

// The lanes of a known result beside unknown sources that present values of inputs have decided: the result is the datum
// for other inputs.
LaneMask decidedByInputs(std::span<const Source> sources, bool is_selection) {
  LaneMask decided = 0;
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    bool is_mixed = false, by_input = false;
    for (const Source& source : sources) {
      is_mixed |= !source.words->isKnown(lane);
      by_input |= source.is_input && source.words->isKnown(lane);
    }
    // What a constant selects has a term of its own.
    if (is_selection && sources[2].words->isKnown(lane)) by_input = sources[2].is_input;
    if (is_mixed && by_input) decided |= laneBit(lane);
  }
  return decided;
}

/// Whether the pointer that is compared with null is null; kConcrete: it is as the launch says.
symbolic::TermId nullTerm(const PathLog& path, const Program& program, OpIndex index) {
  const auto check = std::lower_bound(program.null_checks.begin(), program.null_checks.end(), index,
                                      [](const NullCheck& one, OpIndex wanted) { return one.op < wanted; });
  for (const SymbolicInputs::Pointer& pointer : path.inputs().pointers) {
    if (pointer.offset == check->parameter) return pointer.is_null;
  }
  return symbolic::kConcrete;
}

// Where the hardware keeps the rank of a CTA in a shared::cluster address, kernels clear its lowest bit with a mask to
// name the leader of a pair of CTAs (docs/soundness.md, "Assumptions"). The rank of an address that names no CTA is that of
// the executing one. Returns the window of each lane's address; nothing where these are no addresses, or this is no such mask.
std::optional<std::array<std::uint64_t, kWarpSize>> maskedWindows(const Cluster& cluster, std::uint32_t executing,
                                                                  LaneMask lanes, std::span<const Lanes* const> sources) {
  constexpr std::uint64_t kAboveRanks = 0xf0;  // of sixteen CTAs at most; a mask that clears these is about numbers
  constexpr std::uint64_t kOffsetMask = (std::uint64_t{1} << kClusterShift) - 1;
  if (cluster.ctas.size() == 1 || sources.size() != 2) return std::nullopt;
  std::array<std::uint64_t, kWarpSize> windows{};
  bool are_addresses = true;
  forEachLane(lanes, [&](unsigned lane) {
    const std::uint64_t mask = sources[1]->word[lane] & 0xffffffff, word = sources[0]->word[lane] & 0xffffffff;
    const std::uint64_t window = word >> kClusterShift, kept = mask >> kClusterShift, local = word & kOffsetMask;
    are_addresses &= sources[0]->isKnown(lane) && sources[1]->isKnown(lane) && (local & mask) == local &&
                     (kept & kAboveRanks) == kAboveRanks && kept != 0xff && window <= cluster.ctas.size() && local >= kSharedBase;
    if (!are_addresses) return;
    const std::uint64_t rank = window == 0 ? executing : window - 1;
    are_addresses = cluster.ctas[rank].shadow->contains(local - kSharedBase, 1);
    windows[lane] = ((rank & kept) + 1) << kClusterShift;
  });
  return are_addresses ? std::optional(windows) : std::nullopt;
}

}  // namespace

// An address that names no CTA is of the executing one.
void Executor::assignRank(const Step& step) {
  Lanes ranks = value(step.warp, arg(step.op, 1).slot);
  noteValue(step, termAt(step.warp, arg(step.op, 1).slot), ranks, step.lanes);
  for (std::uint64_t& word : ranks.word) {
    const std::uint64_t window = (word & 0xffffffff) >> kClusterShift;
    word = window == 0 ? step.warp.cta : window - 1;
  }
  assign(step.warp, arg(step.op, 0), ranks, step.lanes);
}

void Executor::operator()(const ptx::Alu& effect, const Step& step) {
  const Op& op = step.op;
  if (op.dst_count == 0 || op.arg_count < 2) return;
  const Arg& destination = arg(op, 0);
  const Arg& first = arg(op, op.dst_count);
  const unsigned bits = bitWidth(op.decoded->type());
  const bool is_wide = op.decoded->type() == ptx::Type::kB128;
  if (effect.op == ptx::AluOp::kGetctarank) return assignRank(step);
  if (destination.kind == Arg::Kind::kVector && effect.op == ptx::AluOp::kMov && !is_wide) {
    const Lanes whole = value(step.warp, first.slot);
    const symbolic::TermId term = termAt(step.warp, first.slot);
    for (std::uint32_t i = 0; i < destination.count; ++i) {
      const unsigned part_bits = bits / destination.count;
      assign(step.warp, program_.args[destination.first + i], part(whole, i, part_bits), step.lanes,
             partTerm(term, i * part_bits, part_bits), partData(step, first.slot, i * part_bits, part_bits));
    }
    return;
  }
  if (first.kind == Arg::Kind::kVector && effect.op == ptx::AluOp::kMov && !is_wide) {
    std::vector<const Lanes*> parts;
    for (std::uint32_t i = 0; i < first.count; ++i) {
      parts.push_back(&value(step.warp, program_.args[first.first + i].slot));
    }
    const unsigned part_bits = bits / std::max(first.count, 1u);
    return assign(step.warp, destination, packed(parts, part_bits), step.lanes, packedTerm(step, first, part_bits, bits),
                  packedData(step, first, part_bits, bits));
  }
  std::array<const Lanes*, 6> sources{};
  std::array<Lanes, 6> changed;
  std::size_t count = 0;
  for (std::uint32_t i = op.dst_count; i < op.arg_count && count < sources.size(); ++i) {
    const Arg& source = arg(op, i);
    if (!reads(source) || is_wide) return forgetDestinations(step);
    sources[count] = &value(step.warp, source.slot);
    if (source.is_negated) sources[count] = &(changed[count] = negatedPredicate(*sources[count]));
    ++count;
  }
  const bool has_second = destination.kind == Arg::Kind::kSlot && destination.count != 0;
  Lanes second;
  Lanes result = evaluate(*op.decoded, effect.op, {sources.data(), count}, has_second ? &second : nullptr);
  std::array<Source, 6> origins{};
  for (std::size_t i = 0; i < count; ++i) {
    origins[i] = {sources[i], termAt(step.warp, arg(op, op.dst_count + static_cast<unsigned>(i)).slot) != symbolic::kConcrete};
  }
  result.unknown |= decidedByInputs({origins.data(), count}, effect.op == ptx::AluOp::kSelp);
  AluTerms terms = aluTerms(step, effect.op, {sources.data(), count});
  if (path_ != nullptr && op.is_null_check) {
    const symbolic::TermId is_null = nullTerm(*path_, program_, step.index);
    if (is_null != symbolic::kConcrete) {
      const symbolic::TermId is_not = path_->terms().bitNot(is_null);
      const bool is_equal = op.decoded->cmp == ptx::CmpOp::kEq;
      terms = {is_equal ? is_null : is_not, is_equal ? is_not : is_null};
    }
  }
  const bool may_mask = effect.op == ptx::AluOp::kAnd && bits == 32;
  if (const auto windows = may_mask ? maskedWindows(run_.cluster, step.warp.cta, step.lanes, {sources.data(), count}) : std::nullopt) {
    forEachLane(step.lanes, [&](unsigned lane) { result.word[lane] = (*windows)[lane] | withinCta(result.word[lane]); });
    if (terms.first != symbolic::kConcrete) {
      symbolic::Terms& all = path_->terms();
      terms.first = all.bitOr(all.bitAnd(terms.first, all.constant(withinCta(~std::uint64_t{0}), bits)), all.lanes(*windows, bits));
    }
  }
  const AluTerms data = (result.unknown & step.lanes) != 0 ? aluData(step, effect.op, count) : AluTerms{};
  assign(step.warp, destination, result, step.lanes, terms.first, data.first);
  if (has_second) assign(step.warp, program_.args[destination.first], second, step.lanes, terms.second, data.second);
}

// A computation under a guard that depends on the inputs: both results, and a choice between them.
void Executor::computeUnderGuard(const Step& step, const ptx::Alu& effect, LaneMask active) {
  symbolic::Terms& terms = path_->terms();
  struct Saved { Slot slot; Lanes words; symbolic::TermId term; };
  std::vector<Saved> saved;
  const auto save = [&](const Arg& arg, const auto& self) -> void {
    const bool is_register = arg.kind == Arg::Kind::kSlot && arg.slot != kNoSlot && (arg.slot & kConstantBit) == 0;
    if (is_register) saved.push_back({arg.slot, step.warp.registers[arg.slot], termAt(step.warp, arg.slot)});
    for (std::uint32_t i = 0; i < arg.count; ++i) self(program_.args[arg.first + i], self);
  };
  for (std::uint32_t d = 0; d < step.op.dst_count; ++d) save(arg(step.op, d), save);
  symbolic::TermId guard = terms.ofLanes(termAt(step.warp, step.op.guard), active);
  if (step.op.is_guard_negated) guard = terms.bitNot(guard);
  Lanes holding;
  forEachLane(step.lanes, [&](unsigned lane) { holding.word[lane] = 1; });
  (*this)(effect, Step{step.warp, step.fragment, step.op, step.index, active});
  for (const Saved& old : saved) {
    const unsigned bits = program_.slot_bits[old.slot];
    const symbolic::TermId then = asTerm(termAt(step.warp, old.slot), step.warp.registers[old.slot], active, bits);
    const symbolic::TermId otherwise = asTerm(old.term, old.words, active, bits);
    Lanes words = step.warp.registers[old.slot];
    forEachLane(active & ~step.lanes, [&](unsigned lane) {
      words.word[lane] = old.words.word[lane];
      words.unknown = (words.unknown & ~laneBit(lane)) | (old.words.unknown & laneBit(lane));
    });
    // Where one side is a datum the term cannot tell: the run goes by the guard as it is.
    const LaneMask open = active & (step.warp.registers[old.slot].unknown | old.words.unknown) & ~words.unknown;
    noteValue(step, termAt(step.warp, step.op.guard), value(step.warp, step.op.guard), open);
    const symbolic::TermId side = open == 0 ? guard : terms.merge(open, asTerm(symbolic::kConcrete, holding, open, 1), guard);
    // Lanes outside of the fragment keep what they have.
    step.warp.registers[old.slot] = old.words;
    if (!step.warp.terms.empty()) step.warp.terms[old.slot] = old.term;
    assign(step.warp, Arg{.kind = Arg::Kind::kSlot, .slot = old.slot}, words, active, terms.choose(side, then, otherwise));
  }
}

void Executor::operator()(const ptx::Opaque&, const Step& step) { forgetDestinations(step); }

namespace {

struct Shuffle {
  std::uint64_t from = 0;
  bool in_range = false;
};

// PTX ISA, "shfl.sync": the source lane and whether it lies within the segment.
Shuffle shuffleSource(const ptx::Decoded& decoded, unsigned lane, std::uint64_t b, std::uint64_t c) {
  const unsigned clamp = c & 0x1f, segment = (c >> 8) & 0x1f;
  const unsigned max_lane = (lane & segment) | (clamp & ~segment);
  const unsigned min_lane = lane & segment;
  const int offset = static_cast<int>(b & 0x1f);
  int from = 0;
  bool ok = false;
  if (decoded.has("up")) {
    from = static_cast<int>(lane) - offset;
    ok = from >= static_cast<int>(max_lane);
  } else if (decoded.has("down")) {
    from = static_cast<int>(lane) + offset;
    ok = from <= static_cast<int>(max_lane);
  } else if (decoded.has("bfly")) {
    from = static_cast<int>(lane) ^ offset;
    ok = from <= static_cast<int>(max_lane);
  } else {
    from = static_cast<int>(min_lane | (static_cast<unsigned>(offset) & ~segment));
    ok = from <= static_cast<int>(max_lane);
  }
  return {ok ? static_cast<std::uint64_t>(from) : lane, ok};
}

}  // namespace

void Executor::operator()(const ptx::Collective& effect, const Step& step) {
  const Op& op = step.op;
  Warp& warp = step.warp;
  const Arg& destination = arg(op, 0);
  const auto source = [&](unsigned i) -> const Lanes& { return value(warp, arg(op, op.dst_count + i).slot); };
  const auto all = [&](std::uint64_t word, LaneMask unknown) {
    Lanes lanes;
    lanes.word.fill(word);
    lanes.unknown = unknown;
    assign(warp, destination, lanes, step.lanes);
  };
  switch (effect.op) {
    case ptx::CollectiveOp::kActivemask: return all(step.lanes, 0);
    case ptx::CollectiveOp::kElect: {
      // Which lane is elected is unspecified; it is one lane, the same each time. The machine takes the lowest.
      const unsigned leader = lowestLane(step.lanes);
      Lanes predicate;
      predicate.word[leader] = 1;
      if (destination.kind == Arg::Kind::kSlot && destination.count != 0) {
        all(leader, 0);
        return assign(warp, program_.args[destination.first], predicate, step.lanes);
      }
      if (destination.count != 0) return assign(warp, program_.args[destination.first], predicate, step.lanes);
      return assign(warp, destination, predicate, step.lanes);
    }
    case ptx::CollectiveOp::kVote: {
      Lanes votes = source(0);
      if (arg(op, op.dst_count).is_negated) votes = negatedPredicate(votes);
      LaneMask ballot = 0;
      forEachLane(step.lanes, [&](unsigned lane) { ballot |= (votes.word[lane] & 1) ? laneBit(lane) : 0; });
      const LaneMask unknown = votes.unknown & step.lanes ? kAllLanes : 0;
      if (op.decoded->has("ballot")) return all(ballot, unknown);
      if (op.decoded->has("any")) return all(ballot != 0, ballot & ~votes.unknown ? 0 : unknown);
      if (op.decoded->has("all")) return all(ballot == step.lanes, step.lanes & ~ballot & ~votes.unknown ? 0 : unknown);
      return all(ballot == 0 || ballot == step.lanes, unknown);
    }
    case ptx::CollectiveOp::kShfl: {
      const Lanes &words = source(0), &b = source(1), &c = source(2);
      Lanes out, in_range;
      forEachLane(step.lanes, [&](unsigned lane) {
        const Shuffle s = shuffleSource(*op.decoded, lane, b.word[lane], c.word[lane]);
        out.word[lane] = words.word[s.from];
        in_range.word[lane] = s.in_range;
        const bool unknown = !words.isKnown(static_cast<unsigned>(s.from)) || !b.isKnown(lane) || !c.isKnown(lane);
        if (unknown) out.unknown |= laneBit(lane);
      });
      // A value that is the same in all lanes stays what it is; others are taken as they are.
      const symbolic::TermId term = termAt(warp, arg(op, op.dst_count).slot);
      const symbolic::TermId seen = term == symbolic::kConcrete ? term : path_->terms().ofLanes(term, step.lanes);
      const bool is_uniform = seen != symbolic::kConcrete && !path_->terms()[seen].has_lanes;
      if (!is_uniform) noteValue(step, term, words, step.lanes);
      assign(warp, destination, out, step.lanes, is_uniform ? seen : symbolic::kConcrete);
      if (destination.kind == Arg::Kind::kSlot && destination.count != 0) {
        assign(warp, program_.args[destination.first], in_range, step.lanes);
      }
      return;
    }
    case ptx::CollectiveOp::kMatch:
    case ptx::CollectiveOp::kRedux: break;
  }
  const Lanes& words = source(0);
  if ((words.unknown & step.lanes) != 0) return forgetDestinations(step);
  if (effect.op == ptx::CollectiveOp::kMatch && op.decoded->has("any")) {
    Lanes out;
    forEachLane(step.lanes, [&](unsigned lane) {
      forEachLane(step.lanes, [&](unsigned other) {
        if (words.word[other] == words.word[lane]) out.word[lane] |= laneBit(other);
      });
    });
    return assign(warp, destination, out, step.lanes);
  }
  if (effect.op == ptx::CollectiveOp::kRedux && (op.decoded->has("add") || op.decoded->has("or") ||
                                                 op.decoded->has("and"))) {
    std::uint64_t result = op.decoded->has("and") ? 0xffffffff : 0;
    forEachLane(step.lanes, [&](unsigned lane) {
      if (op.decoded->has("add")) result += words.word[lane];
      if (op.decoded->has("or")) result |= words.word[lane];
      if (op.decoded->has("and")) result &= words.word[lane];
    });
    return all(result & 0xffffffff, 0);
  }
  forgetDestinations(step);
}

}  // namespace handoff::machine
