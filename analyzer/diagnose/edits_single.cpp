// SPDX-License-Identifier: Apache-2.0
// Candidate repairs of findings about one operation, and of hangs: counts, parities, places.
#include <algorithm>
#include <map>
#include <set>

#include "analyzer/diagnose/edit_builder.h"
#include "analyzer/diagnose/edit_parts.h"
#include "analyzer/diagnose/edits.h"
#include "analyzer/diagnose/witness.h"
#include "analyzer/machine/transfer/null_pointer.h"

namespace handoff::diagnose {

using machine::EventId;
using machine::EventKind;
using machine::Misuse;
using machine::Stuck;

namespace {

class SingleEditor {
 public:
  explicit SingleEditor(const Run& run) : run_(run), build_(run) {}

  std::vector<Edit> take() { return build_.take(); }

  void misuse(const Misuse& misuse) {
    const std::uint32_t at = run_.program.ops[misuse.op].instr;
    switch (misuse.kind) {
      case Misuse::Kind::kByteMismatch:
        everyLane(misuse);
        multicast();
        expectBytes(misuse.value, at);
        break;
      case Misuse::Kind::kUndrainedAtExit: drain(at, /*is_read=*/true); break;
      case Misuse::Kind::kUndrainedAtSignal: drainAtSignal(misuse); break;
      case Misuse::Kind::kLeakedAtExit: waitAtExit(at); break;
      case Misuse::Kind::kUninitializedBarrier:
      case Misuse::Kind::kBarrierInitUnordered: uninitialized(misuse, at); break;
      case Misuse::Kind::kReinitialized:
        if (misuse.other != 0) build_.add({EditBuilder::ofKind(Change::Kind::kDelete, at)}, "do not initialise it again");
        break;
      case Misuse::Kind::kOverArrival:
        initCounts(misuse.other, {});
        build_.add({EditBuilder::ofKind(Change::Kind::kDelete, at)}, "remove this arrival");
        arriveDrop();
        break;
      case Misuse::Kind::kCompletingNoComplete:
        build_.add({EditBuilder::setOpcode(at, EditBuilder::without(build_.instruction(at).opcode, ".noComplete"))},
                   "arrive without .noComplete");
        break;
      case Misuse::Kind::kEarlyArrival:
      case Misuse::Kind::kEarlyWait:
      case Misuse::Kind::kLappedWait: phase(misuse, at); break;
      case Misuse::Kind::kLateExpect: lateExpect(misuse, at); break;
      case Misuse::Kind::kBarrierCountMismatch:
      case Misuse::Kind::kBadBarrierCount:
        barrierCounts(at, {misuse.wanted, misuse.value, (misuse.value + 31) / 32 * 32, run_.launch.threads()});
        break;
      case Misuse::Kind::kDivergentBarrier:
      case Misuse::Kind::kSplitWarpgroup: divergent(at); break;
      case Misuse::Kind::kAmbiguousGeneration: build_.synchronize(build_.spotsBetween(at, at), false, false); break;
      case Misuse::Kind::kDoubleClusterArrive:
        build_.add({EditBuilder::ofKind(Change::Kind::kDelete, at)}, "remove this arrival at the cluster barrier");
        break;
      case Misuse::Kind::kPeerNotStarted:
        build_.synchronize(build_.spotsBetween(at, at), false, /*is_cluster=*/true);
        for (const std::uint32_t barrier : instructionsOf("bar.sync")) inPlaceOfBarrier(barrier);
        break;
      case Misuse::Kind::kPeerMayHaveExited:
        atExit(misuse, at);
        addWaitsOfLeavers(build_, at);
        break;
      case Misuse::Kind::kNoSuchPeer:
      case Misuse::Kind::kWrongSpace:
        if (misuse.kind == Misuse::Kind::kWrongSpace && misuse.value >= static_cast<std::uint64_t>(machine::NullOperand::kSource)) break;
        addSpaceEdits(build_, at);
        multicast();
        break;
      case Misuse::Kind::kMisalignedDestination:
      case Misuse::Kind::kMisalignedSource:
      case Misuse::Kind::kBadBulkSize: addAlignmentEdits(build_, misuse, at); break;
      case Misuse::Kind::kTensormapUnfenced: tensormap(at); break;
      case Misuse::Kind::kTensormapInUse:
        if (misuse.other != 0) drain(build_.instrOf(misuse.other), /*is_read=*/true);
        break;
      case Misuse::Kind::kRemoteBarrierOp:
        build_.add({EditBuilder::ofKind(Change::Kind::kDelete, at)}, "leave this to the barrier's own CTA");
        break;
      case Misuse::Kind::kBadCopySize:
        if (misuse.wanted != 0) {
          build_.add({EditBuilder::ofKind(Change::Kind::kCapOperand, at, 3, static_cast<std::int64_t>(misuse.wanted))},
                     "limit the source size to " + std::to_string(misuse.wanted) + " bytes");
        }
        break;
      default: break;  // addresses and sizes that only the author knows
    }
  }

