// SPDX-License-Identifier: Apache-2.0
// The bytes of a fuzzer's input as a row of choices; an input that is at its end chooses 0 for ever.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace handoff::fuzz {

class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : rest_(data, size) {}

  bool isAtEnd() const { return rest_.empty(); }
  std::uint8_t next() {
    if (rest_.empty()) return 0;
    const std::uint8_t byte = rest_.front();
    rest_ = rest_.subspan(1);
    return byte;
  }
  /// Below `count`, which is at most 256.
  std::size_t below(std::size_t count) { return next() % count; }
  template <typename T, std::size_t N>
  const T& oneOf(const T (&items)[N]) {
    static_assert(N <= 256);
    return items[below(N)];
  }

 private:
  std::span<const std::uint8_t> rest_;
};

}  // namespace handoff::fuzz
