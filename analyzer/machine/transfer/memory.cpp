// SPDX-License-Identifier: Apache-2.0
// Loads, stores and atomics of the generic proxy, in every space.
#include <algorithm>

#include "analyzer/machine/address.h"
#include "analyzer/machine/alu.h"
#include "analyzer/machine/executor.h"
#include "analyzer/machine/strength.h"

namespace handoff::machine {

using ptx::Space;

bool Bytes::read(std::uint64_t at, unsigned size, std::uint64_t& word) const {
  word = 0;
  for (unsigned i = 0; i < size; ++i) {
    if (!known[at + i]) return false;
    word |= std::uint64_t{value[at + i]} << (8 * i);
  }
  return true;
}

void Bytes::write(std::uint64_t at, unsigned size, std::uint64_t word, bool is_known) {
  for (unsigned i = 0; i < size; ++i) {
    value[at + i] = static_cast<std::uint8_t>(i < 8 ? word >> (8 * i) : 0);
    known[at + i] = is_known;
  }
}

namespace {

std::uint64_t signedWord(std::uint64_t word, ptx::Type type) {
  // Registers may be wider than the loaded type: ld.s8 into a 32-bit register extends the sign.
  if (!ptx::isSigned(type)) return word;
  const unsigned shift = 64 - bitWidth(type);
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(word << shift) >> shift);
}

}  // namespace

std::vector<Executor::Resolved> Executor::resolve(const Step& step, const Arg& operand, Space space) {
  std::vector<Resolved> parts;
  const Lanes words = addressWords(step.warp, operand);
  const LaneMask known = step.lanes & ~words.unknown;
  if ((step.lanes & words.unknown) != 0 && space == Space::kGlobal && !step.op.is_apart) noteUnknownGlobal(step, operand, /*is_copy_source=*/false);
  if ((step.lanes & words.unknown) != 0 && space != Space::kGlobal) {
    addLimit("the address of '" + step.op.decoded->opcode + "' depends on data that is not known before the launch",
             step.op.instr);
  }
  if (space != Space::kGeneric) {
    if (space == Space::kSharedCluster) space = Space::kShared;
    if (known != 0) parts.push_back({space, words, known});
    // Shared addresses are 32 bits wide, and so is the sum of base and offset.
    if (known != 0 && space == Space::kShared) {
      for (std::uint64_t& word : parts.back().address.word) word &= 0xffffffff;
    }
    return parts;
  }
  forEachLane(known, [&](unsigned lane) {
    const Location at = classify(words.word[lane]);
    auto part = std::find_if(parts.begin(), parts.end(), [&](const Resolved& r) { return r.space == at.space; });
    if (part == parts.end()) part = parts.insert(part, {at.space, {}, 0});
    part->address.word[lane] = at.offset;
    part->lanes |= laneBit(lane);
  });
  return parts;
}

Cta* Executor::checkSharedRange(const Step& step, std::uint64_t address, std::uint64_t bytes, LaneMask lanes) {
  Cta* const cta = run_.cluster.ctaAt(step.warp, address);
  if (cta == nullptr) {
    addMisuse(step, {.kind = Misuse::Kind::kNoSuchPeer, .lanes = lanes, .value = (address >> kClusterShift) - 1,
                     .wanted = run_.cluster.ctas.size()});
    return nullptr;
  }
  const std::uint64_t local = withinCta(address);
  const std::uint64_t crossing = (local | bytes) & (setup_.granule - 1);
  if (crossing != 0) {
    needed_granule_ = std::min(needed_granule_, 1u << std::countr_zero(crossing));
    is_stopped_ = true;
    return nullptr;
  }
  const bool inside = local >= kSharedBase && cta->shadow->contains(local - kSharedBase, bytes);
  outcome_.has_left_memory |= !inside;
  if (!inside && out_of_range_.insert(step.index).second) {
    addLimit("'" + step.op.decoded->opcode + "' reaches shared memory outside of what the launch gives (address " +
                 std::to_string(local - kSharedBase) + ", thread " +
                 std::to_string(step.warp.rank * kWarpSize + lowestLane(lanes)) + ")",
             step.op.instr);
  }
  return inside ? cta : nullptr;
}

