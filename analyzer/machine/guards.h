// SPDX-License-Identifier: Apache-2.0
// What depends on a guard or a branch: the protocol, plain accesses only, or nothing that the machine tracks.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/machine/program.h"

namespace handoff::machine {

/// Registers whose value some thread may still need at an op, for all ops.
class Liveness {
 public:
  explicit Liveness(const Program& program);
  bool isLive(OpIndex op, Slot slot) const {
    return op < rows_ && (bits_[std::size_t{op} * stride_ + slot / 64] >> (slot % 64) & 1) != 0;
  }
  std::vector<Slot> at(OpIndex op) const;

 private:
  std::size_t rows_ = 0, stride_ = 0;
  std::vector<std::uint64_t> bits_;
};

enum class GuardClass : std::uint8_t {
  kUnknown,
  kSilent,           ///< both sides look alike to the protocol
  kAccessIfTaken,    ///< one side reads, or stores to global memory, the other one does nothing
  kAccessIfNotTaken,
  kControl,
};

class Guards {
 public:
  explicit Guards(const Program& program);
  const Liveness& liveness() const { return liveness_; }
  /// Of an op with a guard: a branch, or any predicated instruction (then "taken" means executed).
  GuardClass classify(OpIndex op);

 private:
  enum class Side : std::uint8_t { kSilent, kAccess, kProtocol };
  Side effectOf(OpIndex op) const;
  Side sideFrom(OpIndex start, OpIndex end, OpIndex branch);
  bool writesLive(OpIndex op, OpIndex at) const;
  GuardClass classifyBranch(OpIndex op);

  const Program& program_;
  Liveness liveness_;
  std::vector<GuardClass> known_;
  bool has_async_arrivals_ = false;   ///< mbarriers that copies arrive at
};

}  // namespace handoff::machine
