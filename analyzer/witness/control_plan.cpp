// SPDX-License-Identifier: Apache-2.0
// Perturbations of a kernel that is thought to be right: all of them, at all places where they apply.
#include <algorithm>
#include <functional>
#include <string_view>
#include <variant>

#include "analyzer/witness/plan.h"

namespace handoff::witness {

namespace {

using ptx::Effect;

template <typename T>
bool is(const Effect& effect) {
  return std::holds_alternative<T>(effect);
}

bool isMbarrier(const ptx::Decoded& decoded, std::initializer_list<ptx::MbarrierOp> ops) {
  const auto* barrier = std::get_if<ptx::Mbarrier>(&decoded.effect);
  return barrier != nullptr && std::find(ops.begin(), ops.end(), barrier->op) != ops.end();
}

bool isMma(const ptx::Decoded& decoded, ptx::WgmmaOp op) {
  const auto* wgmma = std::get_if<ptx::Wgmma>(&decoded.effect);
  return wgmma != nullptr && wgmma->op == op;
}

bool isShared(const ptx::Decoded& decoded) {
  return decoded.space() == ptx::Space::kShared || decoded.space() == ptx::Space::kSharedCluster;
}

bool isRead(const ptx::Decoded& decoded) {
  return (is<ptx::Load>(decoded.effect) && isShared(decoded)) || is<ptx::LdMatrix>(decoded.effect);
}
bool isWrite(const ptx::Decoded& decoded) { return is<ptx::Store>(decoded.effect) && isShared(decoded); }
bool isGlobalWrite(const ptx::Decoded& decoded) {
  return is<ptx::Store>(decoded.effect) && decoded.space() == ptx::Space::kGlobal;
}
bool isBulk(const ptx::Decoded& decoded) {
  return is<ptx::BulkCopy>(decoded.effect) || is<ptx::TensorCopy>(decoded.effect);
}
bool isCopy(const ptx::Decoded& decoded) {
  return is<ptx::CpAsync>(decoded.effect) || is<ptx::AsyncStore>(decoded.effect) || isBulk(decoded);
}
bool isInit(const ptx::Decoded& decoded) { return isMbarrier(decoded, {ptx::MbarrierOp::kInit}); }
bool isArrival(const ptx::Decoded& decoded) {
  using Op = ptx::MbarrierOp;
  return is<ptx::CpAsyncMbarrierArrive>(decoded.effect) ||
         isMbarrier(decoded, {Op::kArrive, Op::kArriveDrop, Op::kArriveExpectTx, Op::kArriveDropExpectTx,
                              Op::kExpectTx});
}
bool isWait(const ptx::Decoded& decoded) {
  return is<ptx::CpAsyncWaitGroup>(decoded.effect) || is<ptx::CpAsyncWaitAll>(decoded.effect) ||
         is<ptx::BulkWait>(decoded.effect) || isMma(decoded, ptx::WgmmaOp::kWait) ||
         isMbarrier(decoded, {ptx::MbarrierOp::kTestWait, ptx::MbarrierOp::kTryWait});
}
bool isBarrier(const ptx::Decoded& decoded) {
  return is<ptx::CtaBarrier>(decoded.effect) || is<ptx::ClusterBarrier>(decoded.effect);
}
bool isMultiplication(const ptx::Decoded& decoded) { return isMma(decoded, ptx::WgmmaOp::kMma); }

struct Class {
  std::string_view name, text;
  bool (*matches)(const ptx::Decoded&);
};
constexpr Class kClasses[] = {
    {"read", "reads of shared memory", isRead},
    {"write", "stores to shared memory", isWrite},
    {"copy", "copies", isCopy},
    {"wait", "waits", isWait},
    {"arrive", "arrivals", isArrival},
    {"barrier", "barriers", isBarrier},
    {"init", "mbarrier.init", isInit},
    {"mma", "multiplications", isMultiplication},
    {"result", "stores to global memory", isGlobalWrite},
};

class ControlPlanner {
 public:
  ControlPlanner(const machine::Program& program, const machine::Launch& launch, std::uint64_t box_bytes)
      : program_(program), launch_(launch), box_bytes_(box_bytes) {}

  std::vector<Variant> plan() {
    variants_.push_back({.name = "plain", .description = "the kernel as it is"});
    addDelays();
    addCopies();
    addStores();
    const auto everywhere = [&](bool (*matches)(const ptx::Decoded&), const auto& change) {
      return [this, matches, change](Instrumenter& to) {
        bool fits = false;
        for (const std::uint32_t instr : placesOf(matches)) fits |= change(to, instr);
        return fits;
      };
    };
    const auto stale = [](bool is_over) {
      return [is_over](Instrumenter& to, std::uint32_t instr) { return to.staleBarrier(instr, is_over); };
    };
    add("stale-over", "shared memory holds barriers whose first phase is over until they are set up",
        everywhere(isInit, stale(true)));
    add("stale-open", "shared memory holds barriers that wait for an arrival until they are set up",
        everywhere(isInit, stale(false)));
    add("queue-mma", "64 multiplications that add up to nothing are queued before each one",
        everywhere(isMultiplication,
                   [](Instrumenter& to, std::uint32_t instr) { return to.queueMultiplications({instr}); }));
    if (program_.edits_tensormaps)
      add("queue-maps", "32 other tensor maps are fetched before each copy",
          everywhere(isBulk,
                     [](Instrumenter& to, std::uint32_t instr) { return to.queueMapFetches({instr}); }));
    add("prefetch", "tensor maps are fetched, and 10 us pass, before they are edited",
        everywhere([](const ptx::Decoded& decoded) { return is<ptx::TensormapEdit>(decoded.effect); },
                   [](Instrumenter& to, std::uint32_t instr) { return to.prefetchMap(instr); }));
    return std::move(variants_);
  }

