// SPDX-License-Identifier: Apache-2.0
// Runs every kernel of a unit under its scenarios and joins what the runs say.
#include "analyzer/explore/analyze.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>

#include "analyzer/diagnose/diagnose.h"
#include "analyzer/explore/clobber.h"
#include "analyzer/explore/hazards.h"
#include "analyzer/explore/repair.h"
#include "analyzer/explore/scenario.h"
#include "analyzer/machine/machine.h"
#include "analyzer/machine/used_reads.h"

namespace handoff::explore {

using diagnose::Diagnosis;
using diagnose::Finding;
using diagnose::KernelReport;
using diagnose::Limit;
using diagnose::Severity;
using diagnose::Verdict;

namespace {

double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
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

class KernelAnalysis {
 public:
  KernelAnalysis(const frontend::Unit& unit, const ptx::Function& kernel, const Options& options)
      : unit_(unit), kernel_(kernel), options_(options), start_(std::chrono::steady_clock::now()) {
    for (const frontend::KernelDecl& decl : unit.kernels) {
      if (isSameKernel(decl.name, kernel.name)) decl_ = &decl;
    }
  }

  KernelReport run() {
    report_.name = kernel_.name;
    report_.pretty = decl_ != nullptr && !decl_->pretty.empty() ? decl_->pretty : diagnose::demangle(kernel_.name);
    report_.pos = decl_ != nullptr ? decl_->pos : SourcePos{unit_.module.file, kernel_.ptx_line, 0};
    check();
    decide();
    report_.seconds = secondsSince(start_);
    return std::move(report_);
  }

 private:
  void fail(const std::string& why) {
    report_.verdict = Verdict::kError;
    report_.error = why;
  }

  void check() {
    if (decl_ != nullptr && decl_->untrusted) return fail(decl_->untrusted->message);
    if (kernel_.instructions.empty()) return fail("the kernel has no instructions");
    const Result<machine::Program> program = machine::buildProgram(unit_.module, kernel_);
    if (!program) return fail(program.error().message);
    report_.has_async = program->has_async_copies;
    for (const machine::Program::Limit& limit : program->limits) {
      addLimit({limit.reason, positionOf(*program, unit_.file, limit.instr)});
    }
    for (const Scenario& scenario : scenariosFor(unit_, decl_, *program, options_)) runScenario(*program, scenario);
    repairAll(*program);
    reportMissingClobbers(unit_, *program, report_);
    reportRegisterHazards(*program, repairer_ ? &*repairer_ : nullptr, report_);
  }

  void runScenario(const machine::Program& program, Scenario scenario) {
    report_.launches.push_back(scenario.text);
    for (const Limit& assumption : scenario.assumptions) addLimit(assumption);
    const std::uint32_t threads = scenario.launch.threads();
    if (threads == 0 || threads > 1024) {
      return addLimit({"a block of " + std::to_string(threads) + " threads cannot be launched", report_.pos});
    }
    // Clusters take the place of blocks: all CTAs of one run together.
    const machine::Dim3& cluster = scenario.launch.cluster;
    machine::Dim3 grid = scenario.launch.grid;
    for (unsigned d = 0; d < 3; ++d) grid[d] = std::max(1u, grid[d] / std::max(1u, cluster[d]));
    runBlock(program, scenario);
    const bool has_more = grid[0] > 1 || grid[1] > 1 || grid[2] > 1;
    if (!has_more) return;
    if (!program.depends_on_block) {
      // What alignment and hazards of the source a block index brings about, the next block shows.
      if (!program.addresses_depend_on_block || !program.has_async_copies) return;
      scenario.launch.block_index = {grid[0] > 1 ? cluster[0] : 0u, grid[1] > 1 ? cluster[1] : 0u, grid[2] > 1 ? cluster[2] : 0u};
      return runBlock(program, scenario);
    }
    // The last block is where sizes that do not divide show.
    scenario.launch.block_index = {(grid[0] - 1) * cluster[0], (grid[1] - 1) * cluster[1], (grid[2] - 1) * cluster[2]};
    runBlock(program, scenario);
    if (std::uint64_t{grid[0]} * grid[1] * grid[2] > 2) {
      addLimit({"the block index decides more than global addresses; the first and the last block were run", report_.pos});
    }
  }

