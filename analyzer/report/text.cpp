// SPDX-License-Identifier: Apache-2.0
// The text report.
#include "analyzer/report/text.h"

#include <algorithm>
#include <cstdio>
#include <sstream>
#include <vector>

#include "analyzer/report/groups.h"
#include "analyzer/report/text_writer.h"

namespace handoff::report {
namespace {

// A finding with everything shown stays below 40 lines: 3 + 2 * kMaxFrames + 4 * kMaxRelated + 3 + kMaxSteps
// + 2.
constexpr std::size_t kMaxFrames = 3, kMaxRelated = 4, kMaxSteps = 8, kMaxLimits = 8;

std::string plural(std::uint64_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

void renderFrames(TextWriter& out, const SourceStack& stack, std::size_t own) {
  const std::size_t end = std::min(stack.size(), own + 1 + kMaxFrames);
  for (std::size_t i = own + 1; i < end; ++i) {
    const std::string& callee = stack[i - 1].function;
    out.message(stack[i].pos, Style::kNote, "note",
                callee.empty() ? "called here" : "in '" + callee + "' called here");
    out.excerpt(stack[i].pos, false);
  }
  if (end < stack.size()) out.line("      (" + plural(stack.size() - end, "more call") + " above it)");
}

/// The calls above `own` in one line, as "from line 31": related positions stay short.
std::string callers(const TextWriter& out, const SourceStack& stack, std::size_t own) {
  if (own + 1 >= stack.size()) return "";
  return " (called from " + out.shortPosition(stack.back().pos, stack[own].pos.file) + ")";
}

void renderRelated(TextWriter& out, const diagnose::Finding& finding) {
  const std::size_t shown = std::min(finding.related.size(), kMaxRelated);
  for (std::size_t i = 0; i < shown; ++i) {
    const diagnose::Related& related = finding.related[i];
    const std::size_t own = out.paths().ownFrame(related.stack).value_or(0);
    const SourcePos pos = out.paths().ownPos(related.stack);
    out.message(pos, Style::kNote, "note", related.message + callers(out, related.stack, own));
    out.excerpt(pos, false);
  }
  if (shown < finding.related.size())
    out.line("      (" + plural(finding.related.size() - shown, "more position") + " in --format=json)");
}

void field(TextWriter& out, std::string_view name, const std::string& value) {
  if (value.empty()) return;
  std::string label = "  " + std::string(name) + ":";
  label.resize(std::max<std::size_t>(label.size() + 1, 11), ' ');
  out.line(label + value);
}

std::string whoAndWhen(const diagnose::Witness& witness) {
  std::string text;
  const auto append = [&text](const std::string& part) {
    if (part.empty()) return;
    if (!text.empty()) text += ", ";
    text += part;
  };
  if (!witness.block.empty()) append("block " + witness.block);
  if (!witness.first_thread.empty() && !witness.second_thread.empty() &&
      witness.first_thread != witness.second_thread) {
    append("threads " + witness.first_thread + " and " + witness.second_thread);
  } else {
    const std::string& thread = witness.first_thread.empty() ? witness.second_thread : witness.first_thread;
    if (!thread.empty()) append("thread " + thread);
  }
  if (witness.iteration > 1) append("the " + std::to_string(witness.iteration) + ". time that it gets here");
  return text;
}

void renderSteps(TextWriter& out, const diagnose::Finding& finding, const std::string& file) {
  const std::vector<diagnose::Step>& steps = finding.witness.steps;
  // The end of a trace explains the conflict, so the cut is made after the first two steps.
  const std::size_t cut = steps.size() > kMaxSteps ? steps.size() - kMaxSteps : 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (cut != 0 && i == 2) {
      out.line("           ... " + plural(cut + 1, "step") + " left out, see --format=json");
      i += cut;
      continue;
    }
    std::string where = out.shortPosition(out.paths().ownPos(steps[i].stack), file);
    if (!where.empty()) where = "  (" + where + ")";
    const std::string text = std::to_string(i + 1) + ". " + steps[i].actor + " " + steps[i].text + where;
    if (i == 0) {
      field(out, "trace", text);
    } else {
      out.line("           " + text);
    }
  }
}

void renderWitness(TextWriter& out, const diagnose::Finding& finding, const std::string& file) {
  const diagnose::Witness& witness = finding.witness;
  field(out, "launch", witness.launch);
  std::string parameters;
  for (const auto& [name, value] : witness.parameters)
    parameters += (parameters.empty() ? "" : ", ") + name + " = " + value;
  field(out, "with", parameters);
  field(out, "who", whoAndWhen(witness));
  field(out, "memory", witness.buffer);
  renderSteps(out, finding, file);
}

/// Spaces or tabs that all lines start with.
std::size_t indentOf(const std::string& text) {
  std::size_t indent = std::string::npos;
  std::stringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    if (!line.empty()) indent = std::min(indent, std::min(line.find_first_not_of(" \t"), line.size()));
  }
  return indent == std::string::npos ? 0 : indent;
}

void renderRepair(TextWriter& out, const diagnose::Repair& repair, const std::string& file) {
  const SourcePos pos = out.paths().ownPos(repair.stack);
  const std::string where = out.shortPosition(pos, file);
  const std::string place = where.empty() ? "" : " (" + where + ")";
  field(out, "fix", repair.description + place + (repair.is_tested ? "; re-run with it, the finding is gone" : ""));
  // As far to the left as the lines of a change allow.
  std::size_t indent = 0;
  const auto lines = [&](const std::string& text, char sign) {
    std::stringstream stream(text);
    for (std::string line; std::getline(stream, line);) {
      const std::string shown = sign + (" " + line.substr(std::min(indent, line.size())));
      out.line("           " + (sign == ' ' ? shown : out.styled(sign == '+' ? Style::kGood : Style::kError, shown)));
    }
  };
  for (const diagnose::SourceChange& change : repair.changes) {
    indent = indentOf(change.original + "\n" + change.text);
    if (repair.changes.size() > 1) out.line("           @@ " + out.shortPosition(change.pos, file));
    const bool takes_away = change.kind == diagnose::SourceChange::Kind::kReplace || change.kind == diagnose::SourceChange::Kind::kDelete;
    if (change.kind == diagnose::SourceChange::Kind::kInsertAfter) lines(change.original, ' ');
    if (takes_away) lines(change.original, '-');
    lines(change.text, '+');
    if (change.kind == diagnose::SourceChange::Kind::kInsertBefore) lines(change.original, ' ');
  }
}

void renderFinding(TextWriter& out, const diagnose::Finding& finding, const std::string& elsewhere) {
  const SourcePos pos = out.paths().ownPos(finding.stack);
  const std::string text = finding.message + " [" + finding.rule + "]";
  if (finding.is_for_other_launches)
    out.message(pos, Style::kNote, "note", "for other launches: " + text);
  else
    out.message(pos, styleOf(finding.severity), toString(finding.severity), text);
  out.excerpt(pos, true);
  renderFrames(out, finding.stack, out.paths().ownFrame(finding.stack).value_or(0));
  renderRelated(out, finding);
  renderWitness(out, finding, pos.file);
  if (finding.repair) renderRepair(out, *finding.repair, pos.file);
  if (finding.confirmation) field(out, "gpu", finding.confirmation->status + (finding.confirmation->text.empty() ? "" : ": " + finding.confirmation->text));
  if (!elsewhere.empty()) out.line("  " + elsewhere);
}

Style verdictStyle(diagnose::Verdict verdict) {
  switch (verdict) {
    case diagnose::Verdict::kVerified:
      return Style::kGood;
    case diagnose::Verdict::kBounded:
      return Style::kWarning;
    case diagnose::Verdict::kViolation:
    case diagnose::Verdict::kError:
      break;
  }
  return Style::kError;
}

std::string_view displayName(const diagnose::KernelReport& kernel) {
  return kernel.pretty.empty() ? std::string_view(kernel.name) : std::string_view(kernel.pretty);
}

std::string holdsFor(const diagnose::KernelReport& kernel) {
  std::string text;
  for (const std::string& value : kernel.holds_for) text += (text.empty() ? ", for " : ", ") + value;
  return text;
}

void renderKernel(TextWriter& out, const diagnose::KernelReport& kernel, const FileReport& file) {
  std::string text = out.styled(verdictStyle(kernel.verdict), toString(kernel.verdict)) + ": " +
                     std::string(displayName(kernel));
  if (!kernel.findings.empty()) text += ", " + plural(kernel.findings.size(), "finding");
  const auto repeats = static_cast<std::size_t>(
      std::count_if(kernel.findings.begin(), kernel.findings.end(), [](const auto& finding) { return finding.is_repeat; }));
  if (repeats != 0)
    text += repeats == kernel.findings.size() ? " (reported above)" : " (" + std::to_string(repeats) + " of them reported above)";
  if (!kernel.launches.empty())
    text += ", " + std::to_string(kernel.launches.size()) +
            (kernel.launches.size() == 1 ? " launch" : " launches");
  if (!kernel.has_async && kernel.error.empty()) text += ", no asynchronous copies";
  if (!kernel.error.empty()) text += ": not checked: " + kernel.error;
  if (kernel.verdict != diagnose::Verdict::kViolation) text += holdsFor(kernel);
  out.line(text);

  const std::size_t shown = std::min(kernel.limits.size(), kMaxLimits);
  for (std::size_t i = 0; i < shown; ++i) {
    const std::string where = out.shortPosition(kernel.limits[i].pos, file.path);
    out.line("  limit: " + kernel.limits[i].reason + (where.empty() ? "" : " (" + where + ")"));
  }
  if (shown < kernel.limits.size())
    out.line("  (" + plural(kernel.limits.size() - shown, "more limit") + " in --format=json)");
}

std::string seconds(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f s", value);
  return text;
}

void renderStats(TextWriter& out, const FileReport& file) {
  out.line("  time: PTX from " + file.frontend + " in " + seconds(file.produce_seconds) + ", parsed in " +
           seconds(file.parse_seconds));
  for (const diagnose::KernelReport& kernel : file.kernels) {
    const double rate =
        kernel.seconds > 0 ? static_cast<double>(kernel.warp_instructions) / kernel.seconds / 1e6 : 0;
    char text[80];
    std::snprintf(text, sizeof text, "%llu warp instructions in %.3f s (%.2f million/s)",
                  static_cast<unsigned long long>(kernel.warp_instructions), kernel.seconds, rate);
    const std::string paths = kernel.paths == 0 ? "" : ", " + plural(kernel.paths, "path");
    out.line("  time: " + std::string(displayName(kernel)) + ": " + text + paths);
  }
}

void renderError(TextWriter& out, const Error& error, const FileReport& file) {
  out.message(error.pos.file.empty() ? SourcePos{file.path, 0, 0} : error.pos, Style::kError, "error",
              error.message);
  out.excerpt(error.pos, true);
}

void renderUnchecked(TextWriter& out, const FileReport& file) {
  const auto is_unchecked = [](const auto& kernel) { return kernel.verdict == diagnose::Verdict::kError; };
  if (file.kernels.empty()) {
    out.message({file.path, 0, 0}, Style::kWarning, "warning", "no kernel was found, so nothing was checked");
  } else if (std::all_of(file.kernels.begin(), file.kernels.end(), is_unchecked)) {
    out.message({file.path, 0, 0}, Style::kError, "error", "none of its kernels could be checked");
  }
}

}  // namespace

