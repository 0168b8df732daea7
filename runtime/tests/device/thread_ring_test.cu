// SPDX-License-Identifier: Apache-2.0
// Rings that a block fills and reads together, with windows of one to three tiles; hand-over at named
// barriers.
#include "device/harness.h"
#include "handoff/named_barrier.h"
#include "handoff/thread_ring.h"

namespace handoff::device_tests {
namespace {

constexpr int kThreads = 128;

struct Tile {
  uint4 at[kThreads];
};

__device__ std::uint32_t digest(const uint4& v) { return v.x + 3 * v.y + 5 * v.z + 7 * v.w; }
std::uint32_t digest(const std::uint32_t* v) { return v[0] + 3 * v[1] + 5 * v[2] + 7 * v[3]; }

/// A turn reads the newest tile and those of the window before it: out = d(k) + 11 d(k - 1) + 13 d(k - 2).
template <int kSlots, int kWindow>
__global__ void windows(const uint4* in, std::uint32_t* out, int tiles, Slow slow) {
  __shared__ Tile slots[kSlots];
  ThreadRing<Tile, kSlots, kWindow> ring(slots);
  const int t = static_cast<int>(threadIdx.x);
  const auto fetch = [&](int k) {
    auto filling = ring.acquire();
    if (k < tiles) copyAsync(&filling->at[t], &in[k * kThreads + t]);
    ring.publish(std::move(filling));
  };
  for (int k = 0; k < ring.kAhead; ++k) fetch(k);
  for (int k = 0; k < tiles; ++k) {
    auto ready = ring.wait();
    fetch(k + ring.kAhead);
    if (slow == Slow::kReaders && t / 32 == k % 4) pause(kPause);
    std::uint32_t value = digest(ready->at[kThreads - 1 - t]);
    if constexpr (kWindow > 1)
      if (k >= 1) value += 11 * digest(ring.template before<1>(ready).at[kThreads - 1 - t]);
    if constexpr (kWindow > 2)
      if (k >= 2) value += 13 * digest(ring.template before<2>(ready).at[kThreads - 1 - t]);
    out[k * kThreads + t] = value;
    ring.release(std::move(ready));
  }
  ring.drain();
}

class ThreadRingOnDevice : public DeviceTest {
 protected:
  template <int kSlots, int kWindow>
  void check() {
    for (const int tiles : {0, 1, 2, 3, 4, 5, 7, 16, 61}) {
      for (const Slow slow : {Slow::kNobody, Slow::kReaders}) {
        const std::vector<std::uint32_t> in = randomWords(static_cast<std::size_t>(tiles) * kThreads * 4);
        std::vector<std::uint32_t> want(static_cast<std::size_t>(tiles) * kThreads);
        const auto of = [&](int k, int t) {
          return digest(&in[static_cast<std::size_t>(k * kThreads + kThreads - 1 - t) * 4]);
        };
        for (int k = 0; k < tiles; ++k)
          for (int t = 0; t < kThreads; ++t)
            want[static_cast<std::size_t>(k * kThreads + t)] =
                of(k, t) + (kWindow > 1 && k >= 1 ? 11 * of(k - 1, t) : 0) +
                (kWindow > 2 && k >= 2 ? 13 * of(k - 2, t) : 0);
        const Words device_in(in), device_out(want.size());
        windows<kSlots, kWindow>
            <<<1, kThreads>>>(reinterpret_cast<const uint4*>(device_in.get()), device_out.get(), tiles, slow);
        expectSame(device_out.download(), want,
                   std::to_string(kSlots) + " slots, window " + std::to_string(kWindow) + ", " +
                       std::to_string(tiles) + " tiles");
      }
    }
  }
};

TEST_F(ThreadRingOnDevice, WindowOfOne) {
  check<2, 1>();
  check<3, 1>();
  check<4, 1>();
  check<5, 1>();
}

TEST_F(ThreadRingOnDevice, WindowOfTwo) {
  check<3, 2>();
  check<4, 2>();
}

TEST_F(ThreadRingOnDevice, WindowOfThree) {
  check<4, 3>();
  check<5, 3>();
  check<7, 3>();
}

/// Warp 0 writes slots, warps 1 to 3 read them; a full and an empty barrier for each of two slots.
__global__ void namedHandOver(const std::uint32_t* in, std::uint32_t* out, int tiles, Slow slow) {
  using Full = NamedBarriers<1, 2, kThreads>;
  using Empty = NamedBarriers<3, 2, kThreads>;
  __shared__ std::uint32_t slots[2][96];
  const int t = static_cast<int>(threadIdx.x);
  for (int k = 0; k < tiles; ++k) {
    if (t < 32) {
      if (k >= 2) Empty::sync(k % 2);
      if (slow == Slow::kProducers) pause(kPause);
      for (int i = t; i < 96; i += 32) slots[k % 2][i] = in[k * 96 + i];
      Full::arrive(k % 2);
    } else {
      Full::sync(k % 2);
      if (slow == Slow::kReaders && t / 32 == 1 + k % 3) pause(kPause);
      out[k * 96 + t - 32] = slots[k % 2][95 - (t - 32)];
      if (k + 2 < tiles) Empty::arrive(k % 2);
    }
  }
}

TEST_F(ThreadRingOnDevice, NamedBarriersHandSlotsOver) {
  for (const int tiles : {1, 2, 3, 4, 33}) {
    for (const Slow slow : kAllSpeeds) {
      const std::vector<std::uint32_t> in = randomWords(static_cast<std::size_t>(tiles) * 96);
      std::vector<std::uint32_t> want(in.size());
      for (std::size_t i = 0; i < in.size(); ++i) want[i] = in[i / 96 * 96 + 95 - i % 96];
      const Words device_in(in), device_out(in.size());
      namedHandOver<<<1, kThreads>>>(device_in.get(), device_out.get(), tiles, slow);
      expectSame(device_out.download(), want, std::to_string(tiles) + " tiles");
    }
  }
}

}  // namespace
}  // namespace handoff::device_tests