  void stuck(const Stuck& stuck) {
    const std::uint32_t at = run_.program.ops[std::min<std::size_t>(stuck.op, run_.program.ops.size() - 1)].instr;
    switch (stuck.kind) {
      case Stuck::Kind::kCtaBarrier:
        allBarrierCounts();
        barrierCounts(at, {stuck.arrived, run_.launch.threads() - std::min(run_.outcome.exited_threads, run_.launch.threads())});
        break;
      case Stuck::Kind::kMbarrier: mbarrier(stuck, at); break;
      case Stuck::Kind::kWarpBarrier: divergent(at); break;
      case Stuck::Kind::kMmaWait: addLaterBranch(build_, at); break;
      default: break;
    }
    addEarlierSignals(build_);
  }

 private:
  std::vector<std::uint32_t> instructionsOf(std::string_view prefix) const {
    std::vector<std::uint32_t> found;
    for (std::uint32_t i = 0; i < run_.program.function.instructions.size(); ++i) {
      if (build_.instruction(i).opcode.starts_with(prefix)) found.push_back(i);
    }
    return found;
  }

  /// Only those that the run came by, each once.
  std::vector<std::uint32_t> executed(EventKind kind) const {
    std::set<std::uint32_t> found;
    for (EventId id = 1; id < run_.outcome.log.end(); ++id) {
      if (run_.outcome.log[id].kind == kind) found.insert(build_.instrOf(id));
    }
    return {found.begin(), found.end()};
  }

  /// A wait that hangs leaves no event.
  std::vector<std::uint32_t> polls() const {
    std::vector<std::uint32_t> found = instructionsOf("mbarrier.try_wait");
    for (const std::uint32_t i : instructionsOf("mbarrier.test_wait")) found.push_back(i);
    return found;
  }

  static std::string number(std::uint64_t n) { return std::to_string(n); }

  void expectBytes(std::uint64_t bytes, std::uint32_t reported) {
    if (bytes == 0) return;
    std::vector<std::uint32_t> places = executed(EventKind::kMbarrierExpect);
    for (const std::uint32_t i : executed(EventKind::kMbarrierArrive)) {
      if (build_.opcodeHas(i, "expect_tx")) places.push_back(i);
    }
    unguard(reported);
    // The first phase may have been met before all of its bytes; what a barrier gets in all is right where it has one.
    std::map<std::uint64_t, std::uint64_t> totals;
    std::set<std::uint64_t> sums = {bytes};
    for (EventId id = 1; id < run_.outcome.log.end(); ++id) {
      for (unsigned lane = 0; lane < machine::kWarpSize; ++lane) {
        const machine::AsyncOp* op = machine::isCopy(run_.outcome.log[id].kind) ? run_.outcome.log.findOp(id, lane) : nullptr;
        if (op != nullptr && op->barrier_address != 0) totals[op->barrier_address] += op->bytes;
      }
    }
    for (const auto& [barrier, total] : totals) sums.insert(total);
    std::stable_partition(places.begin(), places.end(), [&](std::uint32_t i) { return i == reported; });
    constexpr std::size_t kMaxSums = 4;
    if (sums.size() > kMaxSums) sums = {bytes};
    for (const std::uint32_t i : places) {
      const auto last = static_cast<std::uint32_t>(build_.instruction(i).operands.size() - 1);
      for (const std::uint64_t sum : sums) {
        build_.add({EditBuilder::setOperand(i, last, static_cast<std::int64_t>(sum))},
                   "expect " + number(sum) + " bytes, which is what the copies of the phase bring");
      }
    }
  }