 private:
  using Change = std::function<bool(Instrumenter&)>;

  /// False where it applies nowhere.
  bool add(std::string name, std::string text, const Change& change, bool is_host = false,
           bool has_neighbour = false) {
    Instrumenter to(program_);
    if (!change(to)) return false;
    variants_.push_back({.name = std::move(name),
                         .description = std::move(text),
                         .added = to.take(),
                         .has_host_sources = is_host,
                         .has_neighbour = has_neighbour});
    return true;
  }

  // What is unrolled is perturbed at some of its copies, or the launch would take too long.
  std::vector<std::uint32_t> placesOf(bool (*matches)(const ptx::Decoded&)) const {
    constexpr std::size_t kMost = 12;
    std::vector<std::uint32_t> all;
    for (const machine::Op& op : program_.ops) {
      if (matches(*op.decoded)) all.push_back(op.instr);
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    if (all.size() <= kMost) return all;
    std::vector<std::uint32_t> some;
    for (std::size_t i = 0; i < kMost; ++i) some.push_back(all[i * all.size() / kMost]);
    return some;
  }

  void addDelays() {
    using Who = Actors::Who;
    const bool has_cluster = launch_.clusterSize() > 1;
    const std::uint32_t last_warp = launch_.warps() - 1, last_cta = launch_.clusterSize() - 1;
    struct Late {
      std::string name, text;
      Actors actors;
    };
    std::vector<Late> late = {{"first", "the first warp", {Who::kWarp, 0, 0, has_cluster}}};
    if (last_warp + last_cta != 0)
      late.push_back({"last", "the last warp", {Who::kWarp, last_warp, last_cta, has_cluster}});
    if (last_warp != 0) late.push_back({"odd", "every second warp", {Who::kOddWarps, 0, 0, has_cluster}});
    for (const Class& kind : kClasses) {
      const std::vector<std::uint32_t> places = placesOf(kind.matches);
      if (places.empty()) continue;
      for (const Late& one : late) {
        add("delay-" + std::string(kind.name) + "-" + one.name,
            one.text + " spins for 10 us before " + std::string(kind.text), [&](Instrumenter& to) {
              for (const std::uint32_t instr : places) to.delay({instr, one.actors});
              return true;
            });
      }
    }
  }

  void addCopies() {
    const std::vector<std::uint32_t> copies = placesOf(isCopy);
    if (copies.empty()) return;
    const auto nothing = [](Instrumenter&) { return true; };
    const auto poison = [&](Instrumenter& to) {
      bool fits = false;
      for (const std::uint32_t instr : copies) fits |= to.poison(instr, box_bytes_);
      return fits;
    };
    const auto flood = [&](Instrumenter& to) {
      bool fits = false;
      for (const std::uint32_t instr : copies) fits |= to.floodStores(instr);
      return fits;
    };
    const auto queue = [&](Instrumenter& to) {
      bool fits = false;
      for (const std::uint32_t instr : copies) fits |= to.queueCopies({instr});
      return fits;
    };
    add("host", "the global memory of the copies is host memory", nothing, /*is_host=*/true);
    add("poison", "the issuer overwrites the slot before it issues the copy", poison);
    add("host-poison", "the same, with host memory", poison, /*is_host=*/true);
    add("flood", "512 KiB of bulk stores to host memory are queued before each bulk store", flood);
    add("queue", "8 bulk stores to host memory are queued before each copy", queue);
    add("neighbour", "another kernel takes over the shared memory of blocks that have ended", nothing,
        /*is_host=*/false, /*has_neighbour=*/true);
    add("queue-neighbour",
        "8 bulk stores are queued before each copy, and another kernel comes after the blocks", queue,
        /*is_host=*/false, /*has_neighbour=*/true);
  }

  void addStores() {
    const auto stores = [&](unsigned count, Actors::Who who) {
      return [this, count, who](Instrumenter& to) {
        bool fits = false;
        for (bool (*matches)(const ptx::Decoded&) : {isWrite, isInit, isGlobalWrite}) {
          const ptx::Space space = matches == isGlobalWrite ? ptx::Space::kGlobal : ptx::Space::kShared;
          for (const std::uint32_t instr : placesOf(matches))
            fits |= to.conflictingStores({instr, {.who = who}}, space, count);
        }
        return fits;
      };
    };
    constexpr unsigned kFew = 8, kMany = 64;
    add("stores", "eight conflicting stores come right before each store", stores(kFew, Actors::Who::kAll));
    if (launch_.warps() > 1)
      add("stores-odd", "64 conflicting stores come right before each store of every second warp",
          stores(kMany, Actors::Who::kOddWarps));
  }

  const machine::Program& program_;
  const machine::Launch& launch_;
  const std::uint64_t box_bytes_;
  std::vector<Variant> variants_;
};

}  // namespace

std::vector<Variant> controlVariants(const machine::Program& program, const machine::Launch& launch,
                                     const std::map<std::uint64_t, std::uint64_t>& assumed_boxes) {
  return ControlPlanner(program, launch, leastBox(launch, assumed_boxes)).plan();
}

}  // namespace handoff::witness
