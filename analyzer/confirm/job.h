// SPDX-License-Identifier: Apache-2.0
// A witness job as it lies on disk (docs/witness.md).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/confirm/driver.h"
#include "analyzer/support/json.h"

namespace handoff::confirm {

struct Argument {
  enum class Kind : std::uint8_t { kBuffer, kValue, kTensorMap } kind = Kind::kValue;
  std::string name;
  std::uint32_t param = 0, offset = 0;
  std::uint64_t bytes = 0;          ///< kBuffer
  bool is_source = false;           ///< kBuffer: the copies at stake read it
  std::vector<std::uint8_t> value;  ///< kValue
  TensorMapSpec map;                ///< kTensorMap; kBuffer: what it starts with, if it has a box
};

struct Variant {
  std::string name, what;
  std::string base, repaired;  ///< files; `repaired` may be empty
  bool has_host_sources = false;
  bool has_host_buffers = false;
  bool has_neighbour = false;  ///< another kernel comes after the blocks that have ended
  bool has_noise = false;      ///< the buffers hold all bit patterns
};

struct Job {
  std::string folder, name, rule, file, kernel;
  std::int64_t line = 0;
  LaunchShape shape;
  std::vector<std::uint64_t> parameter_bytes;
  std::vector<Argument> arguments;
  std::vector<Variant> variants;
  bool predicts_hang = false, predicts_fault = false;
  bool is_control = false;  ///< there is no finding: whatever fails is a surprise

  Variant plain;  ///< the kernel without additions

  /// The kernel that says what is right: the repaired one, or the kernel itself, undisturbed.
  const std::string& reference() const { return hasRepair() ? plain.repaired : plain.base; }
  bool hasRepair() const { return !plain.repaired.empty(); }
};

/// Reads DIR/job.json. `given`: an object of argument names, whose members replace those of the manifest.
Result<Job> readJob(const std::string& folder, const json::Value& given);

/// Leaves only the variants of a list ("plain,queue"; empty: all), and the plain one, which the others need.
/// `blocks`: launches have at least so many, as far as the grid can be multiplied.
void narrow(Job& job, const std::string& variants, unsigned blocks);

/// The PTX, or the machine code that lies beside it as NAME.cubin.
Result<std::string> readImage(const Job& job, const std::string& file);

}  // namespace handoff::confirm
