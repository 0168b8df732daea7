// SPDX-License-Identifier: Apache-2.0
// Findings from conflicts: message, related positions, witness.
#include "analyzer/diagnose/diagnose.h"

#include <map>
#include <set>

#include "analyzer/diagnose/classify.h"
#include "analyzer/diagnose/edits.h"
#include "analyzer/diagnose/misuse.h"
#include "analyzer/diagnose/rule.h"
#include "analyzer/diagnose/trace.h"
#include "analyzer/diagnose/witness.h"
#include "analyzer/machine/address.h"

namespace handoff::diagnose {

using machine::Conflict;
using machine::Event;
using machine::EventId;
using machine::EventKind;

namespace {

class ConflictReporter {
 public:
  ConflictReporter(const Run& run, const Conflict& conflict, Cause cause)
      : run_(run), conflict_(conflict), cause_(cause), first_(run.outcome.log[conflict.first.event]),
        second_(run.outcome.log[conflict.second.event]) {
    const bool is_peer = conflict.space == ptx::Space::kShared && run.launch.clusterSize() > 1;
    place_ = placeName(run.program, run.names, conflict.space,
                       is_peer ? machine::inCluster(conflict.cta, conflict.address) : conflict.address);
    stale_wait_ = cause == Cause::kWrongParity ? staleWait(conflict, run.outcome) : 0;
  }

  Diagnosis report() {
    Diagnosis diagnosis;
    Finding& finding = diagnosis.finding;
    const RuleInfo* rule = findRule(ruleOf(cause_));
    finding.rule = rule->name;
    finding.severity = isMildFence() ? Severity::kWarning : rule->severity;
    finding.message = message();
    const bool at_first = cause_ == Cause::kPrematureOverwrite && !isReaderFirst(conflict_) &&
                          !isCopy(second_) && isCopy(first_);
    const Access primary = at_first ? conflict_.first : conflict_.second;
    const Access partner = at_first ? conflict_.second : conflict_.first;
    diagnosis.primary_instr = instrOf(primary.event);
    diagnosis.secondary_instr = instrOf(partner.event);
    finding.stack = run_.program.stackOf(diagnosis.primary_instr);
    finding.related.push_back({partnerMessage(partner), run_.program.stackOf(diagnosis.secondary_instr)});
    if (stale_wait_ != 0) {
      // The mistake is in the wait; the accesses are what comes of it.
      finding.related.insert(finding.related.begin(), {partnerMessage(primary), finding.stack});
      diagnosis.primary_instr = instrOf(stale_wait_);
      finding.stack = run_.program.stackOf(diagnosis.primary_instr);
    }
    addWait(finding);
    finding.witness = witnessOf(run_, conflict_.first, conflict_.second, place_);
    diagnosis.edits = editsFor(run_, conflict_, cause_);
    diagnosis.last_event = conflict_.second.event;
    diagnosis.sites = {siteOf(run_, conflict_.first), siteOf(run_, conflict_.second)};
    diagnosis.space = conflict_.space;
    diagnosis.address = conflict_.address;
    finding.is_use_in_flight = conflict_.second_reads;
    if (conflict_.is_possible) {
      makePossible(run_, finding, conflict_.data);
    } else if (!conflict_.data.empty()) {
      makeCertain(run_, finding, conflict_.data);
    }
    return diagnosis;
  }

 private:
  using Access = machine::Access;

  static bool isCopy(const Event& event) { return machine::isCopy(event.kind); }
  // Practice is divided on the reads, and on cp.async data for the tensor cores (docs/soundness.md).
  bool isMildFence() const {
    return cause_ == Cause::kMissingProxyFence && (first_.kind == EventKind::kCopy || first_.kind == EventKind::kRead);
  }
  std::uint32_t instrOf(EventId id) const { return run_.program.ops[run_.outcome.log[id].op].instr; }

  std::string threadOf(Access access) const {
    return "thread " + threadName(run_.launch, run_.outcome.log[access.event].warp, access.lane);
  }

  std::string groups(std::uint32_t count) const {
    return std::to_string(count) + (count == 1 ? " group" : " groups");
  }

