// SPDX-License-Identifier: Apache-2.0
// PTX text that makes one of the legal orders of a kernel more likely, without changing what a correct kernel
// computes.
//
// None of it adds a wait or a barrier between threads: a kernel whose result it changes depends on timing.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/machine/program.h"
#include "analyzer/ptx/printer.h"

namespace handoff::witness {

/// What is added to a kernel. Instruction numbers are those of Program::function.
struct Instrumentation {
  std::string header, entry;
  std::multimap<ptx::InstrIndex, std::string> before;
  bool isEmpty() const { return before.empty(); }
};

/// Which threads do what is added.
struct Actors {
  enum class Who : std::uint8_t { kAll, kWarp, kOthers, kOddWarps };
  Who who = Who::kAll;
  std::uint32_t warp = 0, cta = 0;  ///< kWarp: that one only; kOthers: all but that one
  bool has_cluster = false;         ///< without a cluster, `cta` means nothing
};

class Instrumenter {
 public:
  explicit Instrumenter(const machine::Program& program) : program_(program) {}

  /// Where something is added. `pass`: in that turn only, 0: in all.
  struct Place {
    std::uint32_t instr = 0;
    Actors actors{};
    std::uint32_t pass = 0;
  };

  /// Longer than any copy takes, also from host memory: 10 us.
  static constexpr std::uint32_t kDelayClocks = 20'000;
  /// Threads spin before the instruction.
  void delay(const Place& place);

  /// The issuer of a copy into shared memory overwrites the slot before it issues the copy. `box_bytes`: of
  /// tensor copies, whose size is in no operand. False when the destination or the size cannot be named.
  bool poison(std::uint32_t instr, std::uint64_t box_bytes);

  /// Stores that keep the memory pipe of a warp busy, right before it stores: to shared memory in conflict
  /// for one bank, to global memory scattered over many lines.
  bool conflictingStores(const Place& place, ptx::Space space, unsigned count);

  /// Bulk stores of the same source to host memory, queued before a bulk store. They belong to the next group
  /// of the issuer, as the store itself does.
  bool floodStores(std::uint32_t instr);

  /// A few large bulk stores to host memory, queued before a bulk or tensor copy: the copy engine takes what
  /// it is given in order, and an issuer that finds its queue full would have to wait. False: no other copy,
  /// or no room in shared memory for what they read.
  bool queueCopies(const Place& place);

  /// The same multiplication, added and subtracted by turns, before a multiplication of the tensor core: sums
  /// of the numbers that tiles are filled with are exact. False: not that kind of accumulator.
  bool queueMultiplications(const Place& place);

  /// What an earlier kernel may have left where an mbarrier is about to be set up: one whose first phase is
  /// over, or one that is in it. Then the thread spins.
  bool staleBarrier(std::uint32_t instr, bool is_first_phase_over);

  /// The map that is about to be edited is fetched first, so that caches have the old one.
  bool prefetchMap(std::uint32_t instr);

  /// Other tensor maps are fetched right before a copy through one in global memory: those that lie behind
  /// it.
  bool queueMapFetches(const Place& place);

  Instrumentation take() { return std::move(result_); }

  /// Bytes of shared memory that conflictingStores() adds.
  static constexpr std::uint32_t kScratchBytes = 4096;
  /// Of variables, on every target.
  static constexpr std::uint64_t kMaxSharedBytes = 48 * 1024;

 private:
  std::string nameOf(const ptx::Operand& operand) const;
  std::string address(const ptx::Operand& operand, std::int64_t more) const;
  std::string unique(const char* stem) { return std::string("$handoff_") + stem + std::to_string(++labels_); }
  std::string skipUnlessGuarded(const ptx::Instruction& instruction, const std::string& label) const;
  std::string skipOthers(const Actors& actors, const std::string& label) const;
  std::string skipOtherTurns(std::uint32_t pass, const std::string& label);
  std::string spin();
  void addHeader(const std::string& line);
  void add(std::uint32_t instr, std::string text) { result_.before.emplace(instr, std::move(text)); }

  const machine::Program& program_;
  Instrumentation result_;
  unsigned labels_ = 0, passes_ = 0;
};

}  // namespace handoff::witness
