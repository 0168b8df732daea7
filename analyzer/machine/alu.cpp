// SPDX-License-Identifier: Apache-2.0
// The evaluator behind alu.h: one loop over the lanes per operation, so that the compiler can vectorise each.
#include "analyzer/machine/alu.h"

#include <algorithm>

#include "analyzer/machine/address.h"

namespace handoff::machine {

namespace {

using ptx::AluOp;
using ptx::CmpOp;
using ptx::Decoded;
using ptx::Type;
using U = std::uint64_t;
using S = std::int64_t;
__extension__ using U128 = unsigned __int128;
__extension__ using S128 = __int128;

constexpr U maskOf(unsigned bits) { return bits >= 64 ? ~U{0} : (U{1} << bits) - 1; }

constexpr S signExtend(U word, unsigned bits) {
  const unsigned shift = 64 - std::min(bits, 64u);
  return static_cast<S>(word << shift) >> shift;
}

template <typename F>
void each(Lanes& out, F&& f) {
  for (unsigned lane = 0; lane < kWarpSize; ++lane) out.word[lane] = f(lane);
}

LaneMask unionOfUnknown(std::span<const Lanes* const> sources) {
  LaneMask mask = 0;
  for (const Lanes* source : sources) mask |= source->unknown;
  return mask;
}

bool compare(CmpOp op, U a, U b, bool is_signed, unsigned bits) {
  if (is_signed) {
    const S x = signExtend(a, bits), y = signExtend(b, bits);
    switch (op) {
      case CmpOp::kEq: return x == y;
      case CmpOp::kNe: return x != y;
      case CmpOp::kLt: return x < y;
      case CmpOp::kLe: return x <= y;
      case CmpOp::kGt: return x > y;
      case CmpOp::kGe: return x >= y;
      default: break;
    }
  }
  switch (op) {
    case CmpOp::kEq: return a == b;
    case CmpOp::kNe: return a != b;
    case CmpOp::kLt:
    case CmpOp::kLo: return a < b;
    case CmpOp::kLe:
    case CmpOp::kLs: return a <= b;
    case CmpOp::kGt:
    case CmpOp::kHi: return a > b;
    case CmpOp::kGe:
    case CmpOp::kHs: return a >= b;
    default: return false;
  }
}

U byteSelect(U a, U b, U control) {
  const U bytes = (b << 32) | (a & 0xffffffff);
  U result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned nibble = (control >> (4 * i)) & 0xf;
    U byte = (bytes >> (8 * (nibble & 7))) & 0xff;
    if (nibble & 8) byte = byte & 0x80 ? 0xff : 0;
    result |= byte << (8 * i);
  }
  return result;
}

U lookup3(U a, U b, U c, U table) {
  U result = 0;
  if (table & 0x01) result |= ~a & ~b & ~c;
  if (table & 0x02) result |= ~a & ~b & c;
  if (table & 0x04) result |= ~a & b & ~c;
  if (table & 0x08) result |= ~a & b & c;
  if (table & 0x10) result |= a & ~b & ~c;
  if (table & 0x20) result |= a & ~b & c;
  if (table & 0x40) result |= a & b & ~c;
  if (table & 0x80) result |= a & b & c;
  return result;
}

U extractField(U a, U position, U length, bool is_signed, unsigned bits) {
  position &= 0xff;
  length &= 0xff;
  if (length == 0) return 0;
  const U sign_at = std::min<U>(position + length - 1, bits - 1);
  const U sign = is_signed ? (a >> sign_at) & 1 : 0;
  U result = 0;
  for (U i = 0; i < bits; ++i) {
    const U bit = i < length && position + i < bits ? (a >> (position + i)) & 1 : sign;
    result |= bit << i;
  }
  return result;
}

U insertField(U a, U b, U position, U length, unsigned bits) {
  position &= 0xff;
  length &= 0xff;
  U result = b;
  for (U i = 0; i < length && position + i < bits; ++i) {
    const U bit = U{1} << (position + i);
    result = (a >> i) & 1 ? result | bit : result & ~bit;
  }
  return result;
}

U funnel(const Decoded& d, U low, U high, U amount) {
  const U shift = d.has("clamp") ? std::min<U>(amount, 32) : amount & 31;
  const U both = (high << 32) | (low & 0xffffffff);
  if (d.has("l")) return shift == 32 ? low : ((both << shift) >> 32) & 0xffffffff;
  return (both >> shift) & 0xffffffff;
}

struct Operation {
  const Decoded& d;
  std::span<const Lanes* const> src;
  unsigned bits;
  U mask;
  bool is_signed;

