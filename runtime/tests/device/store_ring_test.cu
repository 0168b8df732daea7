// SPDX-License-Identifier: Apache-2.0
// Store rings, by ranges and by boxes that reach beyond the tensor.
#include "device/harness.h"
#include "handoff/store_ring.h"
#include "handoff/tensor_map.h"

namespace handoff::device_tests {
namespace {

constexpr int kThreads = 128, kRows = 8, kColumns = 32;  // of a tile, in words

struct alignas(128) Tile {
  std::uint32_t at[kRows][kColumns];
};

template <int kSlots>
__global__ void storeRanges(const std::uint32_t* in, std::uint32_t* out, int tiles, Slow slow) {
  constexpr int kTile = kRows * kColumns;
  __shared__ Tile slots[kSlots];
  StoreRing<Tile, kSlots> ring(slots, threadIdx.x == 32);
  const int t = static_cast<int>(threadIdx.x);
  for (int k = 0; k < tiles; ++k) {
    auto filling = ring.acquire();
    if (slow == Slow::kProducers && t / 32 == k % 4) pause(kPause);
    for (int i = t; i < kTile; i += kThreads)
      filling->at[i / kColumns][i % kColumns] = in[k * kTile + i] * 5 + static_cast<std::uint32_t>(k);
    ring.publish(std::move(filling), [&](auto& stores, const Tile& tile) {
      stores.store(out + k * kTile, &tile.at[0][0], bytesOf<std::uint32_t>(kTile));
    });
  }
  ring.drain();
}

/// The block turns over all boxes; element (r, c) becomes 1000 r + c + seed, also where it lies outside.
template <int kSlots>
__global__ void storeBoxes(const __grid_constant__ CUtensorMap map, int across, int tiles,
                           std::uint32_t seed) {
  __shared__ Tile slots[kSlots];
  StoreRing<Tile, kSlots> ring(slots, threadIdx.x == 0);
  for (int k = 0; k < tiles; ++k) {
    auto filling = ring.acquire();
    const int x = k % across * kColumns, y = k / across * kRows;
    for (int i = threadIdx.x; i < kRows * kColumns; i += kThreads)
      filling->at[i / kColumns][i % kColumns] =
          static_cast<std::uint32_t>(1000 * (y + i / kColumns) + x + i % kColumns) + seed;
    ring.publish(std::move(filling),
                 [&](auto& stores, const Tile& tile) { stores.store(map, &tile.at[0][0], x, y); });
  }
  ring.drain();
}

class StoreRingOnDevice : public HopperTest {
 protected:
  template <int kSlots>
  void checkRanges() {
    for (const int tiles : {0, 1, 2, 3, 4, 5, 9, 40}) {
      for (const Slow slow : {Slow::kNobody, Slow::kProducers}) {
        constexpr std::size_t kTile = kRows * kColumns;
        const std::vector<std::uint32_t> in = randomWords(static_cast<std::size_t>(tiles) * kTile);
        std::vector<std::uint32_t> want(in.size());
        for (std::size_t i = 0; i < in.size(); ++i)
          want[i] = in[i] * 5 + static_cast<std::uint32_t>(i / kTile);
        const Words device_in(in), device_out(in.size());
        storeRanges<kSlots><<<1, kThreads>>>(device_in.get(), device_out.get(), tiles, slow);
        expectSame(device_out.download(), want,
                   std::to_string(kSlots) + " slots, " + std::to_string(tiles) + " tiles");
      }
    }
  }

  /// Columns are multiples of four: the engine clips at chunks of 16 bytes.
  template <int kSlots>
  void checkBoxes(int rows, int columns, int pitch) {
    const std::uint32_t seed = static_cast<std::uint32_t>(random_());
    const int across = (columns + kColumns - 1) / kColumns, down = (rows + kRows - 1) / kRows;
    std::vector<std::uint32_t> want(static_cast<std::size_t>(rows) * pitch, kPoison);
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < columns; ++c)
        want[static_cast<std::size_t>(r * pitch + c)] = static_cast<std::uint32_t>(1000 * r + c) + seed;
    const Words device_out(want.size());
    const TensorMapResult map = encodeTensorMap(
        matrixView(device_out.get(), static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(columns),
                   sizeof(std::uint32_t) * static_cast<std::uint64_t>(pitch), kRows, kColumns));
    ASSERT_TRUE(map) << map.error;
    storeBoxes<kSlots><<<1, kThreads>>>(map.map, across, across * down, seed);
    expectSame(device_out.download(), want, std::to_string(rows) + " x " + std::to_string(columns));
  }
};

TEST_F(StoreRingOnDevice, StoresRanges) {
  checkRanges<2>();
  checkRanges<3>();
  checkRanges<5>();
}

TEST_F(StoreRingOnDevice, LeavesOutWhatLiesOutside) {
  checkBoxes<2>(1, 4, 4);
  checkBoxes<2>(8, 32, 32);
  checkBoxes<3>(9, 36, 44);
  checkBoxes<4>(61, 100, 108);
}

}  // namespace
}  // namespace handoff::device_tests
