// SPDX-License-Identifier: Apache-2.0
// Each mutant is analysed as a kernel of its own, under the launches of the unit.
#include "analyzer/mutate/score.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <numeric>
#include <set>
#include <utility>

#include "analyzer/diagnose/names.h"
#include "analyzer/explore/scenario.h"
#include "analyzer/explore/source_text.h"
#include "analyzer/explore/trial.h"
#include "analyzer/machine/program.h"
#include "analyzer/mutate/reads_from.h"
#include "analyzer/witness/job.h"

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
    case Fate::kNoted: return "noted";
    case Fate::kUnproved: return "unproved";
    case Fate::kSurvived: return "survived";
    case Fate::kOutside: return "outside";
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
  KernelScorer(const frontend::Unit& unit, const ptx::Function& kernel, const explore::Options& options, const Selection& selection)
      : unit_(unit), kernel_(kernel), options_(options), selection_(selection) {
    options_.try_repairs = false;
    options_.explores_other_launches = false;
    makes_jobs_ = std::exchange(options_.makes_jobs, false);
    makes_controls_ = std::exchange(options_.makes_controls, false);
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
    for (const Finding& finding : own[0].findings) own_rules_.emplace(finding.severity, finding.rule);
    for (const diagnose::Limit& limit : own[0].limits) own_limits_.insert(limit.reason);
    if (!own[0].has_async) return skip("it has no asynchronous operations");
    if (own[0].verdict == Verdict::kViolation) return skip("it has findings of its own");
    if (own[0].verdict == Verdict::kError) return skip(own[0].error);
    if (Result<machine::Program> whole = machine::buildWholeProgram(unit_.module, kernel_)) whole_ = std::move(*whole);
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
    compareIn(scenarios_);
    for (const machine::Launch& launch : compared_) reads_.push_back(readsFrom(program_, launch, identity(subject.size())));
    std::vector<std::function<void()>> jobs;
    std::uint32_t number = 0, meant = 0;
    for (Mutant& mutant : mutantsOf(subject)) {
      ++number;
      const bool is_meant = selection_.operators.empty() || selection_.operators.contains(operators()[mutant.op].name);
      if (is_meant && meant++ % selection_.parts == selection_.part) score_.mutants.push_back({std::move(mutant), number});
    }
    for (Scored& scored : score_.mutants) jobs.push_back([&] { decide(scored, statements); });
    runner(std::move(jobs));
  }

  // The first blocks of each launch and its last ones: at the edge of the work, conditions turn out otherwise.
  void compareIn(const std::vector<explore::Scenario>& scenarios) {
    for (const explore::Scenario& scenario : scenarios) {
      compared_.push_back(scenario.launch);
      machine::Launch last = scenario.launch;
      for (unsigned d = 0; d < 3; ++d) last.block_index[d] = last.grid[d] - std::min(last.grid[d], last.cluster[d]);
      if (last.block_index != scenario.launch.block_index) compared_.push_back(std::move(last));
    }
  }

  void decide(Scored& scored, const explore::Statements& statements) const {
    const auto start = std::chrono::steady_clock::now();
    const std::optional<explore::Edited> edited = explore::applyEdit(program_, statements, scored.mutant.edit);
    const witness::Repaired reference = referenceOf(*edited);
    explore::Options options = options_;
    options.makes_jobs = makes_jobs_;
    options.makes_controls = makes_controls_;
    const explore::Trial trial{.reference = &reference, .stops_at_finding = true};
    const std::vector<KernelReport> reports = explore::analyze(mutate(unit_, program_, *edited), options, trial);
    judge(scored, reports.front(), *edited);
    scored.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  /// The kernel itself, as what a job of the mutant compares with.
  witness::Repaired referenceOf(const explore::Edited& edited) const {
    witness::Repaired reference{program_.function, std::vector<std::uint32_t>(program_.function.instructions.size(), explore::Edited::kInserted),
                                "the kernel before its mutation"};
    for (std::size_t i = edited.origin.size(); i-- > 0;) {
      if (edited.origin[i] < reference.origin.size()) reference.origin[edited.origin[i]] = static_cast<std::uint32_t>(i);
    }
    return reference;
  }

  void judge(Scored& scored, const KernelReport& report, const explore::Edited& edited) const {
    const auto isCounted = [](const Finding& finding) {
      return finding.severity == Severity::kError || finding.severity == Severity::kWarning;
    };
    const std::vector<Finding>& findings = report.findings;
    if (const auto found = std::find_if(findings.begin(), findings.end(), isCounted); found != findings.end()) {
      scored.fate = Fate::kKilled;
      scored.rule = found->rule;
      for (const Finding& finding : findings) {
        if (isCounted(finding) && finding.job != nullptr) scored.jobs.push_back({finding.rule, finding.job});
      }
      return;
    }
    const Compared compared = compare(edited);
    if (compared.is_outside) {
      scored.fate = Fate::kOutside;
    } else if (report.verdict == Verdict::kVerified) {
      scored.fate = compared.difference.empty() ? Fate::kEquivalent : Fate::kSurvived;
      scored.why = compared.difference;
    } else {
      judgeUnproved(scored, report, compared.difference.empty());
    }
    if (scored.fate == Fate::kEquivalent && report.control_job != nullptr) scored.jobs.push_back({"none", report.control_job});
  }

  void judgeUnproved(Scored& scored, const KernelReport& report, bool is_same) const {
    for (const auto& [severity, fate] : {std::pair(Severity::kPossible, Fate::kPossible), std::pair(Severity::kNote, Fate::kNoted)}) {
      for (const Finding& finding : report.findings) {
        if (finding.severity != severity || own_rules_.contains({severity, finding.rule})) continue;
        scored.fate = fate;
        scored.rule = finding.rule;
        return;
      }
    }
    const auto isOwn = [&](const diagnose::Limit& limit) { return own_limits_.contains(limit.reason); };
    if (is_same && report.error.empty() && !report.limits.empty() && std::all_of(report.limits.begin(), report.limits.end(), isOwn)) {
      scored.fate = Fate::kEquivalent;
      scored.why = "as far as the kernel itself is proved: " + report.limits.front().reason;
      return;
    }
    scored.fate = Fate::kUnproved;
    scored.why = !report.error.empty() ? report.error : report.limits.empty() ? "no limit is named" : report.limits.front().reason;
  }

  /// The mutant beside the kernel, under all launches of the unit.
  struct Compared {
    std::string difference;  ///< empty: its reads see what those of the kernel see
    bool is_outside = false;
  };

  Compared compare(const explore::Edited& edited) const {
    ptx::Module module = unit_.module;
    module.functions.clear();
    module.locations = program_.locations;
    const Result<machine::Program> program = machine::buildProgram(module, edited.function);
    const Result<machine::Program> whole = machine::buildWholeProgram(module, edited.function);
    if (!program) return {program.error().message};
    Compared compared;
    for (std::size_t i = 0; i < compared_.size(); ++i) {
      const machine::Launch& launch = compared_[i];
      const ReadsFrom reads = readsFrom(*program, launch, edited.origin);
      compared.is_outside |= reads.has_left_memory;
      if (!compared.difference.empty()) continue;
      if (!reads.seen || !reads_[i].seen) {
        compared.difference = "the run is too long to compare what its reads see";
      } else if (*reads.seen != *reads_[i].seen) {
        const bool is_used = !whole || !whole_ || isUsed(*whole, launch, readsOnlyIn(*reads.seen, *reads_[i].seen)) ||
                             isUsed(*whole_, launch, readsOnlyIn(*reads_[i].seen, *reads.seen));
        if (is_used) compared.difference = "a read sees another write";
      }
    }
    return compared;
  }

  /// Whether any of these reads has a value that reaches more than moves.
  static bool isUsed(const machine::Program& whole, const machine::Launch& launch, const std::vector<machine::ReadInstance>& reads) {
    constexpr std::size_t kMaxReads = 4096;
    if (reads.empty()) return false;
    return reads.size() > kMaxReads || machine::usedReads(whole, launch, {}, {reads}).front();
  }

  const frontend::Unit& unit_;
  const ptx::Function& kernel_;
  explore::Options options_;
  const Selection& selection_;
  const frontend::KernelDecl* decl_ = nullptr;
  machine::Program program_;
  std::optional<machine::Program> whole_;  ///< with all that the protocol does not need
  std::vector<explore::Scenario> scenarios_;
  std::vector<machine::Launch> compared_;
  std::vector<ReadsFrom> reads_;  ///< of the kernel itself, by launch that is compared
  std::set<std::pair<Severity, std::string>> own_rules_;
  std::set<std::string> own_limits_;
  bool makes_jobs_ = false, makes_controls_ = false;
  KernelScore score_;
};

}  // namespace

std::vector<KernelScore> score(const frontend::Unit& unit, const explore::Options& options, const Runner& runner,
                               const Selection& selection) {
  std::vector<KernelScore> scores;
  for (const ptx::Function& function : unit.module.functions) {
    if (!function.is_kernel || function.is_declaration) continue;
    if (!diagnose::isNamed(function.name, options.kernel_filter)) continue;
    scores.push_back(KernelScorer(unit, function, options, selection).run(runner));
  }
  return scores;
}

}  // namespace handoff::mutate
