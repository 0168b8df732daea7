// SPDX-License-Identifier: Apache-2.0
// Answers of earlier runs on disk: small files named by a hash of the question.
//
// Losing an answer costs time and nothing else, so no fault of the disk is an error: what cannot be read is a
// miss, what cannot be written is not kept. An entry carries a hash of its content; a truncated or damaged
// one is a miss. Entries are written beside their place and renamed, so that readers see all of it or
// nothing.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "analyzer/project/archive.h"

namespace handoff::project {

/// BLAKE3, cut to 160 bits.
using Hash = std::array<std::uint8_t, 20>;
Hash hashOf(std::string_view bytes);
std::string toHex(const Hash& hash);

/// The build of this program and of the libraries that it runs with: other code, other answers.
Hash hashOfProgram();

/// Safe for use by several threads, and by several processes.
class Cache {
 public:
  /// Keeps nothing.
  Cache() = default;
  /// `folder` is made when it is not there.
  explicit Cache(std::string folder);

  /// $XDG_CACHE_HOME/handoff, else ~/.cache/handoff; "" without a home.
  static std::string defaultFolder();

  bool isOn() const { return !folder_.empty(); }
  /// Why `folder` cannot be used; "" when it can.
  const std::string& problem() const { return problem_; }

  std::optional<std::string> read(const Hash& key) const;
  /// False when it could not be written.
  bool write(const Hash& key, std::string_view content) const;
  /// Takes away what was not used for long, and the oldest beyond `max_bytes`; at most every few minutes,
  /// except when `now`.
  void prune(std::uint64_t max_bytes = kMaxBytes, bool now = false) const;

  static constexpr std::uint64_t kMaxBytes = std::uint64_t{512} << 20U;

 private:
  std::string pathOf(const Hash& key) const;

  std::string folder_, problem_;
};

}  // namespace handoff::project
