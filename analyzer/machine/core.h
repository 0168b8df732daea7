// SPDX-License-Identifier: Apache-2.0
// What every transfer function stands on: the state of the run, the operands of the instruction at hand, and the log.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/machine/alu_terms.h"
#include "analyzer/machine/fingerprint.h"
#include "analyzer/machine/guards.h"
#include "analyzer/machine/order.h"
#include "analyzer/machine/path.h"
#include "analyzer/machine/run_state.h"

namespace handoff::machine {

class Core {
 public:
  /// One instruction that some lanes of a warp execute.
  struct Step {
    Warp& warp;
    std::size_t fragment;   ///< index; fragments move when lanes split
    const Op& op;
    OpIndex index;
    LaneMask lanes;         ///< whose guard holds
  };
  /// The part of an access whose lanes' addresses lie in one space.
  struct Resolved { ptx::Space space = ptx::Space::kGlobal; Lanes address; LaneMask lanes = 0; };
  /// A word in global memory as an input: its value, and its symbol if there is one.
  struct InputWord { std::uint64_t value = 0; symbolic::TermId symbol = symbolic::kConcrete; };
  /// An mbarrier object named by an address, and whose it is.
  struct Named {
    Cta* cta = nullptr;
    std::uint64_t address = 0;   ///< within the CTA
    bool is_remote = false;      ///< the executing thread belongs to another CTA
  };

 protected:
  Core(const Program& program, const Launch& launch, const RunOptions& options);

  const Lanes& value(const Warp& warp, Slot slot) const {
    if (slot == kNoSlot) return unknown_lanes_;
    return slot & kConstantBit ? program_.constants[slot & ~kConstantBit] : warp.registers[slot];
  }
  const Arg& arg(const Op& op, unsigned i) const { return program_.args[op.first_arg + i]; }
  /// `term`: how the lanes' words depend on the inputs of the kernel; `data`: what the unknown ones are.
  void assign(Warp& warp, const Arg& destination, const Lanes& lanes, LaneMask mask, symbolic::TermId term = symbolic::kConcrete,
              symbolic::TermId data = symbolic::kConcrete);
  void assignUnknown(Warp& warp, const Arg& destination, LaneMask mask);
  /// Address words of an address operand (base + offset), in the space of the base.
  Lanes addressWords(const Warp& warp, const Arg& operand) const;
  unsigned addressOperand(const Op& op, unsigned from = 0) const;
  std::optional<std::uint64_t> uniformValue(const Warp& warp, const Arg& operand, LaneMask lanes) const;
  std::vector<const Arg*> elements(const Arg& operand) const;
  /// All that the instruction writes becomes unknown.
  void forgetDestinations(const Step& step);

  /// The instruction cannot be executed: what comes after it can no longer be relied on.
  void notModelled(const Step& step);
  /// The same for one whose operands are not known: which memory or which barrier it is about.
  void unknownCopy(const Step& step);

  // --- dependence on the inputs (record.cpp) ---
  symbolic::TermId termAt(const Warp& warp, Slot slot) const {
    return slot < warp.terms.size() ? warp.terms[slot] : symbolic::kConcrete;  // constants have none
  }
  /// The operand as a term, whether it depends on inputs or not; `words` are its values.
  symbolic::TermId asTerm(symbolic::TermId term, const Lanes& words, LaneMask lanes, unsigned bits) const;
  void setTerm(Warp& warp, Slot slot, symbolic::TermId term, const Lanes& words, LaneMask mask);
  /// The guard of the step's op has been decided: `holds` of `asked`. True if the protocol depends on it.
  bool noteGuard(const Step& step, LaneMask asked, LaneMask holds);
  /// The step goes by the present values of its operands.
  void noteOperands(const Step& step);
  void noteGenericAddress(const Step& step, const Arg& arg);
  void noteValue(const Step& step, symbolic::TermId term, const Lanes& words, LaneMask lanes);
  bool dependsOnInputs(const Warp& warp, const Arg& arg) const;
  /// The result of an operation; where terms have no such operation, the run goes by the present values of `sources`.
  AluTerms aluTerms(const Step& step, ptx::AluOp alu, std::span<const Lanes* const> sources);
  symbolic::TermId partTerm(symbolic::TermId whole, unsigned from, unsigned bits);
  symbolic::TermId packedTerm(const Step& step, const Arg& parts, unsigned part_bits, unsigned bits);
  symbolic::TermId specialTerm(ptx::Special special, const Cta& cta);
  symbolic::TermId parameterTerm(std::uint64_t offset, unsigned bytes, ptx::Type type);
  /// Of a load of `words` from `addresses` in the parameter window, each plus `offset`.
  symbolic::TermId parameterTerms(const Lanes& addresses, LaneMask lanes, std::uint64_t offset, unsigned bytes, ptx::Type type,
                                  const Lanes& words);

