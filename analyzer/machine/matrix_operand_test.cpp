// SPDX-License-Identifier: Apache-2.0
// Bytes that matrix instructions read, against layouts worked out by hand.
#include "analyzer/machine/matrix_operand.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "analyzer/test_support/ptx_kernel.h"

namespace handoff::machine {
namespace {

using Ranges = std::vector<ByteRange>;

enum WgmmaSwizzle : std::uint64_t { kNone = 0, kSw128 = 1, kSw64 = 2, kSw32 = 3 };

std::uint64_t descriptor(std::uint64_t start, std::uint64_t leading, std::uint64_t stride,
                         std::uint64_t swizzle = kNone, std::uint64_t base_offset = 0) {
  const auto encode = [](std::uint64_t bytes) { return (bytes & 0x3FFFF) >> 4; };
  return encode(start) | encode(leading) << 16 | encode(stride) << 32 | base_offset << 49 | swizzle << 62;
}

std::uint64_t blackwell(std::uint64_t start, std::uint64_t leading, std::uint64_t stride, std::uint64_t swizzle) {
  return descriptor(start, leading, stride) | std::uint64_t{1} << 46 | swizzle << 61;
}

MatrixShape kMajor(unsigned rows, unsigned k_bytes = 32) { return {.rows = rows, .k_bytes = k_bytes}; }
MatrixShape mnMajor(unsigned rows) { return {.rows = rows, .is_mn_major = true}; }

/// The 16-byte chunks of the ranges.
std::set<std::uint64_t> chunksOf(const Ranges& ranges) {
  std::set<std::uint64_t> chunks;
  for (const ByteRange& range : ranges) {
    for (std::uint32_t b = 0; b < range.bytes; b += 16) chunks.insert(range.address + b);
  }
  return chunks;
}

std::uint64_t bytesOf(const Ranges& ranges) {
  std::uint64_t bytes = 0;
  for (const ByteRange& range : ranges) bytes += range.bytes;
  return bytes;
}

/// The steps must read every byte of [begin, begin + size), none twice.
void expectTiles(const std::vector<Ranges>& steps, std::uint64_t begin, std::uint64_t size) {
  std::set<std::uint64_t> all;
  std::uint64_t bytes = 0;
  for (const Ranges& step : steps) {
    bytes += bytesOf(step);
    all.merge(chunksOf(step));
  }
  EXPECT_EQ(bytes, size);
  ASSERT_EQ(all.size() * 16, size);
  EXPECT_EQ(*all.begin(), begin);
  EXPECT_EQ(*all.rbegin(), begin + size - 16);
}

TEST(WgmmaOperand, KMajorWithoutSwizzleIsTwoColumnsOfEightRowBlocks) {
  // Column 1 is 1024 bytes on; the 8 blocks of 8 rows follow each other.
  EXPECT_EQ(wgmmaOperandRanges(descriptor(0x400, 1024, 128), kMajor(64)), (Ranges{{0x400, 2048}}));
  // Blocks 256 bytes apart, the second column between them.
  EXPECT_EQ(wgmmaOperandRanges(descriptor(0x400, 128, 256), kMajor(64)), (Ranges{{0x400, 2048}}));
  // Columns far away.
  EXPECT_EQ(wgmmaOperandRanges(descriptor(0x400, 0x4000, 128), kMajor(16)), (Ranges{{0x400, 256}, {0x4400, 256}}));
  EXPECT_EQ(wgmmaOperandRanges(descriptor(0x400, 128, 512), kMajor(16)), (Ranges{{0x400, 256}, {0x600, 256}}));
}

TEST(WgmmaOperand, TwoRowsOf128ByteSwizzle) {
  // Row r keeps its chunks c at (c ^ r) * 16 of its 128 bytes.
  EXPECT_EQ(wgmmaOperandRanges(descriptor(0x400, 16, 1024, kSw128), {.rows = 3}),
            (Ranges{{0x400, 32}, {0x480, 32}, {0x500 + 32, 32}}));
  EXPECT_EQ(wgmmaOperandRanges(descriptor(0x420, 16, 1024, kSw128), {.rows = 3}),
            (Ranges{{0x420, 32}, {0x4a0, 32}, {0x500, 32}}));
}

TEST(WgmmaOperand, StepsAlongKTileTheAtom) {
  for (unsigned rows = 8; rows <= 256; rows += 8) {
    std::vector<Ranges> steps;
    for (unsigned k = 0; k < 4; ++k) {
      steps.push_back(wgmmaOperandRanges(descriptor(0x2000 + 32 * k, 16, 1024, kSw128), kMajor(rows)));
    }
    expectTiles(steps, 0x2000, rows * 128);
  }
  for (const unsigned rows : {8u, 64u, 256u}) {
    std::vector<Ranges> steps;
    for (unsigned k = 0; k < 2; ++k) {
      steps.push_back(wgmmaOperandRanges(descriptor(0x2000 + 32 * k, 16, 512, kSw64), kMajor(rows)));
    }
    expectTiles(steps, 0x2000, rows * 64);
    expectTiles({wgmmaOperandRanges(descriptor(0x2000, 16, 256, kSw32), kMajor(rows))}, 0x2000, rows * 32);
  }
}

TEST(WgmmaOperand, SixtyFourByteSwizzleChangesEveryTwoRows) {
  // Rows of 64 bytes: 0 and 1 have phase 0, 2 and 3 phase 1, 4 and 5 phase 2 (the other half).
  EXPECT_EQ(wgmmaOperandRanges(descriptor(0x400, 16, 512, kSw64), kMajor(6)),
            (Ranges{{0x400, 32}, {0x440, 32}, {0x480, 32}, {0x4c0, 32}, {0x520, 32}, {0x560, 32}}));
}

TEST(WgmmaOperand, StrideBetweenRowBlocks) {
  // A wider tile: blocks of 8 rows lie 2048 bytes apart.
  const Ranges ranges = wgmmaOperandRanges(descriptor(0x2000, 16, 2048, kSw128), kMajor(16));
  EXPECT_EQ(bytesOf(ranges), 512u);
  const std::set<std::uint64_t> chunks = chunksOf(ranges);
  for (std::uint64_t row = 0; row < 16; ++row) {
    const std::uint64_t begin = 0x2000 + (row / 8) * 2048 + (row % 8) * 128;
    EXPECT_TRUE(chunks.contains(begin + ((row % 8) << 4))) << row;
    EXPECT_TRUE(chunks.contains(begin + ((1 ^ (row % 8)) << 4))) << row;
  }
}

TEST(WgmmaOperand, BaseOffsetMovesThePattern) {
  // The pattern starts at 0x480: that row counts as row 0.
  EXPECT_EQ(wgmmaOperandRanges(descriptor(0x480, 16, 1024, kSw128, 1), {.rows = 3}),
            (Ranges{{0x480, 32}, {0x500, 32}, {0x580 + 32, 32}}));
  // With no base offset it is row 1 of a pattern that starts at 0x400.
  EXPECT_EQ(wgmmaOperandRanges(descriptor(0x480, 16, 1024, kSw128, 0), {.rows = 3}),
            (Ranges{{0x480, 32}, {0x500 + 32, 32}, {0x580 + 32, 32}}));
}

TEST(WgmmaOperand, MnMajor128ByteSwizzle) {
  // 64 values of M fill a row of 128 bytes; 16 rows of K are two atoms.
  EXPECT_EQ(wgmmaOperandRanges(descriptor(0x2000, 0x4000, 1024, kSw128), mnMajor(64)), (Ranges{{0x2000, 2048}}));
  // The next 64 are one leading offset on.
  EXPECT_EQ(wgmmaOperandRanges(descriptor(0x2000, 0x4000, 1024, kSw128), mnMajor(128)),
            (Ranges{{0x2000, 2048}, {0x6000, 2048}}));
  EXPECT_EQ(wgmmaOperandRanges(descriptor(0x2000, 1024, 0x4000, kSw128), mnMajor(128)),
            (Ranges{{0x2000, 2048}, {0x6000, 2048}}));
  // A quarter of the atom's width: one swizzled pair of chunks in every row.
  const Ranges narrow = wgmmaOperandRanges(descriptor(0x2000, 0x4000, 1024, kSw128), mnMajor(16));
  EXPECT_EQ(bytesOf(narrow), 16u * 32);
  EXPECT_EQ(narrow.front(), (ByteRange{0x2000, 32}));
}

TEST(WgmmaOperand, MnMajorNarrowSwizzlesTile) {
  expectTiles({wgmmaOperandRanges(descriptor(0x2000, 1024, 512, kSw64), mnMajor(64))}, 0x2000, 2048);
  expectTiles({wgmmaOperandRanges(descriptor(0x2000, 512, 256, kSw32), mnMajor(64))}, 0x2000, 2048);
}

TEST(WgmmaOperand, MnMajorWithoutSwizzle) {
  // 8 values of M a chunk, one stride to the next; 8 rows of K are 128 bytes, one leading offset to the other 8.
  EXPECT_EQ(wgmmaOperandRanges(descriptor(0x400, 0x1000, 256), mnMajor(16)),
            (Ranges{{0x400, 128}, {0x500, 128}, {0x1400, 128}, {0x1500, 128}}));
}

TEST(WgmmaOperand, RowsThatRepeatCountOnce) {
  EXPECT_EQ(wgmmaOperandRanges(descriptor(0x400, 128, 0), kMajor(64)), (Ranges{{0x400, 256}}));
}

// A sparse B has rows of 64 bytes along K.
TEST(WgmmaOperand, LongRowsLeaveANarrowAtomByTheLeadingOffset) {
  EXPECT_EQ(wgmmaOperandRanges(descriptor(0x2000, 0x4000, 0x200, kSw32), kMajor(16, 64)),
            (Ranges{{0x2000, 256}, {0x2200, 256}, {0x6000, 256}, {0x6200, 256}}));
  EXPECT_EQ(wgmmaOperandRanges(descriptor(0x2000, 0x4000, 0x200, kSw64), kMajor(16, 64)), (Ranges{{0x2000, 1024}}));
  EXPECT_EQ(wgmmaOperandRanges(descriptor(0x2000, 0x4000, 1024, kSw128), {.rows = 1, .k_bytes = 64}),
            (Ranges{{0x2000, 64}}));
}

TEST(Tcgen05Operand, SwizzleModesHaveOtherNumbers) {
  std::vector<Ranges> steps;
  for (unsigned k = 0; k < 4; ++k) {
    steps.push_back(tcgen05OperandRanges(blackwell(0x2000 + 32 * k, 16, 1024, 2), kMajor(128)));
    EXPECT_EQ(steps.back(), wgmmaOperandRanges(descriptor(0x2000 + 32 * k, 16, 1024, kSw128), kMajor(128)));
  }
  expectTiles(steps, 0x2000, 128 * 128);
  EXPECT_EQ(tcgen05OperandRanges(blackwell(0x2000, 16, 512, 4), kMajor(128)),
            wgmmaOperandRanges(descriptor(0x2000, 16, 512, kSw64), kMajor(128)));
  EXPECT_EQ(tcgen05OperandRanges(blackwell(0x2000, 16, 256, 6), kMajor(128)),
            wgmmaOperandRanges(descriptor(0x2000, 16, 256, kSw32), kMajor(128)));
  EXPECT_EQ(tcgen05OperandRanges(blackwell(0x2000, 128, 256, 0), kMajor(128)), (Ranges{{0x2000, 4096}}));
  EXPECT_TRUE(tcgen05OperandRanges(blackwell(0x2000, 16, 1024, 3), kMajor(128)).empty());
}

TEST(Tcgen05Operand, AtomsOf32BytesRepeatEveryFourRows) {
  const MatrixShape tf32{.rows = 32, .element_bytes = 4, .is_mn_major = true};
  EXPECT_EQ(tcgen05OperandRanges(blackwell(0x2000, 16, 512, 1), tf32), (Ranges{{0x2000, 1024}}));
  EXPECT_EQ(tcgen05OperandRanges(blackwell(0x2000, 16, 0x4000, 1), tf32), (Ranges{{0x2000, 512}, {0x6000, 512}}));
  // The first 8 values of M, 32 bytes: in the k-th row they are the k-th quarter.
  const MatrixShape narrow{.rows = 8, .k_bytes = 16, .element_bytes = 4, .is_mn_major = true};
  EXPECT_EQ(tcgen05OperandRanges(blackwell(0x2000, 16, 512, 1), narrow),
            (Ranges{{0x2000, 32}, {0x20a0, 32}, {0x2140, 32}, {0x21e0, 32}}));
}

TEST(Tcgen05Operand, AbsoluteLeadingAddressIsNotFollowed) {
  EXPECT_TRUE(tcgen05OperandRanges(blackwell(0x2000, 16, 1024, 2) | std::uint64_t{1} << 52, kMajor(128, 48)).empty());
}

/// The statement, parsed; the module must outlive the instruction.
struct Parsed {
  std::unique_ptr<ptx::Module> module;
  const ptx::Instruction& instruction() const {
    const auto& list = module->functions.front().instructions;
    return list[list.size() - 2];  // before the return
  }
};
Parsed parsed(const std::string& statement) { return {test::parseModule(test::kernelText(statement))}; }

std::optional<WgmmaForm> wgmma(const std::string& text) {
  return wgmmaForm(parsed("wgmma.mma_async" + text + ";").instruction());
}

TEST(WgmmaForm, BothOperandsInSharedMemory) {
  const auto form =
      wgmma(".sync.aligned.m64n8k16.f32.bf16.bf16 {%f0,%f1,%f2,%f3}, %d0, %d1, 1, 1, 1, 0, 1");
  ASSERT_TRUE(form);
  EXPECT_EQ(form->n, 8u);
  EXPECT_EQ(form->k, 16u);
  EXPECT_FALSE(form->is_a_in_registers);
  EXPECT_EQ(form->a, (MatrixShape{.rows = 64, .k_bytes = 32, .element_bytes = 2, .is_mn_major = false}));
  EXPECT_EQ(form->b, (MatrixShape{.rows = 8, .k_bytes = 32, .element_bytes = 2, .is_mn_major = true}));
  EXPECT_TRUE(wgmma(".sync.aligned.m64n8k16.f16.f16.f16 {%r0,%r1}, %d0, %d1, %p0, 1, 1, 1, 0")->a.is_mn_major);
}

TEST(WgmmaForm, AInRegisters) {
  const auto form =
      wgmma(".sync.aligned.m64n8k16.f32.f16.f16 {%f0,%f1,%f2,%f3}, {%r0,%r1,%r2,%r3}, %d1, %p0, 1, 1, 1");
  ASSERT_TRUE(form);
  EXPECT_TRUE(form->is_a_in_registers);
  EXPECT_TRUE(form->b.is_mn_major);
}

TEST(WgmmaForm, OtherTypesAreKMajor) {
  const auto tf32 = wgmma(".sync.aligned.m64n256k8.f32.tf32.tf32 {%f0,%f1}, %d0, %d1, %p0, 1, -1");
  ASSERT_TRUE(tf32);
  EXPECT_EQ(tf32->b, (MatrixShape{.rows = 256, .k_bytes = 32, .element_bytes = 4}));
  const auto fp8 = wgmma(".sync.aligned.m64n96k32.f16.e5m2.e4m3 {%r0,%r1}, %d0, %d1, %p0, 1, 1");
  ASSERT_TRUE(fp8);
  EXPECT_EQ(fp8->b, (MatrixShape{.rows = 96, .k_bytes = 32, .element_bytes = 1}));
  const auto s8 = wgmma(".sync.aligned.m64n24k32.s32.s8.u8.satfinite {%r0,%r1}, %d0, %d1, %p0");
  ASSERT_TRUE(s8);
  EXPECT_EQ(s8->b.k_bytes, 32u);
  const auto b1 = wgmma(".sync.aligned.m64n8k256.s32.b1.b1.and.popc {%r0,%r1,%r2,%r3}, %d0, %d1, %p0");
  ASSERT_TRUE(b1);
  EXPECT_EQ(b1->b, (MatrixShape{.rows = 8, .k_bytes = 32, .element_bytes = 1}));
}

TEST(WgmmaForm, SparseAStoresHalfOfK) {
  const auto form = wgmma(
      ".sp.sync.aligned.m64n8k32.f32.f16.f16 {%f0,%f1,%f2,%f3}, %d0, %d1, %r0, 0, %p0, 1, 1, 0, 1");
  ASSERT_TRUE(form);
  EXPECT_TRUE(form->is_sparse);
  EXPECT_EQ(form->a.k_bytes, 32u);
  EXPECT_EQ(form->b.k_bytes, 64u);
  EXPECT_TRUE(form->b.is_mn_major);
  const auto tf32 =
      wgmma(".sp.sync.aligned.m64n8k16.f32.tf32.tf32 {%f0,%f1,%f2,%f3}, {%r0,%r1,%r2,%r3}, %d1, %r0, 0, %p0, 1, 1");
  ASSERT_TRUE(tf32);
  EXPECT_TRUE(tf32->is_a_in_registers);
  EXPECT_EQ(tf32->b.k_bytes, 64u);
}

TEST(WgmmaForm, OthersHaveNone) {
  EXPECT_FALSE(wgmmaForm(parsed("wgmma.fence.sync.aligned;").instruction()));
  EXPECT_FALSE(wgmmaForm(parsed("add.u32 %r0, %r1, %r2;").instruction()));
  EXPECT_FALSE(wgmma(".sync.aligned.m64n8k16.f32.f16.f16 {%f0,%f1,%f2,%f3}, %d0, %d1, %p0, 1, 1, 0, %r0"));
  EXPECT_FALSE(wgmma(".sync.aligned.m64n8k16.f32.f16.f16 {%f0,%f1,%f2,%f3}, %d0, %d1, %p0"));
}

std::uint32_t instructionDescriptor(unsigned m, unsigned n, bool a_mn_major = false, bool b_mn_major = false) {
  return (m >> 4) << 24 | (n >> 3) << 17 | (b_mn_major ? 1u << 16 : 0) | (a_mn_major ? 1u << 15 : 0);
}

std::optional<Tcgen05MmaForm> mma(const std::string& text) {
  return tcgen05MmaForm(parsed("tcgen05.mma" + text + ";").instruction());
}

TEST(Tcgen05MmaForm, DenseOfOneCta) {
  const auto form = mma(".cta_group::1.kind::f16 [%r1], %d1, %d2, %r2, {%r3, %r3, %r3, %r3}, %p0");
  ASSERT_TRUE(form);
  EXPECT_EQ(form->idesc, 3u);
  EXPECT_EQ(form->ctas, 1u);
  EXPECT_FALSE(form->is_a_in_tensor_memory);
  const auto shapes = tcgen05MmaShapes(*form, instructionDescriptor(128, 256, false, true));
  ASSERT_TRUE(shapes);
  EXPECT_EQ(shapes->a, (MatrixShape{.rows = 128, .k_bytes = 32, .element_bytes = 2, .is_mn_major = false}));
  EXPECT_EQ(shapes->b, (MatrixShape{.rows = 256, .k_bytes = 32, .element_bytes = 2, .is_mn_major = true}));
  EXPECT_FALSE(tcgen05MmaShapes(*form, 0));
}

TEST(Tcgen05MmaForm, PairHalvesTheRows) {
  const auto form =
      mma(".cta_group::2.kind::tf32 [%r1], [%r9], %d2, %r2, {%r3, %r3, %r3, %r3, %r3, %r3, %r3, %r3}, %p0, 2");
  ASSERT_TRUE(form);
  EXPECT_TRUE(form->is_a_in_tensor_memory);
  const auto shapes = tcgen05MmaShapes(*form, instructionDescriptor(256, 64));
  ASSERT_TRUE(shapes);
  EXPECT_EQ(shapes->a.rows, 128u);
  EXPECT_EQ(shapes->b, (MatrixShape{.rows = 32, .k_bytes = 32, .element_bytes = 4}));
}

TEST(Tcgen05MmaForm, SparseMetadataComesBeforeTheDescriptor) {
  const auto form = mma(".sp.cta_group::1.kind::i8 [%r1], %d1, %d2, [%r19], %r2, %p0");
  ASSERT_TRUE(form);
  EXPECT_EQ(form->idesc, 4u);
  const auto shapes = tcgen05MmaShapes(*form, instructionDescriptor(64, 8));
  ASSERT_TRUE(shapes);
  EXPECT_EQ(shapes->a.k_bytes, 32u);
  EXPECT_EQ(shapes->b.k_bytes, 64u);
}

TEST(Tcgen05MmaForm, BlockScaledAndWeightStationary) {
  const auto scaled = mma(".cta_group::1.kind::mxf4nvf4.block_scale.block16 [%r1], %d1, %d2, %r2, [%r4], [%r5], %p0");
  ASSERT_TRUE(scaled);
  EXPECT_EQ(tcgen05MmaShapes(*scaled, instructionDescriptor(128, 64))->b.k_bytes, 32u);
  EXPECT_EQ(tcgen05MmaShapes(*scaled, instructionDescriptor(128, 64) | 1u << 31)->b.k_bytes, 48u);
  const auto stationary = mma(".ws.cta_group::1.kind::f8f6f4.collector::b0::fill [%r1], %d1, %d2, %r2, %p0");
  ASSERT_TRUE(stationary);
  EXPECT_EQ(tcgen05MmaShapes(*stationary, instructionDescriptor(32, 64))->a.rows, 32u);
}

TEST(Tcgen05CopyShape, RowsAndBitsOfTheSpelling) {
  const auto shape = [](const std::string& text) {
    return tcgen05CopyShape(parsed("tcgen05.cp.cta_group::1" + text + " [%r1], %d1;").instruction());
  };
  EXPECT_EQ(shape(".128x256b"), (MatrixShape{.rows = 128, .k_bytes = 32, .element_bytes = 1}));
  EXPECT_EQ(shape(".4x256b"), (MatrixShape{.rows = 4, .k_bytes = 32, .element_bytes = 1}));
  EXPECT_EQ(shape(".32x128b.warpx4"), (MatrixShape{.rows = 32, .k_bytes = 16, .element_bytes = 1}));
  EXPECT_EQ(shape(".64x128b.warpx2::02_13"), (MatrixShape{.rows = 64, .k_bytes = 16, .element_bytes = 1}));
  EXPECT_EQ(shape(".128x128b.b8x16.b6x16_p32"), (MatrixShape{.rows = 128, .k_bytes = 16, .element_bytes = 1}));
  EXPECT_FALSE(tcgen05CopyShape(parsed("tcgen05.wait::ld.sync.aligned;").instruction()));
}

}  // namespace
}  // namespace handoff::machine
