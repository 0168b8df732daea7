// SPDX-License-Identifier: Apache-2.0
// Tensor maps: what the builder refuses, and where the elements of a box land, for each swizzle and at each
// edge.
#include <cuda_bf16.h>

#include <cstring>

#include "device/harness.h"
#include "handoff/bulk_copy.h"
#include "handoff/tensor_map.h"

namespace handoff::device_tests {
namespace {

constexpr int kBoxRows = 16;

__global__ void loadBox(const __grid_constant__ CUtensorMap map, std::uint32_t* out, int words, int x,
                        int y) {
  alignas(1024) extern __shared__ std::uint32_t box[];
  __shared__ TransactionBarrier full;
  if (threadIdx.x == 0) {
    full.init(Arrivals(1));
    publishBarriers();
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    full.arriveExpect(bytesOf<std::uint32_t>(static_cast<std::uint32_t>(words)));
    tensorLoad(box, map, full, x, y);
  }
  full.wait(Phase::first());
  for (int i = threadIdx.x; i < words; i += blockDim.x) out[i] = box[i];
}

/// The chunk of 16 bytes that chunk `chunk` of row `row` is found at (CUDA Programming Guide, "Swizzle
/// Modes").
int swizzled(Swizzle swizzle, int row, int chunk) {
  switch (swizzle) {
    case Swizzle::kNone:
      return chunk;
    case Swizzle::kSpan32:
      return chunk ^ (row / 4 % 2);
    case Swizzle::kSpan64:
      return chunk ^ (row / 2 % 4);
    case Swizzle::kSpan128:
      return chunk ^ (row % 8);
  }
  return chunk;
}

class TensorMapOnDevice : public HopperTest {
 protected:
  static constexpr int kRows = 37, kColumns = 51,
                       kPitch = 56;  // words; the last columns of a row are padding

  void check(Swizzle swizzle, int box_columns, int x, int y, OutOfBounds fill = OutOfBounds::kZero) {
    const std::vector<std::uint32_t> in = randomWords(kRows * kPitch);
    const Words device_in(in), device_out(static_cast<std::size_t>(kBoxRows) * box_columns);
    auto view =
        matrixView(reinterpret_cast<const float*>(device_in.get()), kRows, kColumns, sizeof(float) * kPitch,
                   kBoxRows, static_cast<std::uint32_t>(box_columns), swizzle);
    view.fill = fill;
    const TensorMapResult map = encodeTensorMap(view);
    ASSERT_TRUE(map) << map.error;
    ASSERT_EQ(view.boxBytes(), sizeof(float) * kBoxRows * static_cast<std::uint32_t>(box_columns));
    loadBox<<<1, 64, view.boxBytes()>>>(map.map, device_out.get(), kBoxRows * box_columns, x, y);
    const std::vector<std::uint32_t> got = device_out.download();
    for (int r = 0; r < kBoxRows; ++r) {
      for (int c = 0; c < box_columns; ++c) {
        const bool is_inside = y + r >= 0 && y + r < kRows && x + c >= 0 && x + c < kColumns;
        const std::uint32_t value =
            got[static_cast<std::size_t>(r * box_columns + swizzled(swizzle, r, c / 4) * 4 + c % 4)];
        if (is_inside) {
          ASSERT_EQ(value, in[static_cast<std::size_t>((y + r) * kPitch + x + c)])
              << "box at " << x << ", " << y << ": " << r << ", " << c;
        } else if (fill == OutOfBounds::kZero) {
          ASSERT_EQ(value, 0u) << "box at " << x << ", " << y << ": " << r << ", " << c;
        } else {
          float number = 0;
          std::memcpy(&number, &value, sizeof number);
          ASSERT_NE(number, number) << "box at " << x << ", " << y << ": " << r << ", " << c;
        }
      }
    }
  }
};

TEST_F(TensorMapOnDevice, BoxesLandInRows) {
  for (const int x : {-40, -8, 0, 4, 24, 48, 52, 72})
    for (const int y : {-20, -3, 0, 7, 30, 36, 37}) check(Swizzle::kNone, 32, x, y);
}

TEST_F(TensorMapOnDevice, SwizzlesPermuteChunks) {
  for (const int x : {-4, 0, 12, 44}) {
    for (const int y : {-1, 0, 25}) {
      check(Swizzle::kSpan32, 8, x, y);
      check(Swizzle::kSpan64, 16, x, y);
      check(Swizzle::kSpan128, 32, x, y);
    }
  }
}

TEST_F(TensorMapOnDevice, TheOutsideMayBecomeNan) { check(Swizzle::kNone, 32, 28, 30, OutOfBounds::kNan); }

TensorView<float, 2> goodView() {
  static float memory[4];
  auto view = matrixView(static_cast<const float*>(memory), 10, 20, 80, 8, 32);
  view.data = reinterpret_cast<const float*>(std::uintptr_t{1} << 20);
  return view;
}

TEST(TensorView, AGoodOneHasNoReason) { EXPECT_EQ(whyNotEncodable(goodView()), nullptr); }

TEST(TensorView, SaysWhatIsWrong) {
  const auto reason = [](auto change) {
    auto view = goodView();
    change(view);
    const char* why = whyNotEncodable(view);
    return std::string(why == nullptr ? "" : why);
  };
  EXPECT_EQ(reason([](auto& v) { v.data = nullptr; }), "the tensor has no address");
  EXPECT_EQ(reason([](auto& v) { v.data = v.data + 1; }), "the tensor is not aligned to 16 bytes");
  EXPECT_EQ(reason([](auto& v) { v.pitches[0] = 8; }), "the innermost dimension is not dense");
  EXPECT_EQ(reason([](auto& v) { v.pitches[1] = 84; }), "a pitch is no multiple of 16 bytes");
  EXPECT_EQ(reason([](auto& v) { v.extents[1] = 0; }), "an extent is not 1 to 2^32");
  EXPECT_EQ(reason([](auto& v) { v.box[1] = 257; }), "an extent of the box is not 1 to 256");
  EXPECT_EQ(reason([](auto& v) { v.box[0] = 6; }), "the box's innermost extent is no multiple of 16 bytes");
  EXPECT_EQ(reason([](auto& v) { v.box[0] = 64, v.swizzle = Swizzle::kSpan128; }),
            "the box is wider than the swizzle's span");
}

}  // namespace
}  // namespace handoff::device_tests