  void runBlock(const machine::Program& program, const Scenario& scenario) {
    machine::RunOptions options;
    // Without asynchronous copies only plain barriers are at stake; a short run says most of it.
    options.max_steps = program.has_async_copies ? options_.max_steps : options_.max_steps / 5;
    const bool is_assumed = runOnce(program, scenario, options);
    if (program.has_mbarrier_waits) {
      options.fail_first_polls = true;
      runOnce(program, scenario, options);
      options.fail_first_polls = false;
    }
    if (!is_assumed) return;
    options.take_unknown_branches = true;
    runOnce(program, scenario, options);
  }

  /// True when a branch was decided whose condition is not known.
  bool runOnce(const machine::Program& program, const Scenario& scenario, machine::RunOptions options) {
    options.max_seconds = std::max(0.1, options_.max_seconds - secondsSince(start_));
    machine::Outcome outcome = machine::run(program, scenario.launch, options);
    dropUnusedReads(scenario, options, outcome, program);
    report_.warp_instructions += outcome.steps;
    const bool is_assumed = outcome.assumed_from != 0;
    for (const machine::RunLimit& limit : outcome.limits) {
      addLimit({limit.reason, positionOf(program, unit_.file, limit.instr)});
    }
    const diagnose::Run run{program, scenario.launch, outcome, scenario.names};
    std::vector<Diagnosis> all = diagnose::diagnose(run);
    for (Diagnosis& diagnosis : all) {
      const bool is_before = diagnosis.last_event != 0 && diagnosis.last_event < outcome.assumed_from;
      if (is_assumed && !is_before && diagnosis.finding.severity != Severity::kNote) {
        // The assumed outcomes of several branches need not go together.
        diagnosis.finding.severity = Severity::kNote;
        diagnosis.finding.message += " (on a path that was assumed for data not known before the launch)";
      }
      auto key = std::tuple(diagnosis.finding.rule, diagnosis.primary_instr, diagnosis.secondary_instr);
      if (!seen_.insert(std::move(key)).second) continue;
      report_.findings.push_back(diagnosis.finding);
      to_repair_.push_back({std::move(diagnosis), inputs_.size()});
    }
    inputs_.push_back({scenario.launch, options, scenario.names});
    return is_assumed;
  }

  // Once all inputs are known: a repair has to hold under each of them.
  void repairAll(const machine::Program& program) {
    const auto is_wgmma = [](const ptx::Instruction& instr) { return instr.opcode.starts_with("wgmma.mma_async"); };
    const std::vector<ptx::Instruction>& instructions = program.function.instructions;
    const bool has_hazards = std::any_of(instructions.begin(), instructions.end(), is_wgmma);
    if (!options_.try_repairs || (to_repair_.empty() && !has_hazards)) return;
    const bool has_source = unit_.producer != frontend::Producer::kPtxFile;
    repairer_.emplace(program, inputs_, has_source ? unit_.file : "", Repairer::Budget{});
    std::vector<std::optional<diagnose::Repair>> repairs = repairer_->repairAll(to_repair_);
    for (std::size_t i = 0; i < repairs.size(); ++i) report_.findings[i].repair = std::move(repairs[i]);
  }

  // Conflicts with a read whose value goes nowhere are no defect.
  void dropUnusedReads(const Scenario& scenario, const machine::RunOptions& options, machine::Outcome& outcome,
                       const machine::Program& program) {
    std::vector<std::vector<machine::ReadInstance>> reads;
    std::vector<std::size_t> owner;
    for (std::size_t i = 0; i < outcome.conflicts.size(); ++i) {
      const machine::Conflict& conflict = outcome.conflicts[i];
      if (conflict.reads.empty() || conflict.has_more) continue;
      owner.push_back(i);
      auto& group = reads.emplace_back();
      for (const machine::EventId id : conflict.reads) {
        const machine::Event& event = outcome.log[id];
        group.push_back({event.warp, program.ops[event.op].instr, event.pass});
      }
    }
    if (reads.empty()) return;
    if (!whole_program_) {
      Result<machine::Program> whole = machine::buildWholeProgram(unit_.module, kernel_);
      if (!whole) return;
      whole_program_ = std::move(*whole);
    }
    const std::vector<bool> used = machine::usedReads(*whole_program_, scenario.launch, options, reads);
    for (std::size_t r = reads.size(); r-- > 0;) {
      if (!used[r]) outcome.conflicts.erase(outcome.conflicts.begin() + static_cast<std::ptrdiff_t>(owner[r]));
    }
  }

