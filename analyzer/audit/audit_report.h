// SPDX-License-Identifier: Apache-2.0
// What the audit of one kernel says: which instructions each asynchronous call became, and how much work lies between
// issue and wait. Plain data, read by the reporters.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/diagnose/finding.h"
#include "analyzer/support/source.h"

namespace handoff::audit {

/// What a call became.
enum class Lowering : std::uint8_t {
  kCpAsync,     ///< cp.async: each thread copies 4, 8 or 16 bytes
  kBulk,        ///< cp.async.bulk and its reductions: one thread starts a copy of many bytes
  kTensor,      ///< cp.async.bulk.tensor
  kAsyncStore,  ///< st.async, red.async
  kMatrix,      ///< wgmma, tcgen05
  kPlain,       ///< loads and stores through registers
};
std::string_view toString(Lowering lowering);  ///< "cp.async", "bulk", "tensor", "st.async", "matrix", "plain"

/// Instructions of one spelling that a call became.
struct Instruction {
  Lowering lowering = Lowering::kPlain;
  std::string text;             ///< "cp.async.cg, 16 bytes"
  bool fills_shared = false;    ///< a copy into shared memory
  std::uint32_t copies = 0;     ///< in the PTX: turns of an unrolled loop, inlined calls
  std::uint64_t executed = 0;   ///< warp instructions, in all runs
};

/// Work of one warp: instructions that compute or move the kernel's data. Addresses, loop counters, and what belongs to
/// the copies themselves do not count.
struct Work {
  std::uint64_t arithmetic = 0;  ///< floating point, tensor cores, and integers that are data
  std::uint64_t shared = 0;      ///< accesses of shared memory
  std::uint64_t global = 0;      ///< accesses of global memory

  std::uint64_t total() const { return arithmetic + shared + global; }
};

/// What the warp that waits does between the issue of the call's copies and a wait that covers them.
struct Overlap {
  std::string wait;             ///< "cp.async.wait_group 1"
  SourceStack stack;            ///< of the wait, innermost first
  std::uint64_t instances = 0;  ///< pairs of an issue and a wait, in all runs
  Work least, most;             ///< by total
};

/// Copies of a call that are waited for together, as one warp issued them.
struct Batch {
  std::string name;             ///< "group 3", "phase 0 of 'full[1]'"
  std::string place;            ///< what it fills: "ring[1]"; empty when it fills no shared memory
  std::string wait;             ///< the first wait that covers it: "cp.async.wait_group 1"; empty: none in the run
  SourceStack wait_stack;       ///< innermost first
};

/// One call in the source.
struct Call {
  std::string api;    ///< "cooperative_groups::memcpy_async", "inline PTX"
  SourceStack stack;  ///< from the call outwards
  std::vector<Instruction> instructions;
  std::string reason;  ///< for plain loads and stores: why
  std::vector<Overlap> overlaps;
  std::vector<Batch> batches;      ///< with Detail::kBatches: the first ones, in the order of their issue
  std::uint64_t batch_count = 0;   ///< all of them
};

struct KernelAudit {
  std::string name, pretty;
  SourcePos pos;
  std::vector<std::string> launches;     ///< that were run
  std::vector<Call> calls;               ///< in the order of the source
  std::vector<diagnose::Finding> advice; ///< of the perf rules
  std::vector<diagnose::Limit> limits;   ///< what the runs could not model
  std::string error;                     ///< why there was no audit
};

}  // namespace handoff::audit
