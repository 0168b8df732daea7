// SPDX-License-Identifier: Apache-2.0
// Atomics on shared memory, and the warp-collective wmma accesses.
#include <algorithm>

#include "analyzer/machine/address.h"
#include "analyzer/machine/alu.h"
#include "analyzer/machine/executor.h"

namespace handoff::machine {

using ptx::Space;

namespace {

struct AtomicResult { std::uint64_t word = 0; bool is_known = false; };

std::int64_t toSigned(std::uint64_t word, unsigned bits) {
  return static_cast<std::int64_t>(word << (64 - bits)) >> (64 - bits);
}

AtomicResult apply(const ptx::Decoded& d, std::uint64_t old, std::uint64_t b, std::uint64_t c) {
  const unsigned bits = bitWidth(d.type());
  const std::uint64_t mask = bits >= 64 ? ~0ull : (1ull << bits) - 1;
  if (ptx::isFloat(d.type())) return {};
  if (d.has("add")) return {(old + b) & mask, true};
  if (d.has("exch")) return {b & mask, true};
  if (d.has("cas")) return {old == (b & mask) ? c & mask : old, true};
  if (d.has("and")) return {old & b & mask, true};
  if (d.has("or")) return {(old | b) & mask, true};
  if (d.has("xor")) return {(old ^ b) & mask, true};
  if (d.has("inc")) return {old >= (b & mask) ? 0 : old + 1, true};
  if (d.has("dec")) return {old == 0 || old > (b & mask) ? b & mask : old - 1, true};
  const bool take_b = ptx::isSigned(d.type()) ? toSigned(b, bits) < toSigned(old, bits) : (b & mask) < old;
  if (d.has("min")) return {take_b ? b & mask : old, true};
  if (d.has("max")) return {take_b || old == (b & mask) ? old : b & mask, true};
  return {};
}

}  // namespace

void Executor::atomicShared(const Step& step, const Resolved& part, unsigned bytes) {
  const ptx::Decoded& decoded = *step.op.decoded;
  const EventId event = log(step, EventKind::kAtomic, part.lanes, 0, /*is_strong=*/true);
  const unsigned a = addressOperand(step.op);
  const auto operand = [&](unsigned i) -> const Lanes& {
    return a + i < step.op.arg_count ? value(step.warp, arg(step.op, a + i).slot) : unknown_lanes_;
  };
  Lanes old_words;
  old_words.unknown = part.lanes;
  forEachLane(part.lanes, [&](unsigned lane) {
    const std::uint64_t address = part.address.word[lane];
    Cta* const cta = checkSharedRange(step, address, bytes, laneBit(lane));
    if (cta == nullptr) return;
    usePeer(step, *cta, event, lane, Misuse::Kind::kPeerNotStarted);
    const Range range{cta, withinCta(address), bytes, laneBit(lane)};
    checkBarrierBytes(step, *cta, range.address, bytes, laneBit(lane));
    races_.readShared(range, event);
    races_.writeShared(range, event);
    acquireFlag(step, lane, *cta, address);
    releaseFlag(step, lane, *cta, address, /*is_rmw=*/true);
    if (!program_.needs_shared_contents || bytes > 8) return;
    const std::uint64_t at = sharedOffset(range.address);
    std::uint64_t old = 0;
    const bool old_known = cta->shared.read(at, bytes, old);
    if (old_known) {
      old_words.word[lane] = old;
      old_words.unknown &= ~laneBit(lane);
    }
    const bool is_cas = decoded.has("cas");
    const bool known = old_known && operand(1).isKnown(lane) && (!is_cas || operand(2).isKnown(lane));
    const AtomicResult result =
        apply(decoded, old, operand(1).word[lane], is_cas ? operand(2).word[lane] : 0);
    cta->shared.write(at, bytes, result.word, known && result.is_known);
  });
  progress();
  if (step.op.dst_count != 0) assign(step.warp, arg(step.op, 0), old_words, part.lanes);
}

void Executor::operator()(const ptx::Atomic&, const Step& step) {
  const unsigned a = addressOperand(step.op);
  const unsigned bytes = ptx::byteSize(step.op.decoded->type());
  if (a == step.op.arg_count || bytes == 0) return notModelled(step);
  const LaneMask unknown = accessUnknown(step, arg(step.op, a), bytes * step.op.decoded->vector, /*reads=*/true, /*writes=*/true);
  const Step known{step.warp, step.fragment, step.op, step.index, step.lanes & ~unknown};
  LaneMask done = 0;
  for (const Resolved& part : resolve(known, arg(step.op, a), step.op.decoded->space())) {
    if (part.space == Space::kShared) {
      atomicShared(step, part, bytes * step.op.decoded->vector);
      done |= part.lanes;
    } else if (part.space == Space::kGlobal) {
      noteDistance(step, arg(step.op, a), part.lanes);
      storeGlobal(step, part, bytes * step.op.decoded->vector);
    }
  }
  if (step.op.dst_count != 0 && done != step.lanes) assignUnknown(step.warp, arg(step.op, 0), step.lanes & ~done);
}

namespace {

struct Fragment16 { unsigned rows = 0, row_bytes = 0; };

// Rows (or columns) that one wmma.load/store moves, from its shape and type (PTX ISA, "wmma.load").
Fragment16 wmmaShape(const ptx::Decoded& d) {
  const unsigned m = d.has("m32n8k16") ? 32 : d.has("m8n32k16") || d.has("m8n8k4") || d.has("m8n8k32") || d.has("m8n8k128") ? 8 : 16;
  const unsigned n = d.has("m32n8k16") ? 8 : d.has("m8n32k16") ? 32 : d.has("m8n8k4") || d.has("m8n8k32") || d.has("m8n8k128") ? 8 : 16;
  const unsigned k = d.has("m16n16k8") ? 8 : d.has("m8n8k4") ? 4 : d.has("m8n8k32") ? 32 : d.has("m8n8k128") ? 128 : 16;
  unsigned rows = m, columns = n;
  if (d.has("a")) rows = m, columns = k;
  if (d.has("b")) rows = k, columns = n;
  if (d.has("col")) std::swap(rows, columns);
  const unsigned element = ptx::byteSize(d.type());
  return {rows, columns * element};
}

}  // namespace

void Executor::wmmaAccess(const Step& step, bool is_store) {
  const unsigned a = addressOperand(step.op);
  const Fragment16 shape = a < step.op.arg_count ? wmmaShape(*step.op.decoded) : Fragment16{};
  if (shape.row_bytes == 0) return notModelled(step);
  const auto base = uniformValue(step.warp, {.kind = Arg::Kind::kSlot, .slot = arg(step.op, a).slot}, step.lanes);
  const unsigned last = step.op.arg_count - 1;
  std::uint64_t stride = shape.row_bytes;
  if (last > a && arg(step.op, last).kind == Arg::Kind::kSlot) {
    const auto elements_per_row = uniformValue(step.warp, arg(step.op, last), step.lanes);
    if (!elements_per_row) return notModelled(step);
    stride = *elements_per_row * ptx::byteSize(step.op.decoded->type());
  }
  if (!base) {
    addLimit("the address of '" + step.op.decoded->opcode + "' is unknown or differs by thread", step.op.instr);
    return forgetDestinations(step);
  }
  std::uint64_t address = *base + static_cast<std::uint64_t>(arg(step.op, a).offset);
  Space space = step.op.decoded->space();
  if (space == Space::kGeneric) {
    space = classify(address).space;
    address = classify(address).offset;
  }
  if (space == Space::kShared) {
    address &= 0xffffffff;  // as in resolve(): a wider register is cut
    const EventId event = log(step, is_store ? EventKind::kWrite : EventKind::kRead, step.lanes);
    for (unsigned row = 0; row < shape.rows; ++row) {
      const std::uint64_t at = address + row * stride;
      Cta* const cta = checkSharedRange(step, at, shape.row_bytes, step.lanes);
      if (cta == nullptr) break;
      const Range range{cta, withinCta(at), shape.row_bytes, step.lanes};
      if (is_store) {
        checkBarrierBytes(step, *cta, range.address, shape.row_bytes, step.lanes);
        races_.writeShared(range, event);
        if (program_.needs_shared_contents) cta->shared.write(sharedOffset(range.address), shape.row_bytes, 0, /*is_known=*/false);
      } else {
        races_.readShared(range, event);
      }
    }
  }
  if (!is_store) forgetDestinations(step);
}

void Executor::operator()(const ptx::WmmaLoad&, const Step& step) { wmmaAccess(step, /*is_store=*/false); }
void Executor::operator()(const ptx::WmmaStore&, const Step& step) { wmmaAccess(step, /*is_store=*/true); }

}  // namespace handoff::machine