  U a(unsigned lane) const { return src[0]->word[lane] & mask; }
  U b(unsigned lane) const { return src[1]->word[lane] & mask; }
  U c(unsigned lane) const { return src[2]->word[lane] & mask; }
  S sa(unsigned lane) const { return signExtend(src[0]->word[lane], bits); }
  S sb(unsigned lane) const { return signExtend(src[1]->word[lane], bits); }
};

// The product of lane `l`, by .lo, .hi or .wide.
U product(const Operation& o, unsigned l) {
  switch (o.d.mul) {
    case ptx::MulMode::kWide:
      return o.is_signed ? static_cast<U>(o.sa(l) * o.sb(l)) : o.a(l) * o.b(l);
    case ptx::MulMode::kHi:
      if (o.is_signed) return static_cast<U>((S128{o.sa(l)} * o.sb(l)) >> o.bits) & o.mask;
      return static_cast<U>((U128{o.a(l)} * o.b(l)) >> o.bits) & o.mask;
    default: return (o.a(l) * o.b(l)) & o.mask;
  }
}

U widthOfResult(const Operation& o) {
  return o.d.mul == ptx::MulMode::kWide ? maskOf(o.bits * 2) : o.mask;
}

U divide(const Operation& o, unsigned l, bool remainder) {
  if (o.b(l) == 0) return remainder ? o.a(l) : o.mask;
  if (o.is_signed) {
    if (o.sb(l) == -1) return remainder ? 0 : (~o.a(l) + 1) & o.mask;  // the least number overflows
    return static_cast<U>(remainder ? o.sa(l) % o.sb(l) : o.sa(l) / o.sb(l)) & o.mask;
  }
  return remainder ? o.a(l) % o.b(l) : o.a(l) / o.b(l);
}

void arithmetic(const Operation& o, AluOp op, Lanes& out) {
  switch (op) {
    case AluOp::kAdd: each(out, [&](unsigned l) { return (o.a(l) + o.b(l)) & o.mask; }); break;
    case AluOp::kSub: each(out, [&](unsigned l) { return (o.a(l) - o.b(l)) & o.mask; }); break;
    case AluOp::kMul: {
      const U wide = widthOfResult(o);
      each(out, [&](unsigned l) { return product(o, l) & wide; });
      break;
    }
    case AluOp::kMad: {
      const U wide = widthOfResult(o);
      each(out, [&](unsigned l) { return (product(o, l) + o.src[2]->word[l]) & wide; });
      break;
    }
    case AluOp::kMul24:
    case AluOp::kMad24: {
      const bool high = o.d.has("hi");
      each(out, [&](unsigned l) {
        const U full = o.is_signed ? static_cast<U>(signExtend(o.a(l), 24) * signExtend(o.b(l), 24))
                                   : (o.a(l) & 0xffffff) * (o.b(l) & 0xffffff);
        const U part = high ? full >> 16 : full;
        return (op == AluOp::kMad24 ? part + o.c(l) : part) & 0xffffffff;
      });
      break;
    }
    case AluOp::kSad:
      each(out, [&](unsigned l) {
        const U difference = o.is_signed ? (o.sa(l) > o.sb(l) ? o.a(l) - o.b(l) : o.b(l) - o.a(l))
                                         : std::max(o.a(l), o.b(l)) - std::min(o.a(l), o.b(l));
        return (difference + o.c(l)) & o.mask;
      });
      break;
    case AluOp::kDiv: each(out, [&](unsigned l) { return divide(o, l, /*remainder=*/false); }); break;
    case AluOp::kRem: each(out, [&](unsigned l) { return divide(o, l, /*remainder=*/true); }); break;
    case AluOp::kAbs: each(out, [&](unsigned l) { return (o.sa(l) < 0 ? ~o.a(l) + 1 : o.a(l)) & o.mask; }); break;
    case AluOp::kNeg: each(out, [&](unsigned l) { return (~o.a(l) + 1) & o.mask; }); break;
    case AluOp::kMin:
    case AluOp::kMax: {
      const bool first_less = op == AluOp::kMin, is_clamped = o.d.has("relu");
      each(out, [&](unsigned l) {
        const bool is_less = o.is_signed ? o.sa(l) < o.sb(l) : o.a(l) < o.b(l);
        const bool takes_first = is_less == first_less;
        const bool is_negative = is_clamped && (takes_first ? o.sa(l) : o.sb(l)) < 0;
        return is_negative ? U{0} : takes_first ? o.a(l) : o.b(l);
      });
      break;
    }
    default: out.unknown = kAllLanes;
  }
}

U shiftRight(const Operation& o, unsigned l) {
  const U amount = o.src[1]->word[l] & 0xffffffff;
  if (o.is_signed) return static_cast<U>(o.sa(l) >> std::min<U>(amount, o.bits - 1)) & o.mask;
  return amount >= o.bits ? 0 : o.a(l) >> amount;
}

U mostSignificant(const Operation& o, unsigned l) {
  const U word = o.is_signed && o.sa(l) < 0 ? ~o.a(l) & o.mask : o.a(l);
  if (word == 0) return 0xffffffff;
  const U position = static_cast<U>(63 - std::countl_zero(word));
  return o.d.has("shiftamt") ? o.bits - 1 - position : position;
}

void bitwise(const Operation& o, AluOp op, Lanes& out) {
  switch (op) {
    case AluOp::kAnd: each(out, [&](unsigned l) { return o.a(l) & o.b(l); }); break;
    case AluOp::kOr: each(out, [&](unsigned l) { return o.a(l) | o.b(l); }); break;
    case AluOp::kXor: each(out, [&](unsigned l) { return o.a(l) ^ o.b(l); }); break;
    case AluOp::kNot: each(out, [&](unsigned l) { return ~o.a(l) & o.mask; }); break;
    case AluOp::kCnot: each(out, [&](unsigned l) { return U{o.a(l) == 0}; }); break;
    case AluOp::kShl:
      each(out, [&](unsigned l) {
        const U amount = o.src[1]->word[l] & 0xffffffff;
        return amount >= o.bits ? 0 : (o.a(l) << amount) & o.mask;
      });
      break;
    case AluOp::kShr: each(out, [&](unsigned l) { return shiftRight(o, l); }); break;
    case AluOp::kShf:
      each(out, [&](unsigned l) { return funnel(o.d, o.a(l), o.b(l), o.src[2]->word[l] & 0xffffffff); });
      break;
    case AluOp::kLop3:
      each(out, [&](unsigned l) { return lookup3(o.a(l), o.b(l), o.c(l), o.src[3]->word[l]) & o.mask; });
      break;
    case AluOp::kPrmt: each(out, [&](unsigned l) { return byteSelect(o.a(l), o.b(l), o.c(l)); }); break;
    case AluOp::kPopc: each(out, [&](unsigned l) { return static_cast<U>(std::popcount(o.a(l))); }); break;
    case AluOp::kClz:
      each(out, [&](unsigned l) { return static_cast<U>(std::countl_zero(o.a(l))) - (64 - o.bits); });
      break;
    case AluOp::kBrev:
      each(out, [&](unsigned l) {
        U result = 0;
        for (unsigned i = 0; i < o.bits; ++i) result |= ((o.a(l) >> i) & 1) << (o.bits - 1 - i);
        return result;
      });
      break;
    case AluOp::kBfind: each(out, [&](unsigned l) { return mostSignificant(o, l); }); break;
    case AluOp::kBfe:
      each(out, [&](unsigned l) {
        return extractField(o.a(l), o.src[1]->word[l], o.src[2]->word[l], o.is_signed, o.bits) & o.mask;
      });
      break;
    case AluOp::kBfi:
      each(out, [&](unsigned l) { return insertField(o.a(l), o.b(l), o.src[2]->word[l], o.src[3]->word[l], o.bits); });
      break;
    default: out.unknown = kAllLanes;
  }
}

// `and` with a known 0, `or` with a known 1 (or all ones), `mul` by a known 0 do not depend on the other source.
LaneMask maskedByConstant(const Operation& o, AluOp op) {
  LaneMask decided = 0;
  for (unsigned l = 0; l < kWarpSize; ++l) {
    for (unsigned i = 0; i < 2; ++i) {
      if (!o.src[i]->isKnown(l)) continue;
      const U word = o.src[i]->word[l] & o.mask;
      const bool decides = op == AluOp::kOr ? word == o.mask : word == 0;
      if (decides) decided |= laneBit(l);
    }
  }
  return decided;
}

void keepDecided(const Operation& o, AluOp op, Lanes& out) {
  if (out.unknown == 0 || o.src.size() != 2) return;
  const bool absorbs = op == AluOp::kAnd || op == AluOp::kOr || (op == AluOp::kMul && o.d.mul != ptx::MulMode::kHi);
  if (!absorbs) return;
  const LaneMask decided = maskedByConstant(o, op) & out.unknown;
  forEachLane(decided, [&](unsigned l) { out.word[l] = op == AluOp::kOr ? o.mask : 0; });
  out.unknown &= ~decided;
}

void setPredicate(const Operation& o, std::span<const Lanes* const> src, Lanes& out, Lanes* second) {
  const bool combines = o.d.bool_op != ptx::BoolOp::kNone && src.size() > 2;
  const auto join = [&](unsigned l, bool p) -> U {
    if (!combines) return p;
    const bool q = src[2]->word[l] & 1;
    switch (o.d.bool_op) {
      case ptx::BoolOp::kAnd: return p && q;
      case ptx::BoolOp::kOr: return p || q;
      default: return p != q;
    }
  };
  const CmpOp cmp = o.d.cmp;
  each(out, [&](unsigned l) { return join(l, compare(cmp, o.a(l), o.b(l), o.is_signed, o.bits)); });
  if (second != nullptr) {
    each(*second, [&](unsigned l) { return join(l, !compare(cmp, o.a(l), o.b(l), o.is_signed, o.bits)); });
    second->unknown = out.unknown;
  }
}

void select(const Operation& o, Lanes& out) {
  const Lanes& chooser = *o.src[2];
  LaneMask unknown = chooser.unknown;
  each(out, [&](unsigned l) { return chooser.word[l] & 1 ? o.a(l) : o.b(l); });
  for (unsigned l = 0; l < kWarpSize; ++l) {
    const Lanes& chosen = chooser.word[l] & 1 ? *o.src[0] : *o.src[1];
    if (!chosen.isKnown(l)) unknown |= laneBit(l);
    if (o.a(l) == o.b(l) && o.src[0]->isKnown(l) && o.src[1]->isKnown(l)) unknown &= ~laneBit(l);
  }
  out.unknown = unknown;
}

void convert(const Decoded& d, std::span<const Lanes* const> src, Lanes& out) {
  const Type to = d.types[0], from = d.type_count > 1 ? d.types[1] : d.types[0];
  const unsigned from_bits = bitWidth(from), to_bits = bitWidth(to);
  const bool from_signed = ptx::isSigned(from);
  const bool saturates = d.has("sat");
  each(out, [&](unsigned l) {
    const U word = src[0]->word[l] & maskOf(from_bits);
    const S value = from_signed ? signExtend(word, from_bits) : static_cast<S>(word);
    if (!saturates) return static_cast<U>(value) & maskOf(to_bits);
    const S128 wide = from_signed ? S128{value} : S128{word};
    const S128 low = ptx::isSigned(to) ? -(S128{1} << (to_bits - 1)) : S128{0};
    const S128 high = ptx::isSigned(to) ? (S128{1} << (to_bits - 1)) - 1 : S128{maskOf(to_bits)};
    return static_cast<U>(std::clamp(wide, low, high)) & maskOf(to_bits);
  });
}

void addresses(const Operation& o, AluOp op, Lanes& out) {
  const ptx::Space space = o.d.space();
  const U window = windowOf(space);
  switch (op) {
    case AluOp::kCvta: {
      const bool to = o.d.has("to");
      each(out, [&](unsigned l) { return (to ? o.a(l) - window : o.a(l) + window) & o.mask; });
      break;
    }
    case AluOp::kIsspacep:
      each(out, [&](unsigned l) {
        ptx::Space found = classify(o.src[0]->word[l]).space;
        const bool wanted = found == space || (found == ptx::Space::kShared && space == ptx::Space::kSharedCluster);
        return U{wanted};
      });
      break;
    case AluOp::kMapa:
      each(out, [&](unsigned l) {
        const U base = space == ptx::Space::kGeneric ? kSharedWindow : 0;
        const U offset = (o.src[0]->word[l] - base) & maskOf(kClusterShift);
        return base + (((o.src[1]->word[l] & 0xffff) + 1) << kClusterShift) + offset;
      });
      break;
    default: out.unknown = kAllLanes;
  }
}

// Modifiers that change the result and that nothing here evaluates.
bool isInexact(const Decoded& d, AluOp op) {
  if (op == AluOp::kPrmt) return d.modifiers.size() > 2;  // .f4e and the like
  const bool is_clamp = (op == AluOp::kMin || op == AluOp::kMax) && d.type() == Type::kS32;
  return (d.has("relu") && !is_clamp) || (d.has("sat") && op != AluOp::kCvt);
}

}  // namespace

