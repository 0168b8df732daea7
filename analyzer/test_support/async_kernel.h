// SPDX-License-Identifier: Apache-2.0
// Statements of asynchronous protocols for the kernels of ptx_kernel.h, and short words for what a run met.
//
// The statements use %p14, %p15, %r50-57 and %d50-57, and labels of their own. Offsets are bytes from `tile`,
// `in` and `out`; barriers are counted in `bar`.
#pragma once

#include <string>
#include <vector>

#include "analyzer/test_support/ptx_kernel.h"

namespace handoff::test {

// --- who executes ---

std::string byThread(unsigned thread, const std::string& statements);  ///< %tid.x
std::string byWarp(unsigned warp, const std::string& statements);
std::string byLane(unsigned lane, const std::string& statements);
std::string byCta(unsigned rank, const std::string& statements);  ///< of the cluster

// --- mbarriers ---

/// Thread 0 initialises bar[0], bar[1], ... for these counts; then the block synchronises.
std::string initBarriers(const std::vector<unsigned>& counts);
std::string arrive(unsigned barrier = 0);
/// mbarrier.arrive.expect_tx
std::string expect(unsigned bytes, unsigned barrier = 0);
/// A loop around mbarrier.try_wait.parity.
std::string waitFor(unsigned parity, unsigned barrier = 0);

// --- bulk copies ---

/// in + from -> tile + to, completing on the barrier.
std::string load(unsigned to, unsigned bytes, unsigned barrier = 0, unsigned from = 0);
/// tile + from -> out + to; neither committed nor waited for.
std::string store(unsigned from, unsigned bytes, unsigned to = 0);
inline constexpr const char* kBulkCommit = "cp.async.bulk.commit_group;\n";
inline constexpr const char* kBulkWait = "cp.async.bulk.wait_group 0;\n";
inline constexpr const char* kBulkReadWait = "cp.async.bulk.wait_group.read 0;\n";
inline constexpr const char* kProxyFence = "fence.proxy.async.shared::cta;\n";

// --- ordinary accesses: 16 bytes of tile + at, by each thread that executes them ---

std::string readAt(unsigned at);
std::string writeAt(unsigned at);
inline constexpr const char* kWriteOwn = "st.shared.v4.u32 [%s], {%r0, %r0, %r0, %r0};\n";

// --- clusters ---

inline constexpr const char* kClusterSync =
    "barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;\n";
/// mapa: the register becomes the address of tile + offset, or of a barrier, in the CTA of that rank.
std::string tileOf(unsigned rank, const std::string& reg, unsigned offset = 0);
std::string barrierOf(unsigned rank, const std::string& reg, unsigned barrier = 0);

// --- outcomes ---

/// No conflict, misuse, hang or limit.
void expectClean(const Ran& ran);
/// Each conflict as "first -> second", for example "bulk -> read"; "!" in front of those that are ordered but
/// lack a proxy fence. Sorted, each once.
std::vector<std::string> conflictsOf(const Ran& ran);
std::vector<machine::Misuse::Kind> misusesOf(const Ran& ran);
std::vector<machine::Stuck::Kind> stuckOf(const Ran& ran);

}  // namespace handoff::test