  std::string message() const {
    const std::string reader = threadOf(conflict_.second), issuer = threadOf(conflict_.first);
    const std::string other = conflict_.same_thread ? "its own copy" : "the copy of " + issuer;
    switch (cause_) {
      case Cause::kWrongParity: return wrongParity();
      case Cause::kMissingProxyFence: return missingFence();
      case Cause::kNotDrained:
        return "'" + place_ + "' is read by " + reader + " while the bulk store of " + issuer +
               " to it may still be under way: wait_group.read waits for the source only";
      case Cause::kMissingWait:
        if (isOnTensorMemory()) {
          return "'" + place_ + "' is used by " + reader + " while " + tensorOperation(conflict_.first) +
                 " may still be under way: no wait on that path covers it";
        }
        if (!isCopy(first_)) {
          return "'" + place_ + "' is read by " + issuer + ", but nothing makes it wait for the copy that " + reader +
                 " issues into it";
        }
        return "'" + place_ + "' is read while " + other + " into it may still be in flight: no wait covers the copy";
      case Cause::kMissingCommit:
        return "'" + place_ + "' is read while " + other +
               " into it may still be in flight: the copy was in no committed group when the wait ran";
      case Cause::kBarrierOnly:
        return "'" + place_ + "' is read after a barrier, but " + issuer +
               " has not waited for its copy into it: a barrier does not complete copies in flight";
      case Cause::kPhaseRace:
        return "'" + place_ + "' is read after an mbarrier phase that does not cover " + other +
               ": the copy's arrival falls into a later phase";
      case Cause::kInsufficientWait:
        return "'" + place_ + "' is read while " + other + " into it may still be in flight: the wait lets " +
               groups(conflict_.wait->pending_allowed) + " stay pending; " + std::to_string(sufficientPending(conflict_)) +
               " would do";
      case Cause::kMissingBarrier: return missingBarrier();
      case Cause::kPrematureOverwrite: return prematureOverwrite();
      case Cause::kOverlap:
        return "'" + place_ + "' is written by " + reader + " while " +
               (conflict_.same_thread ? "its own" : issuer + "'s") + (isCopy(first_) ? " copy" : " store") +
               " to the same bytes is not ordered before it";
      case Cause::kReuseInFlight:
        return "'" + place_ + "' is given another use while " + other + " into it, which nobody waits for, may still be in flight";
      case Cause::kSourceOverwritten:
        return "'" + place_ + "' is written by " + reader + " while " + other + " may still read it";
    }
    return "";
  }

  bool isOnTensorMemory() const {
    return conflict_.space == ptx::Space::kShared && conflict_.address >= machine::kTensorBase;
  }
  std::string tensorOperation(Access access) const {
    const Event& event = run_.outcome.log[access.event];
    const std::string what = event.kind == EventKind::kMma ? "the multiplication of " : event.value == 0 ? "the load of " : "the store of ";
    return what + threadOf(access);
  }

  std::string wrongParity() const {
    const Event& wait = run_.outcome.log[stale_wait_];
    const std::string of = " of '" + placeName(run_.program, run_.names, ptx::Space::kShared, run_.outcome.log.barrierOf(stale_wait_)) + "'";
    const std::string thread = threadOf({stale_wait_, machine::lowestLane(wait.lanes)});
    const bool is_first = static_cast<std::int32_t>(wait.value) < 0;
    return "this wait of " + thread + " does not wait: its parity asks for " +
           (is_first ? "the phase before the first one" + of + ", which a fresh barrier counts as over"
                     : "phase " + std::to_string(wait.value) + of + ", for which the thread has waited before") +
           "; so '" + place_ + "' is " + (isReaderFirst(conflict_) ? "overwritten while it may still be read"
                                                                                 : "read while a copy into it may be in flight");
  }

  std::string missingFence() const {
    const std::string before = threadOf(conflict_.first), after = threadOf(conflict_.second);
    const std::string use = second_.kind == EventKind::kMma ? "the multiplication of " + after + " that reads it"
                                                            : "the bulk copy of " + after;
    switch (first_.kind) {
      case EventKind::kRead:
        return "'" + place_ + "' is read by " + before + " and then overwritten by " + use +
               " with no proxy fence between: the load may still be on its way when the copy writes";
      case EventKind::kCopy:
        return "'" + place_ + "' is filled by a cp.async of " + before + " and then used by " + use +
               " with no proxy fence between: cp.async writes in the generic proxy";
      default:
        return "'" + place_ + "' is written by " + before + " and then used by " + use +
               " with no proxy fence between: the async proxy may not see the write";
    }
  }

  std::string missingBarrier() const {
    const bool reader_first = isReaderFirst(conflict_);
    const Access reader = reader_first ? conflict_.first : conflict_.second;
    const Access writer = reader_first ? conflict_.second : conflict_.first;
    const bool by_copy = isCopy(run_.outcome.log[writer.event]);
    if (conflict_.is_source) {
      return "'" + place_ + "' is copied by " + threadOf(reader) + ", but no barrier orders the store of " +
             threadOf(writer) + " before the copy";
    }
    return "'" + place_ + "' is read by " + threadOf(reader) + ", but no barrier orders the " +
           (by_copy ? "completed copy of " : "store of ") + threadOf(writer) + " before the read";
  }

