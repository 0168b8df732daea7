// SPDX-License-Identifier: Apache-2.0
// Which moments to show, by what the finding rests on: two accesses, one operation, or threads that never go
// on.
#include "analyzer/picture/finding_picture.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "analyzer/diagnose/classify.h"
#include "analyzer/machine/address.h"
#include "analyzer/picture/missing_order.h"
#include "analyzer/picture/scene.h"

namespace handoff::picture {

using diagnose::Cause;
using diagnose::Picture;
using diagnose::Site;
using machine::Conflict;
using machine::Event;
using machine::EventId;
using machine::EventKind;
using machine::Misuse;
using machine::Stuck;

namespace {

constexpr const char* kOneOperation =
    "No picture: the finding is about one operation, and no order in time would show more.";

std::string count(std::uint64_t n, const std::string& noun) {
  return std::to_string(n) + " " + noun + (n == 1 ? "" : "s");
}

class FindingPicture {
 public:
  FindingPicture(const diagnose::Run& run, const machine::RunTrace& trace,
                 const diagnose::Diagnosis& diagnosis)
      : run_(run), log_(run.outcome.log), trace_(trace), diagnosis_(diagnosis), scene_(run, trace) {}

  Picture make() {
    if (diagnosis_.sites.empty()) return onlyNote(kOneOperation);
    if (!show()) return onlyNote("No picture: the run that shows the finding could not be made again.");
    Picture picture = scene_.take();
    if (picture.marks.size() < 2) return onlyNote(kOneOperation);
    return picture;
  }

 private:
  static Picture onlyNote(std::string note) {
    Picture picture;
    picture.notes.push_back(std::move(note));
    return picture;
  }

  bool show() {
    const std::vector<Site>& sites = diagnosis_.sites;
    if (const Conflict* conflict = findConflict()) {
      showConflict(*conflict);
      return true;
    }
    if (sites.size() == 1 && sites.front().pass == 0) return showStuck();
    const Misuse* misuse = findMisuse();
    if (misuse != nullptr) showMisuse(*misuse);
    return misuse != nullptr;
  }

  // --- two accesses ---

  EventId resolve(const Site& site) const {
    const auto warp = static_cast<std::uint16_t>(site.cta * run_.launch.warps() + site.warp);
    for (EventId id = 1; id < log_.end(); ++id) {
      const Event& event = log_[id];
      if (event.kind == site.kind && event.pass == site.pass && isOf(event, {warp, site.lane}) &&
          run_.program.ops[event.op].instr == site.instr)
        return id;
    }
    return 0;
  }

  const Conflict* findConflict() const {
    if (diagnosis_.sites.size() != 2) return nullptr;
    const EventId first = resolve(diagnosis_.sites[0]), second = resolve(diagnosis_.sites[1]);
    for (const Conflict& conflict : run_.outcome.conflicts) {
      if (conflict.first.event != first || conflict.second.event != second) continue;
      const std::optional<Cause> cause = diagnose::classify(conflict, run_.outcome);
      if (cause && diagnose::ruleOf(*cause) == diagnosis_.finding.rule) return &conflict;
    }
    return nullptr;
  }

  Thread threadOf(machine::Access access) const { return {log_[access.event].warp, access.lane}; }

  std::string roleOf(machine::Access access, bool reads) const {
    switch (log_[access.event].kind) {
      case EventKind::kCopy:
      case EventKind::kBulk:
        return reads ? "stores the tile" : "issues the copy";
      case EventKind::kAsyncStore:
        return "stores asynchronously";
      case EventKind::kMma:
        return "multiplies";
      case EventKind::kWrite:
      case EventKind::kAtomic:
        return "writes";
      default:
        return "reads";
    }
  }

  void showConflict(const Conflict& conflict) {
    const Cause cause = *diagnose::classify(conflict, run_.outcome);
    const Thread first = threadOf(conflict.first), second = threadOf(conflict.second);
    scene_.addThread(first, roleOf(conflict.first, conflict.first_reads));
    scene_.addThread(second, roleOf(conflict.second, conflict.second_reads));
    if (conflict.space == ptx::Space::kShared && conflict.address < machine::kTensorBase)
      scene_.setPlace({conflict.cta, machine::withinCta(conflict.address)});
    scene_.addCulprit(conflict.first.event, first);
    scene_.addCulprit(conflict.second.event, second);
    if (conflict.wait) scene_.addMust(conflict.wait->event);
    const EventId stale = cause == Cause::kWrongParity ? diagnose::staleWait(conflict, run_.outcome) : 0;
    if (stale != 0) scene_.addCulprit(stale, isOf(log_[stale], second) ? second : first);
    const EventId cover = scene_.cover(conflict.first.event, conflict.first.lane);
    scene_.addMust(cover);
    if (machine::isCopy(log_[conflict.first.event].kind) && !conflict.first_reads)
      scene_.setCompletion(conflict.first.event, cover);
    scene_.addSteps(conflict.first.event, conflict.second.event);
    scene_.addStepsBefore(conflict.first.event, first, 2);
    if (!(first == second)) scene_.addStepsBefore(conflict.first.event, second, 2);
    scene_.layOut();
    spoil(conflict);
    addMissing(conflict, cause, cover, stale);
  }