  // A branch keeps some threads, or some CTAs, from announcing their bytes.
  void unguard(std::uint32_t copy) {
    for (const EditBuilder::Arrivals& arrivals : build_.arrivals()) {
      if (arrivals.instr == copy || !build_.opcodeHas(arrivals.instr, "expect_tx")) continue;
      const std::vector<std::uint32_t> branches = build_.branchesAround(arrivals.instr);
      if (!branches.empty()) {
        build_.add({EditBuilder::ofKind(Change::Kind::kDelete, branches.front())}, "announce the bytes whatever this branch says");
      }
    }
  }

  // All lanes of a warp issue what one was to issue.
  void everyLane(const Misuse& misuse) {
    if (misuse.value <= misuse.wanted) return;
    for (const std::uint32_t copy : executed(EventKind::kBulk)) {
      build_.add({EditBuilder::ofKind(Change::Kind::kElect, copy)}, "let one lane of the warp issue the copy");
    }
  }

  void multicast() {
    const std::uint32_t all = (1u << std::min(run_.launch.clusterSize(), 16u)) - 1;
    for (const std::uint32_t copy : executed(EventKind::kBulk)) {
      if (!build_.opcodeHas(copy, "multicast::cluster")) continue;
      const auto last = static_cast<std::uint32_t>(build_.instruction(copy).operands.size() - 1);
      const std::uint32_t mask = build_.opcodeHas(copy, "L2::cache_hint") ? last - 1 : last;
      build_.add({EditBuilder::setOperand(copy, mask, all)}, "address the copy to all CTAs of the cluster: mask " + number(all));
    }
  }

  void drain(std::uint32_t store, bool is_read) {
    const std::string what = std::string("cp.async.bulk.wait_group") + (is_read ? ".read" : "") + " 0";
    for (const std::uint32_t commit : executed(EventKind::kBulkCommit)) {
      build_.add({EditBuilder::bulkWait({commit, true}, is_read)}, "insert " + what);
    }
    build_.add({EditBuilder::bulkWait({store, true}, is_read)}, "insert " + what);
    build_.add({EditBuilder::at({store, true}, "cp.async.bulk.commit_group")}, "insert cp.async.bulk.commit_group");
    build_.add({EditBuilder::at({store, true}, "cp.async.bulk.commit_group"), EditBuilder::bulkWait({store, true}, is_read)},
               "insert cp.async.bulk.commit_group and " + what);
  }

  void drainAtSignal(const Misuse& misuse) {
    for (const std::uint32_t wait : executed(EventKind::kBulkReadWait)) {
      build_.add({EditBuilder::setOpcode(wait, EditBuilder::without(build_.instruction(wait).opcode, ".read"))},
                 "wait for the writes, too: cp.async.bulk.wait_group without .read");
    }
    if (misuse.other != 0) drain(build_.instrOf(misuse.other), /*is_read=*/false);
  }

  std::vector<std::uint32_t> exits() const {
    std::vector<std::uint32_t> found = instructionsOf("ret");
    for (const std::uint32_t i : instructionsOf("exit")) found.push_back(i);
    return found;
  }

