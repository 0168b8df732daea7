// SPDX-License-Identifier: Apache-2.0
// Other values for a launch, and what it is called.
#include <algorithm>
#include <cstring>

#include "analyzer/explore/scenario.h"
#include "analyzer/machine/address.h"

namespace handoff::explore {

std::string dim3Text(const machine::Dim3& dim) {
  return "(" + std::to_string(dim[0]) + "," + std::to_string(dim[1]) + "," + std::to_string(dim[2]) + ")";
}

std::string launchName(const machine::Launch& launch) {
  return "grid=" + dim3Text(launch.grid) + " block=" + dim3Text(launch.block) +
         (launch.clusterSize() > 1 ? " cluster=" + dim3Text(launch.cluster) : "") +
         " smem=" + std::to_string(launch.dynamic_shared_bytes);
}

void setBlockIndex(Scenario& scenario, unsigned dimension, std::uint32_t index) {
  machine::Launch& launch = scenario.launch;
  launch.block_index[dimension] = index;
  launch.grid[dimension] = std::max(launch.grid[dimension], index + std::max(1u, launch.cluster[dimension]));
  scenario.names.launch = launchName(launch);
}

void setInteger(Scenario& scenario, std::size_t index, std::int64_t value) {
  Integer& integer = scenario.integers[index];
  integer.value = value;
  for (std::uint32_t i = 0; i < integer.bytes; ++i) {
    scenario.launch.param_bytes[integer.offset + i] = static_cast<std::uint8_t>(static_cast<std::uint64_t>(value) >> (8 * i));
  }
  for (auto& [name, text] : scenario.names.parameters) {
    if (name == integer.name) text = std::to_string(value);
  }
}

const std::string* bufferOf(const Scenario& scenario, std::uint64_t parameter) {
  const std::vector<std::uint8_t>& bytes = scenario.launch.param_bytes;
  std::uint64_t word = 0;
  if (parameter > bytes.size() || bytes.size() - parameter < sizeof(word)) return nullptr;
  std::memcpy(&word, bytes.data() + parameter, sizeof(word));
  for (const auto& [buffer, name] : scenario.names.buffers) {
    if (machine::bufferBase(buffer) == word) return &name;
  }
  return nullptr;
}

void setNull(Scenario& scenario, std::uint64_t parameter) {
  if (const std::string* const name = bufferOf(scenario, parameter)) scenario.names.parameters.emplace_back(*name, "null");
  std::memset(scenario.launch.param_bytes.data() + parameter, 0, sizeof(std::uint64_t));
  scenario.has_null_pointers = true;
}

bool isFixed(const Scenario& scenario) {
  const bool is_integer_fixed = std::any_of(scenario.integers.begin(), scenario.integers.end(), [](const Integer& i) { return !i.is_free && !i.is_pointer; });
  return is_integer_fixed || (scenario.can_free_grid && !scenario.is_grid_free);
}

Scenario freed(Scenario scenario) {
  for (std::size_t i = 0; i < scenario.integers.size(); ++i) {
    Integer& integer = scenario.integers[i];
    if (integer.is_free || integer.is_pointer) continue;
    integer.is_free = true;
    // A run of the assumed size is long enough to see what repeats.
    if (integer.bytes > 1) setInteger(scenario, i, kAssumedInteger);
  }
  scenario.is_grid_free = scenario.can_free_grid;
  return scenario;
}

std::vector<std::string> holdsFor(const Scenario& scenario, const machine::Program& program) {
  std::vector<std::string> quantities;
  for (const Integer& integer : scenario.integers) {
    quantities.push_back(integer.is_free ? "all " + integer.name + " >= 0" : integer.name + " = " + std::to_string(integer.value));
  }
  const machine::Launch& launch = scenario.launch;
  const bool is_single = launch.grid == launch.cluster && !scenario.is_grid_free;
  quantities.push_back(is_single ? "the only block" : scenario.is_grid_free ? "all blocks" : "all blocks of grid = " + dim3Text(launch.grid));
  quantities.push_back("block = " + dim3Text(launch.block));
  if (launch.clusterSize() > 1) quantities.push_back("cluster = " + dim3Text(launch.cluster));
  if (program.has_dynamic_shared) quantities.push_back("smem = " + std::to_string(launch.dynamic_shared_bytes));
  return quantities;
}

}  // namespace handoff::explore
