// SPDX-License-Identifier: Apache-2.0
// The race check: every access is compared with the last write of its bytes and with those that this one is not ordered
// behind, every write also with the readers since.
// Races between strong accesses (atomics, volatile, qualified loads and stores) are none.
#pragma once

#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include "analyzer/machine/order.h"
#include "analyzer/machine/path.h"
#include "analyzer/machine/run_state.h"

namespace handoff::machine {

/// Contiguous bytes that lanes of one warp access together.
struct Range {
  Cta* cta = nullptr;         ///< whose shared memory; null for global memory
  std::uint64_t address = 0;  ///< shared::cta address, or global address
  std::uint32_t bytes = 0;
  LaneMask lanes = 0;
};

/// The content key of a copy that reads nothing and writes zeros.
inline constexpr std::uint64_t kZeros = 1;

/// How the source of a cp.async depends on the inputs of the kernel.
struct CopyTerms {
  symbolic::TermId source = symbolic::kConcrete;   ///< address, without the offset
  symbolic::TermId size = symbolic::kConcrete;     ///< bytes that are read
  symbolic::TermId ignored = symbolic::kConcrete;  ///< nothing is read
  std::int64_t offset = 0;
  LaneMask ignored_lanes = 0;                      ///< as the run has it
};

/// Global buffers, by their number in the address map.
using Buffers = std::set<std::uint64_t>;

class RaceChecker {
 public:
  /// `tracked`: the global buffers to keep a shadow of.
  RaceChecker(RunState& run, const Order& order, Buffers tracked)
      : run_(run), order_(order), read_sets_(run.outcome.log), tracked_(std::move(tracked)) {}

  /// `is_recorded`: whether later writes are to be checked against this read, too.
  void readShared(const Range& range, EventId event, bool is_recorded = true);
  void writeShared(const Range& range, EventId event);
  /// A read that belongs to an operation which another warp has started at `start`: nobody may have written since.
  void checkUnwrittenSince(const Range& range, EventId start);
  /// An access of which only terms say what it touches: checked against all that it may meet, and kept for what comes.
  void accessUnknown(Cta& cta, UnknownAccess access);
  /// What global memory is accessed for decides which buffers need a shadow (sharedBuffers).
  enum class GlobalAccess : std::uint8_t { kLoad, kStore, kAsyncRead, kAsyncWrite };
  void readGlobal(const Range& range, EventId event, GlobalAccess access);
  void writeGlobal(const Range& range, EventId event, GlobalAccess access);
  /// An access of global memory whose address is not known. `loads`: those that it depends on, if on nothing else.
  void noteUnknownGlobal(bool is_copy_source, Instructions loads) {
    (is_copy_source ? has_unknown_source_ : has_unknown_store_) = true;
    if (!loads.empty()) unknown_global_.insert(std::move(loads));
  }
  /// How the addresses of an access of global memory depend on the inputs.
  void noteDistance(symbolic::TermId address, const Lanes& words, LaneMask lanes);
  /// Of a copy whose source depends on inputs.
  void noteTerms(EventId copy, const CopyTerms& terms) { copy_terms_.emplace(copy, terms); }
  /// `passed` is a symbol no more (skip_turns.h).
  void forgetTurn(symbolic::Terms& terms, symbolic::TermId passed, bool has_skipped);
  /// That both copies bring the same bytes to one place holds for the present inputs: it becomes a decision.
  void decideSameContent(Access first, Access second);
  /// After the last access.
  void finish();
  /// Buffers that an asynchronous operation reads and something writes, or the other way around.
  Buffers sharedBuffers() const;
  const ReadSets& readSets() const { return read_sets_; }

 private:
  /// The access that is being checked.
  struct Second {
    EventId event = 0;
    unsigned lane = 0;
    std::uint64_t address = 0;
    ptx::Space space = ptx::Space::kShared;
    std::uint32_t cta = 0;
    bool reads = false;
  };
  enum class Verdict : std::uint8_t { kFine, kUnordered, kUnfenced };