  void spoil(const Conflict& conflict) {
    if (conflict.second_reads) {
      scene_.spoil(conflict.second.event,
                   "read while what it is to hold may still be on its way: old or half-written bytes");
    } else if (conflict.first_reads) {
      scene_.spoil(conflict.second.event, "written again while its old content may still be read");
    } else {
      scene_.spoil(conflict.second.event, "written by two that nothing orders");
    }
  }

  // From what has to come first, to what has to wait for it.
  void addMissing(const Conflict& conflict, Cause cause, EventId cover, EventId stale) {
    const Picture::Point to{*scene_.laneOf(threadOf(conflict.second)),
                            scene_.columnOf(conflict.second.event)};
    const std::string text = missingOrder(run_, conflict, cause);
    const Picture::Point issue{*scene_.laneOf(threadOf(conflict.first)),
                               scene_.columnOf(conflict.first.event)};
    const bool is_over = cover != 0 && cover < conflict.second.event;
    const std::optional<std::uint32_t> flight = scene_.laneOfFlight(conflict.first.event);
    if (stale != 0) {
      const std::optional<std::uint32_t> barrier = scene_.laneOfBarrier(log_.barrierOf(stale));
      const Thread waiter =
          isOf(log_[stale], threadOf(conflict.second)) ? threadOf(conflict.second) : threadOf(conflict.first);
      const Picture::Time at = scene_.columnOf(stale);
      if (barrier) return scene_.addMissing({*barrier, at}, {*scene_.laneOf(waiter), at}, text);
    }
    if (cause == Cause::kMissingProxyFence) return scene_.addMissing(issue, to, text);
    if (flight && is_over && isOf(log_[cover], threadOf(conflict.first)))
      return scene_.addMissing({issue.lane, scene_.columnOf(cover)}, to, text);
    if (flight && !is_over) return scene_.addMissing({*flight, to.at}, to, text);
    scene_.addMissing(issue, to, text);
  }

  // --- one operation ---

  const Misuse* findMisuse() const {
    for (const Misuse& misuse : run_.outcome.misuses) {
      const bool is_same_op = run_.program.ops[misuse.op].instr == diagnosis_.primary_instr;
      if (is_same_op && misuse.address == diagnosis_.address) return &misuse;
    }
    return nullptr;
  }

  // A misuse without an event was met before its instruction was logged.
  EventId eventOf(const Misuse& misuse) const {
    if (misuse.event != 0) return misuse.event;
    constexpr EventId kFew = 64;
    for (EventId id = misuse.at + 1; id < std::min<EventId>(log_.end(), misuse.at + kFew); ++id)
      if (log_[id].warp == misuse.warp && log_[id].op == misuse.op) return id;
    return 0;
  }

  static std::string missingOf(Misuse::Kind kind) {
    switch (kind) {
      case Misuse::Kind::kBarrierInitUnordered:
        return "nothing orders the initialisation before this use";
      case Misuse::Kind::kLeakedAtExit:
        return "no wait before the thread leaves";
      case Misuse::Kind::kUndrainedAtExit:
        return "no cp.async.bulk.wait_group.read before the thread leaves";
      case Misuse::Kind::kUndrainedAtSignal:
        return "no cp.async.bulk.wait_group before the signal";
      case Misuse::Kind::kPeerMayHaveExited:
        return "nothing keeps the other block until this is over";
      case Misuse::Kind::kPeerNotStarted:
        return "no cluster barrier: the other block may not have started";
      case Misuse::Kind::kLappedWait:
        return "nothing holds the next phase back until this wait has asked";
      case Misuse::Kind::kEarlyArrival:
      case Misuse::Kind::kAmbiguousGeneration:
        return "nothing orders the end of the last round before this arrival";
      default:
        return "";
    }
  }

