// SPDX-License-Identifier: Apache-2.0
// Concrete inputs of a finding.
#include "analyzer/diagnose/witness.h"

#include "analyzer/diagnose/trace.h"

namespace handoff::diagnose {

namespace {

Witness common(const Run& run, const std::string& place) {
  Witness witness;
  witness.launch = run.names.launch;
  witness.parameters = run.names.parameters;
  const auto& index = run.launch.block_index;
  witness.block = "(" + std::to_string(index[0]) + "," + std::to_string(index[1]) + "," + std::to_string(index[2]) + ")";
  witness.buffer = place;
  return witness;
}

void showData(const Run& run, Finding& finding, const std::vector<machine::DataValue>& data, const char* text) {
  constexpr std::size_t kMaxShown = 3;
  for (std::size_t i = 0; i < data.size() && i < kMaxShown; ++i) {
    const SourceStack& stack = run.program.stackOf(data[i].instr);
    const std::string value = std::to_string(data[i].value);
    finding.related.push_back({text + value, stack});
    const std::string line = stack.empty() ? "" : " of line " + std::to_string(stack.back().pos.line);
    finding.witness.parameters.emplace_back("the value" + line, value);
  }
}

}  // namespace

Site siteOf(const Run& run, machine::Access access) {
  const machine::Event& event = run.outcome.log[access.event];
  const machine::Op& op = run.program.ops[event.op];
  const std::uint32_t warps = run.launch.warps();
  Site site{.instr = op.instr, .group = op.site, .pass = event.pass, .cta = event.warp / warps, .warp = event.warp % warps,
            .lane = access.lane, .kind = event.kind};
  if (machine::isCopy(event.kind)) site.source = run.outcome.log.sourceOf(access.event, access.lane);
  return site;
}

Witness witnessOf(const Run& run, machine::Access first, machine::Access second, const std::string& place) {
  Witness witness = common(run, place);
  const machine::Event& a = run.outcome.log[first.event];
  const machine::Event& b = run.outcome.log[second.event];
  witness.first_thread = threadName(run.launch, a.warp, first.lane);
  witness.second_thread = threadName(run.launch, b.warp, second.lane);
  witness.iteration = b.pass;
  witness.steps = traceOf(run, first, second);
  return witness;
}

Witness witnessOf(const Run& run, std::uint16_t warp, machine::LaneMask lanes, const std::string& place) {
  Witness witness = common(run, place);
  if (lanes != 0) witness.first_thread = threadName(run.launch, warp, machine::lowestLane(lanes));
  return witness;
}

void makePossible(const Run& run, Finding& finding, const std::vector<machine::DataValue>& data) {
  finding.severity = Severity::kPossible;
  finding.message += " (the accesses may overlap: that depends on data not known before the launch)";
  showData(run, finding, data, "they overlap when the value from here is ");
}

void makeCertain(const Run& run, Finding& finding, const std::vector<machine::DataValue>& data) {
  finding.message += " (so wherever data not known before the launch lead: this is one of the places)";
  showData(run, finding, data, "the place goes by the value from here, as by ");
}

}  // namespace handoff::diagnose
