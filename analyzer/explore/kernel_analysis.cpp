// SPDX-License-Identifier: Apache-2.0
// Runs a kernel under its scenarios and joins what the runs say.
#include "analyzer/explore/kernel_analysis.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>

#include "analyzer/diagnose/diagnose.h"
#include "analyzer/explore/clobber.h"
#include "analyzer/explore/consequences.h"
#include "analyzer/explore/hazards.h"
#include "analyzer/explore/input_words.h"
#include "analyzer/explore/paths.h"
#include "analyzer/explore/pictures.h"
#include "analyzer/explore/pointer_use.h"
#include "analyzer/explore/repair.h"
#include "analyzer/explore/run_memory.h"
#include "analyzer/explore/scenario.h"
#include "analyzer/explore/source_text.h"
#include "analyzer/explore/unused_reads.h"
#include "analyzer/explore/witness_jobs.h"
#include "analyzer/machine/data_terms.h"
#include "analyzer/machine/machine.h"
#include "analyzer/machine/transfer/null_pointer.h"

namespace handoff::explore {

using diagnose::Diagnosis;
using diagnose::Finding;
using diagnose::KernelReport;
using diagnose::Limit;
using diagnose::Severity;
using diagnose::Verdict;

namespace {

/// Whether the inputs decide on accesses.
bool hasAccesses(const machine::PathLog& log) {
  return std::any_of(log.decisions.begin(), log.decisions.end(),
                     [](const machine::Decision& decision) { return decision.kind == machine::Decision::Kind::kAccess; });
}

ThreadClock::duration durationOf(double seconds) {
  return std::chrono::duration_cast<ThreadClock::duration>(std::chrono::duration<double>(seconds));
}

double secondsSince(ThreadClock::time_point start) {
  return std::chrono::duration<double>(ThreadClock::now() - start).count();
}

SourcePos positionOf(const machine::Program& program, const std::string& unit_file, std::uint32_t instr) {
  if (instr >= program.function.instructions.size()) return {program.module->file, 0, 0};
  const SourceStack& stack = program.stackOf(instr);
  // The reader looks for it in the file that was checked; else where the instruction itself is written.
  for (const SourceFrame& frame : stack) {
    if (frame.pos.file == unit_file) return frame.pos;
  }
  if (!stack.empty()) return stack.front().pos;
  return {program.module->file, program.function.instructions[instr].ptx_line, 0};
}

/// For launches that the unit does not have: as long as its own took, within these.
constexpr std::chrono::seconds kMinAside(2), kMaxAside(10);
constexpr std::uint64_t kShortShare = 8;           ///< of the steps, before other launches are tried
constexpr double kRepairShare = 0.1;               ///< of a kernel's time, when there is none left
constexpr unsigned kMaxMixedPaths = 16;            ///< on which threads are made to differ where data decide

class KernelAnalysis {
 public:
  KernelAnalysis(const frontend::Unit& unit, const ptx::Function& kernel, const Options& options, const Trial& trial,
                 const machine::Instructions& input_words)
      : unit_(unit), kernel_(kernel), options_(options), trial_(trial), input_words_(input_words), start_(ThreadClock::now()), wall_start_(std::chrono::steady_clock::now()) {
    for (const frontend::KernelDecl& decl : unit.kernels)
      if (isSameKernel(decl.name, kernel.name)) decl_ = &decl;
  }

  Analysed run() {
    report_.name = kernel_.name;
    report_.pretty = decl_ != nullptr && !decl_->pretty.empty() ? decl_->pretty : diagnose::demangle(kernel_.name);
    report_.pos = decl_ != nullptr ? decl_->pos : SourcePos{unit_.module.file, kernel_.ptx_line, 0};
    check();
    decide();
    report_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - wall_start_).count();
    return {std::move(report_), std::move(wanted_words_)};
  }

 private:
  /// A finding, and the length of the run that it was met in.
  struct Seen { std::size_t index = 0; std::uint64_t steps = 0; };

  void fail(const std::string& why) {
    report_.verdict = Verdict::kError;
    report_.error = why;
  }