  void showMisuse(const Misuse& misuse) {
    const EventId event = eventOf(misuse), other = misuse.other;
    if (event == 0) return;
    const unsigned lane = machine::lowestLane(
        misuse.lanes & log_[event].lanes ? misuse.lanes & log_[event].lanes : log_[event].lanes);
    const Thread thread{log_[event].warp, lane};
    const bool at_exit =
        misuse.kind == Misuse::Kind::kLeakedAtExit || misuse.kind == Misuse::Kind::kUndrainedAtExit;
    if (other != 0) {
      const Thread partner{log_[other].warp, machine::lowestLane(log_[other].lanes)};
      scene_.addThread(partner, "earlier");
      scene_.addThread(thread, "later");
      scene_.addCulprit(other, partner);
    } else {
      scene_.addThread(thread, "");
    }
    scene_.addCulprit(event, thread);
    if (misuse.address != 0 && diagnosis_.space == ptx::Space::kShared && machine::isCopy(log_[event].kind))
      scene_.setPlace(
          {log_[event].warp / std::max(1u, run_.launch.warps()), machine::withinCta(misuse.address)});
    if (other != 0) scene_.addSteps(std::min(event, other), std::max(event, other));
    scene_.addStepsBefore(event, thread, 4);
    if (at_exit) {
      scene_.addSteps(event, log_.end());
      scene_.addEnd(thread, "leaves", "leaves the kernel", {}, /*is_culprit=*/true);
    }
    scene_.layOut();
    const std::string text = missingOf(misuse.kind);
    if (text.empty()) return;
    const Picture::Point to{*scene_.laneOf(thread), at_exit ? scene_.endColumn() : scene_.columnOf(event)};
    const std::optional<std::uint32_t> flight = scene_.laneOfFlight(event);
    if (at_exit && flight) return scene_.addMissing({*flight, to.at}, to, text);
    if (other == 0) return;
    const Thread partner{log_[other].warp, machine::lowestLane(log_[other].lanes)};
    scene_.addMissing({*scene_.laneOf(partner), scene_.columnOf(other)}, to, text);
  }

  // --- threads that never go on ---

  std::string missingOf(const Stuck& stuck) const {
    switch (stuck.kind) {
      case Stuck::Kind::kMbarrier:
        if (stuck.transactions > 0 && stuck.arrived == stuck.expected)
          return count(static_cast<std::uint64_t>(stuck.transactions), "announced byte") + " never come";
        if (stuck.transactions < 0 && stuck.arrived == stuck.expected)
          return count(static_cast<std::uint64_t>(-stuck.transactions), "byte") +
                 " came that nobody announced";
        if (stuck.arrived < stuck.expected)
          return "phase " + std::to_string(stuck.id) + " needs " + count(stuck.expected, "arrival") +
                 " and gets " + std::to_string(stuck.arrived);
        return "the phase that it waits for never completes";
      case Stuck::Kind::kCtaBarrier:
        if (stuck.expected == 0) return "the rest of the block never arrives";
        return "barrier " + std::to_string(stuck.id) + " needs " + count(stuck.expected, "thread") +
               " and gets " + std::to_string(stuck.arrived);
      case Stuck::Kind::kClusterBarrier:
        return "not all threads of the cluster arrive";
      case Stuck::Kind::kWarpBarrier:
        return "the other lanes never come";
      case Stuck::Kind::kMmaWait:
        return "the other warps of the warpgroup never start it";
      case Stuck::Kind::kRegisterPool:
        return "so many registers never become free";
      case Stuck::Kind::kFlag:
        return "what it polls for never comes";
    }
    return "";
  }

  static std::string waitLabel(const Stuck& stuck) {
    switch (stuck.kind) {
      case Stuck::Kind::kMbarrier:
        return "waits for\nphase " + std::to_string(stuck.id);
      case Stuck::Kind::kCtaBarrier:
        return "waits at\nbarrier " + std::to_string(stuck.id);
      case Stuck::Kind::kClusterBarrier:
        return "waits for\ncluster";
      default:
        return "waits\nfor ever";
    }
  }

