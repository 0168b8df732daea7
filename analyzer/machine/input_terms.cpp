// SPDX-License-Identifier: Apache-2.0
// Terms of what instructions compute and load: results, parts of registers, special registers, parameters.
#include <algorithm>
#include <array>

#include "analyzer/machine/core.h"

namespace handoff::machine {

using symbolic::kConcrete;
using symbolic::TermId;

// The result as a term; where terms have no such operation, the run goes by the present values of the sources.
AluTerms Core::aluTerms(const Step& step, ptx::AluOp alu, std::span<const Lanes* const> sources) {
  if (path_ == nullptr) return {};
  const Op& op = step.op;
  bool depends = false;
  for (std::uint32_t i = op.dst_count; i < op.arg_count; ++i) depends |= termAt(step.warp, arg(op, i).slot) != kConcrete;
  if (!depends) return {};
  symbolic::Terms& terms = path_->terms();
  std::array<TermId, 6> ids{};
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const Arg& source = arg(op, op.dst_count + static_cast<unsigned>(i));
    const TermId held = termAt(step.warp, source.slot);
    // `sources` holds negated predicates as their values; the term is that of the register.
    ids[i] = held == kConcrete ? asTerm(held, *sources[i], step.lanes, 64) : terms.ofLanes(held, step.lanes);
    if (held != kConcrete && source.is_negated) ids[i] = terms.bitNot(terms.resize(ids[i], 1));
  }
  if (const auto result = evaluateTerms(terms, *op.decoded, alu, {ids.data(), sources.size()})) return *result;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const Arg& source = arg(op, op.dst_count + static_cast<unsigned>(i));
    noteValue(step, termAt(step.warp, source.slot), value(step.warp, source.slot), step.lanes);
  }
  return {};
}

TermId Core::partTerm(TermId whole, unsigned from, unsigned bits) {
  if (whole == kConcrete) return whole;
  symbolic::Terms& terms = path_->terms();
  const unsigned width = terms[whole].width;
  return from >= width ? kConcrete
                       : terms.resize(terms.shiftRight(whole, terms.constant(from, width), false), bits);
}

TermId Core::packedTerm(const Step& step, const Arg& parts, unsigned part_bits, unsigned bits) {
  if (path_ == nullptr || bits > 64 || !dependsOnInputs(step.warp, parts)) return kConcrete;
  symbolic::Terms& terms = path_->terms();
  TermId packed = terms.constant(0, bits);
  for (std::uint32_t i = 0; i < parts.count; ++i) {
    const Slot slot = program_.args[parts.first + i].slot;
    const TermId term = asTerm(termAt(step.warp, slot), value(step.warp, slot), step.lanes, part_bits);
    packed = terms.add(packed, terms.shiftLeft(terms.resize(term, bits), terms.constant(i * part_bits, bits)));
  }
  return packed;
}

// What of the place in the grid depends on the index of the cluster.
TermId Core::specialTerm(ptx::Special special, const Cta& cta) {
  using ptx::Special;
  const auto& index = path_->inputs().cluster_index;
  symbolic::Terms& terms = path_->terms();
  const auto [x, y, z] = launch_.cluster;
  const auto of = [&](unsigned d, std::uint32_t size, std::uint32_t within) {
    if (index[d] == kConcrete) return kConcrete;
    return terms.add(terms.multiply(index[d], terms.constant(size, 32)), terms.constant(within, 32));
  };
  switch (special) {
    case Special::kCtaidX: return of(0, x, cta.rank % x);
    case Special::kCtaidY: return of(1, y, cta.rank / x % y);
    case Special::kCtaidZ: return of(2, z, cta.rank / x / y % z);
    case Special::kClusteridX: return index[0];
    case Special::kClusteridY: return index[1];
    case Special::kClusteridZ: return index[2];
    default: return kConcrete;
  }
}

TermId Core::parameterTerm(std::uint64_t offset, unsigned bytes, ptx::Type type) {
  symbolic::Terms& terms = path_->terms();
  for (const SymbolicInputs::Parameter& parameter : path_->inputs().parameters) {
    const bool is_within = offset >= parameter.offset && offset + bytes <= parameter.offset + parameter.bytes;
    if (!is_within) continue;
    const unsigned width = terms[parameter.symbol].width;
    const auto from = static_cast<unsigned>(8 * (offset - parameter.offset));
    const TermId part = terms.resize(terms.shiftRight(parameter.symbol, terms.constant(from, width), false), 8 * bytes);
    // A register may be wider than what is loaded into it.
    return ptx::isSigned(type) ? terms.resize(part, 64, /*is_signed=*/true) : part;
  }
  return kConcrete;
}

// Lanes may load from different places: an array among the parameters, by thread.
TermId Core::parameterTerms(const Lanes& addresses, LaneMask lanes, std::uint64_t offset, unsigned bytes, ptx::Type type,
                               const Lanes& words) {
  symbolic::Terms& terms = path_->terms();
  const unsigned width = ptx::isSigned(type) ? 64 : std::min(64u, 8 * bytes);
  TermId all = kConcrete;
  bool depends = false;
  for (LaneMask rest = lanes; rest != 0;) {
    const std::uint64_t address = addresses.word[lowestLane(rest)];
    LaneMask same = 0;
    forEachLane(rest, [&](unsigned lane) { same |= addresses.word[lane] == address ? laneBit(lane) : 0; });
    rest &= ~same;
    const TermId found = parameterTerm(address + offset, bytes, type);
    depends |= found != kConcrete;
    const TermId term = asTerm(found, words, same, width);
    all = all == kConcrete ? term : terms.merge(same, term, all);
  }
  return depends ? all : kConcrete;
}

}  // namespace handoff::machine
