// SPDX-License-Identifier: Apache-2.0
// Each mutant is analysed as a kernel of its own, under the launches of the unit.
#include "analyzer/mutate/score.h"

#include <algorithm>
#include <chrono>
#include <numeric>

#include "analyzer/diagnose/names.h"
#include "analyzer/explore/scenario.h"
#include "analyzer/explore/source_text.h"
#include "analyzer/machine/program.h"
#include "analyzer/mutate/reads_from.h"

namespace handoff::mutate {

using diagnose::Finding;
using diagnose::KernelReport;
using diagnose::Severity;
using diagnose::Verdict;

std::string_view toString(Fate fate) {
  switch (fate) {
    case Fate::kKilled: return "killed";
    case Fate::kEquivalent: return "equivalent";
    case Fate::kPossible: return "possible";
    case Fate::kUnproved: return "unproved";
    case Fate::kSurvived: return "survived";
  }
  return "";
}

namespace {

std::vector<std::uint32_t> identity(std::size_t size) {
  std::vector<std::uint32_t> numbers(size);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

class KernelScorer {
 public:
  KernelScorer(const frontend::Unit& unit, const ptx::Function& kernel, const explore::Options& options)
      : unit_(unit), kernel_(kernel), options_(options) {
    options_.try_repairs = false;
    options_.explores_other_launches = false;
    options_.kernel_filter.clear();
    for (const frontend::KernelDecl& decl : unit.kernels)
      if (explore::isSameKernel(decl.name, kernel.name)) decl_ = &decl;
  }

  KernelScore run(const Runner& runner) {
    Result<machine::Program> program = machine::buildProgram(unit_.module, kernel_);
    if (!program) return skip(program.error().message);
    program_ = std::move(*program);
    const std::vector<KernelReport> own = explore::analyze(mutate(unit_, program_, {program_.function, {}}), options_);
    if (own.size() != 1) return skip("the analysis gives no report");
    score_.name = own[0].name;
    score_.pretty = own[0].pretty;
    score_.pos = own[0].pos;
    score_.verdict = own[0].verdict;
    if (!own[0].has_async) return skip("it has no asynchronous operations");
    if (own[0].verdict == Verdict::kViolation) return skip("it has findings of its own");
    if (own[0].verdict == Verdict::kError) return skip(own[0].error);
    scenarios_ = explore::scenariosFor(unit_, decl_, program_, options_);
    makeMutants(runner);
    return std::move(score_);
  }

 private:
  KernelScore skip(std::string why) {
    score_.name = kernel_.name;
    score_.skipped = std::move(why);
    return std::move(score_);
  }

  void makeMutants(const Runner& runner) {
    const std::string file = unit_.producer == frontend::Producer::kPtxFile ? "" : unit_.file;
    const explore::SourceText text = file.empty() ? explore::SourceText({}) : explore::SourceText::of(unit_);
    const explore::Statements statements(program_, file, text);
    const ptx::Cfg cfg(program_.function);
    Subject subject{program_, statements, cfg};
    for (const auto& [instr, bytes] : slotBytes(program_, scenarios_.front().launch)) subject.slot_bytes[instr] = bytes;
    for (const explore::Scenario& scenario : scenarios_)
      reads_.push_back(readsFrom(program_, scenario.launch, identity(subject.size())));
    std::vector<std::function<void()>> jobs;
    for (Mutant& mutant : mutantsOf(subject)) score_.mutants.push_back({std::move(mutant)});
    for (Scored& scored : score_.mutants) jobs.push_back([&] { decide(scored, statements); });
    runner(std::move(jobs));
  }

  void decide(Scored& scored, const explore::Statements& statements) const {
    const auto start = std::chrono::steady_clock::now();
    const std::optional<explore::Edited> edited = explore::applyEdit(program_, statements, scored.mutant.edit);
    const std::vector<KernelReport> reports = explore::analyze(mutate(unit_, program_, *edited), options_);
    judge(scored, reports.front(), *edited);
    scored.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  void judge(Scored& scored, const KernelReport& report, const explore::Edited& edited) const {
    const auto isOf = [](Severity severity) { return [severity](const Finding& finding) { return finding.severity == severity; }; };
    const auto counts = [](const Finding& finding) {
      return finding.severity == Severity::kError || finding.severity == Severity::kWarning;
    };
    const std::vector<Finding>& findings = report.findings;
    if (const auto found = std::find_if(findings.begin(), findings.end(), counts); found != findings.end()) {
      scored.fate = Fate::kKilled;
      scored.rule = found->rule;
    } else if (report.verdict == Verdict::kVerified) {
      scored.why = differenceOf(edited);
      scored.fate = scored.why.empty() ? Fate::kEquivalent : Fate::kSurvived;
    } else if (const auto possible = std::find_if(findings.begin(), findings.end(), isOf(Severity::kPossible)); possible != findings.end()) {
      scored.fate = Fate::kPossible;
      scored.why = possible->rule;
    } else {
      scored.fate = Fate::kUnproved;
      scored.why = !report.error.empty() ? report.error : report.limits.empty() ? "no limit is named" : report.limits.front().reason;
    }
  }

  /// Empty: under all launches of the unit, the mutant's reads see what those of the kernel see.
  std::string differenceOf(const explore::Edited& edited) const {
    ptx::Module module = unit_.module;
    module.functions.clear();
    module.locations = program_.locations;
    const Result<machine::Program> program = machine::buildProgram(module, edited.function);
    if (!program) return program.error().message;
    for (std::size_t i = 0; i < scenarios_.size(); ++i) {
      const std::optional<ReadsFrom> reads = readsFrom(*program, scenarios_[i].launch, edited.origin);
      if (!reads || !reads_[i]) return "the run is too long to compare what its reads see";
      if (*reads != *reads_[i]) return "a read sees another write";
    }
    return "";
  }

  const frontend::Unit& unit_;
  const ptx::Function& kernel_;
  explore::Options options_;
  const frontend::KernelDecl* decl_ = nullptr;
  machine::Program program_;
  std::vector<explore::Scenario> scenarios_;
  std::vector<std::optional<ReadsFrom>> reads_;  ///< of the kernel itself, by scenario
  KernelScore score_;
};

}  // namespace

std::vector<KernelScore> score(const frontend::Unit& unit, const explore::Options& options, const Runner& runner) {
  std::vector<KernelScore> scores;
  for (const ptx::Function& function : unit.module.functions) {
    if (!function.is_kernel || function.is_declaration) continue;
    const bool is_wanted = function.name.find(options.kernel_filter) != std::string::npos ||
                           diagnose::demangle(function.name).find(options.kernel_filter) != std::string::npos;
    if (!is_wanted) continue;
    scores.push_back(KernelScorer(unit, function, options).run(runner));
  }
  return scores;
}

}  // namespace handoff::mutate
