// SPDX-License-Identifier: Apache-2.0
// The values of terms for one choice of inputs.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>

#include "analyzer/symbolic/term.h"

namespace handoff::symbolic {

/// Each term is computed once. Symbols that are younger than the model have their lower bounds.
class Valuation {
 public:
  Valuation(const Terms& terms, Model model, unsigned lane = 0) : terms_(terms), model_(std::move(model)), lane_(lane) {}

  std::uint64_t operator()(TermId id);
  /// Of the symbol with that index.
  std::uint64_t word(std::size_t symbol) const { return symbol < model_.size() ? model_[symbol] : terms_.symbols()[symbol].low; }
  const Model& model() const { return model_; }

 private:
  const Terms& terms_;
  Model model_;
  unsigned lane_ = 0;
  std::unordered_map<TermId, std::uint64_t> known_;
};

}  // namespace handoff::symbolic
