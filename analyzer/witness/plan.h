// SPDX-License-Identifier: Apache-2.0
// Which perturbations to try for a finding, and in which order.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analyzer/diagnose/diagnose.h"
#include "analyzer/witness/instrument.h"

namespace handoff::witness {

struct Variant {
  std::string name;         ///< "delay-first"
  std::string description;  ///< "thread (32,0,0) waits 10 us before line 12 of the PTX"
  Instrumentation added;    ///< nothing: the kernel as it is
  /// The global side of the copies lies in host memory, which makes them late.
  bool has_host_sources = false;
  bool has_host_buffers = false;  ///< all buffers do, which makes what is stored late, too
  /// Another kernel takes over the shared memory of blocks that have ended, and looks after what it put
  /// there.
  bool has_neighbour = false;
  bool has_noise = false;  ///< the buffers hold all bit patterns
};

/// What the finding predicts for a launch, beside wrong data: a kernel that never ends, or one that the
/// hardware stops.
struct Prediction {
  bool is_hang = false, is_fault = false;
};
Prediction predictionOf(const std::string& rule, const machine::Program& program);

/// Best first: the plain kernel is always among them. A perturbation can hide what another one shows, so most
/// come alone.
std::vector<Variant> variantsFor(const diagnose::Diagnosis& diagnosis, const machine::Program& program,
                                 const machine::Launch& launch);

/// For a kernel without findings: every perturbation at all places where it applies. None may change
/// anything.
std::vector<Variant> controlVariants(const machine::Program& program, const machine::Launch& launch,
                                     const std::map<std::uint64_t, std::uint64_t>& assumed_boxes);

/// Bytes of a tensor copy: the least of all maps, so that no other slot is touched. 0: not known.
std::uint64_t leastBox(const machine::Launch& launch,
                       const std::map<std::uint64_t, std::uint64_t>& assumed_boxes);

}  // namespace handoff::witness
