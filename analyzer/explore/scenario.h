// SPDX-License-Identifier: Apache-2.0
// Which launches to run, from what the unit and the user say; what nobody says is assumed and named.
#pragma once

#include <string>
#include <vector>

#include "analyzer/diagnose/finding.h"
#include "analyzer/diagnose/names.h"
#include "analyzer/explore/analyze.h"
#include "analyzer/frontend/unit.h"
#include "analyzer/machine/launch.h"
#include "analyzer/machine/program.h"

namespace handoff::explore {

/// The value of an integer that nothing fixes: large enough for every ring to wrap, a multiple of every usual tile.
inline constexpr std::int64_t kAssumedInteger = 512;

/// A scalar that a launch has to give a value to.
struct Integer {
  std::string name;
  std::uint32_t offset = 0, bytes = 0;     ///< in the parameter window
  std::int64_t value = 0;
  bool is_free = false;                    ///< no launch of the unit fixes it: it may have any value
  bool is_pointer = false;                 ///< one that the launch gives as null; it stays so
};

struct Scenario {
  machine::Launch launch;
  diagnose::Names names;
  std::string text;                          ///< for KernelReport::launches
  std::vector<diagnose::Limit> assumptions;  ///< values that nothing fixes, and that are not free either
  std::vector<Integer> integers;
  bool is_grid_free = false;                 ///< the block index may have any value
  bool has_assumed_cluster = false;          ///< more than one CTA, for want of anything better
  bool has_null_pointers = false;            ///< where the launch has buffers
  bool can_free_grid = false;                ///< the kernel does not ask how large the grid is
};

/// "(128,1,1)".
std::string dim3Text(const machine::Dim3& dim);
/// "grid=(4,1,1) block=(128,1,1) smem=0".
std::string launchName(const machine::Launch& launch);

/// Makes the CTA at this index the one that runs, in a grid that has it.
void setBlockIndex(Scenario& scenario, unsigned dimension, std::uint32_t index);

/// Gives another value to one of the scenario's integers, and says so in its names.
void setInteger(Scenario& scenario, std::size_t index, std::int64_t value);

/// The name of the buffer that the parameter at this place of the window leads to; null if it is no pointer.
const std::string* bufferOf(const Scenario& scenario, std::uint64_t parameter);

/// Gives null for the pointer at this place of the parameter window, and says so in its names.
void setNull(Scenario& scenario, std::uint64_t parameter);

/// True when a launch fixes a value that the kernel goes by.
bool isFixed(const Scenario& scenario);
/// The scenario with all that a launch fixes set free, but for the shape of the block and of the cluster, the shared
/// memory and null pointers.
Scenario freed(Scenario scenario);

/// What a verdict on the scenario holds for: "all tiles >= 0", "all blocks", "block = (128,1,1)".
std::vector<std::string> holdsFor(const Scenario& scenario, const machine::Program& program);

/// True for names that differ only in the `L` that Clang gives kernels of internal linkage.
bool isSameKernel(std::string_view a, std::string_view b);

/// At least one. Sources, first that applies: Options::launches, "// handoff: launch ..." above the kernel, launch
/// sites of the unit, launch bounds, defaults. What the kernel itself requires (.reqntid, .reqnctapercluster,
/// __cluster_dims__) comes before all of them; boxes of tensor maps are in tensor_maps.h.
std::vector<Scenario> scenariosFor(const frontend::Unit& unit, const frontend::KernelDecl* decl,
                                   const machine::Program& program, const Options& options);

}  // namespace handoff::explore
