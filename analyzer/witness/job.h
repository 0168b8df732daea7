// SPDX-License-Identifier: Apache-2.0
// From a finding to the files of a witness job (docs/witness.md).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/diagnose/diagnose.h"
#include "analyzer/witness/plan.h"

namespace handoff::witness {

/// One scalar leaf of the kernel's parameters.
struct Parameter {
  std::uint32_t param = 0, offset = 0, size = 0;  ///< bytes
  enum class Kind : std::uint8_t { kValue, kFloat, kPointer, kTensorMap } kind = Kind::kValue;
  std::string name;
  std::int64_t value = 0;  ///< kValue: when the launch says nothing
};

/// The kernel after a repair.
struct Repaired {
  ptx::Function function;
  std::vector<std::uint32_t> origin;  ///< by instruction: which one it was in Program::function
  std::string description;
};

struct Case {
  const machine::Program& program;
  const machine::Launch& launch;
  const diagnose::Diagnosis& diagnosis;
  std::vector<Parameter> parameters;
  const Repaired* repaired = nullptr;  ///< null: no repair is known; of a control: it is its own reference
  bool is_control = false;             ///< there is no finding: `diagnosis` has only what the run assumed
};

diagnose::WitnessJob makeJob(const Case& input);

}  // namespace handoff::witness
