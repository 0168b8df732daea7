// SPDX-License-Identifier: Apache-2.0
// What the device and the toolkit say: copy bandwidth, resources of a kernel, the instructions that were selected.
#pragma once

#include <map>
#include <string>

#include "common/kernel.h"

namespace handoff::kernels {

struct DeviceFacts {
  std::string name;
  int sm = 0;  ///< compute capability, 90 for 9.0
  int multiprocessors = 0;
  int driver = 0, runtime = 0;  ///< as CUDA encodes versions: 13000 for 13.0
  std::string driver_release;   ///< of the kernel module, "" where it is not told
};

/// Whether there is a device at all.
bool hasDevice();

/// The current device. Throws where there is none.
DeviceFacts deviceFacts();

/// Bytes a second, read and written both counted.
struct CopyBandwidth {
  double memcpy_rate = 0;  ///< cudaMemcpyAsync on the device
  double kernel_rate = 0;  ///< a kernel of plain 16-byte loads and stores

  [[nodiscard]] double best() const { return memcpy_rate > kernel_rate ? memcpy_rate : kernel_rate; }
};
CopyBandwidth measureCopyBandwidth();

struct Resources {
  int registers = 0;              ///< of one thread
  std::size_t shared_bytes = 0;   ///< of one block, static and dynamic
  std::size_t local_bytes = 0;    ///< of one thread: spills and stack
  int blocks_per_multiprocessor = 0;
  double occupancy = 0;           ///< resident warps over the multiprocessor's limit
};
Resources resourcesOf(const Variant& variant);

/// How often each asynchronous instruction stands in a kernel's machine code, by its mnemonic without modifiers.
using InstructionCounts = std::map<std::string, int>;

/// Counts by mangled kernel name, read from this executable by `cuobjdump -sass`; empty where there is no such tool.
std::map<std::string, InstructionCounts> countInstructions(const std::string& executable, int sm);

/// The counts of a variant's kernel.
InstructionCounts instructionsOf(const Variant& variant, const std::map<std::string, InstructionCounts>& counts);

}  // namespace handoff::kernels
