// SPDX-License-Identifier: Apache-2.0
// Every operation of the evaluator against one that computes a single word in the plainest way.
#include "analyzer/machine/alu.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <string>

#include "analyzer/machine/address.h"

namespace handoff::machine {
namespace {

using U = std::uint64_t;
using S = std::int64_t;
using Words = std::vector<U>;

/// Evaluates an instruction by its spelling, with the same words in all lanes.
Lanes evaluateText(std::string_view opcode, const std::vector<Lanes>& sources, Lanes* second = nullptr) {
  const ptx::Decoded& decoded = ptx::decode(opcode);
  const auto* alu = std::get_if<ptx::Alu>(&decoded.effect);
  EXPECT_NE(alu, nullptr) << opcode << " is not evaluated at all";
  if (alu == nullptr) return {};
  std::vector<const Lanes*> pointers;
  for (const Lanes& source : sources) pointers.push_back(&source);
  return evaluate(decoded, alu->op, pointers, second);
}

Lanes all(U word, LaneMask unknown = 0) {
  Lanes lanes;
  lanes.word.fill(word);
  lanes.unknown = unknown;
  return lanes;
}

U wordOf(std::string_view opcode, const Words& words) {
  std::vector<Lanes> sources;
  for (const U word : words) sources.push_back(all(word));
  const Lanes out = evaluateText(opcode, sources);
  EXPECT_EQ(out.unknown, 0u) << opcode;
  return out.word[13];
}

bool isUnknown(std::string_view opcode, const Words& words) {
  std::vector<Lanes> sources;
  for (const U word : words) sources.push_back(all(word));
  return evaluateText(opcode, sources).unknown == kAllLanes;
}

// --- against a scalar reference, on edges and random words ---

template <typename T>
T to(U word) {
  return static_cast<T>(word);
}

/// The result as a word: zero-extended from the width of T.
template <typename T>
U from(T value) {
  return static_cast<U>(static_cast<std::make_unsigned_t<T>>(value));
}

struct Reference {
  std::string opcode;
  unsigned sources;
  std::function<U(const Words&)> value;
};

/// The operations that exist for every integer type T; wrap-around is computed on unsigned words.
template <typename T>
void addCommon(std::vector<Reference>& list, const std::string& type) {
  using V = std::make_unsigned_t<T>;
  const auto two = [&](const std::string& name, auto f) {
    list.push_back(
        {name + "." + type, 2, [f](const Words& w) { return from<T>(f(to<T>(w[0]), to<T>(w[1]))); }});
  };
  two("add",
      [](T a, T b) { return static_cast<T>(static_cast<V>(U{static_cast<V>(a)} + static_cast<V>(b))); });
  two("sub",
      [](T a, T b) { return static_cast<T>(static_cast<V>(U{static_cast<V>(a)} - static_cast<V>(b))); });
  two("mul.lo",
      [](T a, T b) { return static_cast<T>(static_cast<V>(U{static_cast<V>(a)} * static_cast<V>(b))); });
  two("min", [](T a, T b) { return a < b ? a : b; });
  two("max", [](T a, T b) { return a > b ? a : b; });
  list.push_back({"mad.lo." + type, 3, [](const Words& w) {
                    return from<T>(static_cast<T>(static_cast<V>(w[0] * w[1] + w[2])));
                  }});
  list.push_back({"shr." + type, 2, [](const Words& w) {
                    const U amount = w[1] & 0xffffffff, bits = sizeof(T) * 8;
                    const T a = to<T>(w[0]);
                    if (amount >= bits) return from<T>(static_cast<T>(a < 0 ? -1 : 0));
                    return from<T>(static_cast<T>(a >> amount));
                  }});
}

template <typename T>
void addDivision(std::vector<Reference>& list, const std::string& type) {
  const auto safe = [](const Words& w) {
    return to<T>(w[1]) != 0 && !(std::is_signed_v<T> && to<T>(w[1]) == T(-1));
  };
  list.push_back({"div." + type, 2, [safe](const Words& w) {
                    return safe(w) ? from<T>(static_cast<T>(to<T>(w[0]) / to<T>(w[1]))) : ~U{0};
                  }});
  list.push_back({"rem." + type, 2, [safe](const Words& w) {
                    return safe(w) ? from<T>(static_cast<T>(to<T>(w[0]) % to<T>(w[1]))) : ~U{0};
                  }});
}

template <typename V>
void addBits(std::vector<Reference>& list, const std::string& type) {
  const auto two = [&](const std::string& name, auto f) {
    list.push_back(
        {name + "." + type, 2, [f](const Words& w) { return from<V>(static_cast<V>(f(w[0], w[1]))); }});
  };
  two("and", [](U a, U b) { return a & b; });
  two("or", [](U a, U b) { return a | b; });
  two("xor", [](U a, U b) { return a ^ b; });
  list.push_back({"not." + type, 1, [](const Words& w) { return from<V>(static_cast<V>(~w[0])); }});
  list.push_back({"cnot." + type, 1, [](const Words& w) { return U{static_cast<V>(w[0]) == 0}; }});
  list.push_back({"mov." + type, 1, [](const Words& w) { return from<V>(static_cast<V>(w[0])); }});
  list.push_back({"shl." + type, 2, [](const Words& w) {
                    const U amount = w[1] & 0xffffffff;
                    return amount >= sizeof(V) * 8 ? 0
                                                   : from<V>(static_cast<V>(static_cast<V>(w[0]) << amount));
                  }});
}

std::vector<Reference> references() {
  std::vector<Reference> list;
  addCommon<std::uint16_t>(list, "u16");
  addCommon<std::int16_t>(list, "s16");
  addCommon<std::uint32_t>(list, "u32");
  addCommon<std::int32_t>(list, "s32");
  addCommon<std::uint64_t>(list, "u64");
  addCommon<std::int64_t>(list, "s64");
  addDivision<std::uint32_t>(list, "u32");
  addDivision<std::int32_t>(list, "s32");
  addDivision<std::uint64_t>(list, "u64");
  addDivision<std::int64_t>(list, "s64");
  addBits<std::uint16_t>(list, "b16");
  addBits<std::uint32_t>(list, "b32");
  addBits<std::uint64_t>(list, "b64");
  const auto add = [&](const char* opcode, unsigned sources, std::function<U(const Words&)> f) {
    list.push_back({opcode, sources, std::move(f)});
  };
  add("mul.wide.s32", 2,
      [](const Words& w) { return static_cast<U>(S{to<std::int32_t>(w[0])} * to<std::int32_t>(w[1])); });
  add("mul.wide.u32", 2, [](const Words& w) { return U{to<std::uint32_t>(w[0])} * to<std::uint32_t>(w[1]); });
  add("mul.wide.s16", 2,
      [](const Words& w) { return from<std::int32_t>(to<std::int16_t>(w[0]) * to<std::int16_t>(w[1])); });
  add("mul.hi.u32", 2,
      [](const Words& w) { return (U{to<std::uint32_t>(w[0])} * to<std::uint32_t>(w[1])) >> 32; });
  add("mul.hi.s32", 2, [](const Words& w) {
    return from<std::int32_t>(
        static_cast<std::int32_t>((S{to<std::int32_t>(w[0])} * to<std::int32_t>(w[1])) >> 32));
  });
  add("mad.wide.u32", 3,
      [](const Words& w) { return U{to<std::uint32_t>(w[0])} * to<std::uint32_t>(w[1]) + w[2]; });
  add("mad.wide.s32", 3, [](const Words& w) {
    return static_cast<U>(S{to<std::int32_t>(w[0])} * to<std::int32_t>(w[1])) + w[2];
  });
  add("mul24.lo.u32", 2, [](const Words& w) { return ((w[0] & 0xffffff) * (w[1] & 0xffffff)) & 0xffffffff; });
  add("neg.s32", 1, [](const Words& w) { return from<std::uint32_t>(static_cast<std::uint32_t>(0 - w[0])); });
  add("neg.s64", 1, [](const Words& w) { return 0 - w[0]; });
  add("abs.s32", 1, [](const Words& w) {
    return to<std::int32_t>(w[0]) < 0 ? from<std::uint32_t>(static_cast<std::uint32_t>(0 - w[0]))
                                      : w[0] & 0xffffffff;
  });
  add("abs.s64", 1, [](const Words& w) { return to<S>(w[0]) < 0 ? 0 - w[0] : w[0]; });
  add("sad.u32", 3, [](const Words& w) {
    const U a = w[0] & 0xffffffff, b = w[1] & 0xffffffff;
    return ((a > b ? a - b : b - a) + w[2]) & 0xffffffff;
  });
  add("sad.s64", 3,
      [](const Words& w) { return (to<S>(w[0]) > to<S>(w[1]) ? w[0] - w[1] : w[1] - w[0]) + w[2]; });
  add("popc.b32", 1, [](const Words& w) { return U(std::popcount(w[0] & 0xffffffff)); });
  add("popc.b64", 1, [](const Words& w) { return U(std::popcount(w[0])); });
  add("clz.b32", 1, [](const Words& w) { return U(std::countl_zero(to<std::uint32_t>(w[0]))); });
  add("clz.b64", 1, [](const Words& w) { return U(std::countl_zero(w[0])); });
  add("brev.b32", 1, [](const Words& w) {
    U out = 0;
    for (unsigned i = 0; i < 32; ++i) out |= ((w[0] >> i) & 1) << (31 - i);
    return out;
  });
  add("selp.b32", 3, [](const Words& w) { return (w[2] & 1 ? w[0] : w[1]) & 0xffffffff; });
  add("slct.u32.s32", 3,
      [](const Words& w) { return (to<std::int32_t>(w[2]) >= 0 ? w[0] : w[1]) & 0xffffffff; });
  add("cvt.u64.u32", 1, [](const Words& w) { return w[0] & 0xffffffff; });
  add("cvt.s64.s32", 1, [](const Words& w) { return from<S>(to<std::int32_t>(w[0])); });
  add("cvt.u32.u64", 1, [](const Words& w) { return w[0] & 0xffffffff; });
  add("cvt.s32.s8", 1, [](const Words& w) { return from<std::int32_t>(to<std::int8_t>(w[0])); });
  add("cvt.u16.s32", 1, [](const Words& w) { return w[0] & 0xffff; });
  add("cvt.sat.u8.s32", 1, [](const Words& w) { return U(std::clamp(to<std::int32_t>(w[0]), 0, 255)); });
  add("cvt.sat.s16.u32", 1, [](const Words& w) { return std::min<U>(w[0] & 0xffffffff, 0x7fff); });
  add("shf.l.wrap.b32", 3, [](const Words& w) {
    return ((((w[1] & 0xffffffff) << 32 | (w[0] & 0xffffffff)) << (w[2] & 31)) >> 32) & 0xffffffff;
  });
  add("shf.r.wrap.b32", 3, [](const Words& w) {
    return (((w[1] & 0xffffffff) << 32 | (w[0] & 0xffffffff)) >> (w[2] & 31)) & 0xffffffff;
  });
  return list;
}

Words interestingWords() {
  Words words{0,
              1,
              2,
              3,
              5,
              16,
              31,
              32,
              33,
              63,
              64,
              127,
              128,
              255,
              0x7fff,
              0x8000,
              0xffff,
              0x7fffffff,
              0x80000000,
              0xffffffff,
              0x1'0000'0000,
              0x7fff'ffff'ffff'ffff,
              0x8000'0000'0000'0000,
              ~U{0}};
  std::mt19937_64 random(7);
  for (unsigned i = 0; i < 12; ++i) words.push_back(random());
  return words;
}

TEST(Alu, AgreesWithTheScalarReference) {
  const Words words = interestingWords();
  for (const Reference& reference : references()) {
    Words sources(reference.sources);
    for (const U a : words) {
      for (const U b : reference.sources > 1 ? words : Words{0}) {
        sources[0] = a;
        if (reference.sources > 1) sources[1] = b;
        if (reference.sources > 2) sources[2] = a ^ (b << 1);
        const U expected = reference.value(sources);
        if (expected == ~U{0} && reference.opcode.substr(0, 3) != "add") {
          // Division by zero is unspecified and by -1 has cases of its own; the call must only not fail.
          (void)wordOf(reference.opcode, sources);
          continue;
        }
        ASSERT_EQ(wordOf(reference.opcode, sources), expected)
            << reference.opcode << " of " << a << ", " << b;
      }
    }
  }
}

TEST(Alu, ComparisonsBySignAndWidth) {
  EXPECT_EQ(wordOf("setp.lt.s32", {0xffffffff, 0}), 1u);
  EXPECT_EQ(wordOf("setp.lt.u32", {0xffffffff, 0}), 0u);
  EXPECT_EQ(wordOf("setp.lo.u32", {1, 2}), 1u);
  EXPECT_EQ(wordOf("setp.hs.u32", {2, 2}), 1u);
  EXPECT_EQ(wordOf("setp.ge.s64", {~U{0}, 0}), 0u);
  EXPECT_EQ(wordOf("setp.eq.b16", {0x1'0001, 1}), 1u) << "only the low 16 bits count";
  EXPECT_EQ(wordOf("setp.ne.s32", {4, 4}), 0u);
  EXPECT_EQ(wordOf("set.eq.u32.s32", {4, 4}), 0xffffffffu);
  EXPECT_EQ(wordOf("set.lt.u32.s32", {4, 4}), 0u);
}

TEST(Alu, SecondPredicateIsTheComplementBeforeTheCombination) {
  Lanes second;
  const Lanes out = evaluateText("setp.lt.and.s32", {all(1), all(2), all(0)}, &second);
  EXPECT_EQ(out.word[0], 0u);
  EXPECT_EQ(second.word[0], 0u) << "!(1 < 2) && 0";
  evaluateText("setp.lt.or.s32", {all(1), all(2), all(1)}, &second);
  EXPECT_EQ(second.word[0], 1u) << "!(1 < 2) || 1";
}

TEST(Alu, FieldsOfBits) {
  EXPECT_EQ(wordOf("bfe.u32", {0xabcd1234, 8, 8}), 0x12u);
  EXPECT_EQ(wordOf("bfe.s32", {0x0000ff00, 8, 8}), 0xffffffffu);
  EXPECT_EQ(wordOf("bfe.u32", {0xffffffff, 28, 8}), 0xfu) << "bits beyond the word are the sign, here 0";
  EXPECT_EQ(wordOf("bfe.s32", {0x80000000, 28, 8}), 0xfffffff8u);
  EXPECT_EQ(wordOf("bfe.u32", {0xffffffff, 3, 0}), 0u);
  EXPECT_EQ(wordOf("bfi.b32", {0x5, 0xffffffff, 4, 4}), 0xffffff5fu);
  EXPECT_EQ(wordOf("bfi.b32", {0x5, 0x1234, 40, 4}), 0x1234u);
  EXPECT_EQ(wordOf("bfind.u32", {0x00010000}), 16u);
  EXPECT_EQ(wordOf("bfind.u32", {0}), 0xffffffffu);
  EXPECT_EQ(wordOf("bfind.s32", {0xfffffff0}), 3u);
  EXPECT_EQ(wordOf("bfind.shiftamt.u32", {0x00010000}), 15u);
}

TEST(Alu, TablesAndPermutations) {
  constexpr U kA = 0xf0f0f0f0, kB = 0xcccccccc, kC = 0xaaaaaaaa;
  EXPECT_EQ(wordOf("lop3.b32", {kA, kB, kC, 0x80}), kA & kB & kC);
  EXPECT_EQ(wordOf("lop3.b32", {kA, kB, kC, 0x96}), kA ^ kB ^ kC);
  EXPECT_EQ(wordOf("lop3.b32", {kA, kB, kC, 0xfe}), kA | kB | kC);
  EXPECT_EQ(wordOf("lop3.b32", {kA, kB, kC, 0xca}), (kA & kB) | (~kA & 0xffffffff & kC));
  EXPECT_EQ(wordOf("prmt.b32", {0x33221100, 0x77665544, 0x7410}), 0x77441100u);
  EXPECT_EQ(wordOf("prmt.b32", {0x000000f0, 0, 0x8888}), 0xffffffffu)
      << "msb of the nibble replicates the sign";
  EXPECT_EQ(wordOf("shf.l.clamp.b32", {0x11111111, 0x22222222, 40}), 0x11111111u);
  EXPECT_EQ(wordOf("shf.r.clamp.b32", {0x11111111, 0x22222222, 40}), 0x22222222u);
}

TEST(Alu, DivisionAtTheEdges) {
  EXPECT_EQ(wordOf("div.s32", {0x80000000, 0xffffffff}), 0x80000000u);
  EXPECT_EQ(wordOf("rem.s32", {0x80000000, 0xffffffff}), 0u);
  EXPECT_EQ(wordOf("div.s64", {U{1} << 63, ~U{0}}), U{1} << 63);
  EXPECT_EQ(wordOf("div.s32", {7, 0xffffffff}), 0xfffffff9u);
}

TEST(Alu, AddressesMoveBetweenWindows) {
  EXPECT_EQ(wordOf("cvta.shared.u64", {0x400}), kSharedWindow + 0x400);
  EXPECT_EQ(wordOf("cvta.to.shared.u64", {kSharedWindow + 0x400}), 0x400u);
  EXPECT_EQ(wordOf("cvta.to.global.u64", {bufferBase(2)}), bufferBase(2));
  EXPECT_EQ(wordOf("isspacep.shared", {kSharedWindow + 8}), 1u);
  EXPECT_EQ(wordOf("isspacep.global", {kSharedWindow + 8}), 0u);
  EXPECT_EQ(wordOf("isspacep.local", {kLocalWindow}), 1u);
  EXPECT_EQ(wordOf("mapa.shared::cluster.u32", {0x400, 1}), (U{2} << kClusterShift) + 0x400);
}

// --- what is not evaluated exactly must be unknown, never a wrong word ---

TEST(Alu, OperationsWithoutAnEvaluatorAreUnknown) {
  EXPECT_TRUE(isUnknown("addc.u32", {1, 2}));
  EXPECT_TRUE(isUnknown("subc.u32", {1, 2}));
  EXPECT_TRUE(isUnknown("madc.lo.u32", {1, 2, 3}));
  EXPECT_TRUE(isUnknown("bmsk.clamp.b32", {1, 2}));
  EXPECT_TRUE(isUnknown("szext.clamp.u32", {1, 2}));
  EXPECT_TRUE(isUnknown("fns.b32", {1, 2, 3}));
  EXPECT_TRUE(isUnknown("dp4a.u32.u32", {1, 2, 3}));
  EXPECT_TRUE(isUnknown("cvt.pack.sat.u16.s32", {1, 2}));
}

/// The word, or "unknown": both are right, anything else is not.
void expectWordOrUnknown(std::string_view opcode, const Words& words, U expected) {
  if (std::holds_alternative<ptx::Opaque>(ptx::decode(opcode).effect)) return;
  std::vector<Lanes> sources;
  for (const U word : words) sources.push_back(all(word));
  const Lanes out = evaluateText(opcode, sources);
  EXPECT_TRUE(out.unknown == kAllLanes || out.word[0] == expected) << opcode << " gave " << out.word[0];
}

TEST(Alu, SaturatingArithmeticNeverWraps) {
  expectWordOrUnknown("add.sat.s32", {0x7fffffff, 1}, 0x7fffffff);
  expectWordOrUnknown("sub.sat.s32", {0x80000000, 1}, 0x80000000);
  expectWordOrUnknown("mad.hi.sat.s32", {0x7fffffff, 0x7fffffff, 0x7fffffff}, 0x7fffffff);
}

TEST(Alu, ReluClampsAtZero) {
  const auto word = [](std::string_view opcode, U a, U b) {
    const Lanes out = evaluateText(opcode, {all(a), all(b)});
    EXPECT_EQ(out.unknown, 0u) << opcode;
    return out.word[0];
  };
  EXPECT_EQ(word("min.relu.s32", 0xffffffff, 5), 0u);
  EXPECT_EQ(word("min.relu.s32", 7, 5), 5u);
  EXPECT_EQ(word("max.relu.s32", 0xffffffff, 0x80000000), 0u);
  EXPECT_EQ(word("max.relu.s32", 0xffffffff, 5), 5u);
  expectWordOrUnknown("min.relu.s16x2", {0xffff'0003, 0x0001'0002}, 0x0000'0002);
}

TEST(Alu, PermutationModesAreNotTheDefaultOne) {
  expectWordOrUnknown("prmt.b32.f4e", {0x33221100, 0x77665544, 1}, 0x44332211);
  expectWordOrUnknown("prmt.b32.rc8", {0x33221100, 0x77665544, 1}, 0x11111111);
}

TEST(Alu, PackedHalvesDoNotCarryIntoEachOther) {
  expectWordOrUnknown("min.u16x2", {0x0001'0002, 0x0002'0001}, 0x0001'0001);
}

TEST(Alu, PredicateOfLop3IsNotInvented) {
  Lanes second;
  evaluateText("lop3.or.b32", {all(1), all(1), all(1), all(0x80), all(0)}, &second);
  EXPECT_TRUE(second.unknown == kAllLanes || second.word[0] == 1u) << "(1 & 1 & 1) != 0 | 0";
}

TEST(Alu, UnknownSourceMakesItsLanesUnknown) {
  const Lanes out = evaluateText("add.u32", {all(1, 0x0f), all(2, 0xf0)});
  EXPECT_EQ(out.unknown, 0xffu);
  EXPECT_EQ(out.word[8], 3u);
}

TEST(Alu, KnownZeroDecidesAndAndProduct) {
  EXPECT_EQ(evaluateText("and.b32", {all(0), all(7, kAllLanes)}).unknown, 0u);
  EXPECT_EQ(evaluateText("mul.lo.u32", {all(7, kAllLanes), all(0)}).unknown, 0u);
  EXPECT_EQ(evaluateText("and.b32", {all(1), all(7, kAllLanes)}).unknown, kAllLanes);
}

TEST(Alu, KnownOnesDecideOr) {
  const Lanes out = evaluateText("or.b32", {all(0xffffffff), all(7, kAllLanes)});
  EXPECT_EQ(out.unknown, 0u);
  EXPECT_EQ(out.word[0], 0xffffffffu);
  EXPECT_EQ(evaluateText("or.pred", {all(1), all(0, kAllLanes)}).unknown, 0u);
}

TEST(Alu, SelectByAKnownPredicateIgnoresTheOtherSource) {
  EXPECT_EQ(evaluateText("selp.b32", {all(5), all(6, kAllLanes), all(1)}).unknown, 0u);
  EXPECT_EQ(evaluateText("selp.b32", {all(5), all(6, kAllLanes), all(0)}).unknown, kAllLanes);
}

TEST(Alu, SelectOfEqualSourcesIgnoresThePredicate) {
  EXPECT_EQ(evaluateText("selp.b32", {all(5), all(5), all(0, kAllLanes)}).unknown, 0u);
  EXPECT_EQ(evaluateText("selp.b32", {all(5), all(6), all(0, kAllLanes)}).unknown, kAllLanes);
}

}  // namespace
}  // namespace handoff::machine
