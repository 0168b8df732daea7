// SPDX-License-Identifier: Apache-2.0
// How registers depend on the inputs, and what a run decides on that.
#include <algorithm>
#include <utility>
#include <variant>

#include "analyzer/machine/address.h"
#include "analyzer/machine/core.h"

namespace handoff::machine {

using symbolic::kConcrete;
using symbolic::TermId;

TermId Core::asTerm(TermId term, const Lanes& words, LaneMask lanes, unsigned bits) const {
  symbolic::Terms& terms = path_->terms();
  if (term != kConcrete) return terms.resize(terms.ofLanes(term, lanes), bits);
  // Lanes that nobody asks about must not make a uniform value differ.
  const LaneMask known = lanes & ~words.unknown;
  symbolic::LaneWords normal = words.word;
  if (known != 0) {
    const std::uint64_t first = words.word[lowestLane(known)];
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      if (!(known & laneBit(lane))) normal[lane] = first;
    }
  }
  return terms.lanes(normal, bits);
}

void Core::setTerm(Warp& warp, Slot slot, TermId term, const Lanes& words, LaneMask mask) {
  TermId& held = warp.terms[slot];
  if (held == kConcrete && term == kConcrete) return;
  symbolic::Terms& terms = path_->terms();
  if ((warp.live & ~mask) != 0) {
    const unsigned bits = terms[term != kConcrete ? term : held].width;
    const TermId fresh = asTerm(term, words, mask, bits);
    const TermId old = asTerm(held, warp.registers[slot], warp.live & ~mask, bits);
    term = terms.merge(mask, fresh, old);
  }
  held = term != kConcrete && terms[term].has_symbols ? term : kConcrete;
}

bool Core::dependsOnInputs(const Warp& warp, const Arg& arg) const {
  if (termAt(warp, arg.slot) != kConcrete) return true;
  for (std::uint32_t i = 0; i < arg.count; ++i) {
    if (dependsOnInputs(warp, program_.args[arg.first + i])) return true;
  }
  return false;
}

bool Core::noteGuard(const Step& step, LaneMask asked, LaneMask holds) {
  const TermId guard = termAt(step.warp, step.op.guard);
  const LaneMask known = asked & ~value(step.warp, step.op.guard).unknown;
  if (guard == kConcrete || known == 0) return false;
  const GuardClass found = guards_->classify(step.index);
  if (found == GuardClass::kSilent) return false;
  Decision decision;
  decision.condition = path_->terms().ofLanes(guard, known);
  decision.lanes = known;
  // `holds` is about the guard; the condition is the predicate itself.
  decision.truth = step.op.is_guard_negated ? known & ~holds : known & holds;
  decision.instr = step.op.instr;
  decision.leaves_loop = step.op.leaves_loop_on_taken || step.op.leaves_loop_on_fallthrough;
  // A loop of accesses that all threads turn alike is run with any number of turns.
  const bool is_uniform_loop = decision.leaves_loop && !path_->terms()[decision.condition].has_lanes;
  const bool is_control = found == GuardClass::kControl || is_uniform_loop;
  if (!is_control) {
    decision.kind = Decision::Kind::kAccess;
    decision.wants = (found == GuardClass::kAccessIfTaken) != step.op.is_guard_negated;
  }
  path_->add(decision);
  return is_control;
}

void Core::noteValue(const Step& step, TermId term, const Lanes& words, LaneMask lanes) {
  const LaneMask known = lanes & ~words.unknown;
  if (term == kConcrete || known == 0) return;
  symbolic::Terms& terms = path_->terms();
  const TermId asked = terms.ofLanes(term, known);
  const TermId now = asTerm(kConcrete, words, known, terms[asked].width);
  path_->add({.kind = Decision::Kind::kValue, .condition = terms.equal(asked, now), .lanes = known, .truth = known,
              .instr = step.op.instr, .value = asked, .value_lanes = known});
}

