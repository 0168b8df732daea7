// SPDX-License-Identifier: Apache-2.0
// Integer and predicate operations as terms.
#include "analyzer/machine/alu_terms.h"

#include "analyzer/machine/address.h"
#include "analyzer/machine/alu.h"

namespace handoff::machine {

namespace {

using ptx::AluOp;
using ptx::CmpOp;
using symbolic::TermId;
using symbolic::Terms;

class Builder {
 public:
  Builder(Terms& terms, const ptx::Decoded& decoded, std::span<const TermId> sources, unsigned bits, bool is_signed)
      : terms_(terms), decoded_(decoded), sources_(sources), bits_(bits), is_signed_(is_signed) {}

  std::optional<AluTerms> build(AluOp op) {
    const bool is_clamp = (op == AluOp::kMin || op == AluOp::kMax) && decoded_.type() == ptx::Type::kS32;
    if (decoded_.has("cc") || (decoded_.has("relu") && !is_clamp) || (decoded_.has("sat") && op != AluOp::kCvt)) return std::nullopt;
    if (op == AluOp::kSetp) return predicate();
    const TermId result = arithmetic(op);
    return result == 0 ? std::nullopt : std::optional(AluTerms{result, 0});
  }

 private:
  TermId source(unsigned i) { return terms_.resize(sources_[i], bits_); }
  TermId source(unsigned i, unsigned bits) { return terms_.resize(sources_[i], bits); }
  TermId number(std::uint64_t value) { return terms_.constant(value, bits_); }
  bool isConstant(unsigned i) const { return terms_.isConstant(sources_[i]); }

  TermId product() {
    if (decoded_.mul == ptx::MulMode::kWide) {
      return terms_.multiply(terms_.resize(source(0), 2 * bits_, is_signed_), terms_.resize(source(1), 2 * bits_, is_signed_));
    }
    if (decoded_.mul == ptx::MulMode::kHi) return terms_.multiplyHigh(source(0), source(1), is_signed_);
    return terms_.multiply(source(0), source(1));
  }

  TermId less(TermId a, TermId b) { return terms_.less(a, b, is_signed_); }

  // With .relu, negative results become zero.
  TermId clamped(TermId result) {
    return decoded_.has("relu") ? terms_.choose(terms_.less(result, number(0), true), number(0), result) : result;
  }

  // 0: not an integer comparison.
  TermId comparison() {
    const TermId a = source(0), b = source(1);
    const bool is_unsigned = decoded_.cmp == CmpOp::kLo || decoded_.cmp == CmpOp::kLs || decoded_.cmp == CmpOp::kHi ||
                             decoded_.cmp == CmpOp::kHs;
    if (is_unsigned) is_signed_ = false;
    switch (decoded_.cmp) {
      case CmpOp::kEq: return terms_.equal(a, b);
      case CmpOp::kNe: return terms_.bitNot(terms_.equal(a, b));
      case CmpOp::kLt: case CmpOp::kLo: return less(a, b);
      case CmpOp::kGe: case CmpOp::kHs: return terms_.bitNot(less(a, b));
      case CmpOp::kGt: case CmpOp::kHi: return less(b, a);
      case CmpOp::kLe: case CmpOp::kLs: return terms_.bitNot(less(b, a));
      default: return 0;
    }
  }

  std::optional<AluTerms> predicate() {
    const TermId compared = comparison();
    if (compared == 0) return std::nullopt;
    const auto join = [&](TermId p) {
      if (decoded_.bool_op == ptx::BoolOp::kNone || sources_.size() < 3) return p;
      const TermId q = terms_.resize(sources_[2], 1);
      if (decoded_.bool_op == ptx::BoolOp::kAnd) return terms_.bitAnd(p, q);
      return decoded_.bool_op == ptx::BoolOp::kOr ? terms_.bitOr(p, q) : terms_.bitXor(p, q);
    };
    return AluTerms{join(compared), join(terms_.bitNot(compared))};
  }