std::string renderText(const FileReport& file, const Paths& paths, SourceLines& sources,
                       const TextOptions& options) {
  TextWriter out(paths, sources, options.use_color);
  if (file.error) {
    renderError(out, *file.error, file);
    for (const Error& error : file.more_errors) renderError(out, error, file);
    return out.take();
  }
  for (const Error& note : file.notes)
    if (!options.is_quiet)
      out.message(note.pos.file.empty() ? SourcePos{file.path, 0, 0} : note.pos, Style::kNote, "note",
                  note.message);
  const GroupIds groups = groupFindings(file, paths);
  for (std::size_t k = 0; k < file.kernels.size(); ++k) {
    const diagnose::KernelReport& kernel = file.kernels[k];
    for (std::size_t i = 0; i < kernel.findings.size(); ++i)
      if (isFirstOfGroup(groups, k, i) && !kernel.findings[i].is_repeat) renderFinding(out, kernel.findings[i], restOfGroup(file, groups, k, i));
    if (!options.is_quiet || kernel.verdict == diagnose::Verdict::kError) renderKernel(out, kernel, file);
  }
  renderUnchecked(out, file);
  if (options.show_stats) renderStats(out, file);
  return out.take();
}

std::string renderEnd(const RunEnd& end, const Paths& paths, const TextOptions& options) {
  constexpr std::size_t kMaxFiles = 6;
  const auto list = [&](const std::vector<std::string>& files) {
    std::string names;
    for (std::size_t i = 0; i < std::min(files.size(), kMaxFiles); ++i) names += (i == 0 ? "" : ", ") + files[i];
    return files.size() > kMaxFiles ? names + ", ..." : names;
  };
  std::string text;
  if (!options.is_quiet) {
    for (const Repeat& repeat : end.repeats)
      text += paths.shorten(repeat.pos.file) + ":" + std::to_string(repeat.pos.line) + ": note: " + repeat.rule + " was met in " +
              plural(repeat.files.size(), "file") + ": " + list(repeat.files) + "\n";
    for (const Error& note : end.notes)
      text += paths.shorten(note.pos.file) + ":" + std::to_string(note.pos.line) + ": note: " + note.message + "\n";
  }
  if (options.show_stats && end.recalled_files != 0)
    text += "  time: " + plural(end.recalled_files, "file") + " as an earlier run left them, from the cache\n";
  text += renderSummary(end.totals, options);
  if (end.is_interrupted)
    text += "interrupted: " + plural(end.unchecked_files.size(), "file") + " not checked, or not to the end: " +
            list(end.unchecked_files) + "\n";
  return text;
}

