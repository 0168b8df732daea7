// SPDX-License-Identifier: Apache-2.0
// What `bench` prints, and the same as JSON.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/device_facts.h"
#include "common/kernel.h"

namespace handoff::kernels {

/// All that one call of `bench` found out.
struct BenchReport {
  DeviceFacts device;
  CopyBandwidth copy;
  std::string date;     ///< UTC, ISO 8601
  std::string command;
  std::map<std::string, InstructionCounts> instructions;
  std::vector<std::pair<const Kernel*, std::vector<Bench>>> kernels;
};

/// "8192 x 4096".
std::string toText(const Shape& shape);

/// The lines of one bench, below a heading.
std::string toText(const BenchReport& report, const Kernel& kernel, const Bench& bench);

std::string toJson(const BenchReport& report);

}  // namespace handoff::kernels
