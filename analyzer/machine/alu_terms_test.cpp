// SPDX-License-Identifier: Apache-2.0
// Operations on terms against the evaluator of concrete lanes.
#include "analyzer/machine/alu_terms.h"

#include <gtest/gtest.h>

#include <random>

#include "analyzer/machine/alu.h"

namespace handoff::machine {
namespace {

using symbolic::TermId;

constexpr const char* kOpcodes[] = {
    "mov.b32", "mov.u64", "add.s32", "add.s64", "sub.u32", "mul.lo.s32", "mul.lo.u64", "mul.hi.u32", "mul.hi.s32", "mul.hi.u64",
    "mul.wide.u32", "mul.wide.s32", "mul.wide.u16", "mad.lo.s32", "mad.wide.u32", "mad.wide.s32", "div.u32", "div.s32", "rem.u32",
    "rem.s32", "neg.s32", "abs.s32", "min.u32", "min.s32", "max.u32", "max.s64", "and.b32", "and.b64", "or.b32", "xor.b32", "not.b32",
    "min.relu.s32", "max.relu.s32", "and.pred", "or.pred", "xor.pred", "not.pred", "shl.b32", "shl.b64", "shr.u32", "shr.s32", "shr.u64", "shr.s64", "shr.u16",
    "selp.b32", "selp.u64", "slct.u32.s32", "cvt.u32.u64", "cvt.u64.u32", "cvt.s64.s32", "cvt.u16.u32", "cvt.s32.s8", "cvt.u32.u8",
    "cvt.s32.s16", "bfe.u32", "setp.eq.s32", "setp.ne.u32", "setp.lt.s32", "setp.lt.u32", "setp.ge.s64", "setp.gt.u32", "setp.le.s32",
    "setp.lo.u32", "setp.hs.u32", "setp.lt.and.s32", "setp.ne.or.u32", "setp.ge.xor.u32", "cvta.shared.u64", "cvta.to.shared.u64",
};

/// The bits that each operand of an operation has.
std::vector<unsigned> operandBits(const ptx::Decoded& decoded, ptx::AluOp op) {
  const unsigned bits = bitWidth(decoded.type());
  switch (op) {
    case ptx::AluOp::kMov: case ptx::AluOp::kNeg: case ptx::AluOp::kAbs: case ptx::AluOp::kNot: case ptx::AluOp::kCvta: return {bits};
    case ptx::AluOp::kCvt: return {bitWidth(decoded.types[1])};
    case ptx::AluOp::kMad: return {bits, bits, decoded.mul == ptx::MulMode::kWide ? 2 * bits : bits};
    case ptx::AluOp::kShl: case ptx::AluOp::kShr: return {bits, 32};
    case ptx::AluOp::kSelp: return {bits, bits, 1};
    case ptx::AluOp::kSlct: return {bits, bits, 32};
    case ptx::AluOp::kBfe: return {bits, 32, 32};
    case ptx::AluOp::kSetp:
      return decoded.bool_op == ptx::BoolOp::kNone ? std::vector<unsigned>{bits, bits} : std::vector<unsigned>{bits, bits, 1};
    default: return {bits, bits};
  }
}

class AluTermsTest : public testing::TestWithParam<const char*> {
 protected:
  std::uint64_t word(unsigned bits, bool is_small) {
    static constexpr std::uint64_t kEdges[] = {0, 1, 2, 3, 31, 32, 0x7fffffff, 0x80000000, 0xffffffff, 1ull << 32, 1ull << 63, ~0ull};
    const std::uint64_t any = random_() % 3 == 0 ? kEdges[random_() % std::size(kEdges)] : (random_() << 32) | random_();
    return (is_small ? any % 40 : any) & symbolic::widthMask(bits);
  }
  std::mt19937_64 random_{7};
};

TEST_P(AluTermsTest, HaveTheValuesOfTheEvaluator) {
  const ptx::Decoded& decoded = ptx::decode(GetParam());
  const auto* alu = std::get_if<ptx::Alu>(&decoded.effect);
  ASSERT_NE(alu, nullptr);
  const std::vector<unsigned> bits = operandBits(decoded, alu->op);
  const bool is_amount = alu->op == ptx::AluOp::kShl || alu->op == ptx::AluOp::kShr || alu->op == ptx::AluOp::kBfe;
  unsigned compared = 0;
  for (unsigned round = 0; round < 400; ++round) {
    symbolic::Terms terms;
    symbolic::Model model;
    std::vector<Lanes> lanes(bits.size());
    std::vector<TermId> ids;
    for (std::size_t i = 0; i < bits.size(); ++i) {
      const std::uint64_t value = word(bits[i], (is_amount && i > 0) || round % 4 == 0);
      lanes[i].word.fill(value);
      // Some operands are constants, as immediates are.
      const bool is_symbol = i == 0 || (!is_amount && random_() % 2 == 0);
      if (is_symbol) model.push_back(value);
      ids.push_back(is_symbol ? terms.symbol("s", bits[i], 0, symbolic::widthMask(bits[i])) : terms.constant(value, bits[i]));
    }
    std::vector<const Lanes*> sources;
    for (const Lanes& one : lanes) sources.push_back(&one);
    Lanes second;
    const Lanes expected = evaluate(decoded, alu->op, sources, &second);
    const auto found = evaluateTerms(terms, decoded, alu->op, ids);
    if (!found) continue;  // the run goes by present values instead
    ++compared;
    // What a division by zero gives is not specified.
    const bool divides = alu->op == ptx::AluOp::kDiv || alu->op == ptx::AluOp::kRem;
    if (divides && lanes[1].word[0] == 0) continue;
    ASSERT_EQ(terms.evaluate(found->first, 0, model), expected.word[0]) << "round " << round << ": " << terms.text(found->first);
    if (alu->op == ptx::AluOp::kSetp) {
      ASSERT_EQ(terms.evaluate(found->second, 0, model), second.word[0]) << "round " << round;
    }
  }
  EXPECT_GT(compared, 0u) << "terms have no such operation";
}

std::string nameOf(const testing::TestParamInfo<const char*>& info) {
  std::string name = info.param;
  for (char& c : name) c = c == '.' ? '_' : c;
  return name;
}

INSTANTIATE_TEST_SUITE_P(opcodes, AluTermsTest, testing::ValuesIn(kOpcodes), nameOf);

}  // namespace
}  // namespace handoff::machine
