// SPDX-License-Identifier: Apache-2.0
// The state that a run starts in: warps, memory, special registers.
#include "analyzer/machine/address.h"
#include "analyzer/machine/executor.h"

namespace handoff::machine {

void Executor::initWarps() {
  const std::uint32_t threads = launch_.threads();
  const std::uint32_t warps = launch_.warps();
  const std::uint64_t end = program_.dynamic_shared_offset + launch_.dynamic_shared_bytes;
  const std::uint64_t shared_bytes = std::max(end, kSharedBase + program_.static_shared_bytes) - kSharedBase;
  run_.cluster.ctas.resize(launch_.clusterSize());
  run_.cluster.warps.reserve(std::size_t{warps} * launch_.clusterSize());
  for (std::uint32_t rank = 0; rank < launch_.clusterSize(); ++rank) {
    Cta& cta = run_.cluster.ctas[rank];
    cta.rank = rank;
    const auto [x, y, z] = launch_.cluster;
    cta.index = {launch_.block_index[0] + rank % x, launch_.block_index[1] + rank / x % y,
                 launch_.block_index[2] + rank / x / y % z};
    cta.first_warp = run_.cluster.warps.size();
    cta.warp_count = warps;
    cta.shadow = std::make_unique<Shadow>(shared_bytes, setup_.granule);
    if (program_.has_tensor_memory) cta.tensor_shadow = std::make_unique<Shadow>(kTensorCells, 1);
    if (program_.needs_shared_contents) cta.shared.resize(shared_bytes);
    for (std::uint32_t w = 0; w < warps; ++w) {
      const std::uint32_t rest = threads - w * kWarpSize;
      const LaneMask live = rest >= kWarpSize ? kAllLanes : laneBit(rest) - 1;
      const auto id = static_cast<std::uint16_t>(run_.cluster.warps.size());
      Warp& warp = run_.cluster.warps.emplace_back(id, rank, static_cast<std::uint16_t>(w), live);
      warp.registers.resize(program_.register_count);
      for (Lanes& lanes : warp.registers) lanes.unknown = kAllLanes;  // PTX registers start undefined
      if (path_ != nullptr) warp.terms.assign(program_.register_count, symbolic::kConcrete);
      warp.data.assign(program_.register_count, symbolic::kConcrete);
      warp.passes.resize(program_.ops.size(), 0);
      warp.local.resize(program_.local_bytes == 0 ? 0 : kWarpSize);
      for (Bytes& bytes : warp.local) bytes.resize(program_.local_bytes);
      warp.fragments.push_back({.pc = 0, .lanes = live});
      setSpecials(warp);
      cta.live.push_back(live);
    }
  }
  next_actor_ = run_.cluster.firstBarrierActor();
}

void Executor::setSpecials(Warp& warp) {
  using ptx::Special;
  const auto& launch = launch_;
  const Dim3& index = run_.cluster.ctaOf(warp).index;
  for (const auto& [special, slot] : program_.specials) {
    Lanes& lanes = warp.registers[slot];
    lanes.unknown = 0;
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      const std::uint32_t thread = warp.rank * kWarpSize + lane;
      std::uint64_t word = 0;
      switch (special) {
        case Special::kTidX: word = thread % launch.block[0]; break;
        case Special::kTidY: word = thread / launch.block[0] % launch.block[1]; break;
        case Special::kTidZ: word = thread / launch.block[0] / launch.block[1]; break;
        case Special::kNtidX: word = launch.block[0]; break;
        case Special::kNtidY: word = launch.block[1]; break;
        case Special::kNtidZ: word = launch.block[2]; break;
        case Special::kCtaidX: word = index[0]; break;
        case Special::kCtaidY: word = index[1]; break;
        case Special::kCtaidZ: word = index[2]; break;
        case Special::kNctaidX: word = launch.grid[0]; break;
        case Special::kNctaidY: word = launch.grid[1]; break;
        case Special::kNctaidZ: word = launch.grid[2]; break;
        case Special::kLaneid: word = lane; break;
        case Special::kWarpid: word = warp.rank; break;
        case Special::kNwarpid: word = launch.warps(); break;
        case Special::kLanemaskEq: word = laneBit(lane); break;
        case Special::kLanemaskLt: word = laneBit(lane) - 1; break;
        case Special::kLanemaskLe: word = (laneBit(lane) - 1) | laneBit(lane); break;
        case Special::kLanemaskGe: word = kAllLanes & ~(laneBit(lane) - 1); break;
        case Special::kLanemaskGt: word = kAllLanes & ~((laneBit(lane) - 1) | laneBit(lane)); break;
        case Special::kDynamicSmemSize: word = launch.dynamic_shared_bytes; break;
        case Special::kClusterNctaidX: word = launch.cluster[0]; break;
        case Special::kClusterNctaidY: word = launch.cluster[1]; break;
        case Special::kClusterNctaidZ: word = launch.cluster[2]; break;
        case Special::kClusterNctarank: word = launch.clusterSize(); break;
        case Special::kClusterCtaidX: word = index[0] % launch.cluster[0]; break;
        case Special::kClusterCtaidY: word = index[1] % launch.cluster[1]; break;
        case Special::kClusterCtaidZ: word = index[2] % launch.cluster[2]; break;
        case Special::kClusterCtarank: word = warp.cta; break;
        case Special::kIsExplicitCluster: word = launch.clusterSize() > 1; break;
        case Special::kClusteridX: word = index[0] / launch.cluster[0]; break;
        case Special::kClusteridY: word = index[1] / launch.cluster[1]; break;
        case Special::kClusteridZ: word = index[2] / launch.cluster[2]; break;
        case Special::kNclusteridX: word = launch.grid[0] / launch.cluster[0]; break;
        case Special::kNclusteridY: word = launch.grid[1] / launch.cluster[1]; break;
        case Special::kNclusteridZ: word = launch.grid[2] / launch.cluster[2]; break;
        case Special::kTotalSmemSize: case Special::kAggrSmemSize: case Special::kReservedSmem:
        case Special::kSmid: case Special::kNsmid: case Special::kGridid: case Special::kClock:
        case Special::kClock64: case Special::kGlobaltimer: case Special::kOther: lanes.unknown = kAllLanes; break;
      }
      lanes.word[lane] = word;
    }
    if (!warp.terms.empty()) warp.terms[slot] = specialTerm(special, run_.cluster.ctaOf(warp));
  }
}

}  // namespace handoff::machine
