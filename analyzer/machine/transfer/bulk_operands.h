// SPDX-License-Identifier: Apache-2.0
// The operands of a bulk or tensor copy by their roles.
#pragma once

#include "analyzer/machine/executor.h"

namespace handoff::machine {

struct Executor::BulkOperands {
  static constexpr unsigned kNone = ~0u;

  bool is_valid = false;         ///< every operand that the form needs is there
  bool is_tensor = false;
  bool is_multicast = false;
  bool from_shared = false, to_shared = false;   ///< the other side is global memory
  bool is_own_only = false;      ///< ".shared::cta" destination
  bool may_signal_peer = false;  ///< ".cta_group::2": the barrier may lie in the other CTA of the pair
  unsigned destination = kNone, source = kNone;  ///< operand numbers; of a tensor copy, that of the map's side is `map`
  unsigned size = kNone, barrier = kNone, mask = kNone, map = kNone;
};

}  // namespace handoff::machine
