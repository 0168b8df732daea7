// SPDX-License-Identifier: Apache-2.0
// Where to add what, for each cause.
#include "analyzer/diagnose/edits.h"

#include "analyzer/diagnose/witness.h"

namespace handoff::diagnose {

using machine::Conflict;
using machine::EventId;
using machine::EventKind;

namespace {

bool isBarrier(EventKind kind) { return kind == EventKind::kCtaSync; }

class Editor {
 public:
  Editor(const Run& run, const Conflict& conflict) : run_(run), conflict_(conflict) {}

  std::vector<Edit> list(Cause cause) {
    switch (cause) {
      case Cause::kMissingWait:
      case Cause::kBarrierOnly: waitBeforeBarrier(); break;
      case Cause::kMissingCommit: commitBeforeWait(); break;
      case Cause::kInsufficientWait: tightenWait(); break;
      case Cause::kPhaseRace: break;  // the arrival has to move, which no insertion can do
      case Cause::kMissingBarrier: barrierBeforeReader(); break;
      case Cause::kPrematureOverwrite: barrierBeforeWriter(); break;
      case Cause::kOverlap:
      case Cause::kReuseInFlight: waitBefore(instrOf(conflict_.second.event)); break;
      case Cause::kSourceOverwritten: waitAndBarrierBefore(instrOf(conflict_.second.event)); break;
    }
    return std::move(edits_);
  }

 private:
  std::uint32_t instrOf(EventId id) const { return run_.program.ops[run_.outcome.log[id].op].instr; }

  std::string lineOf(std::uint32_t instr) const {
    const SourceStack& stack = run_.program.stackOf(instr);
    if (!stack.empty()) return " before line " + std::to_string(stack.back().pos.line);
    return " before line " + std::to_string(run_.program.function.instructions[instr].ptx_line) + " of the PTX";
  }

  void insert(std::uint32_t at, std::string opcode, std::string what, std::string source) {
    Edit edit{.at = at, .opcode = std::move(opcode), .description = "insert " + what + lineOf(at),
              .source_text = std::move(source)};
    if (edit.opcode == "bar.sync") edit.has_immediate = true;
    edits_.push_back(std::move(edit));
  }

  void waitBefore(std::uint32_t at) {
    insert(at, "cp.async.wait_all", "cp.async.wait_all", "asm volatile(\"cp.async.wait_all;\" ::: \"memory\");");
  }
  void barrierBefore(std::uint32_t at) { insert(at, "bar.sync", "__syncthreads()", "__syncthreads();"); }

  void waitAndBarrierBefore(std::uint32_t at) {
    waitBefore(at);
    barrierBefore(at);
  }

  // The barrier that follows the copy is where its data is meant to be handed over.
  void waitBeforeBarrier() {
    const bool copy_first = run_.outcome.log[conflict_.first.event].kind == EventKind::kCopy;
    if (copy_first) {
      const EventId barrier = lastOf(run_, conflict_.first.event, conflict_.second.event, conflict_.first, isBarrier);
      if (barrier != 0) waitBefore(instrOf(barrier));
    }
    waitBefore(instrOf(conflict_.second.event));
  }

  void commitBeforeWait() {
    if (conflict_.wait) {
      insert(instrOf(conflict_.wait->event), "cp.async.commit_group", "cp.async.commit_group",
             "asm volatile(\"cp.async.commit_group;\" ::: \"memory\");");
    }
    waitBeforeBarrier();
  }

  void tightenWait() {
    const std::uint32_t at = instrOf(conflict_.wait->event);
    for (std::int64_t pending = sufficientPending(conflict_); pending >= 0; --pending) {
      edits_.push_back({.kind = Edit::Kind::kSetImmediate, .at = at, .immediate = pending, .has_immediate = true,
                        .description = "let the wait leave at most " + std::to_string(pending) + " pending: cp.async.wait_group " +
                                       std::to_string(pending)});
    }
  }

  void barrierBeforeReader() {
    const bool reader_first = run_.outcome.log[conflict_.first.event].kind == EventKind::kRead;
    const machine::Access reader = reader_first ? conflict_.first : conflict_.second;
    const machine::Access writer = reader_first ? conflict_.second : conflict_.first;
    // Right after the wait that retires the copy, if there is one; else right before the read.
    const EventId wait = firstAfter(run_, writer, [](EventKind kind) {
      return kind == EventKind::kWaitGroup || kind == EventKind::kWaitAll;
    });
    if (wait != 0) barrierBefore(instrOf(wait) + 1);
    barrierBefore(instrOf(reader.event));
  }

  void barrierBeforeWriter() {
    const bool reader_first = run_.outcome.log[conflict_.first.event].kind == EventKind::kRead;
    const machine::Access writer = reader_first ? conflict_.second : conflict_.first;
    const machine::Access reader = reader_first ? conflict_.first : conflict_.second;
    barrierBefore(instrOf(writer.event));
    barrierBefore(instrOf(reader.event) + 1);
  }

  const Run& run_;
  const Conflict& conflict_;
  std::vector<Edit> edits_;
};

}  // namespace

std::vector<Edit> editsFor(const Run& run, const Conflict& conflict, Cause cause) {
  return Editor(run, conflict).list(cause);
}

}  // namespace handoff::diagnose