  void check() {
    if (decl_ != nullptr && decl_->untrusted) return fail(decl_->untrusted->message);
    if (kernel_.instructions.empty()) return fail("the kernel has no instructions");
    const Result<machine::Program> program = machine::buildProgram(unit_.module, kernel_, input_words_);
    if (!program) return fail(program.error().message);
    report_.has_async = program->has_async_copies;
    for (const machine::Program::Limit& limit : program->limits)
      addLimit({limit.reason, positionOf(*program, unit_.file, limit.instr)});
    const std::vector<Scenario> scenarios = scenariosFor(unit_, decl_, *program, options_);
    for (const Scenario& scenario : scenarios) runScenario(*program, scenario);
    repairAll(*program);
    if (options_.makes_jobs) makeJobs(*program);
    if (options_.makes_pictures) makePictures(*program, scenarios.front());
    reportMissingClobbers(unit_, *program, report_);
    reportRegisterHazards(*program, repairer_ ? &*repairer_ : nullptr, report_);
    report_.is_cut_short |= questions_.wasCutShort() || (repairer_ && repairer_->wasCutShort()) || isCancelled(options_.cancel);
  }

  void runScenario(const machine::Program& program, Scenario scenario) {
    if (isEnough()) return;
    report_.launches.push_back(scenario.text);
    for (const Limit& assumption : scenario.assumptions) addLimit(assumption);
    for (const machine::Program::Limit& use : pointerUses(program, scenario)) addLimit({use.reason, positionOf(program, unit_.file, use.instr)});
    own_assumptions_ = report_.limits;
    earlier_quantities_ = report_.holds_for;
    was_stopped_ = false;
    const std::uint32_t threads = scenario.launch.threads();
    if (threads == 0 || threads > 1024)
      return addLimit({"a block of " + std::to_string(threads) + " threads cannot be launched", report_.pos});
    if (std::string reason = whyTooLarge(program, scenario.launch, options_.max_memory_mb); !reason.empty())
      return addLimit({std::move(reason), report_.pos});
    if (options_.any_launch) scenario = freed(scenario);
    const auto before = ThreadClock::now();
    is_short_ = isFixed(scenario) && options_.explores_other_launches;
    explorePaths(program, scenario);
    if (std::exchange(is_short_, false) && was_stopped_) {  // a proof for all values, of few turns of each loop, makes the long run needless
      was_stopped_ = false;
      if (exploreOtherLaunches(program, scenario, kMaxAside)) return;
      report_.limits = own_assumptions_;
      report_.holds_for = earlier_quantities_;
      explorePaths(program, scenario);
      if (!was_stopped_) return;
    }
    exploreOtherLaunches(program, scenario, std::clamp<ThreadClock::duration>(ThreadClock::now() - before, kMinAside, kMaxAside));
  }

  /// True when nothing stood in the way of all paths.
  bool explorePaths(const machine::Program& program, const Scenario& scenario) {
    const std::size_t limits_before = report_.limits.size();
    const PathBudget budget{.max_paths = options_.max_paths, .max_memory_mb = options_.max_memory_mb,
                            .deadline = std::min(start_ + durationOf(options_.max_seconds), deadline_),
                            .solver_milliseconds = options_.solver_milliseconds,
                            .cancel = trial_.stops_at_finding ? &enough_ : options_.cancel};
    is_explored_ = tracks_global_ = has_moving_distances_ = false;
    const auto run = [&](const Scenario& one, machine::PathLog& log) {
      runBlock(program, one, log);
      is_explored_ = true;  // the first one has the values of the launch, or those assumed for it
      if (isEnough()) enough_.cancel();
    };
    const auto probe = [&](const Scenario& one, machine::PathLog& log) {
      machine::RunOptions options = runOptions(program, one.launch);
      options.path = &log;
      report_.warp_instructions += machine::run(program, one.launch, options).steps;
    };
    Paths paths(program, scenario, budget, run, probe);
    paths.explore();
    report_.paths += paths.count();
    // What is off the verdict has never the time for everything, and says so nowhere.
    if (!is_aside_) report_.is_cut_short |= paths.isCutShort() || ThreadClock::now() >= budget.deadline;
    if (tracks_global_ && (has_moving_distances_ || paths.hasClosedLoops())) {
      addLimit({"the order of copies and stores in global memory was checked for the runs made, not for all sizes", report_.pos});
    }
    for (const machine::RunLimit& limit : paths.limits()) addLimit({limit.reason, positionOf(program, unit_.file, limit.instr)});
    for (std::string& quantity : holdsFor(scenario, program)) addQuantity(std::move(quantity));
    return report_.limits.size() == limits_before;
  }