  void waitAtExit(std::uint32_t copy) {
    if (!build_.instruction(copy).opcode.starts_with("cp.async.") || build_.opcodeHas(copy, "bulk")) return;
    std::vector<Change> changes;
    for (const std::uint32_t exit : exits()) changes.push_back(EditBuilder::waitAll({exit, false}));
    if (!changes.empty()) build_.add(std::move(changes), "insert cp.async.wait_all at the end of the kernel");
  }

  void atExit(const Misuse& misuse, std::uint32_t at) {
    std::vector<Change> changes;
    for (const std::uint32_t exit : exits()) {
      for (Change& change : EditBuilder::clusterSync({exit, false})) changes.push_back(std::move(change));
    }
    if (!changes.empty()) build_.add(std::move(changes), "insert a barrier of the cluster at the end of the kernel");
    expectBytes(misuse.value, at);
  }

  void uninitialized(const Misuse& misuse, std::uint32_t use) {
    const std::vector<std::uint32_t> inits = executed(EventKind::kMbarrierInit);
    const auto is_init = [&](EventId id) { return id != 0 && run_.outcome.log[id].kind == EventKind::kMbarrierInit; };
    std::vector<std::uint32_t> likely = inits;
    if (is_init(misuse.other)) likely.insert(likely.begin(), build_.instrOf(misuse.other));
    for (const std::uint32_t init : likely) {
      build_.add({EditBuilder::at({init, true}, "fence.mbarrier_init.release.cluster")}, "insert fence.mbarrier_init.release.cluster");
      build_.synchronize(build_.spotsBetween(init, use), false, false);
      for (const std::uint32_t barrier : instructionsOf("bar.sync")) inPlaceOfBarrier(barrier);
    }
    for (const std::uint32_t inval : executed(EventKind::kMbarrierInval)) {
      build_.synchronize(build_.spotsBetween(inval, inval), false, false);
      build_.synchronize(build_.spotsBetween(inval, use), false, false);
      for (const std::uint32_t wait : polls()) {
        if (!build_.opcodeHas(wait, "parity")) continue;
        build_.add({EditBuilder::ofKind(Change::Kind::kDelete, inval), EditBuilder::ofKind(Change::Kind::kFlipOperand, wait, 2)},
                   "keep the mbarrier, and wait for its next phase");
      }
      for (const std::uint32_t init : inits) {
        Change again = EditBuilder::at({inval, true}, build_.instruction(init).opcode, build_.instruction(init).operands);
        build_.add({again}, "initialise the mbarrier again after mbarrier.inval");
      }
    }
  }

  // A barrier of the block where one of the cluster is needed.
  void inPlaceOfBarrier(std::uint32_t barrier) {
    if (run_.launch.clusterSize() == 1) return;
    std::vector<Change> changes = EditBuilder::clusterSync({barrier, false});
    changes.push_back(EditBuilder::ofKind(Change::Kind::kDelete, barrier));
    build_.add(std::move(changes), "put a barrier of the cluster in place of __syncthreads()");
  }

  // Numbers of arrivals that the program itself suggests.
  void initCounts(EventId init, std::vector<std::uint64_t> counts) {
    if (init == 0 || run_.outcome.log[init].kind != EventKind::kMbarrierInit) return;
    std::uint64_t sum = 0;
    for (const EditBuilder::Arrivals& arrivals : build_.arrivals()) {
      counts.push_back(arrivals.threads);
      counts.push_back(arrivals.threads / run_.launch.clusterSize());
      sum += arrivals.threads;
    }
    counts.push_back(sum);
    counts.push_back(run_.launch.threads());
    std::set<std::uint64_t> tried;
    for (const std::uint64_t count : counts) {
      if (count == 0 || !tried.insert(count).second || tried.size() > 10) continue;
      const std::uint32_t at = build_.instrOf(init);
      if (build_.instruction(at).operands.size() < 2) return;
      build_.add({EditBuilder::setOperand(at, 1, static_cast<std::int64_t>(count))},
                 "initialise the mbarrier for " + number(count) + (count == 1 ? " arrival" : " arrivals"));
    }
  }

