// SPDX-License-Identifier: Apache-2.0
// The formats of `handoff check`.
#include "analyzer/cli/output.h"

#include <algorithm>
#include <utility>

#include "analyzer/cli/check.h"
#include "analyzer/cli/rule_pages.h"
#include "analyzer/cli/version.h"
#include "analyzer/report/html.h"
#include "analyzer/report/json.h"
#include "analyzer/report/repeats.h"
#include "analyzer/report/text.h"

namespace handoff::cli {
namespace {

class TextOutput : public Output {
 public:
  explicit TextOutput(const OutputContext& context)
      : context_(context),
        text_{usesColor(context.options) && !context.is_extra, context.options.is_quiet, context.options.show_stats} {}

  void add(report::FileReport file) override {
    context_.out << report::renderText(file, context_.paths, context_.sources, text_) << std::flush;
  }
  void finish(const report::RunEnd& end) override {
    context_.out << report::renderEnd(end, context_.paths, text_);
  }
  bool isForPeople() const override { return true; }

 private:
  OutputContext context_;
  report::TextOptions text_;
};

class JsonOutput : public Output {
 public:
  explicit JsonOutput(const OutputContext& context) : context_(context) {}

  void add(report::FileReport file) override { report_.files.push_back(std::move(file)); }
  void finish(const report::RunEnd& end) override {
    report_.end = end;
    report::addRepeats(report_);
    context_.out << report::renderJson(report_, context_.paths,
                                       {std::string(kVersion), context_.options.show_stats});
  }

 private:
  OutputContext context_;
  report::Report report_;
};

class HtmlOutput : public Output {
 public:
  explicit HtmlOutput(const OutputContext& context) : context_(context) {}

  void add(report::FileReport file) override { report_.files.push_back(std::move(file)); }
  void finish(const report::RunEnd& end) override {
    report_.end = end;
    context_.out << report::renderHtml(report_, context_.paths, context_.sources,
                                       {std::string(kVersion), context_.options.show_stats, rulePage});
  }

 private:
  static std::string_view rulePage(std::string_view rule) {
    const std::span<const RulePage> pages = rulePages();
    const auto page = std::find_if(pages.begin(), pages.end(), [&](const RulePage& known) { return known.rule == rule; });
    return page == pages.end() ? std::string_view() : page->text;
  }

  OutputContext context_;
  report::Report report_;
};

template <typename Format>
std::unique_ptr<Output> make(const OutputContext& context) {
  return std::make_unique<Format>(context);
}

constexpr FormatInfo kFormats[] = {
    {"text", make<TextOutput>},
    {"json", make<JsonOutput>},
    {"sarif", makeSarif},
    {"github", makeGithub},
    {"html", make<HtmlOutput>},
};

}  // namespace

std::span<const FormatInfo> formats() { return kFormats; }

std::unique_ptr<Output> makeOutput(const std::string& format, const OutputContext& context) {
  const auto info = std::find_if(std::begin(kFormats), std::end(kFormats),
                                 [&](const FormatInfo& row) { return row.name == format; });
  HANDOFF_CHECK(info != std::end(kFormats));
  return info->make(context);
}

}  // namespace handoff::cli
