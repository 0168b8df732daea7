// SPDX-License-Identifier: Apache-2.0
// Accesses with addresses that depend on unknown data: the order is checked for all bytes that bounds allow, and for those
// where it fails Z3 says whether data exist that lead there.
#include <algorithm>
#include <utility>

#include "analyzer/machine/address.h"
#include "analyzer/machine/races.h"

namespace handoff::machine {

namespace {

/// Accesses that are followed at once in one CTA.
constexpr std::size_t kMaxKept = 256;
/// Questions about pairs of lanes for one instruction.
constexpr unsigned kMaxPairQuestions = 64;

bool isOverwritten(const UnknownAccess& access, std::uint64_t address, unsigned granule) {
  if (access.overwritten.empty() || address < access.low) return false;
  const std::size_t index = (address - access.low) / granule;
  return index < access.overwritten.size() && access.overwritten[index];
}

// Starts of an access of so many bytes that touch [address, address + size).
StartRange startsAround(std::uint64_t address, std::uint64_t size, std::uint32_t bytes) {
  return {address - std::min<std::uint64_t>(address, bytes - 1), address + size - 1};
}

/// All addresses that are in none of these ranges, which are in order.
std::vector<StartRange> othersThan(const std::vector<StartRange>& ranges) {
  constexpr std::uint64_t kLast = 0xffffffff;
  std::vector<StartRange> others;
  std::uint64_t next = 0;
  for (const StartRange& range : ranges) {
    if (range.first > next) others.push_back({next, range.first - 1});
    next = range.last + 1;
  }
  if (next <= kLast) others.push_back({next, kLast});
  return others;
}

void addRange(std::vector<StartRange>& ranges, StartRange range) {
  if (!ranges.empty() && range.first <= ranges.back().last + 1) {
    ranges.back().last = std::max(ranges.back().last, range.last);
  } else {
    ranges.push_back(range);
  }
}

}  // namespace

std::tuple<std::uint32_t, std::uint32_t, int> RaceChecker::keyOf(const Candidate& candidate) const {
  int kind = candidate.reader_is_first ? 1 : candidate.second.reads ? 2 : 3;
  if (candidate.is_unfenced) kind += 4;
  if (is_possible_) kind += 8;
  return {run_.log()[candidate.first.event].site, run_.log()[candidate.second.event].site, kind};
}

bool RaceChecker::isReportedPossible(const Candidate& candidate) const {
  auto key = keyOf(candidate);
  std::get<2>(key) |= 8;
  return reported_.contains(key);
}

void RaceChecker::reportPossible(const Candidate& candidate, DataQuestions::Found found) {
  is_possible_ = true;
  const std::size_t before = run_.outcome.conflicts.size();
  report(candidate.first, candidate.second, candidate.cell, candidate.reader_is_first, candidate.is_unfenced);
  is_possible_ = false;
  if (run_.outcome.conflicts.size() == before) return;
  Conflict& conflict = run_.outcome.conflicts.back();
  conflict.is_possible = true;
  for (const auto& [symbol, word] : found.values) conflict.data.push_back({run_.data.originOf(symbol).instr, word});
}

void RaceChecker::limitUndecided(EventId event, const DataQuestions::Found& found) {
  const Op& op = run_.program.ops[run_.log()[event].op];
  run_.addLimit("the address of '" + op.decoded->opcode + "' depends on data that is not known before the launch: " +
                    (found.needs_other_inputs ? "for some sizes it may meet memory that is in use"
                                              : "whether it meets memory that is in use was not decided"),
                op.instr);
}

void RaceChecker::accessUnknown(Cta& cta, UnknownAccess access) {
  if (run_.options.skip_races) return;
  forEachLane(access.lanes, [&](unsigned lane) { checkUnknownLane(cta, access, lane); });
  for (const UnknownAccess& before : cta.unknown) checkUnknownPair(cta, before, access);
  keepUnknown(cta, std::move(access));
}

// One lane against the shadow.
void RaceChecker::checkUnknownLane(Cta& cta, const UnknownAccess& access, unsigned lane) {
  struct Group { std::vector<std::pair<std::uint64_t, Candidate>> pairs; std::vector<StartRange> starts; };
  std::map<std::tuple<std::uint32_t, std::uint32_t, int>, Group> groups;
  const Span& span = access.spans[lane];
  const unsigned granule = cta.shadow->granule();
  std::vector<Candidate> found;
  Cell last;
  for (std::uint64_t at = span.low & ~std::uint64_t{granule - 1}; at < span.high + access.bytes; at += granule) {
    if (at < kSharedBase || !cta.shadow->contains(at - kSharedBase, 1)) continue;
    Cell& cell = cta.shadow->at(at - kSharedBase);
    if ((cell.write == 0 && cell.reads == 0) || !span.mayMeet(access.bytes, at, granule)) continue;
    if (!cell.isLike(last)) {
      last = cell;
      found.clear();
      candidates_ = &found;
      const Second second{access.event, lane, at, ptx::Space::kShared, cta.rank, /*reads=*/true};
      if (access.reads) readCell(cell, laneBit(lane), second, /*is_recorded=*/false);
      Second write = second;
      write.reads = false;
      const bool is_over = cell.write != 0 && access.writes;
      if (is_over && !isSettled({eventOf(cell.write), laneOf(cell.write)}, cell, write)) checkHiddenReaders(cell, write);
      if (access.writes && cell.unordered != 0) {
        read_sets_.forEach(cell.unordered, [&](const ReadSets::Node& node) {
          forEachLane(node.lanes, [&](unsigned by) { isSettled({node.event, by}, cell, write); });
          return true;
        });
      }
      if (access.writes && cell.reads != 0) checkAgainstReaders(cell, write);
      candidates_ = nullptr;
    }
    for (Candidate candidate : found) {
      if (isReportedPossible(candidate)) continue;
      candidate.second.address = at;
      Group& group = groups[keyOf(candidate)];
      addRange(group.starts, startsAround(at, granule, access.bytes));
      group.pairs.emplace_back(at, candidate);
    }
  }
  for (const auto& [key, group] : groups) {
    const DataQuestions::Found answer = run_.questions().meets(run_.data, access.question(lane), group.starts);
    if (answer.answer == DataQuestions::Answer::kNo) continue;
    if (answer.answer == DataQuestions::Answer::kUnknown) {
      limitUndecided(access.event, answer);
      continue;
    }
    const auto touched = [&](const auto& pair) { return pair.first + granule > answer.address && pair.first < answer.address + access.bytes; };
    const auto hit = std::find_if(group.pairs.begin(), group.pairs.end(), touched);
    if (hit == group.pairs.end()) continue;
    // It meets one of these accesses wherever the data lead it.
    const auto mayMeetOthers = [&] { return run_.questions().meets(run_.data, access.question(lane), othersThan(group.starts)).answer; };
    const Candidate& pair = hit->second;
    if (access.condition != symbolic::kConcrete || mayMeetOthers() != DataQuestions::Answer::kNo) {
      reportPossible(pair, answer);
      continue;
    }
    const std::size_t before = run_.outcome.conflicts.size();
    report(pair.first, pair.second, pair.cell, pair.reader_is_first, pair.is_unfenced);
    if (run_.outcome.conflicts.size() == before) continue;
    for (const auto& [symbol, word] : answer.values) run_.outcome.conflicts.back().data.push_back({run_.data.originOf(symbol).instr, word});
  }
}

// An access to known bytes after those of which nobody knows.
void RaceChecker::meetUnknown(const Range& range, EventId event, bool writes) {
  if (run_.options.skip_races || range.address >= kTensorBase) return;
  const bool is_strong = run_.log()[event].is_strong;
  for (UnknownAccess& access : range.cta->unknown) {
    if (access.low >= range.address + range.bytes || access.high <= range.address) continue;
    const bool both_strong = is_strong && run_.log()[access.event].is_strong;
    if ((writes || access.writes) && !both_strong) {
      forEachLane(access.lanes, [&](unsigned lane) { meetUnknownLane(access, lane, range, event, writes); });
    }
    if (!writes || !isSettledUnknown(access, range, event)) continue;
    const unsigned granule = range.cta->shadow->granule();
    if (access.overwritten.empty()) access.overwritten.resize((access.high - access.low + granule - 1) / granule, false);
    for (std::uint64_t at = std::max(range.address, access.low); at < std::min(range.address + range.bytes, access.high); at += granule) {
      access.overwritten[(at - access.low) / granule] = true;
    }
  }
  // Nothing is left of those that were overwritten altogether.
  if (writes) {
    std::erase_if(range.cta->unknown, [](const UnknownAccess& access) {
      return !access.overwritten.empty() && std::find(access.overwritten.begin(), access.overwritten.end(), false) == access.overwritten.end();
    });
  }
}

// Whether an access that may lie under this write need not be compared with what comes behind the write.
bool RaceChecker::isSettledUnknown(const UnknownAccess& access, const Range& range, EventId event) const {
  const Event& before = run_.log()[access.event];
  const Event& after = run_.log()[event];
  const bool is_compared = !(before.is_strong && after.is_strong) &&
                           (!access.writes || isOverwriteChecked(before, after, range.address));
  if (is_compared) return true;
  const Second write{event, lowestLane(range.lanes), range.address, ptx::Space::kShared, range.cta->rank};
  bool is_behind = true;
  forEachLane(access.lanes, [&](unsigned lane) { is_behind = is_behind && isBehind({access.event, lane}, write); });
  return is_behind;
}

void RaceChecker::meetUnknownLane(const UnknownAccess& access, unsigned lane, const Range& range, EventId event, bool writes) {
  if (!access.spans[lane].mayMeet(access.bytes, range.address, range.bytes)) return;
  const Event& before = run_.log()[access.event];
  const Event& after = run_.log()[event];
  std::optional<Candidate> open;
  const auto check = [&](Part part, unsigned second_lane) {
    Second second{event, second_lane, range.address, ptx::Space::kShared, range.cta->rank, !writes};
    const Verdict verdict = judge({access.event, lane}, part, second);
    if (verdict == Verdict::kFine || open) return;
    open = Candidate{{access.event, lane}, second, {}, part == Part::kRead, verdict == Verdict::kUnfenced};
  };
  forEachLane(range.lanes, [&](unsigned second_lane) {
    const bool is_own = before.warp == after.warp && lane == second_lane && !isAsync(after.kind);
    if (is_own) return;
    if (access.reads && writes) check(Part::kRead, second_lane);
    if (access.writes && (!writes || isOverwriteChecked(before, after, range.address))) check(Part::kWrite, second_lane);
  });
  if (!open || isReportedPossible(*open)) return;
  const unsigned granule = range.cta->shadow->granule();
  std::vector<StartRange> starts;
  for (std::uint64_t at = range.address; at < range.address + range.bytes; at += granule) {
    if (!isOverwritten(access, at, granule)) addRange(starts, startsAround(at, granule, access.bytes));
  }
  if (starts.empty()) return;
  const DataQuestions::Found answer = run_.questions().meets(run_.data, access.question(lane), starts);
  if (answer.answer == DataQuestions::Answer::kNo) return;
  if (answer.answer == DataQuestions::Answer::kUnknown) return limitUndecided(access.event, answer);
  open->second.address = std::max(range.address, answer.address & ~std::uint64_t{granule - 1});
  open->cell = range.cta->shadow->at(open->second.address - kSharedBase);
  reportPossible(*open, answer);
}

void RaceChecker::checkUnknownPair(Cta& cta, const UnknownAccess& first, const UnknownAccess& second) {
  const Event& before = run_.log()[first.event];
  const Event& after = run_.log()[second.event];
  const bool meets = (first.writes && second.reads) || (first.reads && second.writes);
  if (!meets || (before.is_strong && after.is_strong) || first.low >= second.high || second.low >= first.high) return;
  unsigned asked = 0;
  const auto lanesMeet = [&](unsigned a, unsigned b) {
    const Span &x = first.spans[a], &y = second.spans[b];
    const unsigned bits = std::min(x.known_bits, y.known_bits);
    if (x.low >= y.high + second.bytes || y.low >= x.high + first.bytes) return false;
    // Where both move by multiples of the same power of two, only their distance below it counts.
    const std::uint64_t step = std::uint64_t{1} << bits, distance = (y.residue - x.residue) & (step - 1);
    return distance < first.bytes || step - distance < second.bytes;
  };
  forEachLane(first.lanes, [&](unsigned a) {
    forEachLane(second.lanes, [&](unsigned b) {
      if ((before.warp == after.warp && a == b) || !lanesMeet(a, b)) return;
      const Part part = first.writes && second.reads ? Part::kWrite : Part::kRead;
      const Second access{second.event, b, std::max(first.low, second.low), ptx::Space::kShared, cta.rank, part == Part::kWrite};
      const Verdict verdict = judge({first.event, a}, part, access);
      if (verdict == Verdict::kFine) return;
      Candidate candidate{{first.event, a}, access, {}, part == Part::kRead, verdict == Verdict::kUnfenced};
      if (isReportedPossible(candidate)) return;
      const DataQuestions::Found answer =
          asked++ < kMaxPairQuestions
              ? run_.questions().overlap(run_.data, first.question(a), first.bytes, second.question(b), second.bytes,
                                         std::max(first.low, second.low), std::min(first.high, second.high))
              : DataQuestions::Found{};
      if (answer.answer == DataQuestions::Answer::kNo) return;
      if (answer.answer == DataQuestions::Answer::kUnknown) return limitUndecided(second.event, answer);
      candidate.second.address = answer.address;
      reportPossible(candidate, answer);
    });
  });
}

// A thread's later access stands for an earlier one to the same bytes: whoever is ordered after it is ordered after both.
void RaceChecker::keepUnknown(Cta& cta, UnknownAccess access) {
  const Event& event = run_.log()[access.event];
  for (UnknownAccess& old : cta.unknown) {
    const Event& before = run_.log()[old.event];
    const bool is_same = before.warp == event.warp && before.is_strong == event.is_strong && old.reads == access.reads &&
                         old.writes == access.writes && old.bytes == access.bytes && old.shape == access.shape &&
                         old.spans == access.spans;
    if (is_same) old.lanes &= ~access.lanes;
  }
  std::erase_if(cta.unknown, [](const UnknownAccess& old) { return old.lanes == 0; });
  if (cta.unknown.size() >= kMaxKept) {
    run_.addLimit("there are too many accesses to shared memory whose addresses depend on data that is not known before the launch",
                  run_.program.ops[event.op].instr);
    return;
  }
  cta.unknown.push_back(std::move(access));
}

}  // namespace handoff::machine
