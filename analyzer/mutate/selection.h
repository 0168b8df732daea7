// SPDX-License-Identifier: Apache-2.0
// Which mutants of a kernel are meant.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>

namespace handoff::mutate {

struct Selection {
  std::set<std::string, std::less<>> operators;  ///< names; empty: all
  /// Of the mutants that are left, every one whose number leaves this rest: so that several runs share the work.
  std::uint32_t part = 0, parts = 1;
};

}  // namespace handoff::mutate
