// SPDX-License-Identifier: Apache-2.0
// Which addresses of copies come from null pointers.
#include "analyzer/machine/transfer/null_pointer.h"

#include <algorithm>

namespace handoff::machine {

namespace {

bool goesByParameters(const PathLog& path, TermId term) {
  const std::vector<SymbolicInputs::Parameter>& parameters = path.inputs().parameters;
  const std::vector<TermId>& symbols = path.terms().symbolsOf(term);
  return std::any_of(symbols.begin(), symbols.end(), [&](TermId symbol) {
    return std::any_of(parameters.begin(), parameters.end(), [&](const auto& parameter) { return parameter.symbol == symbol; });
  });
}

bool isNull(const PathLog* path, TermId term, std::uint64_t address, std::uint64_t end) {
  return address < end && (path == nullptr || term == symbolic::kConcrete || !goesByParameters(*path, term));
}

/// Whether one side of a choice in the sum is a constant that no buffer contains.
bool choosesNull(const symbolic::Terms& terms, TermId id, unsigned& budget) {
  if (budget == 0) return false;
  --budget;
  const symbolic::Term& term = terms[id];
  const auto isNullConstant = [&](TermId side) { return terms[side].op == symbolic::TermOp::kConstant && terms[side].value < kNullEnd; };
  switch (term.op) {
    case symbolic::TermOp::kChoose:
      return isNullConstant(term.b) || isNullConstant(term.c) || choosesNull(terms, term.b, budget) || choosesNull(terms, term.c, budget);
    case symbolic::TermOp::kAdd: return choosesNull(terms, term.a, budget) || choosesNull(terms, term.b, budget);
    default: return false;
  }
}

}  // namespace

bool isNullGlobal(const PathLog* path, TermId term, std::uint64_t address) { return isNull(path, term, address, kNullEnd); }

bool isNullShared(const PathLog* path, TermId term, std::uint64_t address) { return isNull(path, term, address, kSharedBase); }

TermId choiceOfNull(PathLog& path, TermId address, LaneMask lanes) {
  symbolic::Terms& terms = path.terms();
  unsigned budget = 64;
  if (address == symbolic::kConcrete || terms[address].width != 64 || !choosesNull(terms, address, budget)) return symbolic::kConcrete;
  if (goesByParameters(path, address)) return symbolic::kConcrete;
  return terms.less(terms.ofLanes(address, lanes), terms.constant(kNullEnd, 64), /*is_signed=*/false);
}

}  // namespace handoff::machine