// Only mbarrier operations may touch a live object (PTX ISA, "mbarrier": Lifecycle).
void Executor::checkBarrierBytes(const Step& step, Cta& cta, std::uint64_t address, std::uint64_t bytes, LaneMask lanes) {
  constexpr std::uint64_t kObjectBytes = 8;
  if (cta.mbarriers.empty()) return;
  for (auto it = cta.mbarriers.lower_bound(address >= kObjectBytes ? address - kObjectBytes + 1 : 0);
       it != cta.mbarriers.end() && it->first < address + bytes; ++it) {
    if (!it->second.isLive()) continue;
    addMisuse(step, {.kind = Misuse::Kind::kBarrierOverwritten, .lanes = lanes, .address = reportedAddress(cta, it->first),
                     .other = it->second.initEvent()});
  }
}

Bytes* Executor::privateBytes(Warp& warp, unsigned lane, Space space, std::uint64_t& address) {
  if (space == Space::kParam) {
    if (address < kCallParamBase) return nullptr;
    address -= kCallParamBase;
  }
  return warp.local.empty() ? nullptr : &warp.local[lane];
}

void Executor::loadPrivate(const Step& step, const Resolved& part, unsigned element_bytes) {
  const auto destinations = elements(arg(step.op, 0));
  for (std::size_t e = 0; e < destinations.size(); ++e) {
    Lanes out;
    forEachLane(part.lanes, [&](unsigned lane) {
      std::uint64_t at = part.address.word[lane] + e * element_bytes, word = 0;
      bool known = false;
      if (part.space == Space::kConst) {
        if (at + element_bytes <= program_.const_bytes.size()) {
          known = true;
          for (unsigned i = 0; i < element_bytes && i < 8; ++i) {
            known = known && program_.const_known[at + i];
            word |= std::uint64_t{program_.const_bytes[at + i]} << (8 * i);
          }
        }
      } else if (Bytes* bytes = privateBytes(step.warp, lane, part.space, at); bytes != nullptr) {
        known = bytes->contains(at, element_bytes) && bytes->read(at, element_bytes, word);
      } else if (at + element_bytes <= launch_.param_bytes.size()) {
        known = true;
        for (unsigned i = 0; i < element_bytes && i < 8; ++i) {
          known = known && launch_.param_known[at + i];
          word |= std::uint64_t{launch_.param_bytes[at + i]} << (8 * i);
        }
      }
      out.word[lane] = signedWord(word, step.op.decoded->type());
      if (!known) out.unknown |= laneBit(lane);
    });
    const bool is_parameter = path_ != nullptr && part.space == Space::kParam;
    const symbolic::TermId term = is_parameter ? parameterTerms(part.address, part.lanes, e * element_bytes, element_bytes,
                                                               step.op.decoded->type(), out)
                                               : symbolic::kConcrete;
    assign(step.warp, *destinations[e], out, part.lanes, term);
  }
}

void Executor::storePrivate(const Step& step, const Resolved& part, unsigned element_bytes) {
  const auto sources = elements(arg(step.op, 1));
  for (std::size_t e = 0; e < sources.size(); ++e) {
    const Lanes& words = value(step.warp, sources[e]->slot);
    forEachLane(part.lanes, [&](unsigned lane) {
      std::uint64_t at = part.address.word[lane] + e * element_bytes;
      Bytes* bytes = privateBytes(step.warp, lane, part.space, at);
      if (bytes != nullptr && bytes->contains(at, element_bytes)) {
        bytes->write(at, element_bytes, words.word[lane], words.isKnown(lane));
      }
    });
  }
}

