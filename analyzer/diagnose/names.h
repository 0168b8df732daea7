// SPDX-License-Identifier: Apache-2.0
// The user's names for addresses, threads and launches.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/machine/launch.h"
#include "analyzer/machine/outcome.h"
#include "analyzer/machine/program.h"

namespace handoff::diagnose {

/// "_ZZ8ring_sumPK6float4PfiE4ring" -> "ring"; a name that is not mangled stays as it is.
std::string variableName(std::string_view mangled);
/// "_Z8ring_sumPK6float4Pfi" -> "ring_sum(float4 const*, float*, int)".
std::string demangle(std::string_view mangled);
/// Whether --kernel=PART asks for the kernel: its name, mangled or not, contains the part.
bool isNamed(std::string_view mangled, std::string_view part);

/// Extents of a shared array as the source declares it: `float4 ring[3][128]` has element 16 and extents {3, 128}.
struct ArrayShape {
  std::uint32_t element_bytes = 0;
  std::vector<std::uint32_t> extents;
};

/// What a report needs to speak of one run.
struct Names {
  std::string launch;                                           ///< "grid=(16,1,1) block=(128,1,1) smem=0"
  std::vector<std::pair<std::string, std::string>> parameters;  ///< name, value as text
  std::map<unsigned, std::string> buffers;                      ///< by buffer number (machine/address.h)
  std::map<std::string, ArrayShape, std::less<>> arrays;        ///< by variableName
};

/// "(32,0,0)".
std::string threadName(const machine::Launch& launch, unsigned warp, unsigned lane);
/// "ring[1][0]", or "ring, byte 2048"; for global memory "in, byte 64".
std::string placeName(const machine::Program& program, const Names& names, ptx::Space space, std::uint64_t address);
/// Only the buffer: "ring".
std::string bufferName(const machine::Program& program, const Names& names, ptx::Space space, std::uint64_t address);

}  // namespace handoff::diagnose
