// SPDX-License-Identifier: Apache-2.0
// The concrete inputs of one run.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace handoff::machine {

using Dim3 = std::array<std::uint32_t, 3>;

/// What the protocol needs to know of a CUtensorMap (PTX ISA, "Tensor"; CUDA driver API, cuTensorMapEncode*).
struct TensorMap {
  std::string name;                        ///< as the report calls it
  std::uint64_t box_bytes = 0;             ///< what one copy writes to shared memory, out-of-bounds elements included
  std::uint64_t row_bytes = 0;             ///< of the box's innermost dimension (a gather4 moves four such rows)
  bool is_assumed = false;                 ///< inferred from the bytes that a barrier expects
  // For whoever has to make such a map; empty where nobody says.
  std::uint32_t element_bytes = 0;
  std::vector<std::uint32_t> box;          ///< elements, innermost first
  std::vector<std::uint32_t> steps;        ///< between elements of the box, for each extent; empty: 1
  std::uint32_t swizzle = 0, interleave = 0;  ///< CUtensorMapSwizzle, CUtensorMapInterleave
};

/// A word in global memory.
struct Word {
  std::uint32_t bytes = 0;
  std::uint64_t value = 0;
  friend bool operator==(const Word&, const Word&) = default;
};

struct Launch {
  Dim3 grid{1, 1, 1};          ///< CTAs
  Dim3 block{32, 1, 1};        ///< threads
  Dim3 cluster{1, 1, 1};       ///< CTAs of a cluster; they run together
  Dim3 block_index{0, 0, 0};   ///< the CTA that runs; of a cluster, its first one
  std::uint64_t dynamic_shared_bytes = 0;
  std::vector<std::uint8_t> param_bytes;  ///< the parameter window, Program::param_bytes long
  std::vector<bool> param_known;          ///< by byte
  std::map<std::uint64_t, Word> words;    ///< by address: what loads with Op::reads_input find
  /// By the generic address of the map: kParamWindow + its place in the parameter window, or an address in a buffer.
  std::map<std::uint64_t, TensorMap> tensor_maps;

  std::uint32_t threads() const { return block[0] * block[1] * block[2]; }
  /// Of one CTA.
  std::uint32_t warps() const { return (threads() + 31) / 32; }
  std::uint32_t clusterSize() const { return cluster[0] * cluster[1] * cluster[2]; }
};

class DataQuestions;
class PathLog;
struct RunTrace;

/// Which way threads go at a branch, or a predicate, whose condition depends on data that the machine does not have. "First"
/// is the first warp to ask, or the first lane of each warp; it only goes apart where the condition may differ by thread.
enum class UnknownBranches : std::uint8_t {
  kHoldNowhere, kHoldEverywhere,
  kHoldInFirstWarp, kHoldInOtherWarps,
  kHoldInFirstLane, kHoldInOtherLanes,   ///< not around operations that need the whole warp: there, as by warp
  kHoldByTurns, kHoldByOtherTurns,       ///< everywhere, then nowhere, and so on
};
inline constexpr UnknownBranches kMixedBranches[] = {
    UnknownBranches::kHoldInFirstWarp, UnknownBranches::kHoldInOtherWarps, UnknownBranches::kHoldInFirstLane,
    UnknownBranches::kHoldInOtherLanes, UnknownBranches::kHoldByTurns, UnknownBranches::kHoldByOtherTurns,
};

struct RunOptions {
  std::uint64_t max_steps = 2'000'000;    ///< executed warp instructions
  std::uint64_t max_events = 8'000'000;   ///< logged events, 28 bytes each
  double max_seconds = 60;                ///< of processor time of the thread
  /// Every poll of an mbarrier (test_wait, try_wait) returns false once before it may return true, as it may on any
  /// schedule: code that does not ask again goes on without the data.
  bool fail_first_polls = false;
  /// Only executes: for questions about values (used_reads.h).
  bool skip_races = false;
  UnknownBranches unknown_branches = UnknownBranches::kHoldNowhere;
  /// Where to note what the run decides on its inputs; null: nowhere.
  PathLog* path = nullptr;
  /// Who answers questions about unknown data, and remembers the answers for further runs; null: the run itself.
  DataQuestions* questions = nullptr;
  /// Where to note what is executed; null: nowhere.
  RunTrace* trace = nullptr;
};

}  // namespace handoff::machine