  bool showStuck() {
    const Site& site = diagnosis_.sites.front();
    const auto warp = static_cast<std::uint16_t>(site.cta * run_.launch.warps() + site.warp);
    std::vector<const Stuck*> stuck = placesFirst(warp, site);
    if (stuck.empty()) return false;
    const Stuck& own = *stuck.front();
    const auto threadOf = [](const Stuck& one) { return Thread{one.warp, machine::lowestLane(one.lanes)}; };
    // Whoever arrives in the phase that stays open stands above those who wait for it.
    std::vector<EventId> arrivals;
    std::set<Thread, decltype([](const Thread& a, const Thread& b) {
               return std::pair(a.warp, a.lane) < std::pair(b.warp, b.lane);
             })>
        arrivers;
    constexpr std::size_t kMaxArrivers = 2, kSteps = 4;
    for (const EventId id : own.arrivals) {
      const Thread thread{log_[id].warp, machine::lowestLane(log_[id].lanes)};
      const bool is_stuck =
          std::any_of(stuck.begin(), stuck.end(), [&](const Stuck* one) { return one->warp == thread.warp; });
      if (is_stuck || (!arrivers.contains(thread) && arrivers.size() >= kMaxArrivers)) continue;
      arrivers.insert(thread);
      scene_.addThread(thread, "arrives");
      arrivals.push_back(id);
    }
    const std::optional<Thread> leaver =
        own.kind == Stuck::Kind::kMbarrier && own.arrivals.empty() ? lastArriver(own, stuck) : std::nullopt;
    if (leaver) scene_.addThread(*leaver, "arrived last");
    for (std::size_t i = stuck.size(); i-- > 0;)
      scene_.addThread(threadOf(*stuck[i]), i == 0 ? "never goes on" : "waits as well");
    for (const EventId id : arrivals) scene_.addMust(id);
    for (const Stuck* one : stuck) {
      scene_.addStepsBefore(log_.end(), threadOf(*one), kSteps);
      const std::uint32_t instr =
          run_.program.ops[std::min<std::size_t>(one->op, run_.program.ops.size() - 1)].instr;
      scene_.addEnd(threadOf(*one), waitLabel(*one), "waits for ever: " + missingOf(*one),
                    run_.program.stackOf(instr), /*is_culprit=*/one == stuck.front());
      if (one->kind == Stuck::Kind::kMbarrier) scene_.addBarrier(one->address);
    }
    if (leaver) {
      scene_.addStepsBefore(log_.end(), *leaver, kSteps);
      scene_.addEnd(*leaver, "leaves", "leaves the kernel", {}, /*is_culprit=*/false);
    }
    scene_.layOut();
    const std::uint32_t lane = *scene_.laneOf(threadOf(own));
    const std::optional<std::uint32_t> barrier =
        own.kind == Stuck::Kind::kMbarrier ? scene_.laneOfBarrier(own.address) : std::nullopt;
    const Picture::Time end = scene_.endColumn();
    scene_.addMissing(barrier ? Picture::Point{*barrier, end} : Picture::Point{lane, end > 0 ? end - 1 : 0},
                      {lane, end}, missingOf(own));
    return true;
  }

  /// Of the phases before the one that stays open; empty if that thread waits itself.
  std::optional<Thread> lastArriver(const Stuck& own, const std::vector<const Stuck*>& stuck) const {
    std::optional<machine::ActorId> barrier;
    for (const machine::RunTrace::Object& object : trace_.objects)
      if (object.address == own.address) barrier = object.barrier;
    EventId last = 0;
    for (const auto* arrivals : {&trace_.arrivals, &trace_.tracked})
      for (const machine::RunTrace::Phase& arrival : *arrivals)
        if (arrival.barrier == barrier) last = std::max(last, arrival.event);
    const bool waits = std::any_of(stuck.begin(), stuck.end(),
                                   [&](const Stuck* one) { return one->warp == log_[last].warp; });
    return last == 0 || waits ? std::nullopt
                              : std::optional(Thread{log_[last].warp, machine::lowestLane(log_[last].lanes)});
  }

  // The one that the finding is about, and at most two others elsewhere.
  std::vector<const Stuck*> placesFirst(std::uint16_t warp, const Site& site) const {
    const Stuck* own = nullptr;
    for (const Stuck& one : run_.outcome.stuck) {
      const bool is_it = one.warp == warp && (one.lanes & machine::laneBit(site.lane)) != 0;
      if (own == nullptr && is_it) own = &one;
    }
    if (own == nullptr) return {};
    std::vector<const Stuck*> result{own};
    std::set<machine::OpIndex> told{own->op};
    constexpr std::size_t kMaxPlaces = 3;
    for (const Stuck& one : run_.outcome.stuck)
      if (result.size() < kMaxPlaces && told.insert(one.op).second) result.push_back(&one);
    return result;
  }

  const diagnose::Run& run_;
  const machine::EventLog& log_;
  const machine::RunTrace& trace_;
  const diagnose::Diagnosis& diagnosis_;
  Scene scene_;
};

}  // namespace

Picture pictureOfFinding(const diagnose::Run& run, const machine::RunTrace& trace,
                         const diagnose::Diagnosis& diagnosis) {
  return FindingPicture(run, trace, diagnosis).make();
}

}  // namespace handoff::picture
