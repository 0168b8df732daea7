// SPDX-License-Identifier: Apache-2.0
// Operands, the log, and what cannot be executed.
#include "analyzer/machine/core.h"

namespace handoff::machine {

Core::Core(const Program& program, const Launch& launch, const RunOptions& options)
    : run_(program, launch, options), program_(run_.program), launch_(run_.launch), options_(run_.options),
      outcome_(run_.outcome), order_(run_), path_(run_.path) {
  if (path_ != nullptr) guards_.emplace(program);
  unknown_lanes_.unknown = kAllLanes;
}

void Core::addMisuse(const Step& step, Misuse misuse) {
  misuse.op = step.index;
  misuse.warp = step.warp.id;
  misuse.at = outcome_.log.end() - 1;
  // To initialise an idle barrier again is a note: it must not stand for that of a busy one.
  const bool is_note = misuse.kind == Misuse::Kind::kReinitialized && misuse.value != 0;
  const int shade = 2 * is_note + misuse.is_possible;
  if (misused_.emplace(step.op.site, 4 * static_cast<int>(misuse.kind) + shade).second) outcome_.misuses.push_back(std::move(misuse));
}

void Core::notModelled(const Step& step) {
  run_.noteUnmodelled();
  addLimit("'" + step.op.decoded->opcode + "' is not modelled", step.op.instr);
  forgetDestinations(step);
}

// Where the copy goes, or which barrier it completes on, is not known: nothing after it can be relied on.
void Core::unknownCopy(const Step& step) {
  run_.noteUnmodelled();
  for (std::uint32_t i = step.op.dst_count; i < step.op.arg_count; ++i) {
    const Slot slot = arg(step.op, i).slot;
    if (slot != kNoSlot && (value(step.warp, slot).unknown & step.lanes) != 0) wantWords(step, slot);
  }
  addLimit("an operand of '" + step.op.decoded->opcode + "' depends on data that is not known before the launch", step.op.instr);
}

EventId Core::log(const Step& step, EventKind kind, LaneMask lanes, std::uint32_t value, bool is_strong) {
  return outcome_.log.add({.op = step.index,
                           .site = step.op.site,
                           .pass = ++step.warp.passes[step.index],
                           .epoch = step.warp.clock.epoch(),
                           .lanes = lanes,
                           .value = value,
                           .warp = step.warp.id,
                           .kind = kind,
                           .is_strong = is_strong});
}

void Core::assign(Warp& warp, const Arg& destination, const Lanes& lanes, LaneMask mask, symbolic::TermId term,
                  symbolic::TermId data) {
  if (destination.kind != Arg::Kind::kSlot || destination.slot == kNoSlot) return;
  if (!warp.terms.empty()) setTerm(warp, destination.slot, term, lanes, mask);
  Lanes& target = warp.registers[destination.slot];
  if (mask == kAllLanes) {
    target = lanes;
  } else {
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      if (mask & laneBit(lane)) target.word[lane] = lanes.word[lane];
    }
    target.unknown = (target.unknown & ~mask) | (lanes.unknown & mask);
  }
  if ((lanes.unknown & mask) != 0) setData(warp, destination.slot, data, lanes.unknown & mask);
}

void Core::assignUnknown(Warp& warp, const Arg& destination, LaneMask mask) {
  // The result of a call that stayed one is a .param variable: its operand is a constant, the variable's address.
  const bool is_register = destination.kind == Arg::Kind::kSlot && destination.slot < warp.registers.size();
  if (is_register) {
    warp.registers[destination.slot].unknown |= mask;
    setData(warp, destination.slot, symbolic::kConcrete, mask);
  }
  for (std::uint32_t i = 0; i < destination.count; ++i) {
    assignUnknown(warp, program_.args[destination.first + i], mask);
  }
}

void Core::forgetDestinations(const Step& step) {
  for (std::uint32_t d = 0; d < step.op.dst_count; ++d) assignUnknown(step.warp, arg(step.op, d), step.lanes);
}

Lanes Core::addressWords(const Warp& warp, const Arg& operand) const {
  Lanes words = value(warp, operand.slot);
  if (operand.offset != 0) {
    for (std::uint64_t& word : words.word) word += static_cast<std::uint64_t>(operand.offset);
  }
  return words;
}

unsigned Core::addressOperand(const Op& op, unsigned from) const {
  unsigned i = from;
  while (i < op.arg_count && arg(op, i).kind != Arg::Kind::kAddress) ++i;
  return i;
}

std::optional<std::uint64_t> Core::uniformValue(const Warp& warp, const Arg& operand, LaneMask lanes) const {
  if (operand.kind != Arg::Kind::kSlot) return std::nullopt;
  const Lanes& words = value(warp, operand.slot);
  if ((words.unknown & lanes) != 0 || lanes == 0) return std::nullopt;
  const std::uint64_t first = words.word[lowestLane(lanes)];
  bool same = true;
  forEachLane(lanes, [&](unsigned lane) { same &= words.word[lane] == first; });
  return same ? std::optional(first) : std::nullopt;
}

std::vector<const Arg*> Core::elements(const Arg& operand) const {
  std::vector<const Arg*> list;
  if (operand.kind == Arg::Kind::kVector) {
    for (std::uint32_t i = 0; i < operand.count; ++i) list.push_back(&program_.args[operand.first + i]);
  } else {
    list.push_back(&operand);
  }
  return list;
}

}  // namespace handoff::machine