void Executor::loadShared(const Step& step, const Resolved& part, unsigned element_bytes) {
  const ptx::Decoded& decoded = *step.op.decoded;
  const auto destinations = elements(arg(step.op, 0));
  const std::uint32_t bytes = element_bytes * static_cast<std::uint32_t>(destinations.size());
  const bool strong = isStrong(decoded);
  const EventId event = log(step, EventKind::kRead, part.lanes, 0, strong);
  LaneMask rest = part.lanes, valid = 0;
  while (rest != 0) {
    // Lanes that read the same address (a broadcast) make one range.
    const std::uint64_t address = part.address.word[lowestLane(rest)];
    LaneMask same = 0;
    forEachLane(rest, [&](unsigned lane) { same |= part.address.word[lane] == address ? laneBit(lane) : 0; });
    rest &= ~same;
    Cta* const cta = checkSharedRange(step, address, bytes, same);
    if (cta == nullptr) continue;
    valid |= same;
    forEachLane(same, [&](unsigned lane) { usePeer(step, *cta, event, lane, Misuse::Kind::kPeerNotStarted); });
    races_.readShared({cta, withinCta(address), bytes, same}, event);
  }
  const auto ctaOfLane = [&](unsigned lane) -> Cta& { return *run_.cluster.ctaAt(step.warp, part.address.word[lane]); };
  if (strong) {
    forEachLane(valid, [&](unsigned lane) {
      acquireFlag(step, lane, ctaOfLane(lane), part.address.word[lane]);
    });
    step.warp.has_polled_flag = true;
  }
  if (!program_.needs_shared_contents) return assignLoaded(step, arg(step.op, 0), part.lanes);
  assignLoaded(step, arg(step.op, 0), part.lanes);
  for (std::size_t e = 0; e < destinations.size(); ++e) {
    Lanes out;
    out.unknown = part.lanes;
    forEachLane(valid, [&](unsigned lane) {
      std::uint64_t word = 0;
      const std::uint64_t at = sharedOffset(withinCta(part.address.word[lane])) + e * element_bytes;
      if (element_bytes > 8 || !ctaOfLane(lane).shared.read(at, element_bytes, word)) return;
      out.word[lane] = signedWord(word, decoded.type());
      out.unknown &= ~laneBit(lane);
    });
    assign(step.warp, *destinations[e], out, part.lanes & ~out.unknown);
  }
}

void Executor::storeShared(const Step& step, const Resolved& part, unsigned element_bytes) {
  const ptx::Decoded& decoded = *step.op.decoded;
  const auto sources = elements(arg(step.op, 1));
  const std::uint32_t bytes = element_bytes * static_cast<std::uint32_t>(sources.size());
  const bool strong = isStrong(decoded);
  const EventId event = log(step, EventKind::kWrite, part.lanes, 0, strong);
  forEachLane(part.lanes, [&](unsigned lane) {
    const std::uint64_t address = part.address.word[lane];
    Cta* const cta = checkSharedRange(step, address, bytes, laneBit(lane));
    if (cta == nullptr) return;
    usePeer(step, *cta, event, lane, Misuse::Kind::kPeerNotStarted);
    checkBarrierBytes(step, *cta, withinCta(address), bytes, laneBit(lane));
    races_.writeShared({cta, withinCta(address), bytes, laneBit(lane)}, event);
    if (strong) releaseFlag(step, lane, *cta, address, /*is_rmw=*/false);
    if (!program_.needs_shared_contents) return;
    for (std::size_t e = 0; e < sources.size(); ++e) {
      const Lanes& words = value(step.warp, sources[e]->slot);
      const bool known = words.isKnown(lane) && element_bytes <= 8;
      cta->shared.write(sharedOffset(withinCta(address)) + e * element_bytes, element_bytes, words.word[lane], known);
    }
  });
  if (strong) progress();
}

void Executor::storeGlobal(const Step& step, const Resolved& part, unsigned bytes) {
  if (!program_.has_async_copies || step.op.is_apart) return;
  const EventId event = log(step, EventKind::kWrite, part.lanes, 0, isStrong(*step.op.decoded));
  forEachLane(part.lanes, [&](unsigned lane) {
    races_.writeGlobal({nullptr, part.address.word[lane], bytes, laneBit(lane)}, event, RaceChecker::GlobalAccess::kStore);
  });
  if (isStrong(*step.op.decoded)) checkSignal(step, event, part.lanes);
}

