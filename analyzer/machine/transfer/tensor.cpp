// SPDX-License-Identifier: Apache-2.0
// Tensor copies (PTX ISA, "cp.async.bulk.tensor", "cp.reduce.async.bulk.tensor"), and the maps that describe them.
#include "analyzer/machine/transfer/bulk_operands.h"
#include "analyzer/support/tensor_box.h"

namespace handoff::machine {

namespace {

/// Addresses in the parameter space itself; generic ones lie in kParamWindow.
constexpr std::uint64_t kParamSpaceEnd = 0x1'0000;
constexpr std::uint64_t kGatheredRows = 4;

/// Where a map lies, as users name it to say its box.
std::optional<ParamPlace> placeOf(const Program& program, std::uint64_t address) {
  if (address < kParamWindow || address >= kParamWindow + program.param_bytes) return std::nullopt;
  for (std::size_t param = program.param_offset.size(); param-- > 0;) {
    const std::uint64_t start = kParamWindow + program.param_offset[param];
    if (address >= start) return ParamPlace{static_cast<std::uint32_t>(param), static_cast<std::uint32_t>(address - start)};
  }
  return std::nullopt;
}

}  // namespace

std::uint64_t Executor::mapAddress(const Step& step, const Arg& map, unsigned lane) const {
  const std::uint64_t address = addressWords(step.warp, program_.args[map.first]).word[lane];
  return address < kParamSpaceEnd ? kParamWindow + address : address;
}

// Bytes of one copy in shared memory; out-of-bounds elements are filled and counted like any other. Empty: unknown.
std::optional<std::uint64_t> Executor::boxBytes(const Step& step, const BulkOperands& operands, unsigned lane) {
  const Arg& map = arg(step.op, operands.map);
  if (!addressWords(step.warp, program_.args[map.first]).isKnown(lane)) return std::nullopt;
  const std::uint64_t address = mapAddress(step, map, lane);
  const bool is_gather = step.op.decoded->has("tile::gather4") || step.op.decoded->has("tile::scatter4");
  if (const auto known = launch_.tensor_maps.find(address); known != launch_.tensor_maps.end()) {
    return is_gather ? kGatheredRows * known->second.row_bytes : known->second.box_bytes;
  }
  const auto assumed = setup_.boxes.find(address);
  if (assumed == setup_.boxes.end()) {
    const unsigned shared_side = operands.to_shared ? operands.destination : operands.source;
    const Lanes places = addressWords(step.warp, arg(step.op, shared_side));
    if (!places.isKnown(lane)) return std::nullopt;
    const std::uint64_t place = withinCta(places.word[lane] & 0xffffffff);
    const SharedVariable* variable = program_.sharedAt(place);
    const std::uint64_t end = variable == nullptr || variable->size == 0
                                  ? program_.dynamic_shared_offset + launch_.dynamic_shared_bytes
                                  : variable->offset + variable->size;
    gatherBox(step, operands, lane, address, place, end > place ? end - place : 0);
    return std::nullopt;
  }
  if (assumed->second == 0) return std::nullopt;
  const std::optional<ParamPlace> own = placeOf(program_, address);
  addLimit("nothing says how large the box of the tensor map " + (own ? "at " + toString(*own) : "in global memory") + " is: " +
               std::to_string(assumed->second) + " bytes are assumed, which is what the barriers expect",
           step.op.instr);
  return assumed->second;
}

// This run only finds out how large the boxes are (tensor_boxes.h): from here on no barrier waits for bytes.
void Executor::gatherBox(const Step& step, const BulkOperands& operands, unsigned lane, std::uint64_t map,
                         std::uint64_t place, std::uint64_t room) {
  const bool was_gathering = box_finder_.isGathering();
  if (operands.barrier == BulkOperands::kNone) {
    const SharedVariable* variable = program_.sharedAt(place);
    const bool is_dynamic = variable == nullptr || variable->size == 0;  // its end says nothing of the slot
    box_finder_.noteStore(map, place, is_dynamic ? BoxFinder::kAnyRoom : room);
  } else {
    const std::uint64_t barrier = addressWords(step.warp, arg(step.op, operands.barrier)).word[lane] & 0xffffffff;
    const std::uint64_t mask = operands.is_multicast ? value(step.warp, arg(step.op, operands.mask).slot).word[lane] & 0xffff : 0;
    for (std::uint32_t rank = 0; rank < 16; ++rank) {
      const bool is_target = operands.is_multicast ? (mask >> rank) & 1 : rank == 0;
      if (!is_target) continue;
      const std::uint64_t at = operands.is_multicast ? inCluster(rank, barrier) : barrier;
      Cta* const cta = run_.cluster.ctaAt(step.warp, at);
      if (cta == nullptr) continue;
      const auto object = cta->mbarriers.find(withinCta(at));
      if (object == cta->mbarriers.end()) continue;
      box_finder_.noteLoad({cta->rank, withinCta(at), meantPhase(step, object->second, lane)}, map, place, room);
    }
  }
  if (was_gathering) return;
  for (Cta& cta : run_.cluster.ctas) {
    for (auto& [address, object] : cta.mbarriers) object.complete(object.transactions(), 0);
  }
  progress();
  wakePollers();
}

void Executor::operator()(const ptx::TensorCopy& effect, const Step& step) {
  const BulkOperands operands = bulkOperands(step);
  if (!operands.is_valid) return notModelled(step);
  const EventId event = log(step, EventKind::kBulk, step.lanes, 0, effect.is_reduction);
  forEachLane(step.lanes, [&](unsigned lane) {
    if (const Arg& map = arg(step.op, operands.map); addressWords(step.warp, program_.args[map.first]).isKnown(lane)) {
      useTensormap(step, mapAddress(step, map, lane), event, lane);
      // Where in the tensor a copy goes is not followed; what two maps describe is taken for different memory.
      (operands.to_shared ? loaded_maps_ : stored_maps_).insert(mapAddress(step, map, lane));
      if (loaded_maps_.contains(mapAddress(step, map, lane)) && stored_maps_.contains(mapAddress(step, map, lane))) {
        addLimit("a tensor is both loaded and stored through one map: whether the copies meet in global memory was not checked",
                 step.op.instr);
      }
    }
    const auto bytes = boxBytes(step, operands, lane);
    if (bytes) return bulkLane(step, operands, event, lane, *bytes);
    if (box_finder_.isGathering()) {
      // Groups go on being counted.
      if (operands.barrier == BulkOperands::kNone) outcome_.log.addOp({.event = event, .lane = lane, .group = step.warp.bulk.openGroup(lane)});
      return;
    }
    run_.noteUnmodelled();
    const bool is_known = addressWords(step.warp, program_.args[arg(step.op, operands.map).first]).isKnown(lane);
    const std::optional<ParamPlace> own =
        is_known ? placeOf(program_, mapAddress(step, arg(step.op, operands.map), lane)) : std::nullopt;
    addLimit("nothing says how large the box of " + (own ? "the tensor map at " + toString(*own) : std::string("a tensor map")) +
                 " is; name it with '// handoff: tensormap " + (own ? toString(*own) : "NAME") +
                 " box=64x128xbf16' above the kernel",
             step.op.instr);
  });
}

}  // namespace handoff::machine
