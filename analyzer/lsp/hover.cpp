// SPDX-License-Identifier: Apache-2.0
// Traces and audits as Markdown.
#include "analyzer/lsp/hover.h"

#include <algorithm>
#include <vector>

namespace handoff::lsp {

using audit::Call;
using llvm::lsp::Range;

namespace {

constexpr std::size_t kMaxSteps = 8, kMaxBatches = 4, kMaxOverlaps = 3;

/// In a code span; a backtick in it would end it.
std::string code(std::string text) {
  std::replace(text.begin(), text.end(), '`', '\'');
  return "`" + text + "`";
}

class HoverMaker {
 public:
  HoverMaker(const Documents& documents, const std::string& path, int line, const Context& context)
      : documents_(documents), path_(path), line_(line), context_(context) {}

  std::optional<llvm::lsp::Hover> make() {
    for (const Shown& shown : shownIn(documents_, path_, context_))
      if (shown.finding != nullptr && shown.range.start.line <= line_ && shown.range.end.line >= line_)
        addFinding(shown);
    for (const auto& [file, owner] : documents_) {
      if (!owner.result || owner.result->audits == nullptr) continue;
      for (const audit::KernelAudit& kernel : *owner.result->audits)
        for (const Call& call : kernel.calls)
          if (isHere(call.stack, *owner.result)) addCall(call, *owner.result);
    }
    if (parts_.empty()) return std::nullopt;
    llvm::lsp::Hover hover{Range()};
    hover.contents.kind = llvm::lsp::MarkupKind::Markdown;
    for (const std::string& part : parts_)
      hover.contents.value += (hover.contents.value.empty() ? "" : "\n\n---\n\n") + part;
    hover.contents.value = llvm::json::fixUTF8(hover.contents.value);
    hover.range =
        documents_.at(path_).text->rangeOf(static_cast<std::uint32_t>(line_) + 1, 0, context_.encoding);
    return hover;
  }

 private:
  /// Any frame: the wrapper that has the instruction, and the lines that call it.
  bool isHere(const SourceStack& stack, const CheckResult& result) const {
    return std::any_of(stack.begin(), stack.end(), [&](const SourceFrame& frame) {
      if (frame.pos.file != path_ || !frame.pos.isKnown()) return false;
      const auto line = currentLine(result, documents_.at(path_), path_, frame.pos.line);
      return line && static_cast<int>(*line) == line_ + 1;
    });
  }

  /// "line 12" in this document, "a.cuh:12" elsewhere.
  std::string placeOf(const SourcePos& pos, const CheckResult& result) const {
    if (pos.file != path_) return placeText(pos, context_.paths);
    const std::uint32_t line = currentLine(result, documents_.at(path_), path_, pos.line).value_or(pos.line);
    return "line " + std::to_string(line);
  }

  void addFinding(const Shown& shown) {
    const diagnose::Finding& finding = *shown.finding;
    const CheckResult& result = *shown.owner->result;
    std::string text = "**" + finding.rule + "**: " + finding.message;
    if (!finding.witness.launch.empty()) text += "\n\nLaunch " + code(finding.witness.launch);
    for (const auto& [name, value] : finding.witness.parameters) text += ", " + code(name + " = " + value);
    if (!finding.witness.buffer.empty()) text += "  \nMemory " + code(finding.witness.buffer);
    text += "\n";
    const std::vector<diagnose::Step>& steps = finding.witness.steps;
    // The end of a trace explains the conflict, so the cut is made after the first two steps.
    const std::size_t cut = steps.size() > kMaxSteps ? steps.size() - kMaxSteps : 0;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (cut != 0 && i == 2) {
        text += "\n- ... " + counted(cut, "step") + " left out";
        i += cut;
      }
      const SourcePos pos = context_.paths.ownPos(steps[i].stack);
      text += "\n" + std::to_string(i + 1) + ". " + steps[i].actor + " " + steps[i].text;
      if (pos.isKnown()) text += " (" + placeOf(pos, result) + ")";
    }
    if (finding.repair)
      text += "\n\nRepair: " + finding.repair->description +
              (finding.repair->is_tested ? "; re-run with it, the finding is gone" : "");
    add(text);
  }

  void addCall(const Call& call, const CheckResult& result) {
    const bool is_inline = call.api == "inline PTX";
    std::string text = (is_inline ? "inline PTX" : code(call.api)) + " became ";
    for (std::size_t i = 0; i < call.instructions.size(); ++i) {
      const audit::Instruction& instr = call.instructions[i];
      text += (i == 0 ? "" : ", ") + code(instr.text) + " (" + std::string(audit::toString(instr.lowering));
      if (instr.copies > 1) text += ", " + std::to_string(instr.copies) + " in the PTX";
      if (instr.executed == 0) text += ", not run";
      text += ")";
    }
    if (!call.reason.empty()) text += "  \n" + call.reason;
    addBatches(call, result, text);
    for (std::size_t i = 0; i < std::min(call.overlaps.size(), kMaxOverlaps); ++i) {
      const audit::Overlap& overlap = call.overlaps[i];
      text += "\n\nBefore " + code(overlap.wait) + " (" +
              placeOf(context_.paths.ownPos(overlap.stack), result) + "): ";
      text += overlap.most.total() == 0
                  ? "no work lies between"
                  : "at most " + counted(overlap.most.total(), "instruction") + " of work between";
    }
    add(text);
  }

  void addBatches(const Call& call, const CheckResult& result, std::string& text) const {
    if (call.batches.empty()) return;
    text += "\n";
    for (std::size_t i = 0; i < std::min(call.batches.size(), kMaxBatches); ++i) {
      const audit::Batch& batch = call.batches[i];
      text += "\n- " + batch.name;
      if (!batch.place.empty()) text += ": fills " + code(batch.place);
      if (batch.wait.empty())
        text += ", no wait covers it";
      else
        text += ", complete after " + code(batch.wait) + " (" +
                placeOf(context_.paths.ownPos(batch.wait_stack), result) + ")";
    }
    if (call.batch_count > kMaxBatches) text += "\n- ... " + std::to_string(call.batch_count) + " in all";
  }

  void add(const std::string& part) {
    if (std::find(parts_.begin(), parts_.end(), part) == parts_.end()) parts_.push_back(part);
  }

  const Documents& documents_;
  const std::string& path_;
  const int line_;
  const Context& context_;
  std::vector<std::string> parts_;
};

}  // namespace

std::optional<llvm::lsp::Hover> hoverOf(const Documents& documents, const std::string& path, int line,
                                        const Context& context) {
  const auto document = documents.find(path);
  if (document == documents.end() || document->second.text == nullptr) return std::nullopt;
  return HoverMaker(documents, path, line, context).make();
}

}  // namespace handoff::lsp
