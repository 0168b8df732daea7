// SPDX-License-Identifier: Apache-2.0
// One finding in HTML.
#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <vector>

#include "analyzer/diagnose/rule.h"
#include "analyzer/report/html_parts.h"
#include "analyzer/report/picture_svg.h"
#include "analyzer/report/svg.h"
#include "analyzer/report/text_writer.h"

namespace handoff::report {

using diagnose::Finding;
using diagnose::Picture;

namespace {

/// A step of the trace, of the picture where there is one.
struct Step {
  std::string text;
  SourceStack stack;
  bool is_culprit = false;
};

std::vector<Step> stepsOf(const Finding& finding) {
  std::vector<Step> steps;
  if (finding.picture && !finding.picture->marks.empty()) {
    for (const Picture::Mark& mark : finding.picture->marks)
      steps.push_back({mark.text, mark.stack, mark.is_culprit});
    return steps;
  }
  const std::vector<diagnose::Step>& traced = finding.witness.steps;
  for (std::size_t i = 0; i < traced.size(); ++i) {
    const std::string actor = traced[i].actor.empty() ? "" : traced[i].actor + " ";
    steps.push_back({actor + traced[i].text, traced[i].stack, i == 0 || i + 1 == traced.size()});
  }
  return steps;
}

std::string badge(std::size_t number, bool is_culprit) {
  const std::string text = std::to_string(number);
  return "<span class=\"no" + std::string(is_culprit ? " culprit" : "") + "\" data-step=\"" + text + "\">" +
         text + "</span>";
}

/// The lines of source that a finding is about, with what is said of each.
class Excerpt {
 public:
  Excerpt(const Paths& paths, SourceLines& sources) : paths_(paths), sources_(sources) {}

  void add(const Finding& finding, const std::vector<Step>& steps) {
    note(finding.stack, hereText(finding, steps), /*is_first=*/true);
    for (const diagnose::Related& related : finding.related)
      note(related.stack, related.message, /*is_first=*/false);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      for (const SourceFrame& frame : steps[i].stack) {
        if (!paths_.isUserFile(frame.pos.file)) continue;
        if (Line* line = lineAt(frame.pos)) {
          line->steps.insert(i + 1);
          if (steps[i].is_culprit) line->culprits.insert(i + 1);
        }
      }
    }
  }

  std::string render() {
    if (order_.empty()) return "";
    std::string rows;
    for (const std::string& file : order_) renderFile(file, rows);
    return "<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"Source\"><table "
           "class=\"source\">\n" +
           rows + "</table></div>\n";
  }

 private:
  struct Line {
    std::set<std::size_t> steps, culprits;
    bool is_first = false, is_other = false;
    std::vector<std::string> notes;
  };
  static constexpr std::size_t kMaxNotes = 4;  ///< for a line

  /// What happens at the finding's own place; its message stands above already.
  static std::string hereText(const Finding& finding, const std::vector<Step>& steps) {
    for (std::size_t i = steps.size(); i-- > 0;)
      if (steps[i].is_culprit && steps[i].stack == finding.stack) return "here " + steps[i].text;
    return "this is what the finding is about";
  }

  Line* lineAt(const SourcePos& pos) {
    if (!pos.isKnown() || sources_.lines(pos.file).empty()) return nullptr;
    if (!files_.contains(pos.file)) order_.push_back(pos.file);
    return &files_[pos.file][pos.line];
  }

  void note(const SourceStack& stack, const std::string& message, bool is_first) {
    const std::size_t own = paths_.ownFrame(stack).value_or(0);
    for (std::size_t i = own; i < stack.size(); ++i) {
      Line* line = paths_.isUserFile(stack[i].pos.file) ? lineAt(stack[i].pos) : nullptr;
      if (line == nullptr) continue;
      (is_first ? line->is_first : line->is_other) = true;
      const std::string callee =
          i == own || stack[i - 1].function.empty() ? "" : "in '" + stack[i - 1].function + "', called here";
      const std::string& text = i == own ? message : callee;
      if (!text.empty() && line->notes.size() < kMaxNotes &&
          std::find(line->notes.begin(), line->notes.end(), text) == line->notes.end())
        line->notes.push_back(text);
    }
  }

