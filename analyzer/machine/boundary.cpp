// SPDX-License-Identifier: Apache-2.0
// Boundaries of a run: the states between two rounds of the scheduler, and what closures make of them.
#include <algorithm>

#include "analyzer/machine/executor.h"
#include "analyzer/machine/fingerprint.h"

namespace handoff::machine {

namespace {

/// Memory for the words of registers.
constexpr std::size_t kMaxWordBytes = std::size_t{256} << 20;

}  // namespace

// Warp after warp.
std::vector<PathLog::Register> Executor::liveRegisters() const {
  std::vector<PathLog::Register> live;
  std::vector<Slot> slots;
  for (const Warp& warp : run_.cluster.warps) {
    slots.clear();
    const auto addLive = [&](OpIndex pc) {
      for (const Slot slot : guards_->liveness().at(pc)) slots.push_back(slot);
    };
    for (const Fragment& fragment : warp.fragments) addLive(fragment.pc);
    for (const Join& join : warp.joins) {
      if (join.arrived != 0) addLive(join.pc);
    }
    std::sort(slots.begin(), slots.end());
    slots.erase(std::unique(slots.begin(), slots.end()), slots.end());
    for (const Slot slot : slots) {
      const bool is_special = std::any_of(program_.specials.begin(), program_.specials.end(), [&](const auto& s) { return s.slot == slot; });
      if (!is_special) live.push_back({warp.id, slot, program_.slot_bits[slot]});
    }
  }
  return live;
}

void Executor::addRegisters(Boundary& boundary, const std::vector<PathLog::Register>& live, bool keeps_words) {
  ShapeHasher shapes(run_.data);  // one for all: whether two registers hold the same datum counts
  for (const PathLog::Register& reg : live) {
    boundary.state = mix(boundary.state, dataShape(run_.cluster.warps[reg.warp], reg.slot, shapes));
    const Warp& warp = run_.cluster.warps[reg.warp];
    const Lanes& lanes = warp.registers[reg.slot];
    const symbolic::TermId term = termAt(warp, reg.slot);
    boundary.state = mix(boundary.state, lanes.unknown & warp.live);
    boundary.registers = mix(boundary.registers, term);
    boundary.terms.push_back(term);
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      const bool counts = term == symbolic::kConcrete && (warp.live & laneBit(lane)) != 0 && lanes.isKnown(lane);
      const std::uint64_t word = counts ? lanes.word[lane] : 0;
      boundary.registers = mix(boundary.registers, word);
      if (keeps_words) boundary.words.push_back(word);
    }
  }
}

StateHash Executor::presentState() {
  return hashState({run_, races_.readSets(), undrained_, multiplications_, tensormaps_, registers_, progress_}, hash_room_);
}

void Executor::meetBoundary() {
  StateHash hash;
  if (path_->needsState()) hash = presentState();
  Boundary boundary{.state = hash.state, .registers = 0, .decisions = path_->decisions.size(), .parts = hash.parts};
  std::vector<PathLog::Register> live = liveRegisters();
  const std::size_t bytes = path_->boundaries.size() * live.size() * sizeof(Lanes);
  addRegisters(boundary, live, path_->keeps_words && bytes < kMaxWordBytes);
  for (const Closure* closure : path_->closures) {
    if (path_->needsState() && closure->state == boundary.state) applyClosure(*closure, boundary, live);
  }
  if (path_->keeps_words) path_->registers_of.try_emplace(boundary.state, std::move(live));
  path_->boundaries.push_back(std::move(boundary));
}

// What is known of a register's unknown lanes is a part of the state. A term that is another one each time, as of an
// address that moves on, would keep all states apart: it is given up.
std::uint64_t Executor::dataShape(Warp& warp, Slot slot, ShapeHasher& shapes) {
  const LaneMask unknown = warp.registers[slot].unknown & warp.live;
  if (unknown == 0 || warp.data[slot] == symbolic::kConcrete) return 0;
  if (warp.data_shapes.empty()) {
    warp.data_shapes.resize(warp.data.size(), 0);
    warp.has_moving_data.resize(warp.data.size(), false);
  }
  const symbolic::TermId term = run_.data.terms().ofLanes(warp.data[slot], unknown);
  const std::uint64_t own = ShapeHasher(run_.data)(term);
  if (warp.data_shapes[slot] != 0 && warp.data_shapes[slot] != own) warp.has_moving_data[slot] = true;
  warp.data_shapes[slot] = own;
  if (!warp.has_moving_data[slot]) return shapes(term);
  warp.data[slot] = symbolic::kConcrete;
  return 0;
}

// The state is met: for the first time, any number of periods may have passed before; one period later it has to be
// the state of one turn more.
void Executor::applyClosure(const Closure& closure, const Boundary& boundary, const std::vector<PathLog::Register>& live) {
  symbolic::Terms& terms = path_->terms();
  const auto of = [&](const auto& entry) { return entry.closure == &closure; };
  const auto applied = std::find_if(path_->applied.begin(), path_->applied.end(), of);
  const bool is_applied = applied != path_->applied.end();
  if (is_applied && path_->boundaries.size() != applied->boundary + closure.length) return;
  const bool has_returned = std::any_of(path_->returned.begin(), path_->returned.end(), of);
  if (has_returned || (!is_applied && boundary.registers != closure.registers)) return;
  PathLog::Returned returned{.closure = &closure, .decisions = boundary.decisions, .registers = {}};
  // All live registers have to come back: those with a step one step further, the others as they were.
  for (const PathLog::Register& reg : live) {
    Warp& warp = run_.cluster.warps[reg.warp];
    const auto step = std::find_if(closure.steps.begin(), closure.steps.end(),
                                   [&](const RegisterStep& s) { return s.warp == reg.warp && s.slot == reg.slot; });
    const symbolic::TermId held = asTerm(termAt(warp, reg.slot), warp.registers[reg.slot], warp.live, reg.width);
    const symbolic::LaneWords delta = step == closure.steps.end() ? symbolic::LaneWords{} : step->delta;
    const symbolic::TermId move = terms.multiply(terms.resize(closure.turns, reg.width), terms.lanes(delta, reg.width));
    symbolic::TermId& base = path_->base_terms[{&closure, reg.warp, reg.slot}];
    if (is_applied) {
      returned.registers.push_back({held, base == 0 ? move : terms.add(terms.add(base, move), terms.lanes(delta, reg.width))});
      continue;
    }
    base = held;
    if (step == closure.steps.end()) continue;
    const symbolic::TermId moved = terms.add(held, move);
    warp.terms[reg.slot] = terms[moved].has_symbols ? moved : symbolic::kConcrete;
  }
  if (is_applied) {
    path_->returned.push_back(std::move(returned));
  } else {
    path_->applied.push_back({&closure, boundary.decisions, path_->boundaries.size()});
  }
}

}  // namespace handoff::machine