  std::string prematureOverwrite() const {
    const bool reader_first = isReaderFirst(conflict_);
    const Access reader = reader_first ? conflict_.first : conflict_.second;
    const Access writer = reader_first ? conflict_.second : conflict_.first;
    if (conflict_.same_thread && !machine::isAsync(run_.outcome.log[reader.event].kind)) {
      return "'" + place_ + "' is overwritten by a copy of " + threadOf(writer) +
             " before that thread has read its old contents: the slot is filled one turn too early";
    }
    const EventKind by = run_.outcome.log[reader.event].kind;
    const std::string who = by == EventKind::kMma    ? "a multiplication of " + threadOf(reader)
                            : by == EventKind::kBulk ? "a bulk store of " + threadOf(reader)
                                                     : threadOf(reader);
    return "'" + place_ + "' is overwritten by a " + (isCopy(run_.outcome.log[writer.event]) ? "copy" : "store") +
           " of " + threadOf(writer) + " while " + who + " may still read its old contents";
  }

  std::string partnerMessage(Access access) const {
    const Event& event = run_.outcome.log[access.event];
    switch (event.kind) {
      case EventKind::kCopy:
      case EventKind::kBulk: return "the copy is issued here by " + threadOf(access);
      case EventKind::kAsyncStore: return "the asynchronous store is issued here by " + threadOf(access);
      case EventKind::kMma: return "the multiplication is started here by " + threadOf(access);
      case EventKind::kRead: return "read here by " + threadOf(access);
      case EventKind::kWrite: return "written here by " + threadOf(access);
      default: return "the other access is here";
    }
  }

  void addWait(Finding& finding) const {
    if (conflict_.wait) {
      finding.related.push_back({"the last wait of " + threadOf(conflict_.first) + " is here",
                                 run_.program.stackOf(instrOf(conflict_.wait->event))});
    }
    if (cause_ == Cause::kBarrierOnly || cause_ == Cause::kMissingBarrier) addBarrier(finding);
    if (cause_ == Cause::kMissingBarrier && !conflict_.wait) addRetiringWait(finding);
  }

  // The barrier that the author may have taken for a wait, or that stands at the wrong place.
  void addBarrier(Finding& finding) const {
    const EventId id = lastOf(run_, conflict_.first.event, conflict_.second.event, conflict_.second,
                              [](EventKind kind) { return kind == EventKind::kCtaSync; });
    if (id != 0) finding.related.push_back({"the barrier is here", run_.program.stackOf(instrOf(id))});
  }

  void addRetiringWait(Finding& finding) const {
    const Access writer = isReaderFirst(conflict_) ? conflict_.second : conflict_.first;
    const EventId id = firstAfter(run_, writer, [](EventKind kind) {
      return kind == EventKind::kWaitGroup || kind == EventKind::kWaitAll;
    });
    if (id != 0) {
      finding.related.push_back({threadOf(writer) + " waits for its own copies here", run_.program.stackOf(instrOf(id))});
    }
  }

  const Run& run_;
  const Conflict& conflict_;
  const Cause cause_;
  const Event &first_, &second_;
  std::string place_;
  EventId stale_wait_ = 0;
};

/// Joins conflicts that have one cause: the same rule at the same user's line, or by the same wait.
class Collector {
 public:
  explicit Collector(const Run& run) : run_(run) {}

  void add(const Conflict& conflict, Cause cause) {
    Diagnosis diagnosis = ConflictReporter(run_, conflict, cause).report();
    explained_.insert(siteOf(conflict.first));
    explained_.insert(siteOf(conflict.second));
    const bool by_wait = cause == Cause::kInsufficientWait || cause == Cause::kMissingCommit;
    const std::uint32_t anchor =
        by_wait && conflict.wait ? run_.program.ops[run_.outcome.log[conflict.wait->event].op].instr : diagnosis.primary_instr;
    // The same two statements race in both orders: one finding.
    const std::pair<std::uint32_t, std::uint32_t> sites = std::minmax(siteOf(conflict.first), siteOf(conflict.second));
    if (const auto met = by_sites_.find(sites); met != by_sites_.end()) return;
    const auto key = std::pair(diagnosis.finding.rule, userLine(anchor));
    const auto [it, is_new] = by_cause_.try_emplace(key, result_.size());
    by_sites_.emplace(sites, it->second);
    if (is_new) {
      result_.push_back(std::move(diagnosis));
    } else {
      mention(result_[it->second].finding, diagnosis.finding);
    }
  }

