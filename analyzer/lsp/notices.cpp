// SPDX-License-Identifier: Apache-2.0
// Where each finding stands, and what is said there.
#include "analyzer/lsp/notices.h"

#include <algorithm>
#include <utility>

#include "analyzer/report/groups.h"

namespace handoff::lsp {

using diagnose::Finding;
using diagnose::KernelReport;
using llvm::lsp::DiagnosticSeverity;

namespace {

constexpr std::size_t kMaxRelated = 8, kMaxShownLimits = 3;

DiagnosticSeverity severityOf(const Finding& finding) {
  if (finding.is_for_other_launches) return DiagnosticSeverity::Information;
  switch (finding.severity) {
    case diagnose::Severity::kError:
      return DiagnosticSeverity::Error;
    case diagnose::Severity::kWarning:
      return DiagnosticSeverity::Warning;
    case diagnose::Severity::kPossible:
      return DiagnosticSeverity::Information;
    case diagnose::Severity::kNote:
      break;
  }
  return DiagnosticSeverity::Hint;
}

class NoticeMaker {
 public:
  NoticeMaker(const report::FileReport& file, const report::Paths& paths, const IsShown& is_shown)
      : file_(file), paths_(paths), is_shown_(is_shown), groups_(report::groupFindings(file, paths)) {}

  std::vector<Notice> make() {
    if (file_.error) {
      addFailure(*file_.error);
      for (const Error& error : file_.more_errors) addFailure(error);
      return std::move(notices_);
    }
    for (const Error& note : file_.notes) addNote(note);
    for (std::size_t k = 0; k < file_.kernels.size(); ++k) {
      for (std::size_t i = 0; i < file_.kernels[k].findings.size(); ++i)
        if (report::isFirstOfGroup(groups_, k, i)) addFinding(k, i);
      addVerdict(file_.kernels[k]);
    }
    return std::move(notices_);
  }

 private:
  bool isShown(const std::string& path) const { return path == file_.path || is_shown_(path); }

  /// The innermost frame of the user that can be shown; else the first line of the file. `place`: what to say
  /// of the frame that cannot.
  SourcePos shownPos(const SourceStack& stack, std::string& place) const {
    const SourcePos own = paths_.ownPos(stack);
    if (isShown(own.file)) return own;
    place = placeText(own, paths_);
    for (std::size_t i = paths_.ownFrame(stack).value_or(0); i < stack.size(); ++i)
      if (isShown(stack[i].pos.file)) return stack[i].pos;
    return {file_.path, 1, 0};
  }

  void addFinding(std::size_t kernel, std::size_t index) {
    const Finding& finding = file_.kernels[kernel].findings[index];
    Notice notice;
    std::string place;
    notice.pos = shownPos(finding.stack, place);
    notice.severity = severityOf(finding);
    notice.code = finding.rule;
    notice.message = (finding.is_for_other_launches ? "for other launches: " : "") +
                     (place.empty() ? "" : place + ": ") + finding.message;
    if (const std::string rest = report::restOfGroup(file_, groups_, kernel, index); !rest.empty())
      notice.message += "\n" + rest;
    if (!place.empty()) notice.related.push_back({"the finding is here", paths_.ownPos(finding.stack)});
    for (const diagnose::Related& related : finding.related) {
      if (notice.related.size() >= kMaxRelated) break;
      const SourcePos pos = paths_.ownPos(related.stack);
      if (pos.isKnown()) notice.related.push_back({related.message, pos});
    }
    notice.finding = &finding;
    notices_.push_back(std::move(notice));
  }

  /// One for each kernel that is not verified, so that many limits do not bury the findings.
  void addVerdict(const KernelReport& kernel) {
    if (!kernel.error.empty()) {
      add(kernel.pos, DiagnosticSeverity::Warning, "not-checked",
          nameOf(kernel) + " was not checked: " + kernel.error);
      return;
    }
    if (kernel.verdict != diagnose::Verdict::kBounded || kernel.limits.empty()) return;
    std::string message = nameOf(kernel) + " is bounded by " + counted(kernel.limits.size(), "limit") + ": ";
    for (std::size_t i = 0; i < std::min(kernel.limits.size(), kMaxShownLimits); ++i)
      message += (i == 0 ? "" : "; ") + kernel.limits[i].reason;
    if (kernel.limits.size() > kMaxShownLimits) message += "; ...";
    Notice& notice = add(kernel.pos, DiagnosticSeverity::Hint, "bounded", std::move(message));
    for (const diagnose::Limit& limit : kernel.limits)
      if (limit.pos.isKnown() && notice.related.size() < kMaxRelated)
        notice.related.push_back({limit.reason, limit.pos});
  }

  void addFailure(const Error& error) {
    Notice& notice =
        add(error.pos, DiagnosticSeverity::Error, "not-checked", "not checked: " + error.message);
    // The compiler's error in a header: said in the file as well, which was not checked because of it.
    if (!isShown(error.pos.file) && error.pos.isKnown()) notice.related.push_back({error.message, error.pos});
  }

  /// Notes without a line are about the run, not about a place in the text.
  void addNote(const Error& note) {
    if (note.pos.isKnown()) add(note.pos, DiagnosticSeverity::Information, "note", note.message);
  }

  Notice& add(SourcePos pos, DiagnosticSeverity severity, std::string code, std::string message) {
    if (!isShown(pos.file)) {
      if (pos.isKnown()) message = placeText(pos, paths_) + ": " + message;
      pos = {file_.path, 1, 0};
    }
    return notices_.emplace_back(
        Notice{std::move(pos), severity, std::move(code), std::move(message), {}, nullptr});
  }

  const report::FileReport& file_;
  const report::Paths& paths_;
  const IsShown& is_shown_;
  const report::GroupIds groups_;
  std::vector<Notice> notices_;
};

}  // namespace

const std::string& nameOf(const KernelReport& kernel) {
  return kernel.pretty.empty() ? kernel.name : kernel.pretty;
}

std::string counted(std::size_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

std::string placeText(const SourcePos& pos, const report::Paths& paths) {
  if (pos.file.empty()) return "";
  const std::string file = paths.shorten(pos.file);
  return pos.isKnown() ? file + ":" + std::to_string(pos.line) : file;
}

std::vector<Notice> noticesOf(const report::FileReport& file, const report::Paths& paths,
                              const IsShown& is_shown) {
  return NoticeMaker(file, paths, is_shown).make();
}

}  // namespace handoff::lsp
