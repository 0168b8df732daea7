// SPDX-License-Identifier: Apache-2.0
// Copy groups: every size of copyAsync, with condition, prefix and zeros, in one to four groups.
#include "device/harness.h"
#include "handoff/copy_group.h"

namespace handoff::device_tests {
namespace {

constexpr int kThreads = 128;

enum class Form { kPlain, kIf, kPrefix, kOrZero };

template <class T>
struct WordsOf {
  static constexpr int kCount = sizeof(T) / sizeof(std::uint32_t);
};

/// One copy a group and thread. Sources that must not be read are null.
template <class T, Form kForm>
__device__ void copyOne(T* shared, const T* global, std::uint32_t valid) {
  if constexpr (kForm == Form::kPlain) copyAsync(shared, global);
  if constexpr (kForm == Form::kIf) copyAsyncIf(valid != 0, shared, valid != 0 ? global : nullptr);
  if constexpr (kForm == Form::kPrefix) copyAsyncPrefix(shared, global, Bytes(valid));
  if constexpr (kForm == Form::kOrZero) copyAsyncOrZero(valid != 0, shared, valid != 0 ? global : nullptr);
}

/// Waits for the oldest group, then the next one, and so on; reads what the neighbour has copied in that
/// group.
template <class T, int kGroups, int kGroup = 0>
__device__ void readInTurn(CopyGroups<kGroups>& groups, const T (&slots)[kGroups][kThreads], T* out) {
  groups.template wait<kGroups - 1 - kGroup>();
  __syncthreads();
  out[kGroup * kThreads + threadIdx.x] = slots[kGroup][(threadIdx.x + 33) % kThreads];
  if constexpr (kGroup + 1 < kGroups) readInTurn<T, kGroups, kGroup + 1>(groups, slots, out);
}

template <class T, Form kForm, int kGroups>
__global__ void copyInGroups(const T* in, const std::uint32_t* valid, T* out) {
  __shared__ T slots[kGroups][kThreads];
  T poison;
  for (int w = 0; w < WordsOf<T>::kCount; ++w) reinterpret_cast<std::uint32_t*>(&poison)[w] = kPoison;
  for (int group = 0; group < kGroups; ++group) slots[group][threadIdx.x] = poison;
  CopyGroups<kGroups> groups;
  for (int group = 0; group < kGroups; ++group) {
    const int at = group * kThreads + static_cast<int>(threadIdx.x);
    copyOne<T, kForm>(&slots[group][threadIdx.x], &in[at], valid[at]);
    groups.commit();
  }
  readInTurn<T, kGroups>(groups, slots, out);
}

/// Copies that no group has: only waitForAllCopies sees them.
template <class T>
__global__ void copyUncommitted(const T* in, T* out) {
  __shared__ T slot[kThreads];
  copyAsync(&slot[threadIdx.x], &in[threadIdx.x]);
  waitForAllCopies();
  __syncthreads();
  out[threadIdx.x] = slot[(threadIdx.x + 33) % kThreads];
}

class CopyGroup : public DeviceTest {
 protected:
  template <class T, Form kForm, int kGroups>
  void check() {
    constexpr int kWords = WordsOf<T>::kCount;
    const std::size_t chunks = static_cast<std::size_t>(kGroups) * kThreads;
    const std::vector<std::uint32_t> in = randomWords(chunks * kWords);
    std::vector<std::uint32_t> valid = randomWords(chunks);
    for (std::uint32_t& v : valid)
      v %= kForm == Form::kPrefix ? static_cast<std::uint32_t>(sizeof(T)) + 1 : 2;
    std::vector<std::uint32_t> want(in.size());
    for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
      const std::size_t group = chunk / kThreads,
                        from = group * kThreads + (chunk % kThreads + 33) % kThreads;
      for (std::size_t w = 0; w < kWords; ++w)
        want[chunk * kWords + w] =
            expected<kForm>(in[from * kWords + w], valid[from], static_cast<std::uint32_t>(w * 4));
    }
    const Words device_in(in), device_valid(valid), device_out(in.size());
    copyInGroups<T, kForm, kGroups><<<1, kThreads>>>(reinterpret_cast<const T*>(device_in.get()),
                                                     device_valid.get(),
                                                     reinterpret_cast<T*>(device_out.get()));
    expectSame(device_out.download(), want,
               std::to_string(sizeof(T)) + " bytes, " + std::to_string(kGroups) + " groups");
  }

  template <Form kForm>
  static std::uint32_t expected(std::uint32_t word, std::uint32_t valid, std::uint32_t first_byte) {
    if (kForm == Form::kPlain) return word;
    if (kForm == Form::kIf) return valid != 0 ? word : kPoison;
    if (kForm == Form::kOrZero) return valid != 0 ? word : 0;
    const std::uint32_t bytes = valid > first_byte ? valid - first_byte : 0;
    return bytes >= 4 ? word : word & ((1u << (8 * bytes)) - 1);
  }

  template <Form kForm, int kGroups>
  void checkSizes() {
    check<std::uint32_t, kForm, kGroups>();
    check<uint2, kForm, kGroups>();
    check<uint4, kForm, kGroups>();
  }
  template <Form kForm>
  void checkAll() {
    checkSizes<kForm, 1>();
    checkSizes<kForm, 2>();
    checkSizes<kForm, 4>();
  }
};

TEST_F(CopyGroup, CopiesChunksOfEverySize) { checkAll<Form::kPlain>(); }

TEST_F(CopyGroup, WhereTheConditionFailsTheSlotKeepsWhatItHeld) { checkAll<Form::kIf>(); }

TEST_F(CopyGroup, APrefixOfAnyLengthIsCopiedAndTheRestZeroed) {
  for (int round = 0; round < 8; ++round) checkAll<Form::kPrefix>();
}

TEST_F(CopyGroup, IgnoredSourcesBecomeZero) { checkAll<Form::kOrZero>(); }

TEST_F(CopyGroup, AllCopiesAreWaitedForWithoutAGroup) {
  const std::vector<std::uint32_t> in = randomWords(4 * kThreads);
  std::vector<std::uint32_t> want(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) want[i] = in[((i / 4 + 33) % kThreads) * 4 + i % 4];
  const Words device_in(in), device_out(in.size());
  copyUncommitted<<<1, kThreads>>>(reinterpret_cast<const uint4*>(device_in.get()),
                                   reinterpret_cast<uint4*>(device_out.get()));
  expectSame(device_out.download(), want, "uncommitted");
}

}  // namespace
}  // namespace handoff::device_tests
