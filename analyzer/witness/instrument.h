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

class Instrumenter {
 public:
  explicit Instrumenter(const machine::Program& program) : program_(program) {}

  /// A warp spins before the instruction; `pass`: in that turn only, 0: in all.
  struct Delay {
    std::uint32_t instr = 0, warp = 0, cta = 0, pass = 0;
    std::uint32_t clocks = 20'000;  ///< 10 us: longer than any copy takes, also from host memory
  };
  void delay(const Delay& delay, bool is_cluster);

  /// The issuer of a copy into shared memory overwrites the slot before it issues the copy. `box_bytes`: of
  /// tensor copies, whose size is in no operand. False when the destination or the size cannot be named.
  bool poison(std::uint32_t instr, std::uint64_t box_bytes);

  /// Stores of the same warp that keep its memory pipe busy, right before a store: to shared memory in
  /// conflict for one bank, to global memory scattered over many lines.
  bool conflictingStores(std::uint32_t instr, ptx::Space space);

  /// Bulk stores of the same source to host memory, queued before a bulk store. They belong to the next group
  /// of the issuer, as the store itself does.
  bool floodStores(std::uint32_t instr);

  Instrumentation take() { return std::move(result_); }

  /// Bytes of shared memory that conflictingStores() adds.
  static constexpr std::uint32_t kScratchBytes = 4096;

 private:
  std::string nameOf(const ptx::Operand& operand) const;
  std::string address(const ptx::Operand& operand, std::int64_t more) const;
  std::string unique(const char* stem) { return std::string("$handoff_") + stem + std::to_string(++labels_); }
  std::string skipUnlessGuarded(const ptx::Instruction& instruction, const std::string& label) const;
  void addHeader(const std::string& line);
  void add(std::uint32_t instr, std::string text) { result_.before.emplace(instr, std::move(text)); }

  const machine::Program& program_;
  Instrumentation result_;
  unsigned labels_ = 0, passes_ = 0;
};

}  // namespace handoff::witness