namespace {

/// The lanes whose generic address lies in one of these spaces.
template <typename... Spaces>
LaneMask lanesIn(const Lanes& words, LaneMask lanes, Spaces... spaces) {
  LaneMask within = 0;
  forEachLane(lanes & ~words.unknown, [&](unsigned lane) {
    const ptx::Space space = classify(words.word[lane]).space;
    if (((space == spaces) || ...)) within |= laneBit(lane);
  });
  return within;
}

constexpr std::uint64_t kWindowsBegin = kSharedWindow, kWindowsEnd = kConstWindow + kWindowSize;

/// Whether a choice within the address leads to another space than global memory for some inputs. Sums that only wrap into
/// a window do not count: no access leaves its allocation. `budget`: sums to look at.
bool choosesWindow(symbolic::Terms& terms, TermId address, unsigned& budget) {
  if (budget == 0) return true;
  --budget;
  const symbolic::Term term = terms[address];
  const auto either = [&](TermId x, TermId y) { return choosesWindow(terms, x, budget) || choosesWindow(terms, y, budget); };
  if (term.op == symbolic::TermOp::kChoose) return either(term.b, term.c);
  if (term.op == symbolic::TermOp::kAdd) {
    for (const auto& [choice, rest] : {std::pair(term.a, term.b), std::pair(term.b, term.a)}) {
      const symbolic::Term chosen = terms[choice];
      if (chosen.op == symbolic::TermOp::kChoose) return either(terms.add(chosen.b, rest), terms.add(chosen.c, rest));
    }
  }
  if (term.op == symbolic::TermOp::kLaneConstant) {
    const symbolic::LaneWords& words = terms.laneWords(address);
    return std::any_of(words.begin(), words.end(), [](std::uint64_t word) { return classify(word).space != ptx::Space::kGlobal; });
  }
  return term.low >= kWindowsBegin && term.high < kWindowsEnd;
}

/// Which operands of an effect the protocol goes by.
struct Operands {
  const Program& program;
  const Op& op;
  bool is_to_stack = false;  ///< some lane stores there, by a generic address

  ptx::Space spaceOf(std::size_t side) const {
    const bool is_barrier = op.decoded->space_count != 0 && side >= op.decoded->space_count;
    if (is_barrier) return ptx::Space::kShared;
    return op.decoded->space_count != 0 ? op.decoded->spaces[side] : ptx::Space::kGeneric;
  }

  /// Addresses matter, in global memory only as far as the run itself goes; stored data where contents are followed.
  bool isAccessOperand(const Arg& arg) const {
    if (arg.kind == Arg::Kind::kAddress || is_to_stack) return true;
    const ptx::Effect& effect = op.decoded->effect;
    const bool stores = std::holds_alternative<ptx::Store>(effect) || std::holds_alternative<ptx::Atomic>(effect) ||
                        std::holds_alternative<ptx::AsyncStore>(effect);
    if (!stores || op.decoded->space() == ptx::Space::kGlobal) return false;
    const ptx::Space space = op.decoded->space();
    const bool is_private = space == ptx::Space::kLocal || space == ptx::Space::kParam;
    return is_private || program.needs_shared_contents;
  }

  bool operator()(const ptx::Load&, std::uint32_t i) const { return isAccessOperand(at(i)); }
  bool operator()(const ptx::Store&, std::uint32_t i) const { return isAccessOperand(at(i)); }
  bool operator()(const ptx::Atomic&, std::uint32_t i) const { return isAccessOperand(at(i)); }
  bool operator()(const ptx::AsyncStore&, std::uint32_t i) const { return isAccessOperand(at(i)); }
  bool operator()(const ptx::LdMatrix&, std::uint32_t i) const { return isAccessOperand(at(i)); }
  bool operator()(const ptx::StMatrix&, std::uint32_t i) const { return isAccessOperand(at(i)); }
  bool operator()(const ptx::WmmaLoad&, std::uint32_t i) const { return isAccessOperand(at(i)); }
  bool operator()(const ptx::WmmaStore&, std::uint32_t i) const { return isAccessOperand(at(i)); }
  bool operator()(const ptx::CpAsync&, std::uint32_t i) const { return i == 0; }  // sizes of the source change no order
  /// A shuffle looks at its data itself.
  bool operator()(const ptx::Collective& collective, std::uint32_t i) const {
    return collective.op != ptx::CollectiveOp::kShfl || i != op.dst_count;
  }
  bool operator()(const ptx::Hint&, std::uint32_t) const { return false; }
  bool operator()(const ptx::Opaque&, std::uint32_t) const { return false; }
  bool operator()(const ptx::BulkPrefetch&, std::uint32_t) const { return false; }
  bool operator()(const ptx::Alu&, std::uint32_t) const { return false; }     // terms of their own
  bool operator()(const ptx::Branch&, std::uint32_t) const { return false; }  // noteGuard
  template <typename Other>
  bool operator()(const Other&, std::uint32_t) const { return true; }