  TermId shift(bool is_left) {
    if (!isConstant(1) && bits_ < 32) return 0;  // the amount has 32 bits
    if (isConstant(1)) {
      const std::uint64_t amount = terms_[sources_[1]].value & 0xffffffff;
      const bool is_all = amount >= bits_;
      if (is_left) return is_all ? number(0) : terms_.shiftLeft(source(0), number(amount));
      if (is_all && !is_signed_) return number(0);
      return terms_.shiftRight(source(0), number(is_all ? bits_ - 1 : amount), is_signed_);
    }
    const TermId amount = source(1, 32);
    const TermId wide = terms_.resize(amount, bits_);
    return is_left ? terms_.shiftLeft(source(0), wide) : terms_.shiftRight(source(0), wide, is_signed_);
  }

  TermId convert() {
    if (decoded_.has("sat")) return 0;
    const ptx::Type to = decoded_.types[0], from = decoded_.type_count > 1 ? decoded_.types[1] : decoded_.types[0];
    return terms_.resize(source(0, bitWidth(from)), bitWidth(to), ptx::isSigned(from));
  }

  TermId address(bool is_to) {
    const TermId window = number(windowOf(decoded_.space()));
    return is_to ? terms_.subtract(source(0), window) : terms_.add(source(0), window);
  }

  TermId extract() {
    if (is_signed_ || !isConstant(1) || !isConstant(2)) return 0;
    const std::uint64_t position = terms_[sources_[1]].value & 0xff, length = terms_[sources_[2]].value & 0xff;
    if (position >= bits_) return number(0);
    return terms_.bitAnd(terms_.shiftRight(source(0), number(position), false),
                         number(symbolic::widthMask(static_cast<unsigned>(std::min<std::uint64_t>(length, 64)))));
  }

  TermId arithmetic(AluOp op) {
    switch (op) {
      case AluOp::kMov: return source(0);
      case AluOp::kAdd: return terms_.add(source(0), source(1));
      case AluOp::kSub: return terms_.subtract(source(0), source(1));
      case AluOp::kMul: return product();
      case AluOp::kMad: {
        const TermId factor = product();
        return terms_.add(factor, terms_.resize(sources_[2], terms_[factor].width));
      }
      case AluOp::kDiv: return terms_.divide(source(0), source(1), is_signed_);
      case AluOp::kRem: return terms_.remainder(source(0), source(1), is_signed_);
      case AluOp::kNeg: return terms_.subtract(number(0), source(0));
      case AluOp::kAbs: return terms_.choose(terms_.less(source(0), number(0), true), terms_.subtract(number(0), source(0)), source(0));
      case AluOp::kMin: return clamped(terms_.choose(less(source(0), source(1)), source(0), source(1)));
      case AluOp::kMax: return clamped(terms_.choose(less(source(0), source(1)), source(1), source(0)));
      case AluOp::kAnd: return terms_.bitAnd(source(0), source(1));
      case AluOp::kOr: return terms_.bitOr(source(0), source(1));
      case AluOp::kXor: return terms_.bitXor(source(0), source(1));
      case AluOp::kNot: return terms_.bitNot(source(0));
      case AluOp::kShl: return shift(/*is_left=*/true);
      case AluOp::kShr: return shift(/*is_left=*/false);
      case AluOp::kSelp: return terms_.choose(source(2, 1), source(0), source(1));
      case AluOp::kSlct: return terms_.choose(terms_.less(source(2, 32), terms_.constant(0, 32), true), source(1), source(0));
      case AluOp::kCvt: return convert();
      case AluOp::kCvta: return address(decoded_.has("to"));
      case AluOp::kBfe: return extract();
      default: return 0;
    }
  }

  Terms& terms_;
  const ptx::Decoded& decoded_;
  std::span<const TermId> sources_;
  unsigned bits_;
  bool is_signed_;
};

}  // namespace

std::optional<AluTerms> evaluateTerms(Terms& terms, const ptx::Decoded& decoded, AluOp op, std::span<const TermId> sources) {
  if (op == AluOp::kSet) return std::nullopt;
  const ptx::Type type = decoded.type();
  const unsigned bits = bitWidth(type);
  if (bits > 64 || (bits == 64 && ptx::byteSize(type) > 8)) return std::nullopt;
  const bool needs_wide = decoded.mul == ptx::MulMode::kWide && bits > 32;
  if (needs_wide) return std::nullopt;
  return Builder(terms, decoded, sources, bits, ptx::isSigned(type)).build(op);
}

}  // namespace handoff::machine
