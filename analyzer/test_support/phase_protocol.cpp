// SPDX-License-Identifier: Apache-2.0
// Protocols as text and as PTX, and the generator.
#include "analyzer/test_support/phase_protocol.h"

#include <algorithm>

namespace handoff::test {

namespace {

using Kind = PhaseEvent::Kind;
using Thread = std::vector<PhaseEvent>;

std::string toText(const PhaseEvent& event) {
  const std::string barrier = " b" + std::to_string(event.barrier), slot = " s" + std::to_string(event.slot);
  const std::string number = " " + std::to_string(event.argument), wide = event.is_wide ? " wide" : "";
  switch (event.kind) {
    case Kind::kArrive:
      return "arrive" + barrier + wide;
    case Kind::kArriveExpect:
      return "arrive.expect" + barrier + number + wide;
    case Kind::kExpect:
      return "expect" + barrier + number;
    case Kind::kWait:
      return "wait" + barrier + number + wide;
    case Kind::kCopy:
      return "copy" + slot + barrier;
    case Kind::kBulkStore:
      return "bulk_store" + slot;
    case Kind::kCommit:
      return "commit";
    case Kind::kWaitGroup:
      return "wait_group" + number;
    case Kind::kWaitRead:
      return "wait_read" + number;
    case Kind::kLoad:
      return "load" + slot;
    case Kind::kStore:
      return "store" + slot;
    case Kind::kFence:
      return "fence";
    case Kind::kSync:
      return "sync";
  }
  return "";
}

/// PTX of one thread's events.
class Writer {
 public:
  Writer(const PhaseProtocol& protocol, unsigned thread)
      : protocol_(protocol), cta_(protocol.ctaOf(thread)) {}

  std::string write(const PhaseEvent& event, unsigned serial) const {
    const std::string offset = std::to_string(kPhaseSlotBytes * serial),
                      number = std::to_string(event.argument);
    const std::string label = "WAIT_" + std::to_string(serial);
    switch (event.kind) {
      case Kind::kArrive:
        return "mbarrier.arrive.release" + barrier(event, "_, ") + ";";
      case Kind::kArriveExpect:
        return "mbarrier.arrive.expect_tx.release" + barrier(event, "_, ") + ", " + number + ";";
      case Kind::kExpect:
        return "mbarrier.expect_tx.relaxed" + barrier(event, "") + ", " + number + ";";
      case Kind::kWait:
        return label + ":\nmbarrier.try_wait.parity.acquire" + barrier(event, "%p3, ") + ", " + number +
               ";\n@!%p3 bra " + label + ";";
      case Kind::kCopy:
        return "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [" + slot(event) +
               "], [%in+" + offset + "], 16, [" + address(event.barrier, "bar", 8, 22) + "];";
      case Kind::kBulkStore:
        return "cp.async.bulk.global.shared::cta.bulk_group [%out+" + offset + "], [" + slot(event) +
               "], 16;";
      case Kind::kCommit:
        return "cp.async.bulk.commit_group;";
      case Kind::kWaitGroup:
        return "cp.async.bulk.wait_group " + number + ";";
      case Kind::kWaitRead:
        return "cp.async.bulk.wait_group.read " + number + ";";
      case Kind::kLoad:
        return "ld." + space(event.slot) + ".v4.u32 {%r1, %r2, %r3, %r4}, [" + slot(event) + "];";
      case Kind::kStore:
        return "st." + space(event.slot) + ".v4.u32 [" + slot(event) + "], {%r5, %r6, %r7, %r8};";
      case Kind::kFence:
        return "fence.proxy.async;";
      case Kind::kSync:
        return protocol_.is_cluster ? "barrier.cluster.arrive;\nbarrier.cluster.wait;" : "barrier.sync 0;";
    }
    return "";
  }

