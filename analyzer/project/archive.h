// SPDX-License-Identifier: Apache-2.0
// Plain data as bytes and back. One description of a type, `fields(archive, value)`, serves both ways and
// hashing.
//
// The bytes are for the same build on the same machine: numbers are as they lie in memory. Reading trusts
// nothing: a size beyond what is left ends it, and `isGood` says so.
#pragma once

#include <array>
#include <concepts>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace handoff::project {

class Writer {
 public:
  static constexpr bool kReads = false;
  void bytes(const void* data, std::size_t size) { text_.append(static_cast<const char*>(data), size); }
  const std::string& text() const { return text_; }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

class Reader {
 public:
  static constexpr bool kReads = true;
  explicit Reader(std::string_view text) : rest_(text) {}

  void bytes(void* data, std::size_t size) {
    is_good_ &= size <= rest_.size();
    if (!is_good_) return;
    if (size != 0) std::memcpy(data, rest_.data(), size);
    rest_.remove_prefix(size);
  }
  /// Room for `count` items of at least one byte each?
  bool hasRoom(std::uint64_t count) {
    is_good_ &= count <= rest_.size();
    return is_good_;
  }
  /// Everything so far could be read.
  bool isGood() const { return is_good_; }
  bool isAtEnd() const { return is_good_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool is_good_ = true;
};

template <typename A, typename T>
  requires(std::is_arithmetic_v<T> || std::is_enum_v<T>)
void fields(A& archive, T& value) {
  archive.bytes(&value, sizeof value);
}

template <typename A, typename... T>
void all(A& archive, T&... values);

template <typename A>
void fields(A& archive, std::string& text) {
  std::uint64_t size = text.size();
  fields(archive, size);
  if constexpr (A::kReads) {
    if (!archive.hasRoom(size)) return;
    text.resize(size);
  }
  archive.bytes(text.data(), text.size());
}

template <typename A, typename T, typename U>
void fields(A& archive, std::pair<T, U>& pair) {
  all(archive, pair.first, pair.second);
}

template <typename A, typename T>
void fields(A& archive, std::optional<T>& value) {
  bool has_value = value.has_value();
  fields(archive, has_value);
  if constexpr (A::kReads) {
    value.reset();
    if (has_value) value.emplace();
  }
  if (has_value) all(archive, *value);
}

template <typename A, typename T, std::size_t N>
void fields(A& archive, std::array<T, N>& items) {
  for (T& item : items) all(archive, item);
}

template <typename A, typename T>
void fields(A& archive, std::vector<T>& items) {
  std::uint64_t size = items.size();
  fields(archive, size);
  if constexpr (A::kReads) {
    if (!archive.hasRoom(size)) return;
    items.clear();
    for (std::uint64_t i = 0; i < size && archive.isGood(); ++i) all(archive, items.emplace_back());
  } else {
    for (T& item : items) all(archive, item);
  }
}

/// Sets and maps go as lists of what they hold.
template <typename A, typename Collection>
  requires requires { typename Collection::key_type; }
void fields(A& archive, Collection& collection) {
  using Item = typename Collection::value_type;
  if constexpr (A::kReads) {
    std::uint64_t size = 0;
    fields(archive, size);
    if (!archive.hasRoom(size)) return;
    for (std::uint64_t i = 0; i < size && archive.isGood(); ++i) {
      if constexpr (requires { typename Collection::mapped_type; }) {
        std::pair<typename Collection::key_type, typename Collection::mapped_type> item;
        all(archive, item);
        collection.insert(std::move(item));
      } else {
        Item item{};
        all(archive, item);
        collection.insert(std::move(item));
      }
    }
  } else {
    std::uint64_t size = collection.size();
    fields(archive, size);
    for (const Item& item : collection) {
      if constexpr (requires { typename Collection::mapped_type; })
        all(archive, const_cast<typename Collection::key_type&>(item.first),
            const_cast<typename Collection::mapped_type&>(item.second));
      else
        all(archive, const_cast<Item&>(item));
    }
  }
}

template <typename A, typename... T>
void all(A& archive, T&... values) {
  (fields(archive, values), ...);
}

}  // namespace handoff::project
