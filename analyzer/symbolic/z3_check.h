// SPDX-License-Identifier: Apache-2.0
// One question to Z3 (theory of bit-vectors).
#pragma once

#include <memory>

#include "analyzer/symbolic/assumption.h"

namespace handoff::symbolic {

class Z3Check {
 public:
  explicit Z3Check(const Terms& terms);
  ~Z3Check();
  Z3Check(const Z3Check&) = delete;
  Z3Check& operator=(const Z3Check&) = delete;

  /// Do all of these hold together for some values of their symbols, which then go into `model`? kUnknown after so many
  /// milliseconds.
  Answer operator()(const Assumptions& assumptions, const Ranges& ranges, Model& model, unsigned milliseconds);

 private:
  struct State;
  const Terms& terms_;
  std::unique_ptr<State> state_;
};

}  // namespace handoff::symbolic