 private:
  bool isRemote(unsigned object) const { return protocol_.homeOf(object) != cta_; }
  std::string space(unsigned object) const { return isRemote(object) ? "shared::cluster" : "shared::cta"; }
  std::string address(unsigned object, const std::string& name, unsigned size, unsigned mapped) const {
    return isRemote(object) ? "%r" + std::to_string(mapped + object)
                            : name + "+" + std::to_string(size * object);
  }
  std::string slot(const PhaseEvent& event) const { return address(event.slot, "tile", kPhaseSlotBytes, 20); }
  std::string barrier(const PhaseEvent& event, const std::string& before) const {
    return (event.is_wide ? ".cluster." : ".cta.") + space(event.barrier) + ".b64 " + before + "[" +
           address(event.barrier, "bar", 8, 22) + "]";
  }

  const PhaseProtocol& protocol_;
  unsigned cta_;
};

// --- the generator ---

PhaseEvent on(Kind kind, unsigned barrier, unsigned argument = 0) {
  return {.kind = kind, .barrier = barrier, .argument = argument};
}
PhaseEvent at(Kind kind, unsigned slot) { return {.kind = kind, .slot = slot}; }
PhaseEvent copy(unsigned slot, unsigned barrier) {
  return {.kind = Kind::kCopy, .barrier = barrier, .slot = slot};
}

void append(Thread& thread, std::initializer_list<PhaseEvent> events) {
  thread.insert(thread.end(), events.begin(), events.end());
}

/// A producer refills one slot; its consumers say on barrier 1 that they are done.
PhaseProtocol ring(std::mt19937& random) {
  const unsigned consumers = 1 + static_cast<unsigned>(random() % 2),
                 rounds = 1 + static_cast<unsigned>(random() % 2);
  const bool stores = random() % 4 == 0;
  PhaseProtocol protocol{.counts = {1, consumers}, .threads = std::vector<Thread>(1 + consumers)};
  for (unsigned round = 0; round < rounds; ++round) {
    Thread& producer = protocol.threads[0];
    if (round != 0 || random() % 2) append(producer, {on(Kind::kWait, 1, ~round & 1)});
    append(producer, {on(Kind::kArriveExpect, 0, kPhaseSlotBytes), copy(0, 0)});
    if (random() % 4 == 0) std::swap(producer.back(), producer[producer.size() - 2]);
    for (unsigned c = 1; c <= consumers; ++c) {
      Thread& consumer = protocol.threads[c];
      append(consumer, {on(Kind::kWait, 0, round & 1), at(Kind::kLoad, 0)});
      if (stores && consumers == 1) consumer.back().kind = Kind::kStore;
      if (stores || random() % 2) append(consumer, {on(Kind::kFence, 0)});
      append(consumer, {on(Kind::kArrive, 1)});
    }
  }
  return protocol;
}

/// Both slots are filled in one phase, by one thread or by two.
PhaseProtocol pair(std::mt19937& random) {
  PhaseProtocol protocol{.counts = {1, 1}, .threads = std::vector<Thread>(2 + random() % 2)};
  const bool is_split = protocol.threads.size() == 3;
  protocol.counts[0] = is_split ? 2 : 1;
  for (unsigned slot = 0; slot < kPhaseSlots; ++slot) {
    Thread& producer = protocol.threads[is_split ? slot : 0];
    switch (random() % 3) {
      case 0:
        append(producer, {on(Kind::kExpect, 0, kPhaseSlotBytes), copy(slot, 0)});
        break;
      case 1:
        append(producer, {copy(slot, 0), on(Kind::kExpect, 0, kPhaseSlotBytes)});
        break;
      default:
        if (is_split || slot == 1) {
          append(producer, {copy(slot, 0), on(Kind::kArriveExpect, 0, kPhaseSlotBytes)});
          continue;
        }
        append(producer, {on(Kind::kExpect, 0, kPhaseSlotBytes), copy(slot, 0)});
    }
    if (is_split || slot == 1) append(producer, {on(Kind::kArrive, 0)});
  }
  append(protocol.threads.back(), {on(Kind::kWait, 0, 0), at(Kind::kLoad, 0), at(Kind::kLoad, 1)});
  if (random() % 2) append(protocol.threads.back(), {on(Kind::kFence, 0), on(Kind::kArrive, 1)});
  return protocol;
}

/// A writer fills a slot, another thread stores it to global memory, and gives it back.
PhaseProtocol drain(std::mt19937& random) {
  const bool by_sync = random() % 2, fences_late = random() % 3 == 0;
  const unsigned rounds = 1 + static_cast<unsigned>(random() % 2);
  PhaseProtocol protocol{.counts = {1, 1}, .threads = std::vector<Thread>(2)};
  Thread &writer = protocol.threads[0], &issuer = protocol.threads[1];
  for (unsigned round = 0; round < rounds; ++round) {
    if (round != 0) append(writer, {by_sync ? on(Kind::kSync, 0) : on(Kind::kWait, 1, ~round & 1)});
    append(writer, {at(Kind::kStore, 0)});
    if (!fences_late) append(writer, {on(Kind::kFence, 0)});
    append(writer, {by_sync ? on(Kind::kSync, 0) : on(Kind::kArrive, 0)});
    append(issuer, {by_sync ? on(Kind::kSync, 0) : on(Kind::kWait, 0, round & 1)});
    if (fences_late) append(issuer, {on(Kind::kFence, 0)});
    append(issuer, {at(Kind::kBulkStore, 0), on(Kind::kCommit, 0),
                    on(random() % 3 == 0 ? Kind::kWaitGroup : Kind::kWaitRead, 0)});
    if (round + 1 < rounds || !by_sync) append(issuer, {by_sync ? on(Kind::kSync, 0) : on(Kind::kArrive, 1)});
    if (issuer.size() + 5 > kMaxPhaseEvents) break;
  }
  return protocol;
}

/// One thread loads, the other computes and stores: each slot crosses both proxies.
PhaseProtocol transform(std::mt19937& random) {
  PhaseProtocol protocol{.counts = {1, 1}, .threads = std::vector<Thread>(2)};
  append(protocol.threads[0],
         {on(Kind::kArriveExpect, 0, kPhaseSlotBytes), copy(0, 0), on(Kind::kWait, 1, 0)});
  append(protocol.threads[1],
         {on(Kind::kWait, 0, 0), at(Kind::kLoad, 0), at(Kind::kStore, 1), on(Kind::kFence, 0)});
  if (random() % 2) {
    append(protocol.threads[1], {on(Kind::kArrive, 1)});
    append(protocol.threads[0], {at(Kind::kBulkStore, 1), on(Kind::kCommit, 0), on(Kind::kWaitGroup, 0)});
  } else {
    append(protocol.threads[1],
           {at(Kind::kBulkStore, 1), on(Kind::kArrive, 1), on(Kind::kCommit, 0), on(Kind::kWaitRead, 0)});
    append(protocol.threads[0],
           {on(Kind::kArriveExpect, 0, kPhaseSlotBytes), copy(0, 0), on(Kind::kWait, 0, 1)});
  }
  return protocol;
}

/// One thread waits, a block barrier releases the other; then the slot is filled again.
PhaseProtocol blockWide(std::mt19937& random) {
  PhaseProtocol protocol{.counts = {1, 1}, .threads = std::vector<Thread>(2 + random() % 2)};
  append(protocol.threads[0],
         {on(Kind::kArriveExpect, 0, kPhaseSlotBytes), copy(0, 0), on(Kind::kWait, 0, 0)});
  for (Thread& thread : protocol.threads)
    append(thread, {on(Kind::kSync, 0), at(Kind::kLoad, 0), on(Kind::kSync, 0)});
  if (random() % 2) {
    append(protocol.threads[0], {on(Kind::kArriveExpect, 0, kPhaseSlotBytes), copy(0, 0)});
    append(protocol.threads[1], {on(Kind::kWait, 0, 1), at(Kind::kLoad, 0)});
  }
  return protocol;
}

/// Phases without data: threads in turn, or all together.
PhaseProtocol phases(std::mt19937& random) {
  PhaseProtocol protocol{.counts = {2, 1}, .threads = std::vector<Thread>(2)};
  const unsigned rounds = 1 + static_cast<unsigned>(random() % 3);
  const bool is_turn = random() % 2;
  if (is_turn) protocol.counts[0] = 1;
  for (unsigned round = 0; round < rounds; ++round) {
    for (unsigned t = 0; t < 2; ++t) {
      Thread& thread = protocol.threads[t];
      if (is_turn) {
        append(thread, {on(Kind::kWait, t, t == 0 ? ~round & 1 : round & 1), on(Kind::kArrive, 1 - t)});
      } else {
        append(thread, {on(Kind::kArrive, 0), on(Kind::kWait, 0, round & 1)});
      }
      if (random() % 3 == 0 && thread.size() < 6)
        append(thread, {at(t == 0 ? Kind::kStore : Kind::kLoad, round % 2)});
    }
  }
  return protocol;
}

PhaseProtocol clusterRing(std::mt19937& random) {
  PhaseProtocol protocol{
      .counts = {1, 1}, .threads = std::vector<Thread>(2 + random() % 2), .is_cluster = true};
  const unsigned rounds = 1 + static_cast<unsigned>(random() % 2),
                 consumers = static_cast<unsigned>(protocol.threads.size()) - 1;
  const bool by_copy = random() % 2, expects_there = random() % 2;
  protocol.counts[0] = consumers;
  for (unsigned round = 0; round < rounds; ++round) {
    Thread& producer = protocol.threads[0];
    if (round != 0 || random() % 2) append(producer, {on(Kind::kWait, 0, ~round & 1)});
    if (by_copy) append(producer, {copy(1, 1)});
    if (!by_copy) append(producer, {at(Kind::kStore, 1)});
    if (!by_copy) append(producer, {on(Kind::kArrive, 1)});
    if (by_copy && !expects_there) append(producer, {on(Kind::kArriveExpect, 1, kPhaseSlotBytes)});
    for (unsigned c = 1; c <= consumers; ++c) {
      Thread& consumer = protocol.threads[c];
      if (by_copy && expects_there && c == 1) append(consumer, {on(Kind::kArriveExpect, 1, kPhaseSlotBytes)});
      append(consumer, {on(Kind::kWait, 1, round & 1), at(Kind::kLoad, 1), on(Kind::kArrive, 0)});
      if (by_copy && random() % 2) consumer.insert(consumer.end() - 1, on(Kind::kFence, 0));
      if (consumer.size() > 4) continue;
    }
  }
  for (Thread& thread : protocol.threads) {
    for (PhaseEvent& event : thread) {
      if (usesBarrier(event.kind) && event.kind != Kind::kCopy) event.is_wide = random() % 8 != 0;
      if (event.kind == Kind::kArrive && event.barrier == 0) event.is_wide = random() % 2;
    }
  }
  return protocol;
}

PhaseEvent randomEvent(std::mt19937& random) {
  static constexpr Kind kKinds[] = {
      Kind::kArrive, Kind::kArrive,    Kind::kArriveExpect, Kind::kArriveExpect, Kind::kExpect,
      Kind::kWait,   Kind::kWait,      Kind::kWait,         Kind::kCopy,         Kind::kCopy,
      Kind::kLoad,   Kind::kStore,     Kind::kFence,        Kind::kSync,         Kind::kBulkStore,
      Kind::kCommit, Kind::kWaitGroup, Kind::kWaitRead};
  PhaseEvent event{.kind = kKinds[random() % std::size(kKinds)]};
  event.barrier = static_cast<unsigned>(random() % kPhaseBarriers);
  event.slot = static_cast<unsigned>(random() % kPhaseSlots);
  event.argument = static_cast<unsigned>(random() % 2);
  if (event.kind == Kind::kArriveExpect || event.kind == Kind::kExpect)
    event.argument = kPhaseSlotBytes * (1 + event.argument);
  event.is_wide = random() % 2;
  return event;
}

PhaseProtocol soup(std::mt19937& random) {
  PhaseProtocol protocol{
      .counts = {1 + static_cast<unsigned>(random() % 2), 1 + static_cast<unsigned>(random() % 2)},
      .threads = std::vector<Thread>(2 + random() % 2)};
  for (Thread& thread : protocol.threads) {
    const std::size_t count = 1 + random() % 4;
    while (thread.size() < count) append(thread, {randomEvent(random)});
  }
  return protocol;
}

void mutate(PhaseProtocol& protocol, std::mt19937& random) {
  Thread& thread = protocol.threads[random() % protocol.threads.size()];
  if (random() % 16 == 0) {
    protocol.counts[random() % kPhaseBarriers] = 1 + static_cast<unsigned>(random() % 3);
    return;
  }
  if (thread.empty()) return append(thread, {randomEvent(random)});
  const std::size_t i = random() % thread.size();
  const auto place = thread.begin() + static_cast<std::ptrdiff_t>(i);
  PhaseEvent& event = thread[i];
  switch (random() % 10) {
    case 0:
    case 1:
      thread.erase(place);
      break;
    case 2:
    case 3:
      if (i + 1 < thread.size()) std::swap(event, thread[i + 1]);
      break;
    case 4:
      if (event.kind == Kind::kWait || event.kind == Kind::kWaitRead) event.argument ^= 1;
      if (event.kind == Kind::kArriveExpect || event.kind == Kind::kExpect)
        event.argument ^= 3 * kPhaseSlotBytes;
      break;
    case 5:
      (random() % 2 ? event.barrier : event.slot) ^= 1;
      break;
    case 6:
      thread.insert(place, PhaseEvent(event));
      break;
    case 7:
      thread.insert(place, randomEvent(random));
      break;
    case 8: {
      const PhaseEvent moved = event;
      thread.erase(place);
      Thread& target = protocol.threads[random() % protocol.threads.size()];
      target.insert(target.begin() + static_cast<std::ptrdiff_t>(random() % (target.size() + 1)), moved);
      break;
    }
    default:
      std::erase_if(thread, [](const PhaseEvent& e) { return e.kind == Kind::kFence; });
  }
}

bool isSync(const PhaseEvent& event) { return event.kind == Kind::kSync; }
std::size_t syncsOf(const Thread& thread) {
  return static_cast<std::size_t>(std::count_if(thread.begin(), thread.end(), isSync));
}

/// Within the limits of the search, and legal where it can be; of a cluster, nobody leaves while others may
/// use its memory.
void finish(PhaseProtocol& protocol) {
  const std::size_t room = protocol.threads.size() == 2 ? kMaxPhaseEvents : 6;
  for (Thread& thread : protocol.threads) {
    for (PhaseEvent& event : thread) {
      event.is_wide &= protocol.is_cluster;
      if (protocol.is_cluster && event.kind == Kind::kCopy) event.barrier = event.slot;
    }
    if (protocol.is_cluster) std::erase_if(thread, [](const PhaseEvent& e) { return e.kind == Kind::kSync; });
    if (thread.size() > room - protocol.is_cluster) thread.resize(room - protocol.is_cluster);
  }
  std::size_t barriers = kMaxPhaseEvents;
  for (const Thread& thread : protocol.threads) barriers = std::min(barriers, syncsOf(thread));
  for (Thread& thread : protocol.threads) {
    while (syncsOf(thread) > barriers) thread.erase(std::find_if(thread.begin(), thread.end(), isSync));
    if (protocol.is_cluster) append(thread, {on(Kind::kSync, 0)});
  }
}

}  // namespace

bool isAccess(Kind kind) { return kind == Kind::kLoad || kind == Kind::kStore || isBulk(kind); }
bool isBulk(Kind kind) { return kind == Kind::kCopy || kind == Kind::kBulkStore; }
bool usesBarrier(Kind kind) {
  return kind == Kind::kArrive || kind == Kind::kArriveExpect || kind == Kind::kExpect ||
         kind == Kind::kWait || kind == Kind::kCopy;
}

bool isLegal(const PhaseProtocol& protocol) {
  for (unsigned thread = 0; thread < protocol.threads.size(); ++thread) {
    const unsigned cta = protocol.ctaOf(thread);
    if (syncsOf(protocol.threads[thread]) != syncsOf(protocol.threads[0])) return false;
    for (const PhaseEvent& event : protocol.threads[thread]) {
      if (event.kind == Kind::kWait && protocol.homeOf(event.barrier) != cta) return false;
      if (event.kind == Kind::kBulkStore && protocol.homeOf(event.slot) != cta) return false;
      if (event.kind == Kind::kCopy && protocol.homeOf(event.barrier) != protocol.homeOf(event.slot))
        return false;
    }
  }
  return true;
}

PhaseProtocol randomPhaseProtocol(std::mt19937& random) {
  static constexpr PhaseProtocol (*kTemplates[])(std::mt19937&) = {
      ring, ring, ring, pair, drain, drain, transform, blockWide, phases, clusterRing, clusterRing, soup};
  for (;;) {
    PhaseProtocol protocol = kTemplates[random() % std::size(kTemplates)](random);
    for (unsigned mutations = static_cast<unsigned>(random() % 4); mutations != 0; --mutations)
      mutate(protocol, random);
    finish(protocol);
    protocol.is_one_warp = !protocol.is_cluster && random() % 5 == 0;
    if (isLegal(protocol)) return protocol;
  }
}

std::string toText(const PhaseProtocol& protocol) {
  std::string text = (protocol.is_cluster    ? "cluster, counts "
                      : protocol.is_one_warp ? "one warp, counts "
                                             : "counts ") +
                     std::to_string(protocol.counts[0]) + " " + std::to_string(protocol.counts[1]) + "\n";
  for (std::size_t thread = 0; thread < protocol.threads.size(); ++thread) {
    text += "thread " + std::to_string(thread) + ":";
    for (const PhaseEvent& event : protocol.threads[thread]) text += " " + toText(event) + ";";
    text += "\n";
  }
  return text;
}

unsigned warpsOf(const PhaseProtocol& protocol) {
  const auto threads = static_cast<unsigned>(protocol.threads.size());
  if (protocol.is_one_warp) return 1;
  return protocol.is_cluster ? threads - 1 : threads;
}

std::string toPtx(const PhaseProtocol& protocol) {
  const std::string last_lane = std::to_string(protocol.is_one_warp ? protocol.threads.size() - 1 : 0);
  std::string text = "setp.gt.u32 %p1, %lane, " + last_lane +
                     ";\n@%p1 ret;\nmov.u32 %r30, %cluster_ctarank;\nsetp.ne.u32 %p2, %t, 0;\n";
  for (unsigned b = 0; b < kPhaseBarriers; ++b) {
    const std::string number = std::to_string(b), home = std::to_string(protocol.homeOf(b));
    text += "@!%p2 mbarrier.init.shared.b64 [bar+" + std::to_string(8 * b) + "], " +
            std::to_string(protocol.counts[b]) + ";\n";
    if (!protocol.is_cluster) continue;
    text += "mov.u32 %r2" + number + ", tile;\nadd.u32 %r2" + number + ", %r2" + number + ", " +
            std::to_string(kPhaseSlotBytes * b) + ";\nmapa.shared::cluster.u32 %r2" + number + ", %r2" +
            number + ", " + home + ";\n";
    const std::string mapped = "%r2" + std::to_string(2 + b);
    text += "mov.u32 " + mapped + ", bar;\nadd.u32 " + mapped + ", " + mapped + ", " + std::to_string(8 * b) +
            ";\nmapa.shared::cluster.u32 " + mapped + ", " + mapped + ", " + home + ";\n";
  }
  text += protocol.is_cluster ? "barrier.cluster.arrive;\nbarrier.cluster.wait;\n" : "barrier.sync 0;\n";
  unsigned serial = 0;
  for (unsigned thread = 0; thread < protocol.threads.size(); ++thread) {
    const unsigned cta = protocol.ctaOf(thread), warp = thread - cta;
    const std::string next = "NEXT_" + std::to_string(thread);
    text += (protocol.is_one_warp ? "setp.ne.u32 %p4, %lane, " : "setp.ne.u32 %p4, %w, ") +
            std::to_string(warp) + ";\n@%p4 bra " + next + ";\nsetp.ne.u32 %p5, %r30, " +
            std::to_string(cta) + ";\n@%p5 bra " + next + ";\n";
    const Writer writer(protocol, thread);
    for (const PhaseEvent& event : protocol.threads[thread]) text += writer.write(event, ++serial) + "\n";
    text += "ret;\n" + next + ":\n";
  }
  return text;
}

}  // namespace handoff::test
