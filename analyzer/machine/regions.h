// SPDX-License-Identifier: Apache-2.0
// What lies between a branch and the place where its sides meet.
#pragma once

#include <map>
#include <vector>

#include "analyzer/machine/program.h"

namespace handoff::machine {

struct Region {
  bool is_silent = false;    ///< nothing takes part in the protocol, or touches what it goes by
  bool is_plain = false;     ///< nothing but plain accesses does: they may be left out, or made with any data
  bool is_loop = false;      ///< the branch itself is there, too
  bool is_arithmetic = false;  ///< nothing but registers changes, by way of registers: the branch only chooses values
  std::size_t size = 0;
  std::vector<OpIndex> ops;  ///< where is_arithmetic
  std::vector<Slot> written;
  std::vector<Slot> read;
};

/// An access to global memory that may meet what a copy of the kernel does there: a store or an atomic its source, a load
/// what it writes.
bool touchesGlobal(const Program& program, const Op& op);

class Regions {
 public:
  explicit Regions(const Program& program) : program_(program) {}
  const Region& at(OpIndex branch);
  /// An instruction that may be in a plain region.
  bool isPlain(const Op& op) const;

 private:
  bool handsOn(const Op& op) const;

  const Program& program_;
  std::map<OpIndex, Region> known_;
};

}  // namespace handoff::machine