// Only what an asynchronous store of this kernel may have written is of interest.
void Executor::loadGlobal(const Step& step, const Resolved& part, unsigned bytes) {
  if (!program_.has_bulk_stores || step.op.is_apart) return;
  const EventId event = log(step, EventKind::kRead, part.lanes, 0, isStrong(*step.op.decoded));
  forEachLane(part.lanes, [&](unsigned lane) {
    races_.readGlobal({nullptr, part.address.word[lane], bytes, laneBit(lane)}, event, RaceChecker::GlobalAccess::kLoad);
  });
}

void Executor::operator()(const ptx::Load&, const Step& step) {
  if (step.op.reads_input && loadInput(step)) return;
  const Space space = step.op.decoded->space();
  const bool is_ignored = space == Space::kGlobal && !program_.has_bulk_stores;
  if (is_ignored || space == Space::kTex) return assignLoaded(step, arg(step.op, 0), step.lanes);
  const unsigned a = addressOperand(step.op, 1);
  if (a == step.op.arg_count) return notModelled(step);
  const unsigned bytes = ptx::byteSize(step.op.decoded->type());
  if (bytes == 0) return notModelled(step);
  const LaneMask unknown = accessUnknown(step, arg(step.op, a), bytes * step.op.decoded->vector, /*reads=*/true, /*writes=*/false);
  if (unknown != 0) assignLoaded(step, arg(step.op, 0), unknown);
  const Step known{step.warp, step.fragment, step.op, step.index, step.lanes & ~unknown};
  LaneMask done = unknown;
  for (const Resolved& part : resolve(known, arg(step.op, a), space)) {
    done |= part.lanes;
    switch (part.space) {
      case Space::kShared: loadShared(step, part, bytes); break;
      case Space::kLocal:
      case Space::kParam:
      case Space::kConst: loadPrivate(step, part, bytes); break;
      case Space::kGlobal:
        noteDistance(step, arg(step.op, a), part.lanes);
        loadGlobal(step, part, bytes * step.op.decoded->vector);
        assignLoaded(step, arg(step.op, 0), part.lanes);
        break;
      default: assignLoaded(step, arg(step.op, 0), part.lanes);
    }
  }
  if (done != step.lanes) assignLoaded(step, arg(step.op, 0), step.lanes & ~done);
}

void Executor::operator()(const ptx::Store&, const Step& step) {
  const Space space = step.op.decoded->space();
  const unsigned bytes = ptx::byteSize(step.op.decoded->type());
  if (bytes == 0 || step.op.arg_count < 2 || arg(step.op, 0).kind != Arg::Kind::kAddress) return notModelled(step);
  const auto count = static_cast<unsigned>(elements(arg(step.op, 1)).size());
  const LaneMask unknown = accessUnknown(step, arg(step.op, 0), bytes * count, /*reads=*/false, /*writes=*/true);
  const Step known{step.warp, step.fragment, step.op, step.index, step.lanes & ~unknown};
  for (const Resolved& part : resolve(known, arg(step.op, 0), space)) {
    switch (part.space) {
      case Space::kShared: storeShared(step, part, bytes); break;
      case Space::kLocal:
      case Space::kParam: storePrivate(step, part, bytes); break;
      case Space::kGlobal:
        noteDistance(step, arg(step.op, 0), part.lanes);
        storeGlobal(step, part, bytes * count);
        break;
      default: break;
    }
  }
}