  void addLimit(const Limit& limit) {
    const auto same = [&](const Limit& other) { return other.reason == limit.reason && other.pos == limit.pos; };
    if (std::none_of(report_.limits.begin(), report_.limits.end(), same)) report_.limits.push_back(limit);
  }

  // A thread that goes on too early also arrives too early, in whatever run that shows.
  void dropConsequences() {
    const auto isCause = [](const Finding& finding) {
      static constexpr std::string_view kCauses[] = {"wrong-parity", "tx-count-mismatch", "uninitialized-barrier"};
      const bool is_missing_wait = finding.rule == "missing-wait" || finding.rule == "barrier-only-handoff";
      const bool is_cause = (is_missing_wait && finding.is_use_in_flight) ||
                            std::find(std::begin(kCauses), std::end(kCauses), finding.rule) != std::end(kCauses);
      return finding.severity == Severity::kError && is_cause;
    };
    const bool has_cause = std::any_of(report_.findings.begin(), report_.findings.end(), isCause);
    if (has_cause) std::erase_if(report_.findings, [](const Finding& finding) { return finding.may_follow; });
  }

  void decide() {
    if (report_.verdict == Verdict::kError) return;
    dropConsequences();
    const bool violated = std::any_of(report_.findings.begin(), report_.findings.end(),
                                      [](const Finding& f) { return f.severity != Severity::kNote; });
    report_.verdict = violated ? Verdict::kViolation : report_.limits.empty() ? Verdict::kVerified : Verdict::kBounded;
  }

  const frontend::Unit& unit_;
  const ptx::Function& kernel_;
  const Options& options_;
  const std::chrono::steady_clock::time_point start_;
  const frontend::KernelDecl* decl_ = nullptr;
  KernelReport report_;
  std::optional<machine::Program> whole_program_;
  std::vector<Input> inputs_;
  std::optional<Repairer> repairer_;
  std::vector<Repairer::Open> to_repair_;  ///< in the order of report_.findings
  std::set<std::tuple<std::string, std::uint32_t, std::uint32_t>> seen_;
};

/// Kernels that the source declares and the PTX lacks.
void reportMissingKernels(const frontend::Unit& unit, const Options& options, std::vector<KernelReport>& reports) {
  for (const frontend::KernelDecl& decl : unit.kernels) {
    const bool is_there = std::any_of(unit.module.functions.begin(), unit.module.functions.end(), [&](const auto& f) {
      return f.is_kernel && !f.is_declaration && isSameKernel(f.name, decl.name);
    });
    if (is_there || decl.name.find(options.kernel_filter) == std::string::npos) continue;
    KernelReport report;
    report.name = decl.name;
    report.pretty = decl.pretty;
    report.pos = decl.pos;
    report.verdict = Verdict::kError;
    report.error = decl.untrusted ? decl.untrusted->message : "the kernel is missing from the PTX";
    reports.push_back(std::move(report));
  }
}

}  // namespace

std::vector<KernelReport> analyze(const frontend::Unit& unit, const Options& options) {
  std::vector<KernelReport> reports;
  for (const ptx::Function& function : unit.module.functions) {
    if (!function.is_kernel || function.is_declaration) continue;
    const bool wanted = function.name.find(options.kernel_filter) != std::string::npos ||
                        diagnose::demangle(function.name).find(options.kernel_filter) != std::string::npos;
    if (wanted) reports.push_back(KernelAnalysis(unit, function, options).run());
  }
  reportMissingKernels(unit, options, reports);
  return reports;
}

}  // namespace handoff::explore