  // What goes wrong only with values that the unit's launches do not have is another matter, and said apart. A proof for
  // all values, on the other hand, holds for those of the launch: true.
  bool exploreOtherLaunches(const machine::Program& program, const Scenario& scenario, ThreadClock::duration most) {
    if (!isFixed(scenario) || !options_.explores_other_launches) return false;
    const std::vector<Limit> own_limits = report_.limits;
    const std::vector<std::string> own_quantities = report_.holds_for;
    const bool is_own_complete = !was_stopped_;
    report_.limits.clear();
    report_.holds_for = earlier_quantities_;
    is_other_launch_ = is_own_complete;
    is_aside_ = true;
    deadline_ = ThreadClock::now() + most;
    has_other_defect_ = false;
    const std::size_t findings_before = report_.findings.size();
    const bool is_complete = explorePaths(program, freed(scenario));
    is_other_launch_ = is_aside_ = false;
    deadline_ = ThreadClock::time_point::max();
    const bool is_proof = is_complete && !has_other_defect_ && report_.findings.size() == findings_before;
    report_.limits = is_proof ? own_assumptions_ : own_limits;
    if (!is_proof) report_.holds_for = own_quantities;
    return is_proof;
  }

  void addQuantity(std::string quantity) {
    if (std::find(report_.holds_for.begin(), report_.holds_for.end(), quantity) == report_.holds_for.end()) {
      report_.holds_for.push_back(std::move(quantity));
    }
  }

  machine::RunOptions runOptions(const machine::Program& program, const machine::Launch& launch) {
    machine::RunOptions options;
    // Without asynchronous copies only plain barriers are at stake; a short run says most of it.
    const std::uint64_t steps = std::max(options_.max_steps, options_.min_steps_of_warp * launch.warps() * launch.clusterSize());
    options.max_steps = (program.has_async_copies ? steps : steps / 5) / (is_short_ ? kShortShare : 1);
    options.max_seconds = std::max(0.1, options_.max_seconds - secondsSince(start_));
    options.questions = &questions_;
    return options;
  }

  void runBlock(const machine::Program& program, const Scenario& asked, machine::PathLog& log) {
    machine::RunOptions options = runOptions(program, asked.launch);
    options.path = &log;
    const Assumed assumed = runOnce(program, asked, options);
    options.path = nullptr;
    const Scenario scenario = withWords(asked, program, words_);
    if (program.has_mbarrier_waits) {
      options.fail_first_polls = true;
      runOnce(program, scenario, options);
      options.fail_first_polls = false;
    }
    if (!assumed.any) return;
    options.unknown_branches = machine::UnknownBranches::kHoldEverywhere;
    const bool by_thread = runOnce(program, scenario, options).by_thread || assumed.by_thread;
    // Threads that part ways: on the first paths only, since every path is cut short by the assumption anyway.
    if (!by_thread || ++mixed_paths_ > kMaxMixedPaths) return;
    for (const machine::UnknownBranches mixed : machine::kMixedBranches) {
      if (secondsSince(start_) > options_.max_seconds / 2) {
        report_.is_cut_short = true;
        return;
      }
      options.unknown_branches = mixed;
      runOnce(program, scenario, options);
    }
  }

  /// Whether a branch was decided whose condition is not known, and one that may differ by thread.
  struct Assumed { bool any = false, by_thread = false; };