std::string renderSummary(const Totals& totals, const TextOptions& options) {
  if (options.is_quiet) return "";
  std::string text = plural(totals.files, "file") + ", " + plural(totals.kernels, "kernel");
  if (totals.synchronous_kernels != 0)
    text += " (" + std::to_string(totals.synchronous_kernels) + " without asynchronous copies)";
  text += ": " + std::to_string(totals.verified) + " verified, " + std::to_string(totals.bounded) +
          " bounded, " + plural(totals.violations, "violation");
  if (totals.unchecked != 0) text += ", " + std::to_string(totals.unchecked) + " not checked";
  if (totals.failed_files != 0) text += ", " + plural(totals.failed_files, "file") + " not read";
  text += "; " + plural(totals.errors, "error") + ", " + plural(totals.warnings, "warning") + ", " +
          (totals.possible != 0 ? std::to_string(totals.possible) + " possible, " : "") +
          plural(totals.notes, "note");
  if (totals.for_other_launches != 0)
    text += ", " + std::to_string(totals.for_other_launches) + " for other launches";
  if (totals.silenced != 0) text += ", " + std::to_string(totals.silenced) + " silenced";
  if (totals.known != 0) text += ", " + std::to_string(totals.known) + " known";
  return text + "\n";
}

}  // namespace handoff::report
