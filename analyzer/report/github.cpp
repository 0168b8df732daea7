// SPDX-License-Identifier: Apache-2.0
// Annotations for GitHub Actions.
#include "analyzer/report/github.h"

#include <string_view>

#include "analyzer/report/groups.h"
#include "analyzer/report/text.h"

namespace handoff::report {
namespace {

constexpr std::size_t kMaxAnnotations = 10;  ///< of one kind that a step shows

/// In a message '%' and line ends are escaped, in a property ':' and ',' as well.
std::string escaped(std::string_view text, bool is_property) {
  std::string result;
  for (const char c : text) {
    if (c == '%')
      result += "%25";
    else if (c == '\r')
      result += "%0D";
    else if (c == '\n')
      result += "%0A";
    else if (is_property && c == ':')
      result += "%3A";
    else if (is_property && c == ',')
      result += "%2C";
    else
      result += c;
  }
  return result;
}

std::string_view commandFor(const diagnose::Finding& finding) {
  if (finding.is_for_other_launches) return "notice";
  switch (finding.severity) {
    case diagnose::Severity::kError:
      return "error";
    case diagnose::Severity::kWarning:
      return "warning";
    case diagnose::Severity::kPossible:
    case diagnose::Severity::kNote:
      break;
  }
  return "notice";
}

class Writer {
 public:
  explicit Writer(const Paths& paths) : paths_(paths) {}

  void command(std::string_view kind, const SourcePos& pos, std::string_view title,
               std::string_view message) {
    std::string properties;
    const auto add = [&](std::string_view name, const std::string& value) {
      properties += (properties.empty() ? " " : ",") + std::string(name) + "=" + escaped(value, true);
    };
    if (!pos.file.empty()) add("file", paths_.fromRoot(pos.file));
    if (pos.line != 0) add("line", std::to_string(pos.line));
    if (pos.line != 0 && pos.column != 0) add("col", std::to_string(pos.column));
    add("title", std::string(title));
    text_ += "::" + std::string(kind) + properties + "::" + escaped(message, false) + "\n";
    ++(kind == "error" ? errors_ : kind == "warning" ? warnings_ : notices_);
  }

  void finding(const FileReport& file, const diagnose::KernelReport& kernel, const diagnose::Finding& finding,
               const std::string& elsewhere) {
    const SourcePos pos = paths_.ownPos(finding.stack);
    std::string message = finding.message;
    for (const diagnose::Related& related : finding.related)
      message += "\n" + related.message + place(paths_.ownPos(related.stack));
    message += "\nkernel: " + (kernel.pretty.empty() ? kernel.name : kernel.pretty);
    if (!finding.witness.launch.empty()) message += ", launch: " + finding.witness.launch;
    if (finding.repair)
      message += "\nfix: " + finding.repair->description + place(paths_.ownPos(finding.repair->stack));
    if (!elsewhere.empty()) message += "\n" + elsewhere;
    std::string title = "handoff " + finding.rule;
    if (finding.severity == diagnose::Severity::kPossible) title += " (possible)";
    if (finding.is_for_other_launches) title += " (other launches)";
    command(commandFor(finding), pos.file.empty() ? SourcePos{file.path, 0, 0} : pos, title, message);
  }

  /// Says so when the runner will not show all.
  void noteLimits() {
    for (const auto& [count, name] :
         {std::pair{errors_, "errors"}, {warnings_, "warnings"}, {notices_, "notices"}})
      if (count > kMaxAnnotations)
        text_ += "handoff: " + std::to_string(count) + " " + name + "; GitHub shows " +
                 std::to_string(kMaxAnnotations) + " of a kind for each step, this log has all\n";
  }

  void line(const std::string& text) { text_ += text; }
  std::string take() { return std::move(text_); }

 private:
  std::string place(const SourcePos& pos) const {
    if (!pos.isKnown()) return "";
    return " (" + paths_.fromRoot(pos.file) + ":" + std::to_string(pos.line) + ")";
  }

  const Paths& paths_;
  std::string text_;
  std::size_t errors_ = 0, warnings_ = 0, notices_ = 0;
};

void writeFailures(Writer& out, const FileReport& file) {
  const auto error = [&](const Error& what) {
    out.command("error", what.pos.file.empty() ? SourcePos{file.path, 0, 0} : what.pos, "handoff",
                what.message);
  };
  if (file.error) error(*file.error);
  for (const Error& what : file.more_errors) error(what);
  for (const diagnose::KernelReport& kernel : file.kernels)
    if (kernel.verdict == diagnose::Verdict::kError)
      error({(kernel.pretty.empty() ? kernel.name : kernel.pretty) + " was not checked: " + kernel.error,
             kernel.pos});
}

void writeNotices(Writer& out, const FileReport& file) {
  for (const Error& note : file.notes)
    out.command("notice", note.pos.file.empty() ? SourcePos{file.path, 0, 0} : note.pos, "handoff",
                note.message);
  for (const diagnose::KernelReport& kernel : file.kernels) {
    if (kernel.verdict != diagnose::Verdict::kBounded) continue;
    std::string message = (kernel.pretty.empty() ? kernel.name : kernel.pretty) + " is bounded, not verified";
    for (const diagnose::Limit& limit : kernel.limits) message += "\nlimit: " + limit.reason;
    out.command("notice", kernel.pos.file.empty() ? SourcePos{file.path, 0, 0} : kernel.pos,
                "handoff bounded", message);
  }
}

}  // namespace

std::string renderGithub(const Report& report, const Paths& paths, const GithubOptions& options) {
  Writer out(paths);
  for (const FileReport& file : report.files) {
    const GroupIds groups = groupFindings(file, paths);
    for (std::size_t k = 0; k < file.kernels.size(); ++k)
      for (std::size_t i = 0; i < file.kernels[k].findings.size(); ++i)
        if (isFirstOfGroup(groups, k, i) && !file.kernels[k].findings[i].is_repeat)
          out.finding(file, file.kernels[k], file.kernels[k].findings[i], restOfGroup(file, groups, k, i));
  }
  for (const FileReport& file : report.files) writeFailures(out, file);
  if (!options.is_quiet)
    for (const FileReport& file : report.files) writeNotices(out, file);
  if (report.end.is_interrupted)
    out.command("error", {}, "handoff", "the run was interrupted; the report is not complete");
  out.noteLimits();
  out.line(renderSummary(report.end.totals, {.is_quiet = options.is_quiet}));
  return out.take();
}

}  // namespace handoff::report