  Assumed runOnce(const machine::Program& program, const Scenario& asked, machine::RunOptions options) {
    options.max_seconds = std::max(0.1, options_.max_seconds - secondsSince(start_));
    machine::Outcome outcome = machine::run(program, asked.launch, options);
    const Scenario scenario = withWords(asked, program, outcome.words);
    if (options.path != nullptr) {
      words_ = outcome.words;
      word_conditions_ = countWordConditions(*options.path);
    }
    const bool has_accesses = options.path != nullptr && hasAccesses(*options.path);
    options.path = nullptr;  // of this run only
    dropUnusedReads(program, scenario.launch, options, [&] { return wholeProgram(); }, outcome);
    report_.warp_instructions += outcome.steps;
    was_stopped_ |= outcome.was_stopped;
    const bool is_quantified = std::any_of(scenario.integers.begin(), scenario.integers.end(), [](const Integer& i) { return i.is_free; });
    tracks_global_ |= outcome.tracks_global && (is_quantified || !outcome.words.empty());
    has_moving_distances_ |= outcome.has_moving_distances;
    wanted_words_.insert(outcome.wanted_words.begin(), outcome.wanted_words.end());
    if (outcome.has_repeated_copies && has_accesses) {
      // Of two such copies the later one stands for both, and where it is left out, the other one was not looked at.
      addLimit({"threads copy the same bytes to the same place, of which some sizes leave out some", report_.pos});
    }
    if ((is_other_launch_ || is_explored_) && outcome.has_left_memory) {
      // Such sizes are not meant: the buffers are not made for them.
      addLimit({"with some sizes an access leaves its shared memory; what such sizes bring about is not reported", report_.pos});
      return {outcome.assumed_from != 0, outcome.assumed_by_thread};
    }
    if (is_other_launch_ || is_explored_) std::erase_if(outcome.misuses, isContract);
    // That this pointer is null is a guess: something else may tell the kernel not to copy from it.
    if (scenario.has_null_pointers) std::erase_if(outcome.misuses, machine::isOfNullPointer);
    const bool is_assumed = outcome.assumed_from != 0;
    for (const machine::RunLimit& limit : outcome.limits) {
      addLimit({limit.reason, positionOf(program, unit_.file, limit.instr)});
    }
    const diagnose::Run run{program, scenario.launch, outcome, scenario.names};
    std::vector<Diagnosis> all = diagnose::diagnose(run);
    for (Diagnosis& diagnosis : all) {
      if (is_other_launch_ && diagnosis.finding.severity == Severity::kNote) continue;
      const bool is_before = diagnosis.last_event != 0 && diagnosis.last_event < outcome.assumed_from;
      // The assumed outcomes of several branches need not go together. A kernel may be made for one CTA, though it can do with more.
      const char* const guess = is_assumed && !is_before ? " (on a path that was assumed for data not known before the launch)"
                                : scenario.has_assumed_cluster ? " (with a cluster whose size was assumed)" : nullptr;
      if (guess != nullptr && diagnosis.finding.severity != Severity::kNote) {
        diagnosis.finding.severity = Severity::kNote;
        diagnosis.finding.message += guess;
      }
      limitToData(diagnosis.finding);
      if (diagnosis.finding.severity == Severity::kPossible) {
        addLimit({"whether two accesses meet here depends on data that is not known before the launch",
                  positionOf(program, unit_.file, diagnosis.primary_instr)});
      }
      keep(std::move(diagnosis), outcome.steps);
    }
    if (!first_launch_) {
      first_launch_ = scenario.launch;
      first_boxes_ = outcome.assumed_boxes;
    }
    inputs_.push_back({scenario.launch, options, scenario.names});
    input_steps_.push_back(outcome.steps);
    return {is_assumed, outcome.assumed_by_thread};
  }

  // Code asks data where both answers occur, but several answers need not go together.
  void limitToData(Finding& finding) const {
    const bool is_certain = finding.severity == Severity::kError || finding.severity == Severity::kWarning;
    if (word_conditions_ < 2 || !is_certain) return;
    finding.severity = Severity::kPossible;
    finding.message += " (on a path that goes by several conditions on data in memory)";
  }

