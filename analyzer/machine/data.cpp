// SPDX-License-Identifier: Apache-2.0
// Registers whose lanes are unknown, as terms over the data that they come from.
#include <algorithm>
#include <array>
#include <utility>
#include <variant>

#include "analyzer/machine/alu.h"
#include "analyzer/machine/core.h"

namespace handoff::machine {

using symbolic::kConcrete;
using symbolic::TermId;

// The lanes of `mask` get the term, others that are unknown keep theirs. A lane of which nothing is known beside one
// with a term needs a datum of its own.
void Core::setData(Warp& warp, Slot slot, TermId term, LaneMask mask) {
  if (slot >= warp.data.size()) return;
  TermId& held = warp.data[slot];
  const LaneMask others = warp.registers[slot].unknown & warp.live & ~mask;
  if (others == 0 || held == term) {
    held = term;
    return;
  }
  DataTerms& data = run_.data;
  const unsigned bits = program_.slot_bits[slot];
  const auto present = [&](TermId id) { return id == kConcrete ? data.fresh(bits, 0) : data.terms().resize(id, bits); };
  const TermId then = present(term), otherwise = present(held);
  held = then == kConcrete || otherwise == kConcrete ? kConcrete : data.orFresh(data.terms().merge(mask, then, otherwise), 0);
}

TermId Core::dataTerm(const Step& step, Slot slot, LaneMask lanes) {
  symbolic::Terms& terms = run_.data.terms();
  const Lanes& words = value(step.warp, slot);
  const LaneMask unknown = words.unknown & lanes;
  const bool is_register = slot != kNoSlot && (slot & kConstantBit) == 0 && slot < step.warp.data.size();
  const unsigned bits = is_register ? program_.slot_bits[slot] : 64;
  TermId of_unknown = kConcrete;
  if (unknown != 0) {
    if (!is_register) return run_.data.fresh(bits, step.op.instr);
    if (step.warp.data[slot] == kConcrete) {
      // A special register is another datum each time, all others hold this one from now on.
      const TermId datum = run_.data.fresh(bits, step.op.instr);
      const bool is_special = std::any_of(program_.specials.begin(), program_.specials.end(), [&](const auto& s) { return s.slot == slot; });
      if (is_special) return datum;
      step.warp.data[slot] = datum;
    }
    of_unknown = step.warp.data[slot];
    if (of_unknown == kConcrete) return kConcrete;
    of_unknown = terms.ofLanes(terms.resize(of_unknown, bits), unknown);
    if (unknown == lanes) return of_unknown;
  }
  const LaneMask known = lanes & ~unknown;
  TermId of_known = kConcrete;
  if (const TermId by_inputs = termAt(step.warp, slot); by_inputs != kConcrete) {
    const TermId imported = run_.data.import(path_->terms(), path_->terms().ofLanes(by_inputs, known),
                                             [&](TermId symbol) { return presentValue(symbol); });
    of_known = terms.resize(imported, bits);
  } else {
    symbolic::LaneWords normal = words.word;
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      if (!(known & laneBit(lane))) normal[lane] = words.word[lowestLane(known)];
    }
    of_known = terms.lanes(normal, bits);
  }
  return unknown == 0 ? of_known : terms.merge(unknown, of_unknown, of_known);
}

// The value that an input has in this run.
std::uint64_t Core::presentValue(TermId symbol) const {
  const SymbolicInputs& inputs = path_->inputs();
  for (const SymbolicInputs::Parameter& parameter : inputs.parameters) {
    if (parameter.symbol != symbol) continue;
    std::uint64_t word = 0;
    for (std::uint32_t i = 0; i < parameter.bytes && i < 8; ++i) {
      word |= std::uint64_t{launch_.param_bytes[parameter.offset + i]} << (8 * i);
    }
    return word;
  }
  for (unsigned d = 0; d < 3; ++d) {
    if (inputs.cluster_index[d] == symbol) return launch_.block_index[d] / std::max(1u, launch_.cluster[d]);
  }
  for (const SymbolicInputs::Word& word : inputs.words) {
    if (word.symbol == symbol) return path_->valueOf(word);
  }
  return 0;  // turns of a loop that have passed
}

