// SPDX-License-Identifier: Apache-2.0
// The order was measured on an H200: which perturbation shows which rule, and which ones hide it
// (docs/gpu-results.md).
#include "analyzer/witness/plan.h"

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <string_view>

#include "analyzer/diagnose/names.h"

namespace handoff::witness {

using diagnose::Diagnosis;
using diagnose::Site;
using machine::EventKind;

namespace {

constexpr std::string_view kAll[] = {"plain",
                                     "poison",
                                     "host-poison",
                                     "host",
                                     "delay-first",
                                     "delay-second",
                                     "others-first",
                                     "others-second",
                                     "stores",
                                     "stores-others",
                                     "flood",
                                     "queue",
                                     "queue-all",
                                     "queue-maps",
                                     "stale-over",
                                     "stale-open",
                                     "prefetch",
                                     "host-all",
                                     "queue-host-all",
                                     "neighbour",
                                     "queue-neighbour",
                                     "delay-first-all",
                                     "delay-second-all",
                                     "host-delay-first",
                                     "host-delay-second",
                                     "noise"};

/// What shows the rule best; the others follow in the order of kAll.
std::span<const std::string_view> favourites(std::string_view rule) {
  static constexpr std::string_view kLateCopy[] = {"plain", "host-poison", "poison"};
  static constexpr std::string_view kLateWriter[] = {"delay-first", "delay-first-all", "plain"};
  static constexpr std::string_view kLateInit[] = {"delay-first", "delay-first-all", "stale-over",
                                                   "stale-open", "plain"};
  static constexpr std::string_view kLateReader[] = {
      "delay-first", "delay-first-all", "delay-second", "others-first", "plain", "queue", "poison"};
  static constexpr std::string_view kFence[] = {"stores", "stores-others", "prefetch", "plain"};
  static constexpr std::string_view kDrain[] = {"queue", "flood", "plain", "host"};
  static constexpr std::string_view kOverlap[] = {"host", "plain", "delay-first"};
  static const std::map<std::string_view, std::span<const std::string_view>> kTable = {
      {"missing-barrier", kLateWriter},     {"uninitialized-barrier", kLateInit},
      {"premature-overwrite", kLateReader}, {"missing-proxy-fence", kFence},
      {"store-not-drained", kDrain},        {"source-overwritten", kDrain},
      {"cluster-lifetime", kLateReader},    {"overlapping-copies", kOverlap},
  };
  const auto found = kTable.find(rule);
  return found != kTable.end() ? found->second : kLateCopy;
}

class Planner {
 public:
  Planner(const Diagnosis& diagnosis, const machine::Program& program, const machine::Launch& launch)
      : diagnosis_(diagnosis), program_(program), launch_(launch) {}

  std::vector<Variant> plan() {
    std::vector<Variant> variants;
    const auto add = [&](std::string_view name) {
      const bool is_known =
          std::any_of(variants.begin(), variants.end(), [&](const Variant& v) { return v.name == name; });
      if (is_known) return;
      if (std::optional<Variant> variant = make(std::string(name))) variants.push_back(std::move(*variant));
    };
    for (const std::string_view name : favourites(diagnosis_.finding.rule)) add(name);
    for (const std::string_view name : kAll) add(name);
    return variants;
  }

 private:
  std::optional<Variant> make(const std::string& name) {
    Variant variant{.name = name};
    Instrumenter to(program_);
    if (name.starts_with("host") && name != "host-all") {
      if (!hasCopy()) return std::nullopt;
      variant.has_host_sources = true;
      variant.description = "the global memory of the copies is host memory";
    }
    const auto describe = [&](const std::string& text) {
      variant.description += (variant.description.empty() ? "" : "; ") + text;
    };
    if (name == "plain") describe("the kernel as it is");
    if (!addTo(variant, name, to, describe)) return std::nullopt;
    variant.added = to.take();
    return variant;
  }