  // --- data that is not known (data.cpp) ---
  /// The register as a term over unknown data, for these lanes; kConcrete when that is not followed.
  symbolic::TermId dataTerm(const Step& step, Slot slot, LaneMask lanes);
  void setData(Warp& warp, Slot slot, symbolic::TermId term, LaneMask mask);
  /// The result of an operation with unknown lanes.
  AluTerms aluData(const Step& step, ptx::AluOp alu, std::size_t sources);
  symbolic::TermId partData(const Step& step, Slot whole, unsigned from, unsigned bits);
  symbolic::TermId packedData(const Step& step, const Arg& parts, unsigned part_bits, unsigned bits);
  /// The loads that an unknown register depends on; none where it depends on anything else as well.
  Instructions loadsBehind(const Step& step, Slot slot);
  /// What is not known here would be, if words in global memory were inputs.
  void wantWords(const Step& step, Slot slot);
  /// What a load of unknown data brings into a register.
  void assignLoaded(const Step& step, const Arg& destination, LaneMask mask);

  /// A register at some moment.
  struct SavedRegister {
    Slot slot = 0;
    Lanes words;
    symbolic::TermId term = 0, data = 0;
  };
  SavedRegister savedRegister(const Warp& warp, Slot slot) const;
  void save(const Warp& warp, const Arg& destination, std::vector<SavedRegister>& to) const;
  void restore(Warp& warp, const SavedRegister& reg);
  void chooseRegister(const Step& step, Slot slot, symbolic::TermId guard, const SavedRegister& then,
                      const SavedRegister& otherwise, LaneMask lanes);
  symbolic::TermId under(symbolic::TermId outer, symbolic::TermId condition);
  LaneMask lanesThatMay(symbolic::TermId condition, LaneMask lanes);

  EventId log(const Step& step, EventKind kind, LaneMask lanes, std::uint32_t value = 0, bool is_strong = false);
  /// Keeps the first of its kind and severity at each site.
  void addMisuse(const Step& step, Misuse misuse);
  void addLimit(std::string reason, std::uint32_t instr) { run_.addLimit(std::move(reason), instr); }
  Cta& ctaOf(const Step& step) { return run_.cluster.ctaOf(step.warp); }
  /// A shared::cta address as reports need it: in a cluster, with the rank of its CTA.
  std::uint64_t reportedAddress(const Cta& cta, std::uint64_t address) const {
    return run_.cluster.ctas.size() > 1 ? inCluster(cta.rank, address) : address;
  }

  RunState run_;
  const Program& program_;
  const Launch& launch_;
  const RunOptions& options_;
  Outcome& outcome_;
  const Order order_;
  Lanes unknown_lanes_;
  PathLog*& path_;                    ///< RunState::path
  std::optional<Guards> guards_;
  HashRoom hash_room_;
  /// What is run need not happen, and does so only under this condition (unknown.cpp); kConcrete: it happens.
  symbolic::TermId condition_ = symbolic::kConcrete;

 private:
  std::uint64_t presentValue(symbolic::TermId symbol) const;
  std::set<std::pair<std::uint32_t, int>> misused_;  ///< by site, and kind with what decides its severity
};

}  // namespace handoff::machine