  // Marked lines with one line around each; a hole of two lines is filled.
  void renderFile(const std::string& file, std::string& rows) {
    constexpr std::uint32_t kAround = 1, kHole = 3, kMaxLines = 60;
    rows += "<tr class=\"file\"><td colspan=\"3\">" + escapeMarkup(paths_.shorten(file)) + "</td></tr>\n";
    const auto last = static_cast<std::uint32_t>(sources_.lines(file).size());
    std::uint32_t next = 0, shown = 0;
    for (const auto& [number, line] : files_[file]) {
      if (shown >= kMaxLines) break;
      std::uint32_t from = number > kAround ? number - kAround : 1;
      if (next != 0 && from <= next + kHole)
        from = next;
      else if (next != 0 || from > 1)
        rows += "<tr class=\"cut\"><td></td><td class=\"where\">⋮</td><td></td></tr>\n";
      from = std::max(from, next);
      // As far as the next marked line goes the context of this one.
      for (std::uint32_t at = from; at <= std::min(number + kAround, last) && shown < kMaxLines;
           ++at, ++shown) {
        const auto known = files_[file].find(at);
        renderLine(file, at, known == files_[file].end() ? Line{} : known->second, rows);
        next = at + 1;
      }
    }
  }

  void renderLine(const std::string& file, std::uint32_t number, const Line& line, std::string& rows) {
    std::string badges;
    for (const std::size_t step : line.steps) badges += badge(step, line.culprits.contains(step));
    const std::string css = line.is_first || !line.culprits.empty() ? "culprit"
                            : line.is_other                         ? "other"
                                                                    : "";
    rows += "<tr" + (css.empty() ? "" : " class=\"" + css + "\"") + "><td class=\"badges\">" + badges +
            "</td><td class=\"where\">" + std::to_string(number) + "</td><td class=\"text\">" +
            escapeMarkup(sources_.line(file, number)) + "</td></tr>\n";
    for (const std::string& note : line.notes)
      rows += "<tr class=\"note" + std::string(line.is_first ? "" : " second") +
              "\"><td></td><td></td><td class=\"text\">↑ " + escapeMarkup(note) + "</td></tr>\n";
  }

  const Paths& paths_;
  SourceLines& sources_;
  std::vector<std::string> order_;
  std::map<std::string, std::map<std::uint32_t, Line>> files_;
};

std::string renderSteps(const std::vector<Step>& steps, const Paths& paths, const std::string& file) {
  if (steps.empty()) return "";
  std::string items;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const SourcePos pos = paths.ownPos(steps[i].stack);
    const std::string place =
        pos.isKnown() && pos.file == file ? "line " + std::to_string(pos.line) : htmlPlace(pos, paths);
    items += "<li tabindex=\"0\" data-step=\"" + std::to_string(i + 1) + "\">" +
             badge(i + 1, steps[i].is_culprit) + escapeMarkup(steps[i].text) +
             (place.empty() ? "" : " <span class=\"muted\">" + place + "</span>") + "</li>\n";
  }
  return "<h4>Step by step</h4>\n<ol class=\"steps\">\n" + items + "</ol>\n";
}

std::string renderWitness(const diagnose::Witness& witness) {
  std::string parameters, rows;
  for (const auto& [name, value] : witness.parameters)
    parameters += (parameters.empty() ? "" : ", ") + name + " = " + value;
  const auto code = [](const std::string& text) { return text.empty() ? "" : htmlElement("code", "", text); };
  rows += htmlFact("Launch", code(witness.launch)) + htmlFact("With", escapeMarkup(parameters));
  std::string who = witness.block.empty() ? "" : "block " + witness.block;
  const auto join = [&](const std::string& part) { who += (who.empty() ? "" : ", ") + part; };
  if (!witness.first_thread.empty()) join("thread " + witness.first_thread);
  if (!witness.second_thread.empty() && witness.second_thread != witness.first_thread)
    join("thread " + witness.second_thread);
  if (witness.iteration > 1) join("the " + std::to_string(witness.iteration) + ". time that it gets here");
  rows += htmlFact("Who", escapeMarkup(who)) + htmlFact("Memory", code(witness.buffer));
  return rows.empty() ? "" : "<dl class=\"facts\">\n" + rows + "</dl>\n";
}

/// A change of source as a diff, with a few lines around it.
std::string renderChange(const diagnose::SourceChange& change, const Paths& paths, SourceLines& sources) {
  using Kind = diagnose::SourceChange::Kind;
  std::string rows = "<div class=\"place\">" + escapeMarkup(paths.shorten(change.pos.file)) + ":" +
                     std::to_string(change.pos.line) + "</div>";
  const auto add = [&](std::string_view css, char sign, std::string_view text) {
    std::stringstream stream{std::string(text)};
    for (std::string line; std::getline(stream, line);)
      rows += "<div" + (css.empty() ? "" : " class=\"" + std::string(css) + "\"") + ">" + sign + " " +
              escapeMarkup(line) + "</div>";
  };
  const auto context = [&](std::uint32_t from, std::uint32_t to) {
    const std::vector<std::string>& lines = sources.lines(change.pos.file);
    for (std::uint32_t at = std::max(from, 1u); at <= to && at <= lines.size(); ++at)
      rows += "<div>  " + escapeMarkup(lines[at - 1]) + "</div>";
  };
  const std::uint32_t line = change.pos.line;
  constexpr std::uint32_t kAround = 2;
  context(line > kAround ? line - kAround : 1, line - 1);
  const bool takes_away = change.kind == Kind::kReplace || change.kind == Kind::kDelete;
  if (change.kind == Kind::kInsertAfter) add("", ' ', change.original);
  if (takes_away) add("del", '-', change.original);
  if (change.kind != Kind::kDelete) add("add", '+', change.text);
  if (change.kind == Kind::kInsertBefore) add("", ' ', change.original);
  context(line + 1, line + kAround);
  return rows;
}