  /// False where the perturbation has no place.
  template <typename Describe>
  bool addTo(Variant& variant, const std::string& name, Instrumenter& to, const Describe& describe) const {
    if (name.ends_with("poison")) {
      describe("the issuer overwrites the slot before it issues the copy");
      return poison(to);
    }
    if (name.find("delay-first") != std::string::npos) return delay(to, 0, name.ends_with("-all"), describe);
    if (name.find("delay-second") != std::string::npos) return delay(to, 1, name.ends_with("-all"), describe);
    if (name == "others-first") return delayOthers(to, 0, describe);
    if (name == "others-second") return delayOthers(to, 1, describe);
    if (name.starts_with("stores")) return stores(to, name == "stores-others", describe);
    if (name == "flood") {
      describe("512 KiB of bulk stores to host memory are queued before the bulk store");
      return flood(to);
    }
    if (name.ends_with("neighbour")) {
      describe("another kernel takes over the shared memory of blocks that have ended");
      variant.has_neighbour = true;
      return endsTooEarly() && (name == "neighbour" || queue(to, /*is_always=*/false, describe));
    }
    if (name.ends_with("host-all")) {
      describe("all buffers are host memory");
      variant.has_host_buffers = true;
      return isAboutStores() && (name == "host-all" || queue(to, /*is_always=*/false, describe));
    }
    if (name == "queue-maps") {
      describe("32 other tensor maps are fetched before the copy");
      return program_.edits_tensormaps && queueMaps(to);
    }
    if (name.starts_with("queue")) return queue(to, name == "queue-all", describe);
    if (name.starts_with("stale")) return stale(to, name == "stale-over", describe);
    if (name == "prefetch") return prefetch(to, describe);
    if (name == "noise") {
      describe("the buffers hold all bit patterns");
      variant.has_noise = true;
      return isOverBarrier();
    }
    return true;
  }

  bool hasCopy() const {
    return std::any_of(program_.ops.begin(), program_.ops.end(), [](const machine::Op& op) {
      const ptx::Effect& effect = op.decoded->effect;
      return std::holds_alternative<ptx::CpAsync>(effect) || std::holds_alternative<ptx::BulkCopy>(effect) ||
             std::holds_alternative<ptx::TensorCopy>(effect);
    });
  }

  /// The instruction of a site and its copies in unrolled loops.
  std::vector<std::uint32_t> copiesOf(const Site& site) const {
    std::vector<std::uint32_t> copies;
    for (const machine::Op& op : program_.ops) {
      if (op.site == site.group && op.decoded == program_.function.instructions[site.instr].decoded)
        copies.push_back(op.instr);
    }
    if (copies.empty()) copies.push_back(site.instr);
    std::sort(copies.begin(), copies.end());
    copies.erase(std::unique(copies.begin(), copies.end()), copies.end());
    return copies;
  }

  bool poison(Instrumenter& to) const {
    bool fits = false;
    std::vector<std::uint32_t> done;
    for (const Site& site : diagnosis_.sites) {
      if (!machine::isCopy(site.kind)) continue;
      for (const std::uint32_t instr : copiesOf(site)) {
        if (std::find(done.begin(), done.end(), instr) != done.end()) continue;
        done.push_back(instr);
        fits |= to.poison(instr, leastBox(launch_, diagnosis_.assumed_boxes));
      }
    }
    return fits;
  }

  template <typename Describe>
  bool delay(Instrumenter& to, std::size_t which, bool is_always, const Describe& describe) const {
    if (which >= diagnosis_.sites.size()) return false;
    const Site& site = diagnosis_.sites[which];
    if (!is_always && site.pass == 0) return false;
    const std::vector<std::uint32_t> copies =
        is_always ? copiesOf(site) : std::vector<std::uint32_t>{site.instr};
    const Actors actors = actorsAt(site, Actors::Who::kWarp);
    for (const std::uint32_t instr : copies) to.delay({instr, actors, is_always ? 0 : site.pass});
    describe("the warp of thread " + nameOf(site) + " spins for 10 us before '" + opcodeOf(site) + "'" +
             (is_always       ? ", every time"
              : site.pass > 1 ? ", turn " + std::to_string(site.pass)
                              : ""));
    return true;
  }

  Actors actorsAt(const Site& site, Actors::Who who) const {
    return {.who = who, .warp = site.warp, .cta = site.cta, .has_cluster = launch_.clusterSize() > 1};
  }

