// SPDX-License-Identifier: Apache-2.0
// The audit for people: each call with what it became, then the advice.
#include <algorithm>

#include "analyzer/diagnose/names.h"
#include "analyzer/report/audit.h"
#include "analyzer/report/text_writer.h"

namespace handoff::report {
namespace {

using audit::Call;
using audit::Instruction;
using audit::KernelAudit;
using audit::Lowering;
using audit::Overlap;
using audit::Work;

std::string counted(std::uint64_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

bool isPlain(const Call& call) {
  return std::all_of(call.instructions.begin(), call.instructions.end(),
                     [](const Instruction& instr) { return instr.lowering == Lowering::kPlain; });
}

std::string workText(const Work& work) {
  if (work.total() == 0) return "none";
  std::string text = counted(work.total(), "instruction");
  std::string kinds;
  const auto add = [&](std::uint64_t count, const char* name) {
    if (count != 0) kinds += (kinds.empty() ? "" : ", ") + std::to_string(count) + " " + name;
  };
  add(work.arithmetic, "arithmetic");
  add(work.shared, "shared memory");
  add(work.global, "global memory");
  return text + " (" + kinds + ")";
}

class AuditWriter {
 public:
  AuditWriter(const AuditedFile& file, const Paths& paths, SourceLines& sources, const TextOptions& options)
      : file_(file), options_(options), out_(paths, sources, options.use_color) {}

  std::string write() {
    if (file_.error) {
      SourcePos pos = file_.error->pos;
      if (pos.file.empty()) pos.file = file_.path;
      out_.message(pos, Style::kError, "error", file_.error->message);
      return out_.take();
    }
    for (const Error& note : file_.notes) out_.message(note.pos, Style::kNote, "note", note.message);
    for (const KernelAudit& kernel : file_.kernels) writeKernel(kernel);
    if (file_.sass)
      for (const audit::SassFunction& function : *file_.sass)
        if (!hasKernel(function)) writeSassOnly(function);
    return out_.take();
  }

 private:
  void writeKernel(const KernelAudit& kernel) {
    if (!kernel.error.empty()) {
      out_.message(kernel.pos, Style::kError, "error", kernel.pretty + ": " + kernel.error);
      return;
    }
    const audit::SassFunction* const sass = sassOf(file_, kernel);
    if (!options_.is_quiet)
      for (const Call& call : kernel.calls) writeCall(call, sass);
    for (const diagnose::Finding& finding : kernel.advice) writeAdvice(finding);
    if (options_.is_quiet) return;
    const auto plain = static_cast<std::uint64_t>(std::count_if(kernel.calls.begin(), kernel.calls.end(), isPlain));
    std::string line = kernel.pretty + ": " + counted(kernel.calls.size(), "asynchronous call");
    if (!kernel.calls.empty()) line += ", " + std::to_string(plain) + " of them plain";
    line += "; " + counted(kernel.advice.size(), "note");
    out_.line(out_.styled(Style::kBold, "audit:") + " " + line);
    for (const std::string& launch : kernel.launches) out_.line("  launch: " + launch);
    for (const diagnose::Limit& limit : kernel.limits) {
      const std::string where = out_.shortPosition(limit.pos, file_.path);
      out_.line("  limit:  " + limit.reason + (where.empty() ? "" : " (" + where + ")"));
    }
  }

  void writeCall(const Call& call, const audit::SassFunction* sass) {
    const SourcePos pos = out_.paths().ownPos(call.stack);
    const bool has_run = std::any_of(call.instructions.begin(), call.instructions.end(),
                                     [](const Instruction& instr) { return instr.executed != 0; });
    std::string became = instructionsText(call, [&](const Instruction& instr) { return !has_run || instr.executed != 0; });
    const std::string others = instructionsText(call, [&](const Instruction& instr) { return has_run && instr.executed == 0; });
    const std::string subject = call.api.find(' ') == std::string::npos && call.api != "PTX" ? "'" + call.api + "'" : call.api;
    out_.message(pos, isPlain(call) ? Style::kWarning : Style::kGood, isPlain(call) ? "plain" : "async",
                 subject + " became " + became);
    out_.excerpt(pos, /*with_caret=*/true);
    writeCallers(call.stack);
    if (!others.empty()) out_.line("  not run: " + others);
    if (!call.reason.empty()) out_.line("  reason:  " + call.reason);
    for (const Overlap& overlap : call.overlaps) writeOverlap(overlap);
    if (call.overlaps.empty() && !isPlain(call)) out_.line("  wait:    none in the runs made");
    if (sass != nullptr && !isPlain(call)) writeSass(call, *sass);
  }

  template <typename Wanted>
  static std::string instructionsText(const Call& call, Wanted&& wanted) {
    std::string text;
    for (const Instruction& instr : call.instructions) {
      if (!wanted(instr)) continue;
      text += (text.empty() ? "" : "; ") + instr.text;
      if (instr.copies > 1) text += " (" + std::to_string(instr.copies) + " in the PTX)";
    }
    return text;
  }

  void writeCallers(const SourceStack& stack) {
    const auto own = out_.paths().ownFrame(stack);
    std::string text;
    for (std::size_t i = own.value_or(stack.size()) + 1; i < stack.size(); ++i)
      text += (text.empty() ? "" : ", ") + out_.shortPosition(stack[i].pos, file_.path);
    if (!text.empty()) out_.line("  called:  " + text);
  }

  void writeOverlap(const Overlap& overlap) {
    const std::string where = out_.shortPosition(outermostOwn(overlap.stack), file_.path);
    std::string text = "  wait:    '" + overlap.wait + "'" + (where.empty() ? "" : " at " + where) + "; work in between: ";
    if (overlap.least.total() != overlap.most.total())
      text += (overlap.least.total() == 0 ? "none" : std::to_string(overlap.least.total())) + std::string(" to ");
    text += workText(overlap.most);
    out_.line(text + ", in " + counted(overlap.instances, "pair") + " of issue and wait");
  }

  /// In the kernel: a wait mostly stands in a wrapper, which says little.
  SourcePos outermostOwn(const SourceStack& stack) const {
    for (std::size_t i = stack.size(); i-- > 0;)
      if (stack[i].pos.isKnown() && out_.paths().isUserFile(stack[i].pos.file)) return stack[i].pos;
    return {};
  }

  void writeSass(const Call& call, const audit::SassFunction& sass) {
    const std::uint32_t line = call.stack.empty() ? 0 : call.stack.back().pos.line;
    std::string text;
    for (const Instruction& instr : call.instructions) {
      const std::string opcodes = sass.opcodesOf(instr.lowering, line);
      if (text.find(opcodes) == std::string::npos || text.empty())
        text += (text.empty() ? "" : "; ") + (opcodes.empty() ? "no " + std::string(toString(instr.lowering)) + " instruction" : opcodes);
    }
    out_.line("  machine: " + text + (sass.hasLines() ? " at this line" : " in the kernel") + (sass.arch.empty() ? "" : ", " + sass.arch));
  }

  void writeAdvice(const diagnose::Finding& finding) {
    const SourcePos pos = out_.paths().ownPos(finding.stack);
    out_.message(pos, Style::kNote, "note", finding.message + " [" + finding.rule + "]");
    out_.excerpt(pos, /*with_caret=*/true);
    writeCallers(finding.stack);
    for (const diagnose::Related& related : finding.related) {
      const SourcePos at = out_.paths().ownPos(related.stack);
      out_.message(at, Style::kNote, "note", related.message);
      out_.excerpt(at, /*with_caret=*/false);
    }
  }

  bool hasKernel(const audit::SassFunction& function) const {
    return std::any_of(file_.kernels.begin(), file_.kernels.end(),
                       [&](const KernelAudit& kernel) { return sassOf(file_, kernel) == &function; });
  }

  // A cubin has no source to go with it.
  void writeSassOnly(const audit::SassFunction& function) {
    std::string text;
    for (const Lowering lowering : {Lowering::kCpAsync, Lowering::kBulk, Lowering::kTensor, Lowering::kAsyncStore, Lowering::kMatrix})
      if (const std::string opcodes = function.opcodesOf(lowering); !opcodes.empty()) text += (text.empty() ? "" : ", ") + opcodes;
    if (text.empty())
      text = "no asynchronous instruction; " + counted(function.plain_loads, "load") + " from global and " +
             counted(function.plain_stores, "store") + " to shared memory";
    out_.line(out_.styled(Style::kBold, "audit:") + " " + diagnose::demangle(function.name) +
              (function.arch.empty() ? "" : ", " + function.arch) + ": " + text);
  }

  const AuditedFile& file_;
  const TextOptions& options_;
  TextWriter out_;
};

}  // namespace

void AuditTotals::add(const AuditedFile& file) {
  ++files;
  if (file.error) ++failed_files;
  for (const KernelAudit& kernel : file.kernels) {
    ++kernels;
    if (!kernel.error.empty()) ++failed_kernels;
    calls += static_cast<std::uint32_t>(kernel.calls.size());
    plain_calls += static_cast<std::uint32_t>(std::count_if(kernel.calls.begin(), kernel.calls.end(), isPlain));
    advice += static_cast<std::uint32_t>(kernel.advice.size());
  }
}

const audit::SassFunction* sassOf(const AuditedFile& file, const KernelAudit& kernel) {
  if (!file.sass) return nullptr;
  // Clang gives kernels of internal linkage another name than nvcc; the readable form is the same.
  const auto isIt = [&](const audit::SassFunction& function) {
    return function.name == kernel.name || diagnose::demangle(function.name) == diagnose::demangle(kernel.name);
  };
  const auto found = std::find_if(file.sass->begin(), file.sass->end(), isIt);
  return found == file.sass->end() ? nullptr : &*found;
}

std::string renderAudit(const AuditedFile& file, const Paths& paths, SourceLines& sources, const TextOptions& options) {
  return AuditWriter(file, paths, sources, options).write();
}

std::string renderAuditSummary(const AuditTotals& totals) {
  std::string text = counted(totals.files, "file") + ", " + counted(totals.kernels, "kernel") + ": " +
                     counted(totals.calls, "asynchronous call") + ", " + std::to_string(totals.plain_calls) +
                     " of them plain; " + counted(totals.advice, "note");
  if (totals.failed_files + totals.failed_kernels != 0)
    text += "; " + counted(totals.failed_files + totals.failed_kernels, "failure");
  return text + "\n";
}

}  // namespace handoff::report
