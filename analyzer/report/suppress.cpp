// SPDX-License-Identifier: Apache-2.0
// NOLINT comments.
#include "analyzer/report/suppress.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include "analyzer/diagnose/rule.h"
#include "analyzer/support/text.h"

namespace handoff::report {
namespace {

constexpr std::string_view kPrefix = "handoff-";

/// A NOLINT word in a line: its kind, and the rules in its parentheses that are ours.
struct Comment {
  enum class Kind : std::uint8_t { kLine, kNextLine, kBegin, kEnd } kind = Kind::kLine;
  std::vector<std::string> rule_globs;
  std::string spelling, reason;
  std::uint32_t column = 0;
};

std::string_view trimmed(std::string_view text, std::string_view blanks) {
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

/// In the order of the alphabet, so that BEGIN(a, b) and END(b, a) belong together.
std::vector<std::string> splitRules(std::string_view list) {
  std::vector<std::string> rules;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    const std::string_view rule = trimmed(list.substr(0, comma), " \t");
    list.remove_prefix(std::min(comma + 1, list.size()));
    if (!rule.starts_with(kPrefix)) continue;  // another tool's
    rules.emplace_back(rule.substr(kPrefix.size()));
  }
  std::sort(rules.begin(), rules.end());
  return rules;
}

/// What the user says behind the parentheses, up to the next NOLINT or the end of the comment.
std::string reasonIn(std::string_view rest) {
  rest = rest.substr(0, std::min(rest.find("NOLINT"), rest.find("*/")));
  return std::string(trimmed(rest, " \t:-/"));
}

/// The comment whose NOLINT begins at `word`; empty when it says nothing about our rules.
std::optional<Comment> commentAt(std::string_view line, std::size_t word) {
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
  comment.reason = reasonIn(rest.substr(end + 1));
  comment.column = static_cast<std::uint32_t>(word + 1);
  return comment;
}

/// All comments of a line.
std::vector<Comment> readComments(std::string_view line) {
  std::vector<Comment> comments;
  const std::size_t slashes = std::min(line.find("//"), line.find("/*"));
  if (slashes == std::string_view::npos) return comments;
  for (std::size_t word = line.find("NOLINT", slashes); word != std::string_view::npos;
       word = line.find("NOLINT", word + 6))
    if (std::optional<Comment> comment = commentAt(line, word)) comments.push_back(std::move(*comment));
  return comments;
}

Error problem(std::string message, const SourcePos& pos) { return {std::move(message), pos}; }

void checkNames(const Comment& comment, const SourcePos& pos, std::vector<Error>& problems) {
  std::vector<std::string_view> names;
  for (const diagnose::RuleInfo& rule : diagnose::rules()) names.push_back(rule.name);
  for (const std::string& glob : comment.rule_globs) {
    const bool is_known = std::any_of(names.begin(), names.end(),
                                      [&](std::string_view name) { return matchesGlob(name, glob); });
    if (!is_known)
      problems.push_back(
          problem("no rule is called '" + glob + "' in " + comment.spelling + suggestion(glob, names), pos));
  }
}

/// Closes the newest open BEGIN with the same rules.
void closeRange(SuppressionList& list, std::vector<Suppression>& open, const Comment& comment,
                const SourcePos& pos) {
  const auto begin = std::find_if(open.rbegin(), open.rend(), [&](const Suppression& item) {
    return item.rule_globs == comment.rule_globs;
  });
  if (begin == open.rend()) {
    list.problems.push_back(problem(comment.spelling + " has no NOLINTBEGIN with the same rules", pos));
    return;
  }
  begin->last = pos.line;
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

/// The first comment that silences the finding, with its file; null when there is none. Every comment that
/// would do counts as used.
std::pair<const std::string*, Suppression*> findSuppression(const diagnose::Finding& finding,
                                                            const Paths& paths, FileSuppressions& files,
                                                            SourceLines& sources) {
  std::pair<const std::string*, Suppression*> found{nullptr, nullptr};
  for (const SourcePos& pos : silenceablePositions(finding, paths)) {
    const auto [entry, is_new] = files.try_emplace(canonicalName(pos.file));
    if (is_new) entry->second = readSuppressions(sources.lines(entry->first));
    for (Suppression& item : entry->second.items) {
      if (!item.covers(pos.line, finding.rule)) continue;
      item.is_used = true;
      if (found.second == nullptr) found = {&entry->first, &item};
    }
  }
  return found;
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
    for (const Comment& comment : readComments(line)) {
      const SourcePos pos{"", number, comment.column};
      if (comment.kind == Comment::Kind::kEnd) {
        closeRange(list, open, comment, pos);
        continue;
      }
      checkNames(comment, pos, list.problems);
      const std::uint32_t covered = comment.kind == Comment::Kind::kNextLine ? number + 1 : number;
      const Suppression item{pos, covered, covered, comment.rule_globs, comment.spelling, comment.reason};
      (comment.kind == Comment::Kind::kBegin ? open : list.items).push_back(item);
    }
  }
  for (const Suppression& item : open)
    list.problems.push_back(problem(item.spelling + " has no NOLINTEND; it silences nothing", item.pos));
  std::sort(list.items.begin(), list.items.end(), [](const Suppression& a, const Suppression& b) {
    return std::pair(a.pos.line, a.pos.column) < std::pair(b.pos.line, b.pos.column);
  });
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
  const std::string own_name = canonicalName(file.path);
  files[own_name] = readSuppressions(sources.lines(own_name));

  for (std::size_t k = 0; k < file.kernels.size(); ++k) {
    diagnose::KernelReport& kernel = file.kernels[k];
    std::vector<diagnose::Finding> remaining;
    std::vector<diagnose::Limit> silenced;
    for (diagnose::Finding& finding : kernel.findings) {
      const auto [name, item] = findSuppression(finding, paths, files, sources);
      if (item == nullptr) {
        remaining.push_back(std::move(finding));
        continue;
      }
      const SourcePos pos{*name, item->pos.line, item->pos.column};
      const bool counts = finding.severity != diagnose::Severity::kNote && !finding.is_for_other_launches;
      if (counts)  // else it says nothing about the verdict
        silenced.push_back({"a finding of " + finding.rule + " is silenced by " + item->spelling, pos});
      file.set_aside.push_back(
          {k, std::move(finding), SetAside::By::kComment, item->spelling, item->reason, pos});
    }
    kernel.findings = remaining;
    for (diagnose::Limit& limit : silenced) dropFindings(kernel, kernel.findings, std::move(limit));
  }

  for (const auto& [name, list] : files)
    for (const Error& error : list.problems)
      file.notes.push_back({error.message, {name, error.pos.line, error.pos.column}});
  if (!options.is_whole_file || !wasCheckedWhole(file)) return;
  for (const Suppression& item : files[own_name].items)
    if (!item.is_used && canFire(item, file, options.checks))
      file.notes.push_back({item.spelling + " silences nothing", {own_name, item.pos.line, item.pos.column}});
}

}  // namespace handoff::report