  // The thread of the other event may be in the same warp as this one's, and must not be held up with it.
  template <typename Describe>
  bool delayOthers(Instrumenter& to, std::size_t which, const Describe& describe) const {
    if (diagnosis_.sites.size() < 2 || launch_.warps() * launch_.clusterSize() < 2) return false;
    const Site &site = diagnosis_.sites[which], &other = diagnosis_.sites[1 - which];
    if (site.pass == 0) return false;
    to.delay({site.instr, actorsAt(other, Actors::Who::kOthers), site.pass});
    describe("all warps but that of thread " + nameOf(other) + " spin for 10 us before '" + opcodeOf(site) +
             "'");
    return true;
  }

  std::string nameOf(const Site& site) const {
    return diagnose::threadName(launch_, site.cta * launch_.warps() + site.warp, site.lane);
  }
  const std::string& opcodeOf(const Site& site) const {
    return program_.function.instructions[site.instr].opcode;
  }

  static bool goesThroughStoreUnit(EventKind kind) {
    return kind == EventKind::kWrite || kind == EventKind::kCopy || kind == EventKind::kMbarrierInit;
  }

  // Measured: eight are enough to let a bulk store overtake. More of them, and none in the warp of the other
  // event, where the other one comes much later.
  template <typename Describe>
  bool stores(Instrumenter& to, bool by_others, const Describe& describe) const {
    constexpr unsigned kFew = 8, kMany = 64;
    bool fits = false;
    for (std::size_t i = 0; i < diagnosis_.sites.size(); ++i) {
      const Site& site = diagnosis_.sites[i];
      if (!goesThroughStoreUnit(site.kind) || (by_others && diagnosis_.sites.size() < 2)) continue;
      const bool is_global = diagnosis_.space == ptx::Space::kGlobal && site.kind == EventKind::kWrite;
      const ptx::Space space = is_global ? ptx::Space::kGlobal : ptx::Space::kShared;
      const Actors actors =
          by_others ? actorsAt(diagnosis_.sites[1 - i], Actors::Who::kOthers) : Actors{Actors::Who::kAll};
      for (const std::uint32_t instr : copiesOf(site))
        fits |= to.conflictingStores({instr, actors}, space, by_others ? kMany : kFew);
    }
    describe(
        by_others
            ? "64 conflicting stores come right before the store, in all warps but that of the other event"
            : "eight conflicting stores of the same warp come right before the store");
    return fits;
  }

  bool flood(Instrumenter& to) const {
    bool fits = false;
    for (const Site& site : diagnosis_.sites) {
      if (site.kind != EventKind::kBulk) continue;
      for (const std::uint32_t instr : copiesOf(site)) fits |= to.floodStores(instr);
    }
    return fits;
  }

  // Work for the same engine before the first asynchronous access: of two, the later one must not wait as
  // well.
  template <typename Describe>
  bool queue(Instrumenter& to, bool is_always, const Describe& describe) const {
    for (const Site& site : diagnosis_.sites) {
      if (site.kind == EventKind::kTensormapEdit || (!is_always && site.pass == 0)) continue;
      const bool is_mma = site.kind == EventKind::kMma;
      const std::vector<std::uint32_t> copies =
          is_always ? copiesOf(site) : std::vector<std::uint32_t>{site.instr};
      bool fits = false;
      for (const std::uint32_t instr : copies) {
        // ptxas makes multiplications wait for each other where some stand in a branch.
        fits |= is_mma
                    ? to.queueMultiplications({instr})
                    : to.queueCopies({instr, actorsAt(site, Actors::Who::kWarp), is_always ? 0 : site.pass});
      }
      if (!fits) continue;
      describe((is_mma ? "64 multiplications that add up to nothing are queued before '"
                       : "8 bulk stores to host memory are queued before '") +
               opcodeOf(site) + "'");
      return true;
    }
    return false;
  }

  bool queueMaps(Instrumenter& to) const {
    bool fits = false;
    for (const Site& site : diagnosis_.sites) {
      if (site.kind != EventKind::kBulk) continue;
      for (const std::uint32_t instr : copiesOf(site)) fits |= to.queueMapFetches({instr});
    }
    return fits;
  }