std::string renderRepair(const diagnose::Repair& repair, const Paths& paths, SourceLines& sources) {
  const std::string place = htmlPlace(paths.ownPos(repair.stack), paths);
  std::string html =
      "<h4>Repair</h4>\n<p>" + escapeMarkup(repair.description) + (place.empty() ? "" : " " + place) +
      (repair.is_tested ? ". <span class=\"muted\">Run again with it, the finding is gone.</span>" : "") +
      "</p>\n";
  if (repair.changes.empty()) return html;
  html += "<div class=\"diff\" tabindex=\"0\" role=\"group\" aria-label=\"Changes\">";
  for (const diagnose::SourceChange& change : repair.changes) html += renderChange(change, paths, sources);
  return html + "</div>\n";
}

std::string severityText(const Finding& finding) {
  return finding.is_for_other_launches ? "note" : std::string(toString(finding.severity));
}

}  // namespace

std::string renderFigure(const Picture& picture, std::string_view label, std::string_view caption) {
  std::string notes;
  for (const std::string& note : picture.notes)
    notes += "<p class=\"muted\">" + escapeMarkup(note) + "</p>\n";
  if (picture.isEmpty()) return notes;
  return "<figure>\n<div class=\"canvas\" tabindex=\"0\" role=\"group\" aria-label=\"" + escapeMarkup(label) +
         "\">\n" + drawPicture(picture, label) + "</div>\n" + legendOf(picture) + "<figcaption>" +
         escapeMarkup(caption) + "</figcaption>\n</figure>\n" + notes;
}

std::string renderFindingHtml(const Finding& finding, std::string_view elsewhere, const std::string& id,
                              const Paths& paths, SourceLines& sources) {
  const diagnose::RuleInfo* const rule = diagnose::findRule(finding.rule);
  const std::string severity = severityText(finding);
  std::string html = "<article class=\"finding\" id=\"" + id +
                     "\" data-steps>\n<header><span class=\"badge " + severity + "\">" + severity +
                     "</span>" + "<a href=\"#rule-" + escapeMarkup(finding.rule) + "\"><code>" +
                     escapeMarkup(finding.rule) + "</code></a>" + "<span class=\"muted\">" +
                     htmlPlace(paths.ownPos(finding.stack), paths) + "</span></header>\n";
  html += htmlElement("p", "message",
                      (finding.is_for_other_launches ? "For other launches: " : "") + finding.message);
  if (rule != nullptr) html += "<p class=\"muted\">The rule: " + escapeMarkup(rule->summary) + ".</p>\n";
  if (!elsewhere.empty()) html += htmlElement("p", "muted", elsewhere);
  std::string files;
  for (const std::string& file : finding.also_in) files += (files.empty() ? "" : ", ") + paths.shorten(file);
  if (!files.empty()) html += htmlElement("p", "muted", "Also found in " + files + ".");
  // Everything else stands with the first one.
  if (finding.is_repeat)
    return html + htmlElement("p", "muted", "Reported with an earlier file.") + "</article>\n";
  const std::vector<Step> steps = stepsOf(finding);
  Excerpt excerpt(paths, sources);
  excerpt.add(finding, steps);
  html += excerpt.render();
  if (finding.picture) {
    html += renderFigure(*finding.picture, "What happened: " + finding.message,
                         "Columns are in the order of the analyzer's run: an order, and no measure of time. "
                         "An operation is in flight "
                         "from its issue to the wait that covers it; it may be over at any moment between.");
  }
  html += renderSteps(steps, paths, paths.ownPos(finding.stack).file);
  html += renderWitness(finding.witness);
  if (finding.confirmation)
    html += "<dl class=\"facts\">" +
            htmlFact(
                "On a GPU",
                escapeMarkup(finding.confirmation->status +
                             (finding.confirmation->text.empty() ? "" : ": " + finding.confirmation->text))) +
            "</dl>\n";
  if (finding.repair) html += renderRepair(*finding.repair, paths, sources);
  return html + "</article>\n";
}

}  // namespace handoff::report
