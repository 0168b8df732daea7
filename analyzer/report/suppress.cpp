// SPDX-License-Identifier: Apache-2.0
// NOLINT comments.
#include "analyzer/report/suppress.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include "analyzer/diagnose/rule.h"

namespace handoff::report {
namespace {

constexpr std::string_view kPrefix = "handoff-";

/// A NOLINT word in a line: its kind, and the rules in its parentheses that are ours.
struct Comment {
  enum class Kind : std::uint8_t { kLine, kNextLine, kBegin, kEnd } kind = Kind::kLine;
  std::vector<std::string> rule_globs;
  std::string spelling;
};

std::vector<std::string> splitRules(std::string_view list) {
  std::vector<std::string> rules;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    std::string_view rule = list.substr(0, comma);
    list.remove_prefix(std::min(comma + 1, list.size()));
    while (rule.starts_with(' ')) rule.remove_prefix(1);
    while (rule.ends_with(' ')) rule.remove_suffix(1);
    if (!rule.starts_with(kPrefix)) continue;  // another tool's
    rules.emplace_back(rule.substr(kPrefix.size()));
  }
  return rules;
}

/// The comment of a line; empty when there is none, or none about our rules.
std::optional<Comment> readComment(std::string_view line) {
  const std::size_t slashes = std::min(line.find("//"), line.find("/*"));
  if (slashes == std::string_view::npos) return std::nullopt;
  const std::size_t word = line.find("NOLINT", slashes);
  if (word == std::string_view::npos) return std::nullopt;

  Comment comment;
  std::string_view rest = line.substr(word + 6);
  using Kind = Comment::Kind;
  for (const auto& [suffix, kind] : {std::pair<std::string_view, Kind>{"NEXTLINE", Kind::kNextLine},
                                     {"BEGIN", Kind::kBegin},
                                     {"END", Kind::kEnd}}) {
    if (!rest.starts_with(suffix)) continue;
    comment.kind = kind;
    rest.remove_prefix(suffix.size());
    break;
  }
  if (!rest.starts_with('(')) return std::nullopt;
  const std::size_t end = rest.find(')');
  if (end == std::string_view::npos) return std::nullopt;
  comment.rule_globs = splitRules(rest.substr(1, end - 1));
  if (comment.rule_globs.empty()) return std::nullopt;
  comment.spelling = line.substr(word, line.size() - word - rest.size() + end + 1);
  return comment;
}

Error problem(std::string message, std::uint32_t line) { return {std::move(message), {"", line, 0}}; }

void checkNames(const Comment& comment, std::uint32_t line, std::vector<Error>& problems) {
  for (const std::string& glob : comment.rule_globs) {
    const auto rules = diagnose::rules();
    const bool is_known = std::any_of(rules.begin(), rules.end(),
                                      [&](const auto& rule) { return matchesGlob(rule.name, glob); });
    if (!is_known)
      problems.push_back(problem("no rule is called '" + glob + "' in " + comment.spelling, line));
  }
}

/// Closes the newest open BEGIN with the same rules.
void closeRange(SuppressionList& list, std::vector<Suppression>& open, const Comment& comment,
                std::uint32_t line) {
  const auto begin = std::find_if(open.rbegin(), open.rend(), [&](const Suppression& item) {
    return item.rule_globs == comment.rule_globs;
  });
  if (begin == open.rend()) {
    list.problems.push_back(problem(comment.spelling + " has no NOLINTBEGIN with the same rules", line));
    return;
  }
  begin->last = line;
  list.items.push_back(*begin);
  open.erase(std::next(begin).base());
}

/// Lines of the user's files at which a finding may be silenced: every frame of its stack.
std::vector<SourcePos> silenceablePositions(const diagnose::Finding& finding, const Paths& paths) {
  std::vector<SourcePos> positions;
  for (const SourceFrame& frame : finding.stack)
    if (frame.pos.isKnown() && paths.isUserFile(frame.pos.file)) positions.push_back(frame.pos);
  return positions;
}

/// One name for a file, however a front end or the user spelled it.
std::string canonicalName(const std::string& file) {
  std::error_code failed;
  const std::filesystem::path path = std::filesystem::weakly_canonical(file, failed);
  return failed ? file : path.generic_string();
}

using FileSuppressions = std::map<std::string, SuppressionList>;

/// The comment that silences the finding, with its file; null when there is none.
std::pair<const std::string*, Suppression*> findSuppression(const diagnose::Finding& finding,
                                                            const Paths& paths, FileSuppressions& files,
                                                            SourceLines& sources) {
  for (const SourcePos& pos : silenceablePositions(finding, paths)) {
    const auto [entry, is_new] = files.try_emplace(canonicalName(pos.file));
    if (is_new) entry->second = readSuppressions(sources.lines(entry->first));
    for (Suppression& item : entry->second.items)
      if (item.covers(pos.line, finding.rule)) return {&entry->first, &item};
  }
  return {nullptr, nullptr};
}

/// Whether a rule that the comment names could have fired in this run.
bool canFire(const Suppression& item, const FileReport& file, const GlobList& checks) {
  const auto rules = diagnose::rules();
  return std::any_of(rules.begin(), rules.end(), [&](const auto& rule) {
    if (rule.group == "source" && file.frontend != "clang") return false;  // needs the syntax tree
    return item.covers(item.first, rule.name) && checks.contains(rule.name);
  });
}

bool wasCheckedWhole(const FileReport& file) {
  return !file.kernels.empty() &&
         std::none_of(file.kernels.begin(), file.kernels.end(),
                      [](const auto& kernel) { return kernel.verdict == diagnose::Verdict::kError; });
}

}  // namespace