  // Nobody says where a barrier is set up that a thread has met too early.
  template <typename Describe>
  bool stale(Instrumenter& to, bool is_over, const Describe& describe) const {
    if (diagnosis_.finding.rule != "uninitialized-barrier") return false;
    bool fits = false;
    for (const machine::Op& op : program_.ops) {
      const auto* barrier = std::get_if<ptx::Mbarrier>(&op.decoded->effect);
      if (barrier != nullptr && barrier->op == ptx::MbarrierOp::kInit)
        fits |= to.staleBarrier(op.instr, is_over);
    }
    describe(std::string("shared memory holds barriers ") +
             (is_over ? "whose first phase is over" : "that wait for an arrival") +
             " until, 10 us later, they are set up");
    return fits;
  }

  template <typename Describe>
  bool prefetch(Instrumenter& to, const Describe& describe) const {
    bool fits = false;
    for (const machine::Op& op : program_.ops) fits |= to.prefetchMap(op.instr);
    describe("tensor maps are fetched, and 10 us pass, before they are edited");
    return fits;
  }

  bool endsTooEarly() const {
    static constexpr std::string_view kRules[] = {"leaked-copy", "store-not-drained", "cluster-lifetime"};
    return std::find(std::begin(kRules), std::end(kRules), diagnosis_.finding.rule) != std::end(kRules);
  }

  /// Bulk stores whose source or destination is met too early.
  bool isAboutStores() const {
    return program_.has_bulk_stores &&
           std::any_of(diagnosis_.sites.begin(), diagnosis_.sites.end(),
                       [](const Site& site) { return site.kind == EventKind::kBulk; });
  }

  /// What a copy writes decides how a barrier goes on.
  bool isOverBarrier() const {
    return diagnosis_.finding.rule == "uninitialized-barrier" &&
           std::any_of(diagnosis_.sites.begin(), diagnosis_.sites.end(),
                       [](const Site& site) { return machine::isCopy(site.kind); });
  }

  const Diagnosis& diagnosis_;
  const machine::Program& program_;
  const machine::Launch& launch_;
};

}  // namespace

Prediction predictionOf(const std::string& rule, const machine::Program& program) {
  static constexpr std::string_view kHangs[] = {
      "hang",       "arrival-count-mismatch", "tx-count-mismatch", "divergent-protocol", "wrong-parity",
      "phase-race", "uninitialized-barrier"};
  static constexpr std::string_view kFaults[] = {
      "misaligned-copy",   "wrong-space",       "illegal-barrier-op", "uninitialized-barrier",
      "cluster-lifetime",  "tx-count-mismatch", "phase-race",         "arrival-count-mismatch",
      "divergent-protocol"};
  const auto isAmong = [&](std::span<const std::string_view> rules) {
    return std::find(rules.begin(), rules.end(), rule) != rules.end();
  };
  // Barriers that are armed twice or overrun stop the kernel, whatever the mistake behind it is called.
  static constexpr std::string_view kOverruns[] = {"hang", "missing-wait", "wrong-parity",
                                                   "insufficient-wait", "premature-overwrite"};
  return {.is_hang = isAmong(kHangs),
          .is_fault = isAmong(kFaults) || (program.has_mbarrier_waits && isAmong(kOverruns))};
}

std::uint64_t leastBox(const machine::Launch& launch,
                       const std::map<std::uint64_t, std::uint64_t>& assumed_boxes) {
  std::uint64_t least = 0;
  const auto take = [&](std::uint64_t bytes) {
    if (bytes != 0) least = least == 0 ? bytes : std::min(least, bytes);
  };
  for (const auto& [address, map] : launch.tensor_maps) take(map.box_bytes);
  for (const auto& [address, bytes] : assumed_boxes) take(bytes);
  return least;
}

std::vector<Variant> variantsFor(const Diagnosis& diagnosis, const machine::Program& program,
                                 const machine::Launch& launch) {
  return Planner(diagnosis, program, launch).plan();
}

}  // namespace handoff::witness