  // What the file's launches show and what only others show is kept apart: one must not stand for the other.
  void keep(Diagnosis diagnosis, std::uint64_t steps) {
    const auto keyFor = [&](bool is_other) {
      return std::tuple(diagnosis.finding.rule, diagnosis.primary_instr, diagnosis.secondary_instr, is_other);
    };
    const auto own = seen_.find(keyFor(false)), other = seen_.find(keyFor(true));
    const auto isWorseThan = [&](const Seen& seen) { return diagnosis.finding.severity < report_.findings[seen.index].severity; };
    if (is_other_launch_) {
      // The launch's own finding says it already.
      if (own != seen_.end() && !isWorseThan(own->second)) return;
      has_other_defect_ = true;
      if (other != seen_.end()) return;
    } else if (own != seen_.end()) {
      return preferShorter(own->second, diagnosis, steps);
    } else if (other != seen_.end() && diagnosis.finding.severity <= report_.findings[other->second.index].severity) {
      // An earlier launch of the file left it to others; this one is such another.
      const std::size_t index = other->second.index;
      seen_.erase(other);
      seen_.emplace(keyFor(false), Seen{index, steps});
      return replace(index, std::move(diagnosis));
    }
    diagnosis.finding.is_for_other_launches = is_other_launch_;
    seen_.emplace(keyFor(is_other_launch_), Seen{report_.findings.size(), steps});
    report_.findings.push_back(diagnosis.finding);
    to_repair_.push_back({std::move(diagnosis), inputs_.size()});
  }

  void replace(std::size_t index, Diagnosis diagnosis) {
    report_.findings[index] = diagnosis.finding;
    to_repair_[index] = {std::move(diagnosis), inputs_.size()};
  }

  // Alignment and sizes of what lies in global memory are for the caller to see to: inputs that no launch has say nothing.
  static bool isContract(const machine::Misuse& misuse) {
    using Kind = machine::Misuse::Kind;
    return misuse.kind == Kind::kMisalignedSource || misuse.kind == Kind::kMisalignedGlobalDestination || misuse.kind == Kind::kBadBulkSize;
  }

  // The witness with the fewest instructions is the easiest to follow.
  void preferShorter(Seen& seen, Diagnosis& diagnosis, std::uint64_t steps) {
    const Finding& known = report_.findings[seen.index];
    if (diagnosis.finding.severity > known.severity || (diagnosis.finding.severity == known.severity && steps >= seen.steps)) return;
    seen.steps = steps;
    replace(seen.index, std::move(diagnosis));
  }

  // Once all inputs are known.
  void repairAll(const machine::Program& program) {
    const auto is_wgmma = [](const ptx::Instruction& instr) { return instr.opcode.starts_with("wgmma.mma_async"); };
    const std::vector<ptx::Instruction>& instructions = program.function.instructions;
    const bool has_hazards = std::any_of(instructions.begin(), instructions.end(), is_wgmma);
    // A repair is tried without words in memory, on which these findings rest.
    if (!input_words_.empty() || !options_.try_repairs || isCancelled(options_.cancel) || (to_repair_.empty() && !has_hazards)) return;
    keepRepresentatives(inputs_, input_steps_, to_repair_);
    const bool has_source = unit_.producer != frontend::Producer::kPtxFile;
    repairer_.emplace(program, inputs_, has_source ? unit_.file : "", has_source ? SourceText::of(unit_) : SourceText({}),
                      repairBudget());
    std::vector<std::optional<diagnose::Repair>> repairs = repairer_->repairAll(to_repair_);
    for (std::size_t i = 0; i < repairs.size(); ++i) report_.findings[i].repair = std::move(repairs[i]);
  }

  // Where time is short, some of it is kept for repairs.
  Repairer::Budget repairBudget() const {
    Repairer::Budget budget;
    const double left = std::max(options_.max_seconds - secondsSince(start_), kRepairShare * options_.max_seconds);
    if (options_.max_share != 0) budget.seconds = std::min(budget.seconds, left);
    return budget;
  }

  void makeJobs(const machine::Program& program) {
    if (!input_words_.empty()) return;
    if (!repairer_ && !to_repair_.empty()) keepRepresentatives(inputs_, input_steps_, to_repair_);
    const WitnessJobs jobs(unit_, kernel_, decl_, program, repairer_ ? &repairer_->statements() : nullptr, trial_.reference);
    for (std::size_t i = 0; i < to_repair_.size(); ++i) {
      Finding& finding = report_.findings[i];
      if (finding.severity == Severity::kError || finding.severity == Severity::kWarning)
        finding.job = jobs.make(to_repair_[i].diagnosis, finding, inputs_[to_repair_[i].input].launch);
    }
    const bool has_job = std::any_of(report_.findings.begin(), report_.findings.end(), [](const Finding& f) { return f.job != nullptr; });
    if (options_.makes_controls && !has_job && first_launch_) report_.control_job = jobs.makeControl(*first_launch_, first_boxes_);
  }