  void arriveDrop() {
    for (const EditBuilder::Arrivals& arrivals : build_.arrivals()) {
      const std::string& opcode = build_.instruction(arrivals.instr).opcode;
      if (!opcode.starts_with("mbarrier.arrive.")) continue;
      build_.add({EditBuilder::setOpcode(arrivals.instr, EditBuilder::replaced(opcode, "mbarrier.arrive", "mbarrier.arrive_drop"))},
                 "leave with mbarrier.arrive_drop, which lowers the count for later phases");
    }
  }

  void phase(const Misuse& misuse, std::uint32_t at) {
    initCounts(misuse.other, {});
    build_.changeParity(at);
    if (misuse.kind == Misuse::Kind::kEarlyArrival) {
      addWait(build_, {at, false}, at, misuse.value + 1);  // the phase before
      addOnePhase(build_, misuse.other);
    }
    for (const std::uint32_t wait : executed(EventKind::kMbarrierWait)) build_.changeParity(wait);
    build_.synchronize(build_.spotsBetween(at, at), false, false);
    build_.add({EditBuilder::barrier({at, true})}, "insert __syncthreads()");
    for (const EditBuilder::Arrivals& arrivals : build_.arrivals()) {
      build_.add({EditBuilder::ofKind(Change::Kind::kDelete, arrivals.instr)}, "remove this arrival");
    }
    swapArrivals();
    moveUses(at);
  }

  // The order of the arrival and of what it is to cover.
  void swapArrivals() {
    std::vector<std::uint32_t> places;
    for (const EditBuilder::Arrivals& arrivals : build_.arrivals()) places.push_back(arrivals.instr);
    for (const std::uint32_t expect : executed(EventKind::kMbarrierExpect)) places.push_back(expect);
    for (const std::uint32_t a : places) {
      for (const std::uint32_t b : places) {
        if (a != b) build_.add({EditBuilder::moveBehind(a, b)}, "move the arrival behind what it has to cover");
      }
    }
  }

  // Arming and issuing the next phase belongs behind the wait for the one before.
  void moveUses(std::uint32_t at) {
    if (!build_.opcodeHas(at, "expect_tx")) return;
    for (const std::uint32_t wait : executed(EventKind::kMbarrierWait)) {
      for (const std::uint32_t copy : executed(EventKind::kBulk)) {
        build_.add({EditBuilder::moveBehind(at, wait), EditBuilder::moveBehind(copy, wait)},
                   "start the next phase behind the wait for this one");
      }
    }
  }

  void lateExpect(const Misuse&, std::uint32_t at) {
    for (const EditBuilder::Arrivals& arrivals : build_.arrivals()) {
      build_.add({EditBuilder::moveBehind(arrivals.instr, build_.nextEffect(at))}, "arrive behind the announcement of the bytes");
      for (const std::uint32_t branch : build_.branchesAround(at)) {
        const std::uint32_t join = build_.nextEffect(build_.instruction(branch).operands[0].target);
        build_.add({EditBuilder::moveBefore(arrivals.instr, join)}, "arrive behind the announcement of the bytes");
      }
    }
    build_.synchronize(build_.spotsBetween(at, at), false, false);
  }

  // Barriers that are wrong in the same way: each of them alone would leave the others stuck.
  void allBarrierCounts() {
    std::map<std::uint32_t, std::uint64_t> arrived;
    for (const Stuck& other : run_.outcome.stuck) {
      if (other.kind == Stuck::Kind::kCtaBarrier) arrived[run_.program.ops[other.op].instr] = other.arrived;
    }
    if (arrived.size() < 2) return;
    std::vector<Change> changes;
    for (const auto& [at, count] : arrived) {
      if (count % 32 != 0 || build_.instruction(at).operands.size() < 2) return;
      changes.push_back(EditBuilder::setOperand(at, 1, static_cast<std::int64_t>(count)));
    }
    build_.add(std::move(changes), "let each barrier wait for the threads that come to it");
  }