Instructions Core::loadsBehind(const Step& step, Slot slot) {
  const TermId term = dataTerm(step, slot, step.lanes);
  Instructions loads;
  if (term == kConcrete) return loads;
  for (const TermId symbol : run_.data.terms().symbolsOf(term)) {
    const DataTerms::Origin& origin = run_.data.originOf(symbol);
    if (origin.is_input) continue;
    const ptx::Decoded& decoded = *program_.function.instructions[origin.instr].decoded;
    if (!std::holds_alternative<ptx::Load>(decoded.effect) || decoded.space() != ptx::Space::kGlobal) return {};
    loads.insert(origin.instr);
  }
  return loads;
}

void Core::wantWords(const Step& step, Slot slot) {
  if (Instructions loads = loadsBehind(step, slot); !loads.empty()) outcome_.wanted_words.insert(std::move(loads));
}

AluTerms Core::aluData(const Step& step, ptx::AluOp alu, std::size_t count) {
  symbolic::Terms& terms = run_.data.terms();
  std::array<TermId, 6> ids{};
  for (std::size_t i = 0; i < count; ++i) {
    const Arg& source = arg(step.op, step.op.dst_count + static_cast<unsigned>(i));
    ids[i] = dataTerm(step, source.slot, step.lanes);
    if (ids[i] == kConcrete) return {};
    if (source.is_negated) ids[i] = terms.bitNot(terms.resize(ids[i], 1));
  }
  const auto result = evaluateTerms(terms, *step.op.decoded, alu, {ids.data(), count});
  if (!result) {
    // Counts of bits have a bound, if no term.
    const bool is_count = alu == ptx::AluOp::kPopc || alu == ptx::AluOp::kClz;
    const TermId datum = is_count ? run_.data.fresh(32, step.op.instr) : kConcrete;
    if (datum == kConcrete) return {};
    return {terms.bitAnd(datum, terms.constant(2 * bitWidth(step.op.decoded->type()) - 1, 32)), kConcrete};
  }
  return {run_.data.orFresh(result->first, step.op.instr), run_.data.orFresh(result->second, step.op.instr)};
}

TermId Core::partData(const Step& step, Slot whole, unsigned from, unsigned bits) {
  if ((value(step.warp, whole).unknown & step.lanes) == 0) return kConcrete;
  symbolic::Terms& terms = run_.data.terms();
  const TermId term = dataTerm(step, whole, step.lanes);
  if (term == kConcrete || from >= terms[term].width) return kConcrete;
  return terms.resize(terms.shiftRight(term, terms.constant(from, terms[term].width), false), bits);
}

TermId Core::packedData(const Step& step, const Arg& parts, unsigned part_bits, unsigned bits) {
  if (bits > 64) return kConcrete;
  symbolic::Terms& terms = run_.data.terms();
  LaneMask unknown = 0;
  for (std::uint32_t i = 0; i < parts.count; ++i) unknown |= value(step.warp, program_.args[parts.first + i].slot).unknown & step.lanes;
  if (unknown == 0) return kConcrete;
  TermId packed = terms.constant(0, bits);
  for (std::uint32_t i = 0; i < parts.count; ++i) {
    const TermId term = dataTerm(step, program_.args[parts.first + i].slot, step.lanes);
    if (term == kConcrete) return kConcrete;
    const TermId wide = terms.resize(terms.resize(term, part_bits), bits);
    packed = terms.add(packed, terms.shiftLeft(wide, terms.constant(i * part_bits, bits)));
  }
  return run_.data.orFresh(packed, step.op.instr);
}

