// SPDX-License-Identifier: Apache-2.0
// One question to Z3 (theory of bit-vectors).
#pragma once

#include <memory>

#include "analyzer/symbolic/assumption.h"

namespace handoff::symbolic {

class Z3Check {
 public:
  /// `milliseconds`: for each question; one that takes longer is answered kUnknown.
  Z3Check(const Terms& terms, unsigned milliseconds);
  ~Z3Check();
  Z3Check(const Z3Check&) = delete;
  Z3Check& operator=(const Z3Check&) = delete;

  /// Do all of these hold together for some values of their symbols, which then go into `model`?
  Answer operator()(const Assumptions& assumptions, const Ranges& ranges, Model& model);

 private:
  struct State;
  const Terms& terms_;
  std::unique_ptr<State> state_;
};

}  // namespace handoff::symbolic
