// SPDX-License-Identifier: Apache-2.0
// The layout of a scene. A column is an event; a lane's arrows are upright wherever both ends are the same
// moment.
#include "analyzer/picture/scene.h"

#include <algorithm>

#include "analyzer/diagnose/trace.h"
#include "analyzer/machine/address.h"
#include "analyzer/picture/labels.h"

namespace handoff::picture {

using diagnose::Picture;
using machine::Event;
using machine::EventId;
using machine::EventKind;
using SlotState = Picture::SlotState;

namespace {

constexpr std::size_t kMaxColumns = 14, kMaxBarriers = 3, kMaxSlots = 4;
/// Further back nothing is looked for: a loop of a thousand turns is not worth a thousand steps.
constexpr EventId kReach = 100'000;

bool isOrdering(EventKind kind) {
  return kind != EventKind::kRead && kind != EventKind::kWrite && kind != EventKind::kAtomic &&
         kind != EventKind::kWarpSync;
}

}  // namespace

Scene::Scene(const diagnose::Run& run, const machine::RunTrace& trace)
    : run_(run), log_(run.outcome.log), trace_(trace) {
  for (const machine::RunTrace::Object& object : trace.objects) addresses_[object.barrier] = object.address;
  picture_.launch = launchText(run.names);
}

void Scene::addThread(Thread thread, const std::string& role) {
  if (hasThread(thread)) return;
  actors_.push_back({thread, role});
  threads_.push_back(thread);
}

bool Scene::hasThread(Thread thread) const {
  return std::find(threads_.begin(), threads_.end(), thread) != threads_.end();
}

bool Scene::isOfAny(EventId event) const {
  return std::any_of(threads_.begin(), threads_.end(),
                     [&](Thread thread) { return isOf(log_[event], thread); });
}

void Scene::addCulprit(EventId event, Thread thread) {
  culprits_.emplace_back(event, thread);
  addMust(event);
}

void Scene::addMust(EventId event) {
  if (event == 0 || !isOfAny(event)) return;
  musts_.insert(event);
  if (const std::optional<Key> key = keyOf(event)) keys_.insert(*key);
}

void Scene::addOptional(EventId event) {
  if (event == 0 || musts_.contains(event) || !isOfAny(event)) return;
  const std::optional<Key> key = keyOf(event);
  if (key && !keys_.insert(*key).second) return;
  optionals_.insert(event);
}

// Copies of one group are one step, and so are the reads of one tile.
std::optional<Scene::Key> Scene::keyOf(EventId id) const {
  const Event& event = log_[id];
  switch (event.kind) {
    case EventKind::kCopy:
    case EventKind::kMma:
      return Key{event.kind, event.warp, event.value};
    case EventKind::kBulk: {
      const machine::AsyncOp* op = log_.findOp(id, machine::lowestLane(event.lanes));
      if (op == nullptr) return std::nullopt;
      const std::uint64_t phase =
          op->completions.empty()
              ? 0
              : op->completions.front().phases + (std::uint64_t{op->completions.front().barrier} << 32);
      return Key{event.kind, event.warp, op->group != machine::AsyncOp::kNoGroup ? op->group : phase};
    }
    case EventKind::kRead:
    case EventKind::kWrite:
    case EventKind::kAtomic:
      return Key{event.kind, event.warp, fillAt(id)};
    default:
      return std::nullopt;
  }
}

/// The content that the slot of the place has at that moment.
std::size_t Scene::fillAt(EventId event) const {
  if (!place_slot_) return 0;
  const std::vector<Fill>& fills = slots_[*place_slot_].fills;
  std::size_t at = 0;
  while (at < fills.size() && fills[at].issued <= event) ++at;
  return at;
}

void Scene::addSteps(EventId after, EventId before) {
  if (before > after && before - after > kReach) after = before - kReach;
  for (EventId id = after + 1; id < before; ++id) {
    const bool is_use = touching_.contains(id);
    if ((isOrdering(log_[id].kind) || is_use) && isOfAny(id)) addOptional(id);
  }
}

void Scene::addStepsBefore(EventId before, Thread thread, unsigned count) {
  for (EventId id = before; --id > 0 && id + kReach > before && count > 0;) {
    if (!isOf(log_[id], thread) || !(isOrdering(log_[id].kind) || touching_.contains(id))) continue;
    addOptional(id);
    --count;
  }
}

void Scene::setPlace(SlotQuestion::Place place) {
  slots_ = slotsOf(run_.program, log_, trace_, {.place = place});
  for (std::size_t i = 0; i < slots_.size(); ++i)
    if (slots_[i].cta == place.cta && slots_[i].begin <= place.address && place.address < slots_[i].end)
      place_slot_ = i;
  if (!place_slot_) return;
  const SlotHistory& slot = slots_[*place_slot_];
  for (const machine::RunTrace::Touch& touch : trace_.touches)
    if (touch.cta == slot.cta && touch.address < slot.end && slot.begin < touch.address + touch.bytes)
      touching_.insert(touch.event);
}

void Scene::addEnd(Thread thread, std::string label, std::string text, SourceStack stack, bool is_culprit) {
  ends_.push_back({thread, std::move(label), std::move(text), std::move(stack), is_culprit});
}

void Scene::setCompletion(EventId copy, EventId wait) {
  if (!place_slot_) return;
  std::vector<Fill>& fills = slots_[*place_slot_].fills;
  const auto next =
      std::find_if(fills.begin(), fills.end(), [&](const Fill& fill) { return fill.issued > copy; });
  if (next != fills.begin()) std::prev(next)->waited = wait;
}

void Scene::addBarrier(std::uint64_t address) { wanted_barriers_.insert(address); }

EventId Scene::cover(EventId issue, unsigned lane) const {
  return coverOf(log_, trace_, issue, lane, threads_);
}

void Scene::layOut() {
  thin();
  std::vector<EventId>& events = columns_.events;
  events.assign(musts_.begin(), musts_.end());
  events.insert(events.end(), optionals_.begin(), optionals_.end());
  std::sort(events.begin(), events.end());
  end_column_ = static_cast<Picture::Time>(events.size());
  picture_.end = end_column_ + (ends_.empty() ? 0 : 1);
  addGaps();
  addLanes();
  addMarks();
  addFlights();
  for (const auto& [address, lane] : barrier_lanes_) {
    for (const auto& [barrier, at] : addresses_)
      if (at == address) addPhases(lane, barrier);
  }
  addBarrierEdges();
  addSlots();
}

// The beginning and the end say most.
void Scene::thin() {
  const std::size_t room = kMaxColumns - std::min(kMaxColumns - 2, musts_.size());
  if (optionals_.size() <= room) return;
  const auto from = std::next(optionals_.begin(), static_cast<std::ptrdiff_t>(room / 3));
  optionals_.erase(from, std::next(from, static_cast<std::ptrdiff_t>(optionals_.size() - room)));
}

// Steps of the threads between two columns that are not shown.
void Scene::addGaps() {
  for (std::size_t column = 1; column <= columns_.events.size(); ++column) {
    const EventId before = columns_.events[column - 1];
    const bool is_last = column == columns_.events.size();
    if (is_last && ends_.empty()) break;
    const EventId after = is_last ? log_.end() : columns_.events[column];
    std::size_t count = 0;
    for (EventId id = before + 1; id < after; ++id)
      count += isOrdering(log_[id].kind) && !machine::isAsync(log_[id].kind) && isOfAny(id) ? 1 : 0;
    if (count != 0)
      picture_.gaps.push_back(
          {static_cast<Picture::Time>(column), std::to_string(count) + (count == 1 ? " step" : " steps")});
  }
}

std::string Scene::threadText(Thread thread) const {
  return "thread " + diagnose::threadName(run_.launch, thread.warp, thread.lane);
}

std::string Scene::roleText(const Actor& actor) const {
  const unsigned warps = run_.launch.warps();
  if (warps <= 1) return actor.role;
  const std::string warp = "warp " + std::to_string(actor.thread.warp % warps);
  return actor.role.empty() ? warp : warp + ", " + actor.role;
}

std::optional<machine::ActorId> Scene::barrierOf(EventId event) const {
  for (const auto* phases : {&trace_.waits, &trace_.arrivals, &trace_.tracked}) {
    const machine::RunTrace::Phase* phase = phaseOf(*phases, event);
    if (phase != nullptr && addresses_.contains(phase->barrier)) return phase->barrier;
  }
  const machine::AsyncOp* op = log_.findOp(event, machine::lowestLane(log_[event].lanes));
  if (op != nullptr && !op->completions.empty() && addresses_.contains(op->completions.front().barrier))
    return op->completions.front().barrier;
  return std::nullopt;
}

void Scene::addLanes() {
  using Kind = Picture::LaneKind;
  bool has_copies = false, has_matrices = false;
  std::set<std::uint64_t> barriers = wanted_barriers_;
  for (const EventId id : columns_.events) {
    const EventKind kind = log_[id].kind;
    has_copies |= machine::isCopy(kind);
    has_matrices |= kind == EventKind::kMma || kind == EventKind::kTensorMemory;
    const bool is_aside = machine::isAsync(kind) && !isCulprit(id);
    const std::optional<machine::ActorId> barrier = is_aside ? std::nullopt : barrierOf(id);
    if (barrier && barriers.size() < kMaxBarriers) barriers.insert(addresses_[*barrier]);
  }
  const auto add = [&](Kind kind, std::string name, std::string role) {
    picture_.lanes.push_back({kind, std::move(name), std::move(role)});
    return static_cast<std::uint32_t>(picture_.lanes.size() - 1);
  };
  const std::size_t above = actors_.size() > 1 ? actors_.size() - 1 : actors_.size();
  for (std::size_t i = 0; i < above; ++i)
    lanes_.push_back(add(Kind::kThread, threadText(actors_[i].thread), roleText(actors_[i])));
  if (has_copies) copy_lane_ = add(Kind::kCopyEngine, "copy engine", "copies in flight");
  if (has_matrices) tensor_lane_ = add(Kind::kTensorCore, "tensor core", "operations in flight");
  for (const std::uint64_t address : barriers)
    barrier_lanes_[address] = add(Kind::kBarrier, "mbarrier", barrierName(run_, address));
  for (std::size_t i = above; i < actors_.size(); ++i)
    lanes_.push_back(add(Kind::kThread, threadText(actors_[i].thread), roleText(actors_[i])));
}

std::optional<std::uint32_t> Scene::laneOf(Thread thread) const {
  for (std::size_t i = 0; i < threads_.size(); ++i)
    if (threads_[i] == thread) return lanes_[i];
  return std::nullopt;
}

std::optional<std::uint32_t> Scene::laneOfBarrier(std::uint64_t address) const {
  const auto found = barrier_lanes_.find(address);
  return found == barrier_lanes_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::uint32_t> Scene::laneOfFlight(EventId event) const {
  const EventKind kind = log_[event].kind;
  if (machine::isCopy(kind)) return copy_lane_;
  if (kind == EventKind::kMma || kind == EventKind::kTensorMemory) return tensor_lane_;
  return std::nullopt;
}

bool Scene::isCulprit(EventId event) const {
  return std::any_of(culprits_.begin(), culprits_.end(),
                     [&](const auto& culprit) { return culprit.first == event; });
}

void Scene::addMarks() {
  for (const EventId id : columns_.events) {
    const Event& event = log_[id];
    for (std::size_t i = 0; i < threads_.size(); ++i) {
      const Thread thread = threads_[i];
      if (!isOf(event, thread)) continue;
      const bool is_culprit =
          std::find(culprits_.begin(), culprits_.end(), std::pair(id, thread)) != culprits_.end();
      // Another lane of the warp makes the same access elsewhere.
      const bool is_aside =
          !is_culprit && markKind(event.kind) == Picture::Mark::Kind::kAccess && isCulprit(id);
      if (is_aside) continue;
      std::string text = threadText(thread) + " " + diagnose::describe(run_, id, thread.lane);
      if (event.pass > 1) text += " (pass " + std::to_string(event.pass) + ")";
      picture_.marks.push_back({lanes_[i], columnOf(id), markKind(event.kind), labelOf(run_, id, thread.lane),
                                std::move(text), run_.program.stackOf(run_.program.ops[event.op].instr),
                                is_culprit});
    }
  }
  for (End& end : ends_) {
    const std::optional<std::uint32_t> lane = laneOf(end.thread);
    if (!lane) continue;
    picture_.marks.push_back({*lane, end_column_, Picture::Mark::Kind::kWait, std::move(end.label),
                              threadText(end.thread) + " " + end.text, std::move(end.stack), end.is_culprit});
  }
}

void Scene::addFlights() {
  for (const EventId id : columns_.events) {
    const std::optional<std::uint32_t> lane = laneOfFlight(id);
    const auto thread =
        std::find_if(threads_.begin(), threads_.end(), [&](Thread t) { return isOf(log_[id], t); });
    if (!lane || thread == threads_.end()) continue;
    const EventId wait = cover(id, thread->lane);
    const Picture::Time from = columnOf(id), to = wait == 0 ? picture_.end : columnOf(wait);
    const bool is_shown = wait != 0 && columns_.has(wait);
    const bool is_culprit = isCulprit(id);
    const std::string label = flightLabel(run_, id, thread->lane);
    const std::string until = wait == 0  ? "; no wait of this run covers it"
                              : is_shown ? ", until a wait covers it"
                                         : "; the wait that covers it comes later, or in another thread";
    picture_.spans.push_back(
        {*lane, from, std::max(to, from), !is_shown, label, label + " in flight" + until, is_culprit});
    picture_.edges.push_back({Picture::Edge::Kind::kIssue, {*laneOf(*thread), from}, {*lane, from}, ""});
    if (!is_shown) continue;
    for (const Thread waiter : threads_)
      if (isOf(log_[wait], waiter) && log_[wait].kind != EventKind::kMbarrierWait)
        picture_.edges.push_back({Picture::Edge::Kind::kCompletion, {*lane, to}, {*laneOf(waiter), to}, ""});
  }
}

// A phase is drawn up to the first wait that has seen it over; the machine does not say when it really was.
void Scene::addPhases(std::uint32_t lane, machine::ActorId barrier) {
  std::map<machine::Epoch, Picture::Time> over, counted;
  for (const machine::RunTrace::Phase& wait : trace_.waits)
    if (wait.barrier == barrier) over.try_emplace(wait.phases, columnOf(wait.event));
  for (const auto* arrivals : {&trace_.arrivals, &trace_.tracked}) {
    for (const machine::RunTrace::Phase& arrival : *arrivals)
      if (arrival.barrier == barrier)
        counted[arrival.phases] = std::max(counted[arrival.phases], columnOf(arrival.event));
  }
  for (const auto& [phases, at] : over) counted.try_emplace(phases, at);
  Picture::Time from = 0;
  for (auto it = counted.begin(); it != counted.end(); ++it) {
    const bool is_last = std::next(it) == counted.end();
    const bool is_seen = over.contains(it->first);
    const Picture::Time to = is_seen ? over[it->first] : is_last ? picture_.end : it->second;
    if (it->first == 0 || to <= from) continue;
    const std::string name = "phase " + std::to_string(it->first - 1);
    picture_.spans.push_back({lane, from, to, !is_seen && is_last, name,
                              name + (is_seen ? ", until a wait sees it over" : ""), false});
    from = to;
  }
  const machine::Epoch next = counted.empty() ? 0 : counted.rbegin()->first;
  if (from < picture_.end && (counted.empty() || over.contains(next))) {
    const std::string name = "phase " + std::to_string(next);
    picture_.spans.push_back(
        {lane, from, picture_.end, true, name, name + ": nothing has arrived in it", false});
  }
  for (const EventId id : columns_.events) {
    const Event& event = log_[id];
    if (barrierOf(id) != barrier || machine::isAsync(event.kind)) continue;
    for (const Thread thread : threads_) {
      if (!isOf(event, thread)) continue;
      const Picture::Point object{lane, columnOf(id)}, actor{*laneOf(thread), columnOf(id)};
      if (event.kind == EventKind::kMbarrierWait) {
        picture_.edges.push_back({Picture::Edge::Kind::kCompletion, object, actor, ""});
      } else {
        picture_.edges.push_back({Picture::Edge::Kind::kArrival, actor, object, ""});
      }
    }
  }
}

// Two threads of which one arrives and the other waits in the same round.
void Scene::addBarrierEdges() {
  std::map<std::pair<machine::ActorId, machine::Epoch>, std::vector<std::pair<EventId, std::size_t>>> rounds;
  std::vector<std::map<EventKind, machine::Epoch>> cluster(threads_.size());
  std::vector<std::vector<std::pair<EventId, std::size_t>>> arrivals(threads_.size());
  constexpr machine::ActorId kCluster = ~machine::ActorId{0};
  for (EventId id = 1; id < log_.end(); ++id) {
    const EventKind kind = log_[id].kind;
    if (kind != EventKind::kClusterArrive && kind != EventKind::kClusterWait) continue;
    for (std::size_t i = 0; i < threads_.size(); ++i) {
      if (!isOf(log_[id], threads_[i])) continue;
      const machine::Epoch round = ++cluster[i][kind];
      if (columns_.has(id)) rounds[{kCluster, round}].emplace_back(id, i);
    }
  }
  for (const EventId id : columns_.events) {
    if (log_[id].kind != EventKind::kCtaSync && log_[id].kind != EventKind::kCtaArrive) continue;
    const machine::RunTrace::Phase* phase = phaseOf(trace_.arrivals, id);
    if (phase == nullptr) continue;
    for (std::size_t i = 0; i < threads_.size(); ++i)
      if (isOf(log_[id], threads_[i])) rounds[{phase->barrier, phase->phases}].emplace_back(id, i);
  }
  for (const auto& [round, events] : rounds) addRounds(events);
}

void Scene::addRounds(const std::vector<std::pair<EventId, std::size_t>>& of) {
  const auto arrives = [&](EventId id) { return log_[id].kind != EventKind::kClusterWait; };
  const auto waits = [&](EventId id) {
    return log_[id].kind == EventKind::kCtaSync || log_[id].kind == EventKind::kClusterWait;
  };
  for (const auto& [from, a] : of) {
    for (const auto& [to, b] : of) {
      // One line for both directions where both arrive and wait.
      const bool is_mutual = arrives(to) && waits(from);
      if (a == b || !arrives(from) || !waits(to) || (is_mutual && a > b)) continue;
      picture_.edges.push_back({Picture::Edge::Kind::kBarrier,
                                {lanes_[a], columnOf(from)},
                                {lanes_[b], columnOf(to)},
                                is_mutual ? "both" : ""});
    }
  }
}

void Scene::addSlots() {
  if (!place_slot_) return;
  const SlotHistory& own = slots_[*place_slot_];
  const auto buffer = [](const std::string& name) { return name.substr(0, name.find(", slot ")); };
  std::vector<std::size_t> shown;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const bool is_beside =
        slots_[i].cta == own.cta && buffer(slots_[i].name) == buffer(own.name) && !slots_[i].fills.empty();
    if (i == *place_slot_ || is_beside) shown.push_back(i);
  }
  // The slot itself, and its nearest neighbours.
  while (shown.size() > kMaxSlots) {
    const bool is_at_front = *place_slot_ - shown.front() > shown.back() - *place_slot_;
    shown.erase(is_at_front ? shown.begin() : std::prev(shown.end()));
  }
  for (const std::size_t i : shown) {
    Picture::Slot slot{slots_[i].name, slotSpans(slots_[i], columns_, picture_.end), i == *place_slot_};
    if (run_.launch.clusterSize() > 1) slot.name += " of CTA " + std::to_string(slots_[i].cta);
    picture_.slots.push_back(std::move(slot));
  }
}

void Scene::spoil(EventId at, const std::string& text) {
  const Picture::Time column = columnOf(at);
  for (Picture::Slot& slot : picture_.slots) {
    if (!slot.is_culprit) continue;
    std::vector<Picture::SlotSpan> spans;
    for (const Picture::SlotSpan& span : slot.spans) {
      const auto part = [&](Picture::Time from, Picture::Time to, bool is_spoilt) {
        from = std::max(from, span.from);
        to = std::min(to, span.to);
        if (from < to)
          spans.push_back({from, to, is_spoilt ? SlotState::kStale : span.state, span.label,
                           is_spoilt ? text : span.text});
      };
      part(span.from, column, false);
      part(column, column + 1, true);
      part(column + 1, span.to, false);
    }
    slot.spans = std::move(spans);
  }
}

void Scene::addMissing(Picture::Point from, Picture::Point to, std::string text) {
  picture_.edges.push_back({Picture::Edge::Kind::kMissing, from, to, std::move(text)});
}

}  // namespace handoff::picture