bool Suppression::covers(std::uint32_t number, std::string_view rule) const {
  if (number < first || number > last) return false;
  return std::any_of(rule_globs.begin(), rule_globs.end(),
                     [&](const std::string& glob) { return matchesGlob(rule, glob); });
}

SuppressionList readSuppressions(const std::vector<std::string>& lines) {
  SuppressionList list;
  std::vector<Suppression> open;
  std::uint32_t number = 0;
  for (const std::string& line : lines) {
    ++number;
    const std::optional<Comment> comment = readComment(line);
    if (!comment) continue;
    if (comment->kind != Comment::Kind::kEnd) checkNames(*comment, number, list.problems);
    const Suppression item{number, number, number, comment->rule_globs, comment->spelling};
    switch (comment->kind) {
      case Comment::Kind::kLine:
        list.items.push_back(item);
        break;
      case Comment::Kind::kNextLine:
        list.items.push_back(item);
        list.items.back().first = list.items.back().last = number + 1;
        break;
      case Comment::Kind::kBegin:
        open.push_back(item);
        break;
      case Comment::Kind::kEnd:
        closeRange(list, open, *comment, number);
        break;
    }
  }
  for (const Suppression& item : open)
    list.problems.push_back(problem(item.spelling + " has no NOLINTEND; it silences nothing", item.line));
  std::sort(list.items.begin(), list.items.end(),
            [](const Suppression& a, const Suppression& b) { return a.line < b.line; });
  return list;
}

void dropFindings(diagnose::KernelReport& kernel, std::vector<diagnose::Finding> remaining,
                  diagnose::Limit reason) {
  kernel.findings = std::move(remaining);
  kernel.limits.push_back(std::move(reason));
  if (kernel.verdict == diagnose::Verdict::kVerified ||
      (kernel.verdict == diagnose::Verdict::kViolation &&
       std::none_of(kernel.findings.begin(), kernel.findings.end(), isViolation)))
    kernel.verdict = diagnose::Verdict::kBounded;
}

void applySuppressions(FileReport& file, const Paths& paths, const SuppressOptions& options,
                       SourceLines& sources) {
  FileSuppressions files;
  if (!file.path.ends_with(".ptx")) {
    const std::string name = canonicalName(file.path);
    files[name] = readSuppressions(sources.lines(name));
  }

  for (diagnose::KernelReport& kernel : file.kernels) {
    std::vector<diagnose::Finding> remaining;
    std::vector<diagnose::Limit> silenced;
    for (diagnose::Finding& finding : kernel.findings) {
      const auto [name, item] = findSuppression(finding, paths, files, sources);
      if (item == nullptr) {
        remaining.push_back(std::move(finding));
        continue;
      }
      item->is_used = true;
      if (finding.severity == diagnose::Severity::kNote || finding.is_for_other_launches)
        continue;  // says nothing about the verdict
      silenced.push_back(
          {"a finding of " + finding.rule + " is silenced by " + item->spelling, {*name, item->line, 0}});
    }
    kernel.findings = remaining;
    for (diagnose::Limit& limit : silenced) dropFindings(kernel, kernel.findings, std::move(limit));
  }

  const bool reports_unused = options.is_whole_file && wasCheckedWhole(file);
  for (const auto& [name, list] : files) {
    for (const Error& error : list.problems) file.notes.push_back({error.message, {name, error.pos.line, 0}});
    for (const Suppression& item : list.items)
      if (reports_unused && !item.is_used && canFire(item, file, options.checks))
        file.notes.push_back({item.spelling + " silences nothing", {name, item.line, 0}});
  }
}

}  // namespace handoff::report