  void makePictures(const machine::Program& program, const Scenario& scenario) {
    addFindingPictures(program, inputs_, to_repair_, report_);
    if (!isViolated() && report_.has_async) addKernelPicture(program, scenario, report_);
  }

  const machine::Program* wholeProgram() {
    if (!whole_program_) {
      Result<machine::Program> whole = machine::buildWholeProgram(unit_.module, kernel_, input_words_);
      if (!whole) return nullptr;
      whole_program_ = std::move(*whole);
    }
    return &*whole_program_;
  }

  void addLimit(const Limit& limit) {
    const auto same = [&](const Limit& other) { return other.reason == limit.reason && other.pos == limit.pos; };
    if (std::none_of(report_.limits.begin(), report_.limits.end(), same)) report_.limits.push_back(limit);
  }

  bool isViolated() const {
    return std::any_of(report_.findings.begin(), report_.findings.end(), [&](const Finding& f) {
      const bool counts = !f.is_for_other_launches || options_.any_launch;
      return counts && (f.severity == Severity::kError || f.severity == Severity::kWarning);
    });
  }

  bool isEnough() const { return trial_.stops_at_finding && isViolated(); }

  void decide() {
    if (report_.verdict == Verdict::kError) return;
    dropConsequences(report_);
    report_.verdict = isViolated() ? Verdict::kViolation : report_.limits.empty() ? Verdict::kVerified : Verdict::kBounded;
  }

  const frontend::Unit& unit_;
  const ptx::Function& kernel_;
  const Options& options_;
  const Trial& trial_;
  const machine::Instructions input_words_;
  const ThreadClock::time_point start_;
  const std::chrono::steady_clock::time_point wall_start_;
  const frontend::KernelDecl* decl_ = nullptr;
  KernelReport report_;
  CancelToken enough_;
  std::optional<machine::Program> whole_program_;
  machine::DataQuestions questions_;
  std::vector<Input> inputs_;
  std::vector<std::uint64_t> input_steps_;  ///< length of the run with each
  std::optional<machine::Launch> first_launch_;  ///< has the values that the unit's launch gives
  std::map<std::uint64_t, std::uint64_t> first_boxes_;  ///< what its run assumed of tensor maps
  std::vector<Limit> own_assumptions_;      ///< of the scenario, and limits of those before it
  std::vector<std::string> earlier_quantities_;  ///< of the scenarios before it
  bool has_other_defect_ = false;           ///< the launch at hand was explored for other values, and these show more
  ThreadClock::time_point deadline_ = ThreadClock::time_point::max();  ///< of the paths that are explored now
  bool is_other_launch_ = false, is_aside_ = false, is_explored_ = false, was_stopped_ = false, is_short_ = false;
  unsigned mixed_paths_ = 0;
  std::set<machine::Instructions> wanted_words_;
  std::map<std::uint64_t, machine::Word> words_;  ///< of the last run with a path
  std::size_t word_conditions_ = 0;               ///< which it decided
  bool tracks_global_ = false, has_moving_distances_ = false;  ///< of the runs of these paths
  std::optional<Repairer> repairer_;
  std::vector<Repairer::Open> to_repair_;  ///< in the order of report_.findings
  /// By rule, both instructions, and whether only other launches than the file's show it.
  std::map<std::tuple<std::string, std::uint32_t, std::uint32_t, bool>, Seen> seen_;
};

}  // namespace

Analysed analyzeOnce(const frontend::Unit& unit, const ptx::Function& kernel, const Options& options, const Trial& trial,
                     const machine::Instructions& input_words) {
  return KernelAnalysis(unit, kernel, options, trial, input_words).run();
}

}  // namespace handoff::explore