  void trace(const Range& range, EventId event, bool is_write);
  void readCell(Cell& cell, LaneMask lanes, const Second& read, bool is_recorded);
  bool readAfter(Access writer, const Cell& cell, LaneMask lanes, const Second& read);
  void readUnordered(const Cell& cell, LaneMask lanes, const Second& read);
  void writeCell(Cell& cell, const Second& write);
  bool isSettled(Access before, const Cell& cell, const Second& write);
  bool isBehind(Access before, const Second& write) const;
  void settleUnordered(Cell& cell, const Second& write);
  void keepStrongReaders(Cell& cell, const Second& write);
  void limitHidden(Access before, const Second& write);
  bool isSameContent(Access first, Access second) const;
  void checkAgainstReaders(const Cell& cell, const Second& write);
  Verdict judge(Access first, Part part, const Second& second);
  Verdict judgeAnew(Access first, Part part, const Second& second) const;
  bool isOrdered(Access first, Part part, const Second& second) const;
  void checkHiddenReaders(const Cell& cell, const Second& second);
  void report(Access first, const Second& second, const Cell& cell, bool reader_is_first, bool is_unfenced);
  Conflict describe(Access first, const Second& second, const Cell& cell, bool reader_is_first, bool is_unfenced) const;
  void follow(const Conflict& conflict, std::size_t index, std::size_t other);
  bool hasReaderOf(const Conflict& conflict, std::uint16_t warp) const;
  bool isOverwriteChecked(const Event& old, const Event& write, std::uint64_t address) const;
  void noteStrongRace(EventId read);
  void notePrevious(const Cell& cell, Access reader, bool reader_is_first, Conflict& conflict) const;
  void noteCopy(Conflict& conflict, Part part) const;
  void noteOrderedRead(WriteId write, EventId read, LaneMask lanes);
  void judgeLaterReads();
  // --- races_unknown.cpp ---
  /// A pair that nothing orders, if the two meet.
  struct Candidate {
    Access first;
    Second second;
    Cell cell;
    bool reader_is_first = false, is_unfenced = false;
  };
  void checkUnknownLane(Cta& cta, const UnknownAccess& access, unsigned lane);
  void checkUnknownPair(Cta& cta, const UnknownAccess& first, const UnknownAccess& second);
  void meetUnknown(const Range& range, EventId event, bool writes);
  void meetUnknownLane(const UnknownAccess& access, unsigned lane, const Range& range, EventId event, bool writes);
  bool isSettledUnknown(const UnknownAccess& access, const Range& range, EventId event) const;
  void keepUnknown(Cta& cta, UnknownAccess access);
  void reportPossible(const Candidate& candidate, DataQuestions::Found found);
  void limitUndecided(EventId event, const DataQuestions::Found& found);
  bool isReportedPossible(const Candidate& candidate) const;
  std::tuple<std::uint32_t, std::uint32_t, int> keyOf(const Candidate& candidate) const;

  void limitUnknownSources();
  bool isTracked(std::uint64_t address, GlobalAccess access);
  template <typename Check> void forEachShared(const Range& range, Check&& check);
  template <typename Check> void forEachGlobal(const Range& range, Check&& check);

  RunState& run_;
  const Order& order_;
  std::vector<Candidate>* candidates_ = nullptr;  ///< where pairs go that would be reported otherwise
  bool is_possible_ = false;                      ///< what is reported is possible, no more
  ReadSets read_sets_;
  std::vector<ReadSets::Node> kept_readers_;
  std::unordered_map<EventId, CopyTerms> copy_terms_;
  const Buffers tracked_;
  std::array<Buffers, 4> accessed_;  ///< by GlobalAccess
  bool has_unknown_store_ = false, has_unknown_source_ = false;
  std::set<Instructions> unknown_global_;
  std::map<std::uint64_t, symbolic::TermId> bases_;  ///< by buffer: an address in it, for noteDistance
  /// The last question asked, and that its answer was fine: neighbouring cells mostly have one writer.
  struct Asked {
    EventId event = 0;
    LaneMask lanes = 0;
    WriteId write = 0;
    std::uint32_t cta = 0;   ///< a multicast is over in each apart
    bool operator==(const Asked&) const = default;
  };
  Asked asked_, asked_write_;
  /// The same of a write and the readers before it. The last cell that was asked about holds on to them.
  struct AskedReaders {
    EventId event = 0;
    unsigned lane = 0;
    ReadSetId reads = 0;
    std::uint32_t cta = 0;
    bool operator==(const AskedReaders&) const = default;
  };
  AskedReaders asked_readers_;
  /// Answers that were fine, by the first access: a tile has thousands of cells with the same few readers.
  struct Judged {
    Access first;
    EventId second = 0;
    unsigned lane = 0;
    std::uint32_t cta = 0;  ///< a multicast writes several, for each of which it is asked apart
    Part part = Part::kRead;
    bool reads = false;
  };
  std::array<Judged, 2048> judged_{};
  static constexpr std::size_t kMaxReads = 1024;
  /// By the sites of both accesses: index into Outcome::conflicts.
  std::map<std::tuple<std::uint32_t, std::uint32_t, int>, std::size_t> reported_;
  static constexpr std::size_t kMaxOthers = 15;
  /// A conflict of Outcome::conflicts, or one of its others.
  struct Followed {
    std::size_t conflict = 0;
    std::size_t other = 0;   ///< 0: itself
  };
  /// By the write of a read-write conflict, for the reader's later reads of what was written.
  std::unordered_multimap<WriteId, Followed> followed_;
};

}  // namespace handoff::machine