  void barrierCounts(std::uint32_t at, std::vector<std::uint64_t> counts) {
    const std::vector<ptx::Operand>& operands = build_.instruction(at).operands;
    std::set<std::uint64_t> tried;
    for (const std::uint64_t count : counts) {
      if (count == 0 || count % 32 != 0 || operands.size() < 2 || !tried.insert(count).second) continue;
      build_.add({EditBuilder::setOperand(at, 1, static_cast<std::int64_t>(count))}, "let the barrier wait for " + number(count) + " threads");
    }
  }

  // Out of the branch that not all threads take.
  void divergent(std::uint32_t at) {
    for (const std::uint32_t branch : build_.branchesAround(at)) {
      Change split = EditBuilder::ofKind(Change::Kind::kSplitBranch, branch);
      split.to = at;
      build_.add({EditBuilder::moveBefore(at, branch)}, "move it before the branch that not all threads take");
      build_.add({split}, "end the branch before it, and take the branch again behind it");
      const std::uint32_t join = build_.nextEffect(build_.instruction(branch).operands[0].target);
      build_.add({EditBuilder::moveBefore(at, join)}, "move it behind the branch that not all threads take");
    }
  }

  void mbarrier(const Stuck& stuck, std::uint32_t at) {
    for (const EditBuilder::Arrivals& arrivals : build_.arrivals()) {
      const std::string& opcode = build_.instruction(arrivals.instr).opcode;
      if (!opcode.starts_with("cp.async.mbarrier.arrive") || build_.opcodeHas(arrivals.instr, "noinc")) continue;
      build_.add({EditBuilder::setOpcode(arrivals.instr, EditBuilder::replaced(opcode, ".arrive", ".arrive.noinc"))},
                 "count the arrival of the copies: cp.async.mbarrier.arrive.noinc");
    }
    build_.changeParity(at);
    initCounts(stuck.init, {stuck.arrived});
    if (stuck.arrived < stuck.expected) addArrivalsOfLeavers(build_, at);
    if (stuck.seen + 2 <= stuck.id) build_.add({EditBuilder::barrier({at, true})}, "insert __syncthreads()");
    arriveDrop();
    multicast();
    for (const std::uint32_t wait : executed(EventKind::kMbarrierWait)) build_.changeParity(wait);
    for (const Stuck& other : run_.outcome.stuck) build_.changeParity(run_.program.ops[std::min<std::size_t>(other.op, run_.program.ops.size() - 1)].instr);
  }

  void tensormap(std::uint32_t use) {
    // [map, {coordinates}] is the operand that names the map.
    for (const ptx::Operand& operand : build_.instruction(use).operands) {
      if (operand.kind != ptx::Operand::Kind::kTensorAddress || operand.elements.empty()) continue;
      ptx::Operand address;
      address.kind = ptx::Operand::Kind::kAddress;
      address.base = ptx::Operand::Base::kRegister;
      const ptx::Operand& map = operand.elements[0];
      if (map.kind == ptx::Operand::Kind::kAddress) {
        address = map;
      } else if (map.kind == ptx::Operand::Kind::kRegister) {
        address.reg = map.reg;
        address.imm = map.imm;
      } else {
        continue;
      }
      build_.add({EditBuilder::at({use, false}, "fence.proxy.tensormap::generic.acquire.gpu", {address, EditBuilder::immediate(128)})},
                 "insert fence.proxy.tensormap::generic.acquire.gpu of the map");
    }
  }

  const Run& run_;
  EditBuilder build_;
};

}  // namespace

std::vector<Edit> editsFor(const Run& run, const machine::Misuse& misuse) {
  SingleEditor editor(run);
  editor.misuse(misuse);
  return editor.take();
}

std::vector<Edit> editsFor(const Run& run, const machine::Stuck& stuck) {
  SingleEditor editor(run);
  editor.stuck(stuck);
  return editor.take();
}

}  // namespace handoff::diagnose
