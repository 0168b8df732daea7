// SPDX-License-Identifier: Apache-2.0
// Short names, after those of the instructions.
#include "analyzer/picture/labels.h"

namespace handoff::picture {

using diagnose::Picture;
using machine::Event;
using machine::EventId;
using machine::EventKind;

namespace {

std::string group(std::uint32_t number) { return "\ngroup " + std::to_string(number); }

const machine::AsyncOp* opOf(const diagnose::Run& run, EventId id, unsigned lane) {
  const machine::AsyncOp* op = run.outcome.log.findOp(id, lane);
  return op != nullptr ? op : run.outcome.log.findOp(id, machine::lowestLane(run.outcome.log[id].lanes));
}

bool isStore(const machine::AsyncOp* op) { return op != nullptr && op->group != machine::AsyncOp::kNoGroup; }

std::string phase(const Event& event) {
  const auto number = static_cast<std::int32_t>(event.value);
  return number < 0 ? "\nbefore phase 0" : "\nphase " + std::to_string(number);
}

}  // namespace

std::string labelOf(const diagnose::Run& run, EventId id, unsigned lane) {
  const Event& event = run.outcome.log[id];
  const std::string value = std::to_string(event.value);
  const bool is_tcgen05 = run.program.instruction(run.program.ops[event.op]).opcode.starts_with("tcgen05");
  switch (event.kind) {
    case EventKind::kRead:
      return "read";
    case EventKind::kWrite:
      return "write";
    case EventKind::kAtomic:
      return "atomic";
    case EventKind::kCopy:
      return "cp.async" + group(run.outcome.log.groupOf(id, lane));
    case EventKind::kCommit:
      return "commit" + group(event.value - 1);
    case EventKind::kWaitGroup:
      return "wait_group\n" + value;
    case EventKind::kWaitAll:
      return "wait_all";
    case EventKind::kCtaSync:
      return "barrier " + value;
    case EventKind::kCtaArrive:
      return "arrive at\nbarrier " + value;
    case EventKind::kWarpSync:
      return "warp sync";
    case EventKind::kMbarrierInit:
      return "init for\n" + value;
    case EventKind::kMbarrierInval:
      return "inval";
    case EventKind::kMbarrierArrive:
      return "arrive" + phase(event);
    case EventKind::kMbarrierExpect:
      return "expect\n" + value + " B";
    case EventKind::kMbarrierWait:
      return "wait" + phase(event);
    case EventKind::kCopyArrive:
      return (is_tcgen05 ? "commit" : "copies arrive") + phase(event);
    case EventKind::kBulk:
      return isStore(opOf(run, id, lane)) ? "bulk store" + group(opOf(run, id, lane)->group) : "bulk copy";
    case EventKind::kAsyncStore:
      return "st.async";
    case EventKind::kMma:
      return is_tcgen05 ? "tcgen05\nmma" : "wgmma" + group(event.value);
    case EventKind::kTensorMemory:
      return event.value == 0 ? "tcgen05\nload" : "tcgen05\nstore";
    case EventKind::kTensorWait:
      return "tcgen05\nwait";
    case EventKind::kBulkCommit:
      return "commit" + group(event.value - 1);
    case EventKind::kBulkWait:
      return "bulk wait\n" + value;
    case EventKind::kBulkReadWait:
      return "bulk wait\n.read " + value;
    case EventKind::kMmaFence:
      return "wgmma\nfence";
    case EventKind::kMmaCommit:
      return "commit" + group(event.value - 1);
    case EventKind::kMmaWait:
      return "wgmma\nwait " + value;
    case EventKind::kProxyFence:
      return "proxy\nfence";
    case EventKind::kClusterArrive:
      return "cluster\narrive";
    case EventKind::kClusterWait:
      return "cluster\nwait";
    case EventKind::kTensormapEdit:
      return "edit map";
  }
  return "";
}

std::string flightLabel(const diagnose::Run& run, EventId id, unsigned lane) {
  const Event& event = run.outcome.log[id];
  const machine::AsyncOp* op = opOf(run, id, lane);
  switch (event.kind) {
    case EventKind::kCopy:
      return "group " + std::to_string(run.outcome.log.groupOf(id, lane));
    case EventKind::kBulk:
      if (isStore(op)) return "store, group " + std::to_string(op->group);
      return op != nullptr && op->bytes != 0 ? std::to_string(op->bytes) + " bytes" : "bulk copy";
    case EventKind::kAsyncStore:
      return "st.async";
    case EventKind::kMma:
      return "group " + std::to_string(event.value);
    default:
      return "";
  }
}

std::string barrierName(const diagnose::Run& run, std::uint64_t address) {
  std::string name = placeName(run.program, run.names, ptx::Space::kShared, address);
  constexpr std::string_view kFirst = ", byte 0";
  const std::size_t at = name.find(kFirst);
  const bool is_whole =
      at != std::string::npos && (at + kFirst.size() == name.size() || name[at + kFirst.size()] == ' ');
  return is_whole ? name.erase(at, kFirst.size()) : name;
}

std::string launchText(const diagnose::Names& names) {
  std::string text = names.launch;
  for (const auto& [name, value] : names.parameters) text += ", " + name + " = " + value;
  return text;
}

Picture::Mark::Kind markKind(EventKind kind) {
  using Kind = Picture::Mark::Kind;
  switch (kind) {
    case EventKind::kCopy:
    case EventKind::kBulk:
    case EventKind::kAsyncStore:
    case EventKind::kMma:
    case EventKind::kTensorMemory:
      return Kind::kIssue;
    case EventKind::kCommit:
    case EventKind::kBulkCommit:
    case EventKind::kMmaCommit:
      return Kind::kCommit;
    case EventKind::kWaitGroup:
    case EventKind::kWaitAll:
    case EventKind::kMbarrierWait:
    case EventKind::kBulkWait:
    case EventKind::kBulkReadWait:
    case EventKind::kMmaWait:
    case EventKind::kTensorWait:
      return Kind::kWait;
    case EventKind::kCtaSync:
    case EventKind::kWarpSync:
    case EventKind::kClusterWait:
      return Kind::kBarrier;
    case EventKind::kCtaArrive:
    case EventKind::kMbarrierArrive:
    case EventKind::kMbarrierExpect:
    case EventKind::kCopyArrive:
    case EventKind::kClusterArrive:
      return Kind::kArrive;
    case EventKind::kRead:
    case EventKind::kWrite:
    case EventKind::kAtomic:
      return Kind::kAccess;
    default:
      return Kind::kOther;
  }
}

}  // namespace handoff::picture