  const Arg& at(std::uint32_t i) const { return program.args[op.first_arg + i]; }
};

}  // namespace

// Of a generic address the lanes that lie in global memory go by that alone.
void Core::noteGenericAddress(const Step& step, const Arg& arg) {
  const TermId term = termAt(step.warp, arg.slot);
  const Lanes words = addressWords(step.warp, arg);
  const LaneMask global = lanesIn(words, step.lanes, ptx::Space::kGlobal);
  noteValue(step, term, value(step.warp, arg.slot), step.lanes & ~global);
  if (term == kConcrete || global == 0) return;
  symbolic::Terms& terms = path_->terms();
  const TermId address = terms.ofLanes(term, global);
  unsigned budget = 64;
  if (terms[address].width != 64 || !choosesWindow(terms, address, budget)) return;
  const TermId in_windows = terms.subtract(address, terms.constant(kWindowsBegin - static_cast<std::uint64_t>(arg.offset), 64));
  path_->add({.kind = Decision::Kind::kValue,
              .condition = terms.less(in_windows, terms.constant(kWindowsEnd - kWindowsBegin, 64), /*is_signed=*/false),
              .lanes = global, .truth = 0, .instr = step.op.instr});
}

void Core::noteOperands(const Step& step) {
  const Op& op = step.op;
  Operands goes_by{program_, op};
  if (std::holds_alternative<ptx::Store>(op.decoded->effect) && goes_by.spaceOf(0) == ptx::Space::kGeneric && op.arg_count != 0) {
    const LaneMask on_stack = lanesIn(addressWords(step.warp, arg(op, 0)), step.lanes, ptx::Space::kLocal, ptx::Space::kParam);
    goes_by.is_to_stack = on_stack != 0;
  }
  const auto note = [&](const Arg& arg) {
    if (const TermId term = termAt(step.warp, arg.slot); term != kConcrete) {
      noteValue(step, term, value(step.warp, arg.slot), step.lanes);
    }
  };
  std::size_t side = 0;
  for (std::uint32_t i = op.dst_count; i < op.arg_count; ++i) {
    const Arg& arg = goes_by.at(i);
    const bool is_address = arg.kind == Arg::Kind::kAddress;
    const ptx::Space space = is_address ? goes_by.spaceOf(side) : ptx::Space::kGeneric;
    side += is_address ? 1 : 0;
    if (space == ptx::Space::kGlobal || !dependsOnInputs(step.warp, arg)) continue;
    if (!std::visit([&](const auto& effect) { return goes_by(effect, i); }, op.decoded->effect)) continue;
    if (is_address && space == ptx::Space::kGeneric) {
      noteGenericAddress(step, arg);
      continue;
    }
    note(arg);
    // Of a tensor's address only the map counts, not the coordinates.
    const bool is_tensor = std::holds_alternative<ptx::TensorCopy>(op.decoded->effect) && arg.kind == Arg::Kind::kVector;
    for (std::uint32_t e = 0; e < (is_tensor ? std::min(1u, arg.count) : arg.count); ++e) note(program_.args[arg.first + e]);
  }
}

}  // namespace handoff::machine