// A register may be wider than what is loaded into it.
void Core::assignLoaded(const Step& step, const Arg& destination, LaneMask mask) {
  const ptx::Type type = step.op.decoded->type();
  const unsigned bits = std::min(64u, 8 * ptx::byteSize(type));
  for (const Arg* element : elements(destination)) {
    const bool is_register = element->kind == Arg::Kind::kSlot && element->slot != kNoSlot && element->slot < step.warp.data.size();
    if (!is_register) continue;
    symbolic::Terms& terms = run_.data.terms();
    TermId datum = bits == 0 ? kConcrete : run_.data.fresh(bits, step.op.instr);
    if (datum != kConcrete) datum = terms.resize(datum, program_.slot_bits[element->slot], ptx::isSigned(type));
    if (!step.warp.terms.empty()) setTerm(step.warp, element->slot, kConcrete, step.warp.registers[element->slot], mask);
    step.warp.registers[element->slot].unknown |= mask;
    setData(step.warp, element->slot, datum, mask);
  }
}

// The condition within a region: `condition` where it can be followed.
TermId Core::under(TermId outer, TermId condition) {
  symbolic::Terms& terms = run_.data.terms();
  if (outer == kConcrete) outer = terms.constant(1, 1);
  return condition == kConcrete ? outer : run_.data.orFresh(terms.bitAnd(outer, terms.resize(condition, 1)), 0);
}

Core::SavedRegister Core::savedRegister(const Warp& warp, Slot slot) const {
  return {slot, warp.registers[slot], termAt(warp, slot), warp.data[slot]};
}

void Core::save(const Warp& warp, const Arg& destination, std::vector<SavedRegister>& to) const {
  const bool is_register = destination.kind == Arg::Kind::kSlot && destination.slot != kNoSlot && (destination.slot & kConstantBit) == 0;
  if (is_register) to.push_back(savedRegister(warp, destination.slot));
  for (std::uint32_t i = 0; i < destination.count; ++i) save(warp, program_.args[destination.first + i], to);
}

void Core::restore(Warp& warp, const SavedRegister& reg) {
  warp.registers[reg.slot] = reg.words;
  warp.data[reg.slot] = reg.data;
  if (!warp.terms.empty()) warp.terms[reg.slot] = reg.term;
}

// The register holds what one side or the other left in it.
void Core::chooseRegister(const Step& step, Slot slot, TermId guard, const SavedRegister& then, const SavedRegister& otherwise,
                              LaneMask lanes) {
  Warp& warp = step.warp;
  LaneMask same = 0;
  forEachLane(lanes, [&](unsigned lane) {
    const bool is_known = then.words.isKnown(lane) && otherwise.words.isKnown(lane);
    if (is_known && then.term == otherwise.term && then.words.word[lane] == otherwise.words.word[lane]) same |= laneBit(lane);
  });
  const LaneMask differ = lanes & ~same;
  restore(warp, then);
  if (differ == 0) return;
  const TermId x = guard == kConcrete ? kConcrete : dataTerm(step, slot, differ);
  restore(warp, otherwise);
  const TermId y = x == kConcrete ? kConcrete : dataTerm(step, slot, differ);
  restore(warp, then);
  const TermId chosen = y == kConcrete ? kConcrete : run_.data.terms().choose(run_.data.terms().resize(guard, 1), x, y);
  warp.registers[slot].unknown |= differ;
  // Some lanes may know which side they took.
  if (guard != kConcrete && run_.data.terms()[guard].has_lanes) {
    forEachLane(differ, [&](unsigned lane) {
      const TermId known = run_.data.terms().ofLane(guard, lane);
      if (!run_.data.terms().isConstant(known)) return;
      const bool is_then = run_.data.terms()[known].value != 0;
      const Lanes& words = is_then ? then.words : otherwise.words;
      if (!is_then && !warp.terms.empty()) setTerm(warp, slot, otherwise.term, otherwise.words, laneBit(lane));
      warp.registers[slot].word[lane] = words.word[lane];
      if (words.isKnown(lane)) warp.registers[slot].unknown &= ~laneBit(lane);
    });
  }
  setData(warp, slot, run_.data.orFresh(chosen, step.op.instr), differ);
}

LaneMask Core::lanesThatMay(TermId condition, LaneMask lanes) {
  LaneMask may = 0;
  forEachLane(lanes, [&](unsigned lane) {
    if (!run_.data.terms().isConstant(run_.data.terms().ofLane(condition, lane), 0)) may |= laneBit(lane);
  });
  return may;
}

}  // namespace handoff::machine