  bool isExplained(const Conflict& conflict) const {
    return explained_.contains(siteOf(conflict.first)) || explained_.contains(siteOf(conflict.second));
  }

  std::vector<Diagnosis> take() { return std::move(result_); }

 private:
  std::uint32_t siteOf(machine::Access access) const { return run_.outcome.log[access.event].site; }

  std::string userLine(std::uint32_t instr) const {
    const SourceStack& stack = run_.program.stackOf(instr);
    if (stack.empty()) return "#" + std::to_string(instr);
    return stack.back().pos.file + ":" + std::to_string(stack.back().pos.line);
  }

  // The other accesses with the same cause, as positions only.
  static void mention(Finding& finding, const Finding& other) {
    constexpr std::size_t kMaxRelated = 8;
    const auto position = [](const SourceStack& stack) { return stack.empty() ? SourcePos{} : stack.back().pos; };
    const SourcePos pos = position(other.stack);
    bool known = position(finding.stack).line == pos.line && position(finding.stack).file == pos.file;
    for (const Related& related : finding.related) {
      known |= position(related.stack).line == pos.line && position(related.stack).file == pos.file;
    }
    if (!known && finding.related.size() < kMaxRelated) finding.related.push_back({"the same goes for this access", other.stack});
  }

  const Run& run_;
  std::vector<Diagnosis> result_;
  std::set<std::uint32_t> explained_;
  std::map<std::pair<std::string, std::string>, std::size_t> by_cause_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> by_sites_;
};

/// The write of an initialisation is met by an access that may not be there at all, and that is said by itself.
bool isAboutLiveBarrier(const Conflict& conflict, const machine::Outcome& outcome) {
  const machine::EventLog& log = outcome.log;
  if (log[conflict.first.event].kind != EventKind::kMbarrierInit) return false;
  return std::any_of(outcome.misuses.begin(), outcome.misuses.end(), [&](const machine::Misuse& misuse) {
    const machine::OpIndex op = misuse.event != 0 ? log[misuse.event].op : misuse.op;
    return misuse.kind == machine::Misuse::Kind::kBarrierOverwritten && op == log[conflict.second.event].op;
  });
}

}  // namespace

std::vector<Diagnosis> diagnose(const Run& run) {
  Collector collector(run);
  // Two writes that meet are mostly the consequence of a hand-over that is missing anyway.
  // And a refill that came too early is often met as an unordered read as well; the first name is the better one.
  // What is only possible comes last, and explains nothing that is certain.
  for (const bool is_possible : {false, true}) {
    std::vector<const Conflict*> overlaps;
    std::vector<std::pair<const Conflict*, Cause>> unordered;
    for (const Conflict& conflict : run.outcome.conflicts) {
      if (conflict.is_possible != is_possible || isAboutLiveBarrier(conflict, run.outcome)) continue;
      const auto cause = classify(conflict, run.outcome);
      if (!cause) continue;
      if (*cause == Cause::kOverlap) {
        overlaps.push_back(&conflict);
      } else if (*cause == Cause::kMissingBarrier) {
        unordered.emplace_back(&conflict, *cause);
      } else {
        collector.add(conflict, *cause);
      }
    }
    for (const auto& [conflict, cause] : unordered) collector.add(*conflict, cause);
    for (const Conflict* conflict : overlaps) {
      if (!collector.isExplained(*conflict)) collector.add(*conflict, Cause::kOverlap);
    }
  }
  std::vector<Diagnosis> result = collector.take();
  reportMisuses(run, result);
  reportStuck(run, result);
  for (Diagnosis& diagnosis : result) diagnosis.assumed_boxes = run.outcome.assumed_boxes;
  if (run.outcome.has_unmodelled) {
    // What is missing may be what could not be executed: no longer a finding, but worth a look.
    for (Diagnosis& diagnosis : result) {
      const bool is_before = diagnosis.last_event != 0 && diagnosis.last_event < run.outcome.unmodelled_from;
      if (is_before || findRule(diagnosis.finding.rule)->group == "shape") continue;
      diagnosis.finding.severity = Severity::kNote;
      diagnosis.finding.message += " (unless an instruction that is not modelled sees to it)";
    }
  }
  return result;
}

}  // namespace handoff::diagnose
