// SPDX-License-Identifier: Apache-2.0
// The page: index, kernels, rules.
#include "analyzer/report/html.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <set>

#include "analyzer/diagnose/picture.h"
#include "analyzer/diagnose/rule.h"
#include "analyzer/report/groups.h"
#include "analyzer/report/html_parts.h"
#include "analyzer/report/page_parts.h"
#include "analyzer/report/svg.h"

namespace handoff::report {

using diagnose::KernelReport;
using diagnose::Verdict;

std::string htmlElement(std::string_view name, std::string_view css, std::string_view text) {
  const std::string attribute = css.empty() ? "" : " class=\"" + std::string(css) + "\"";
  return "<" + std::string(name) + attribute + ">" + escapeMarkup(text) + "</" + std::string(name) + ">\n";
}

std::string htmlFact(std::string_view name, std::string_view value) {
  if (value.empty()) return "";
  return "<dt>" + std::string(name) + "</dt><dd>" + std::string(value) + "</dd>\n";
}

std::string htmlPlace(const SourcePos& pos, const Paths& paths) {
  if (pos.file.empty()) return "";
  const std::string line = pos.isKnown() ? ":" + std::to_string(pos.line) : "";
  return "<code>" + escapeMarkup(paths.shorten(pos.file) + line) + "</code>";
}

std::string plural(std::uint64_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

namespace {

/// Without network: the browser is told to refuse what the page does not hold itself.
constexpr std::string_view kPolicy =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'";

std::string seconds(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3f s", value);
  return text.data();
}

/// A path that may be broken after a folder.
std::string breakable(std::string_view path) {
  std::string html;
  for (const char c : escapeMarkup(path)) html += c == '/' ? "/<wbr>" : std::string(1, c);
  return html;
}

std::string nameOf(const KernelReport& kernel) { return kernel.pretty.empty() ? kernel.name : kernel.pretty; }

std::string joined(const std::vector<std::string>& values) {
  std::string text;
  for (const std::string& value : values) text += (text.empty() ? "" : ", ") + value;
  return text;
}

class Page {
 public:
  Page(const Report& report, const Paths& paths, SourceLines& sources, const HtmlOptions& options)
      : report_(report), paths_(paths), sources_(sources), options_(options) {}

  std::string render() {
    std::string kernels;
    for (const FileReport& file : report_.files) renderFile(file, kernels);
    std::string page =
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta "
        "http-equiv=\"Content-Security-Policy\" content=\"" +
        std::string(kPolicy) +
        "\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" +
        escapeMarkup(title()) + "</title>\n<style>\n" + std::string(svgStyle()) +
        std::string(pagePart("page.css")) + "</style>\n</head>\n<body>\n" + std::string(svgDefinitions());
    page += "<div class=\"top\"><h1>Handoff report</h1><p>" + escapeMarkup(summary()) +
            "</p><button id=\"theme\" type=\"button\" hidden>Dark</button></div>\n";
    page += "<main>\n" + filters() + index() + problems_ + kernels + rules();
    page += "<footer>Handoff " + escapeMarkup(options_.tool_version) +
            ". Verdicts: <strong>verified</strong>: no run that the kernel allows, "
            "for what it holds for, breaks a rule. <strong>bounded</strong>: the same, but for the limits "
            "that are named. "
            "<strong>violation</strong>: a run that breaks a rule was found.</footer>\n</main>\n<script>\n" +
            std::string(pagePart("page.js")) + "</script>\n</body>\n</html>\n";
    return page;
  }

 private:
  struct Entry {
    std::string id, verdict, name, file, says;
    std::size_t findings = 0;
    double seconds = 0;
  };

  std::string title() const {
    return "Handoff: " + (report_.files.size() == 1 ? paths_.shorten(report_.files.front().path)
                                                    : plural(report_.files.size(), "file"));
  }

  std::string summary() const {
    const Totals& totals = report_.end.totals;
    std::string text = plural(totals.files, "file") + ", " + plural(totals.kernels, "kernel") + ": " +
                       std::to_string(totals.verified) + " verified, " + std::to_string(totals.bounded) +
                       " bounded, " + plural(totals.violations, "violation");
    if (totals.unchecked != 0) text += ", " + std::to_string(totals.unchecked) + " not checked";
    if (totals.failed_files != 0) text += ", " + plural(totals.failed_files, "file") + " not read";
    if (totals.silenced != 0) text += ", " + std::to_string(totals.silenced) + " silenced";
    if (totals.known != 0) text += ", " + std::to_string(totals.known) + " known";
    if (report_.end.is_interrupted)
      text += "; interrupted: " + plural(report_.end.unchecked_files.size(), "file") + " not checked";
    return text;
  }

  // --- index ---

  std::string filters() const {
    std::map<std::string, std::size_t> counts;
    for (const Entry& entry : entries_) ++counts[entry.verdict];
    std::string html =
        "<div class=\"filters\" role=\"group\" aria-label=\"Show kernels by verdict\" hidden>\n";
    const auto add = [&](const std::string& verdict, std::size_t count, bool is_on) {
      html += "<button type=\"button\" data-verdict=\"" + verdict + "\" aria-pressed=\"" +
              (is_on ? "true" : "false") + "\">" + verdict + " " + std::to_string(count) + "</button>\n";
    };
    add("all", entries_.size(), true);
    for (const Verdict verdict :
         {Verdict::kViolation, Verdict::kBounded, Verdict::kVerified, Verdict::kError}) {
      const std::string name(diagnose::toString(verdict));
      if (counts[name] != 0) add(name, counts[name], false);
    }
    return html + "</div>\n";
  }

  std::string index() const {
    if (entries_.empty()) return htmlElement("p", "none", "No kernel was found, so nothing was checked.");
    std::string rows;
    for (const Entry& entry : entries_) {
      rows +=
          "<tr data-of=\"" + entry.verdict + "\"><td><span class=\"badge " + entry.verdict + "\">" +
          entry.verdict + "</span></td><td><a href=\"#" + entry.id + "\"><code>" + escapeMarkup(entry.name) +
          "</code></a></td><td>" + breakable(entry.file) +
          "</td><td class=\"number\" data-name=\"findings\">" + std::to_string(entry.findings) + "</td><td>" +
          escapeMarkup(entry.says) + "</td>" +
          (options_.show_stats ? "<td class=\"number\" data-name=\"time\">" + seconds(entry.seconds) + "</td>"
                               : "") +
          "</tr>\n";
    }
    return "<div class=\"wide\"><table class=\"index\">\n<thead><tr><th scope=\"col\">Verdict</th><th "
           "scope=\"col\">Kernel</th><th scope=\"col\">File</th>"
           "<th scope=\"col\" class=\"number\">Findings</th><th scope=\"col\">Rule, or what it holds "
           "for</th>" +
           std::string(options_.show_stats ? "<th scope=\"col\" class=\"number\">Time</th>" : "") +
           "</tr></thead>\n<tbody>\n" + rows + "</tbody>\n</table></div>\n";
  }

  static std::string saysOf(const KernelReport& kernel) {
    if (!kernel.error.empty()) return "not checked: " + kernel.error;
    if (kernel.verdict == Verdict::kViolation)
      return kernel.findings.empty() ? "" : kernel.findings.front().rule;
    std::string text = joined(kernel.holds_for);
    if (!kernel.limits.empty()) text += (text.empty() ? "" : "; ") + plural(kernel.limits.size(), "limit");
    return text;
  }

  // --- kernels ---

  void renderFile(const FileReport& file, std::string& html) {
    if (file.error) {
      problems_ += problem(*file.error, file);
      for (const Error& error : file.more_errors) problems_ += problem(error, file);
      return;
    }
    const GroupIds groups = groupFindings(file, paths_);
    for (std::size_t k = 0; k < file.kernels.size(); ++k) html += renderKernel(file, groups, k);
  }

  std::string problem(const Error& error, const FileReport& file) const {
    const SourcePos pos = error.pos.file.empty() ? SourcePos{file.path, 0, 0} : error.pos;
    return "<p><span class=\"badge error\">error</span> " + htmlPlace(pos, paths_) + " " +
           escapeMarkup(error.message) + "</p>\n";
  }

  std::string renderKernel(const FileReport& file, const GroupIds& groups, std::size_t k) {
    const KernelReport& kernel = file.kernels[k];
    const std::string id = "kernel-" + std::to_string(entries_.size() + 1),
                      verdict(diagnose::toString(kernel.verdict));
    entries_.push_back({id, verdict, nameOf(kernel), paths_.shorten(file.path), saysOf(kernel),
                        kernel.findings.size(), kernel.seconds});
    std::string html = "<section class=\"kernel\" id=\"" + id + "\" data-of=\"" + verdict +
                       "\">\n<header><span class=\"badge " + verdict + "\">" + verdict + "</span><h2><code>" +
                       escapeMarkup(nameOf(kernel)) + "</code></h2><span class=\"muted\">" +
                       htmlPlace(kernel.pos, paths_) + "</span></header>\n";
    html += facts(kernel);
    std::size_t number = 0;
    for (std::size_t i = 0; i < kernel.findings.size(); ++i) {
      if (!isFirstOfGroup(groups, k, i)) continue;
      rules_.insert(kernel.findings[i].rule);
      html += renderFindingHtml(kernel.findings[i], restOfGroup(file, groups, k, i),
                                id + "-" + std::to_string(++number), paths_, sources_);
    }
    return html + slots(kernel) + "</section>\n";
  }

  std::string facts(const KernelReport& kernel) const {
    std::string rows = htmlFact("Not checked", escapeMarkup(kernel.error));
    if (kernel.verdict != Verdict::kViolation)
      rows += htmlFact("Holds for", escapeMarkup(joined(kernel.holds_for)));
    rows += htmlFact("Limits", list(kernel.limits, [&](const diagnose::Limit& limit) {
                       const std::string place = htmlPlace(limit.pos, paths_);
                       return escapeMarkup(limit.reason) + (place.empty() ? "" : " " + place);
                     }));
    rows += htmlFact("Launches", list(kernel.launches, [](const std::string& launch) {
                       return "<code>" + escapeMarkup(launch) + "</code>";
                     }));
    if (kernel.paths != 0) rows += htmlFact("Runs", plural(kernel.paths, "path"));
    if (!kernel.has_async && kernel.error.empty()) rows += htmlFact("Copies", "no asynchronous ones");
    if (options_.show_stats)
      rows += htmlFact("Time", seconds(kernel.seconds) + ", " + std::to_string(kernel.warp_instructions) +
                                   " warp instructions");
    return rows.empty() ? "" : "<dl class=\"facts\">\n" + rows + "</dl>\n";
  }

  template <typename T, typename F>
  static std::string list(const std::vector<T>& values, F&& html) {
    if (values.empty()) return "";
    if (values.size() == 1) return html(values.front());
    std::string items;
    for (const T& value : values) items += "<li>" + html(value) + "</li>";
    return "<ul>" + items + "</ul>";
  }

  static std::string slots(const KernelReport& kernel) {
    if (!kernel.picture) return "";
    const diagnose::Picture& picture = *kernel.picture;
    std::string html = picture.isEmpty() ? "" : "<h3>Slots over time</h3>\n";
    const bool has_steady = std::any_of(picture.phases.begin(), picture.phases.end(),
                                        [](const auto& phase) { return phase.name == "steady state"; });
    return html + renderFigure(
                      picture, "Slots of " + nameOf(kernel) + " over time",
                      "One run, with " + picture.launch + ". Fill: nothing is read yet. " +
                          (has_steady ? "Steady state: tiles are read while others are still issued. " : "") +
                          "Drain: nothing is issued any more. Columns are the moments at which a slot "
                          "changes, in the order of the analyzer's run: no measure of time.");
  }

  // --- rules ---

  std::string rules() const {
    if (rules_.empty()) return "";
    std::string html = "<section class=\"kernel\" id=\"rules\">\n<h2>Rules</h2>\n";
    for (const std::string& name : rules_) {
      const diagnose::RuleInfo* const rule = diagnose::findRule(name);
      const std::string_view page = options_.rule_page ? options_.rule_page(name) : "";
      html += "<details id=\"rule-" + escapeMarkup(name) + "\"><summary><code>" + escapeMarkup(name) +
              "</code>" + (rule == nullptr ? "" : ": " + escapeMarkup(rule->summary)) + "</summary>\n";
      if (!page.empty())
        html += htmlElement("pre", "", page);
      else if (rule != nullptr)
        html += htmlElement("p", "muted", "PTX ISA: " + std::string(rule->reference));
      html += "</details>\n";
    }
    return html + "</section>\n";
  }

  const Report& report_;
  const Paths& paths_;
  SourceLines& sources_;
  const HtmlOptions& options_;
  std::vector<Entry> entries_;
  std::set<std::string> rules_;
  std::string problems_;
};

}  // namespace

std::string renderHtml(const Report& report, const Paths& paths, SourceLines& sources,
                       const HtmlOptions& options) {
  return Page(report, paths, sources, options).render();
}

}  // namespace handoff::report