unsigned bitWidth(Type type) {
  if (type == Type::kPred) return 1;
  const unsigned bytes = ptx::byteSize(type);
  return bytes == 0 || bytes > 8 ? 64 : bytes * 8;
}

Lanes evaluate(const Decoded& decoded, AluOp op, std::span<const Lanes* const> sources, Lanes* second) {
  Lanes out;
  if (second != nullptr) second->unknown = kAllLanes;  // only setp computes it
  if (isInexact(decoded, op)) {
    out.unknown = kAllLanes;
    return out;
  }
  out.unknown = unionOfUnknown(sources);
  // "set.u32.s32" and "slct.u32.s32" name the result first; "setp" and the rest operate on the first type.
  const bool by_second = op == AluOp::kSet && decoded.type_count > 1;
  const Type type = by_second ? decoded.types[1] : decoded.type();
  const unsigned bits = bitWidth(type);
  const Operation o{decoded, sources, bits, maskOf(bits), ptx::isSigned(type)};
  switch (op) {
    case AluOp::kMov: each(out, [&](unsigned l) { return o.a(l); }); break;
    case AluOp::kSelp: select(o, out); break;
    case AluOp::kSlct:
      each(out, [&](unsigned l) { return signExtend(sources[2]->word[l], 32) >= 0 ? o.a(l) : o.b(l); });
      break;
    case AluOp::kSetp: setPredicate(o, sources, out, second); break;
    case AluOp::kSet:
      setPredicate(o, sources, out, nullptr);
      each(out, [&](unsigned l) { return out.word[l] ? U{0xffffffff} : U{0}; });
      break;
    case AluOp::kCvt: convert(decoded, sources, out); break;
    case AluOp::kCvta:
    case AluOp::kIsspacep:
    case AluOp::kMapa: addresses(o, op, out); break;
    case AluOp::kAnd: case AluOp::kOr: case AluOp::kXor: case AluOp::kNot: case AluOp::kCnot: case AluOp::kShl:
    case AluOp::kShr: case AluOp::kShf: case AluOp::kLop3: case AluOp::kPrmt: case AluOp::kPopc: case AluOp::kClz:
    case AluOp::kBrev: case AluOp::kBfind: case AluOp::kBfe: case AluOp::kBfi:
      bitwise(o, op, out);
      break;
    default: arithmetic(o, op, out);
  }
  keepDecided(o, op, out);
  return out;
}

}  // namespace handoff::machine
