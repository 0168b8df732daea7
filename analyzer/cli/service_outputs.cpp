// SPDX-License-Identifier: Apache-2.0
// --format=sarif and --format=github.
#include <utility>

#include "analyzer/cli/explain.h"
#include "analyzer/cli/output.h"
#include "analyzer/cli/version.h"
#include "analyzer/report/github.h"
#include "analyzer/report/repeats.h"
#include "analyzer/report/sarif.h"

namespace handoff::cli {
namespace {

/// Keeps the files, because both formats say something about all of them.
class ServiceOutput : public Output {
 public:
  explicit ServiceOutput(const OutputContext& context) : context_(context) {}

  void add(report::FileReport file) override { report_.files.push_back(std::move(file)); }
  void finish(const report::RunEnd& end) override {
    report_.end = end;
    report::addRepeats(report_);
    context_.out << render();
  }

 protected:
  virtual std::string render() = 0;

  OutputContext context_;
  report::Report report_;
};

class SarifOutput : public ServiceOutput {
 public:
  using ServiceOutput::ServiceOutput;

 protected:
  std::string render() override {
    report::SarifOptions options;
    options.tool_version = kVersion;
    options.docs_uri = kDocsUri;
    options.rule_page = rulePage;
    options.checks = report::GlobList(context_.options.checks);
    options.omits_silenced = context_.options.omits_suppressed;
    options.baseline = context_.baseline;
    return report::renderSarif(report_, context_.paths, context_.sources, options);
  }
};

class GithubOutput : public ServiceOutput {
 public:
  using ServiceOutput::ServiceOutput;

 protected:
  std::string render() override {
    return report::renderGithub(report_, context_.paths, {.is_quiet = context_.options.is_quiet});
  }
};

}  // namespace

std::unique_ptr<Output> makeSarif(const OutputContext& context) {
  return std::make_unique<SarifOutput>(context);
}
std::unique_ptr<Output> makeGithub(const OutputContext& context) {
  return std::make_unique<GithubOutput>(context);
}

}  // namespace handoff::cli