void Executor::matrixAccess(const Step& step, bool is_store) {
  // Row r of matrix m is addressed by lane 8 m + r; the whole warp receives its bytes. .x1 uses lanes 0-7, and so on.
  const ptx::Decoded& decoded = *step.op.decoded;
  const unsigned a = addressOperand(step.op, 0);
  if (a == step.op.arg_count) return notModelled(step);
  constexpr std::uint32_t kRowBytes = 16;
  const unsigned rows_per_matrix = decoded.has("m16n16") ? 16 : 8;
  const unsigned rows = std::min(kWarpSize, decoded.vector * rows_per_matrix);
  const LaneMask row_lanes = rows >= kWarpSize ? kAllLanes : laneBit(rows) - 1;
  const Space space = decoded.space();
  for (const Resolved& part : resolve(step, arg(step.op, a), space)) {
    if (part.space != Space::kShared) continue;
    const EventId event = log(step, is_store ? EventKind::kWrite : EventKind::kRead, step.lanes);
    forEachLane(part.lanes & row_lanes, [&](unsigned lane) {
      const std::uint64_t address = part.address.word[lane];
      Cta* const cta = checkSharedRange(step, address, kRowBytes, laneBit(lane));
      if (cta == nullptr) return;
      const std::uint64_t local = withinCta(address);
      if (is_store) {
        checkBarrierBytes(step, *cta, local, kRowBytes, laneBit(lane));
        races_.writeShared({cta, local, kRowBytes, laneBit(lane)}, event);
        if (program_.needs_shared_contents) cta->shared.write(sharedOffset(local), kRowBytes, 0, /*is_known=*/false);
      } else {
        races_.readShared({cta, local, kRowBytes, step.lanes}, event);
      }
    });
  }
  if (!is_store) forgetDestinations(step);
}

void Executor::operator()(const ptx::LdMatrix&, const Step& step) { matrixAccess(step, /*is_store=*/false); }
void Executor::operator()(const ptx::StMatrix&, const Step& step) { matrixAccess(step, /*is_store=*/true); }

// Both sides have to be in each other's scope (PTX ISA, "Morally strong operations"): between CTAs that is cluster scope or
// wider, which volatile accesses and atomics without a scope have.
void Executor::acquireFlag(const Step& step, unsigned lane, const Cta& cta, std::uint64_t address) {
  const auto flag = run_.cluster.flags.find(inCluster(cta.rank, address));
  if (flag == run_.cluster.flags.end()) return;
  Warp& warp = step.warp;
  const ptx::Sem sem = step.op.decoded->sem;
  const auto acquire = [&](const Clock& clock, std::shared_ptr<Clock>& later) {
    if (sem == ptx::Sem::kAcquire || sem == ptx::Sem::kAcqRel) return warp.clock.learn(laneBit(lane), clock);
    // A later fence of the same thread turns the relaxed read into an acquire pattern.
    if (!later) later = std::make_shared<Clock>();
    later->join(clock);
  };
  if (cta.rank == warp.cta) acquire(flag->second.near, warp.to_acquire[lane]);
  if (step.op.decoded->scope != ptx::Scope::kCta) acquire(flag->second.afar, warp.to_acquire_afar[lane]);
}

void Executor::releaseFlag(const Step& step, unsigned lane, const Cta& cta, std::uint64_t address, bool is_rmw) {
  Warp& warp = step.warp;
  const std::uint64_t key = inCluster(cta.rank, address);
  const bool is_own = cta.rank == warp.cta, is_wide = step.op.decoded->scope != ptx::Scope::kCta;
  Flag written;
  if (is_rmw) {
    if (const auto flag = run_.cluster.flags.find(key); flag != run_.cluster.flags.end()) written = flag->second;
  }
  if (const ptx::Sem sem = step.op.decoded->sem; sem == ptx::Sem::kRelease || sem == ptx::Sem::kAcqRel) {
    Clock released;
    warp.clock.publish(laneBit(lane), released);
    if (is_own) written.near.join(released);
    if (is_wide) written.afar.join(released);
  }
  if (is_own && warp.released_by_fence[lane]) written.near.join(*warp.released_by_fence[lane]);
  if (is_wide && warp.released_afar[lane]) written.afar.join(*warp.released_afar[lane]);
  run_.cluster.flags[key] = std::move(written);
}

}  // namespace handoff::machine
