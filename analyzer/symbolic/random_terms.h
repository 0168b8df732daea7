// SPDX-License-Identifier: Apache-2.0
// Random terms for tests.
#pragma once

#include <random>

#include "analyzer/symbolic/fold.h"
#include "analyzer/symbolic/term.h"

namespace handoff::symbolic {

/// A term, and its value for one lane and one assignment by plain arithmetic.
struct Checked {
  TermId id;
  std::uint64_t word;
};

class RandomTerms {
 public:
  explicit RandomTerms(unsigned seed) : random_(seed) {
    x_ = terms.symbol("x", 32, 0, 0x7fffffff);
    t_ = terms.symbol("t", 32, 0, 1u << 20);
    y_ = terms.symbol("y", 32, 0, 0xffffffff);
    model = {random_() & 0x7fffffff, random_() & 0xfffff, random_()};
    for (unsigned l = 0; l < kLanes; ++l) lanes_[l] = l * 8 + 3;
  }

  Checked make(unsigned depth) {
    if (depth == 0) return leaf();
    const Checked a = make(depth - 1), b = random_() % 2 ? make(depth - 1) : small();
    switch (random_() % 18) {
      case 0: case 1: return {terms.add(a.id, b.id), fold(TermOp::kAdd, 32, a.word, b.word)};
      case 2: return {terms.subtract(a.id, b.id), (a.word - b.word) & 0xffffffff};
      case 3: case 4: return {terms.multiply(a.id, b.id), fold(TermOp::kMul, 32, a.word, b.word)};
      case 5: return {terms.multiplyHigh(a.id, b.id, false), fold(TermOp::kMulHighUnsigned, 32, a.word, b.word)};
      case 6: return {terms.multiplyHigh(a.id, b.id, true), fold(TermOp::kMulHighSigned, 32, a.word, b.word)};
      case 7: return {terms.divide(a.id, b.id, false), fold(TermOp::kUnsignedDiv, 32, a.word, b.word)};
      case 8: return {terms.divide(a.id, b.id, true), fold(TermOp::kSignedDiv, 32, a.word, b.word)};
      case 9: return {terms.remainder(a.id, b.id, false), fold(TermOp::kUnsignedRem, 32, a.word, b.word)};
      case 10: return {terms.remainder(a.id, b.id, true), fold(TermOp::kSignedRem, 32, a.word, b.word)};
      case 11: return {terms.bitAnd(a.id, b.id), a.word & b.word};
      case 12: return {terms.bitOr(a.id, b.id), a.word | b.word};
      case 13: return {terms.bitXor(a.id, b.id), a.word ^ b.word};
      case 14: {
        const bool is_signed = random_() % 2;
        const TermId less = terms.less(a.id, b.id, is_signed);
        const bool holds = is_signed ? static_cast<std::int32_t>(a.word) < static_cast<std::int32_t>(b.word) : a.word < b.word;
        return {terms.choose(less, b.id, a.id), holds ? b.word : a.word};
      }
      case 15: {
        const unsigned by = random_() % 31;
        const bool is_signed = random_() % 2;
        return {terms.shiftRight(a.id, terms.constant(by, 32), is_signed),
                fold(is_signed ? TermOp::kShrArithmetic : TermOp::kShrLogical, 32, a.word, by)};
      }
      case 16: {
        const TermId wide = terms.multiply(terms.resize(a.id, 64), terms.constant(0xaaaaaaab, 64));
        return {terms.resize(terms.shiftRight(wide, terms.constant(33, 64), false), 32), a.word / 3};
      }
      default: {
        const unsigned width = 1 + random_() % 31;
        const bool is_signed = random_() % 2;
        const std::uint64_t low = a.word & widthMask(width);
        const std::uint64_t back = is_signed ? signExtended(low, width) & 0xffffffff : low;
        return {terms.resize(terms.resize(a.id, width), 32, is_signed), back};
      }
    }
  }

  static constexpr unsigned kLane = 13;
  Terms terms;
  Model model;

 private:
  Checked constant(std::uint64_t word) { return {terms.constant(word, 32), word & 0xffffffff}; }
  Checked small() { return constant(1 + random_() % 13); }
  Checked leaf() {
    switch (random_() % 6) {
      case 0: return {x_, model[0]};
      case 1: return {t_, model[1]};
      case 2: return {y_, model[2]};
      case 3: return {terms.lanes(lanes_, 32), lanes_[kLane]};
      case 4: return constant(random_());
      default: return small();
    }
  }

  std::mt19937 random_;
  TermId x_, y_, t_;
  LaneWords lanes_;
};

}  // namespace handoff::symbolic
