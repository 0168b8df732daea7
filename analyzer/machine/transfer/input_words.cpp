// SPDX-License-Identifier: Apache-2.0
// Words in global memory that are inputs of the kernel, and how addresses in global memory depend on inputs.
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "analyzer/machine/executor.h"

namespace handoff::machine {

using symbolic::kConcrete;
using symbolic::TermId;

namespace {

std::uint64_t extended(std::uint64_t word, ptx::Type type) {
  if (!ptx::isSigned(type)) return word;
  const unsigned shift = 64 - 8 * ptx::byteSize(type);
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(word << shift) >> shift);
}

}  // namespace

// A load by which the protocol goes, of memory that no thread writes. False where it is not known which word that is:
// then it is unknown data, like any other.
bool Executor::loadInput(const Step& step) {
  const unsigned a = addressOperand(step.op, 1);
  const ptx::Type type = step.op.decoded->type();
  const std::uint32_t bytes = ptx::byteSize(type);
  if (a == step.op.arg_count || bytes == 0 || bytes > 8 || step.lanes == 0) return false;
  const Arg& operand = arg(step.op, a);
  const Lanes addresses = addressWords(step.warp, operand);
  if ((addresses.unknown & step.lanes) != 0) {
    wantWords(step, operand.slot);
    return false;
  }
  const std::uint64_t address = addresses.word[lowestLane(step.lanes)];
  bool is_uniform = true;
  forEachLane(step.lanes, [&](unsigned lane) { is_uniform &= addresses.word[lane] == address; });
  if (!is_uniform) return false;
  TermId term = kConcrete;
  if (path_ != nullptr) {
    symbolic::Terms& terms = path_->terms();
    const TermId held = termAt(step.warp, operand.slot);
    term = held == kConcrete ? terms.constant(addresses.word[lowestLane(step.lanes)] - static_cast<std::uint64_t>(operand.offset), 64)
                             : terms.ofLanes(held, step.lanes);
    if (terms[term].has_lanes || terms[term].width != 64) return false;
    // Each turn of a loop may load another word: one that stands for all turns has to load the same.
    symbolic::Terms::Substitution first;
    for (const Closure* closure : path_->closures) first[closure->turns] = terms.constant(0, 32);
    const TermId at_first = first.empty() ? term : terms.substitute(term, first);
    if (at_first != term) noteValue(step, held, value(step.warp, operand.slot), step.lanes);
    term = terms.add(at_first, terms.constant(static_cast<std::uint64_t>(operand.offset), 64));
  }
  const std::vector<const Arg*> destinations = elements(arg(step.op, 0));
  std::vector<InputWord> words;
  for (std::size_t e = 0; e < destinations.size(); ++e) {
    const TermId place = path_ == nullptr ? kConcrete : path_->terms().add(term, path_->terms().constant(e * bytes, 64));
    const std::optional<InputWord> word = inputWord(step, address + e * bytes, place, bytes);
    if (!word) return false;
    words.push_back(*word);
  }
  for (std::size_t e = 0; e < destinations.size(); ++e) {
    Lanes out;
    out.word.fill(extended(words[e].value, type));
    TermId symbol = words[e].symbol;
    // A register may be wider than what is loaded into it.
    if (symbol != kConcrete && ptx::isSigned(type)) symbol = path_->terms().resize(symbol, 64, /*is_signed=*/true);
    assign(step.warp, *destinations[e], out, step.lanes, symbol);
  }
  return true;
}

std::optional<Executor::InputWord> Executor::inputWord(const Step& step, std::uint64_t address, TermId term, std::uint32_t bytes) {
  if (path_ == nullptr) {
    const auto known = launch_.words.find(address);
    if (known == launch_.words.end() || known->second.bytes != bytes) return std::nullopt;
    outcome_.words[address] = known->second;
    return InputWord{known->second.value, kConcrete};
  }
  // The present inputs may have two addresses coincide that others keep apart.
  auto met = input_words_.lower_bound(address + bytes);
  while (met != input_words_.begin() && (--met)->first + 8 > address) {
    if (met->first + met->second.bytes <= address) continue;
    if (met->first != address || met->second.bytes != bytes) return std::nullopt;
    if (met->second.address != term) {
      path_->add({.kind = Decision::Kind::kControl, .condition = path_->terms().equal(met->second.address, term),
                  .lanes = 1, .truth = 1, .instr = step.op.instr});
    }
    return InputWord{path_->valueOf(met->second), met->second.symbol};
  }
  const std::optional<SymbolicInputs::Word> word = path_->wordAt(term, bytes);
  if (!word) return std::nullopt;
  input_words_.emplace(address, *word);
  outcome_.words[address] = {bytes, path_->valueOf(*word)};
  return InputWord{path_->valueOf(*word), word->symbol};
}

void Executor::noteDistance(const Step& step, const Arg& operand, LaneMask lanes) {
  if (path_ != nullptr) races_.noteDistance(termAt(step.warp, operand.slot), addressWords(step.warp, operand), lanes);
}

}  // namespace handoff::machine
