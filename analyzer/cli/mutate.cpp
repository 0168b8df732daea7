// SPDX-License-Identifier: Apache-2.0
// Mutants of all files are scored by one pool; what is printed comes in the order of files, kernels and statements.
#include "analyzer/cli/mutate.h"

#include <llvm/Support/ThreadPool.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <map>
#include <sstream>

#include "analyzer/cli/check.h"
#include "analyzer/cli/fail.h"
#include "analyzer/cli/settings.h"
#include "analyzer/cli/witness_files.h"
#include "analyzer/mutate/score.h"
#include "analyzer/project/units.h"
#include "analyzer/report/paths.h"
#include "analyzer/support/json.h"

namespace handoff::cli {
namespace {

using mutate::Fate;
using mutate::KernelScore;
using mutate::Scored;

using mutate::kFates;

/// Mutants by fate.
struct Counts {
  std::array<std::uint32_t, kFates.size()> of{};
  void add(Fate fate) { ++of[static_cast<std::size_t>(fate)]; }
  std::uint32_t operator[](Fate fate) const { return of[static_cast<std::size_t>(fate)]; }
  std::uint32_t total() const {
    std::uint32_t sum = 0;
    for (const std::uint32_t count : of) sum += count;
    return sum;
  }
  /// Of the mutants that are kernels, and not equivalent.
  double share() const {
    const std::uint32_t others = total() - (*this)[Fate::kEquivalent] - (*this)[Fate::kOutside];
    return others == 0 ? 1 : static_cast<double>((*this)[Fate::kKilled]) / others;
  }
};

class Scores {
 public:
  Scores(const CheckOptions& options, std::ostream& out, WitnessFiles& witnesses)
      : options_(options), out_(out), witnesses_(witnesses), paths_(std::filesystem::current_path().string(), toolkitFolders(options)) {}

  /// Fails when a job cannot be written.
  Result<unsigned> add(const KernelScore& kernel) {
    const std::string& name = kernel.pretty.empty() ? kernel.name : kernel.pretty;
    if (!kernel.skipped.empty()) {
      ++skipped_;
      if (isText() && !options_.is_quiet) out_ << name << ": no mutants: " << kernel.skipped << "\n";
      if (!isText()) skipped_json_.add(json::Object{{"kernel", name}, {"why", kernel.skipped}});
      return 0u;
    }
    ++kernels_;
    Counts counts;
    json::Value mutants{json::Array()};
    for (const Scored& scored : kernel.mutants) {
      counts.add(scored.fate);
      const std::string_view op = mutate::operators()[scored.mutant.op].name;
      by_operator_[op].add(scored.fate);
      all_.add(scored.fate);
      const Result<std::vector<std::string>> jobs = writeJobs(kernel, scored, op);
      if (!jobs) return jobs.error();
      isText() ? print(scored, op) : mutants.add(valueOf(scored, op, *jobs));
    }
    if (isText()) {
      out_ << name << ": " << counts.total() << " mutants:" << textOf(counts) << "\n" << std::flush;
    } else {
      json::Value value;
      value.set("kernel", name);
      value.set("file", paths_.shorten(kernel.pos.file));
      value.set("line", kernel.pos.line);
      value.set("verdict", std::string(diagnose::toString(kernel.verdict)));
      value.set("mutants", std::move(mutants));
      kernels_json_.add(std::move(value));
    }
    return counts.total();
  }

  void finish() {
    if (!isText()) return finishJson();
    if (all_.total() == 0) {
      out_ << "no mutants: " << skipped_ << (skipped_ == 1 ? " kernel was" : " kernels were") << " left out\n";
      return;
    }
    out_ << "\n" << std::left << std::setw(24) << "operator" << std::right << std::setw(8) << "mutants";
    for (const Fate fate : kFates) out_ << std::setw(11) << mutate::toString(fate);
    out_ << "\n";
    for (const mutate::Operator& op : mutate::operators()) {
      const auto counts = by_operator_.find(op.name);
      if (counts != by_operator_.end()) printRow(op.name, counts->second);
    }
    printRow("all", all_);
    out_ << "\n" << kernels_ << (kernels_ == 1 ? " kernel" : " kernels") << " with mutants, " << skipped_ << " without; "
         << std::fixed << std::setprecision(1) << 100 * all_.share() << " % of the mutants that are not equivalent are killed\n";
  }

 private:
  bool isText() const { return options_.format == "text"; }

  Result<std::vector<std::string>> writeJobs(const KernelScore& kernel, const Scored& scored, std::string_view op) {
    const SourcePos pos = paths_.ownPos(scored.mutant.stack);
    const std::string& file = pos.isKnown() ? pos.file : kernel.pos.file;
    return witnesses_.add({paths_.shorten(file), kernel.name, std::string(op), scored.mutant.edit.description, pos.line, scored.number}, scored.jobs);
  }

  void print(const Scored& scored, std::string_view op) {
    if (options_.is_quiet && (scored.fate == Fate::kKilled || scored.fate == Fate::kEquivalent)) return;
    const SourcePos pos = paths_.ownPos(scored.mutant.stack);
    if (pos.isKnown()) out_ << paths_.shorten(pos.file) << ":" << pos.line << ": ";
    out_ << mutate::toString(scored.fate) << ": " << op << ": " << scored.mutant.edit.description;
    if (!scored.rule.empty()) out_ << " [" << scored.rule << "]";
    if (!scored.why.empty()) out_ << " (" << scored.why << ")";
    out_ << "\n";
  }

  json::Value valueOf(const Scored& scored, std::string_view op, const std::vector<std::string>& jobs) const {
    const SourcePos pos = paths_.ownPos(scored.mutant.stack);
    json::Value value;
    value.set("operator", op);
    value.set("change", scored.mutant.edit.description);
    value.set("file", pos.isKnown() ? paths_.shorten(pos.file) : std::string());
    value.set("line", pos.line);
    value.set("fate", mutate::toString(scored.fate));
    if (!scored.rule.empty()) value.set("rule", scored.rule);
    if (!scored.why.empty()) value.set("why", scored.why);
    if (!jobs.empty()) value.set("jobs", json::Array(jobs.begin(), jobs.end()));
    return value;
  }

  static json::Value valueOf(const Counts& counts) {
    json::Value value;
    value.set("mutants", counts.total());
    for (const Fate fate : kFates) value.set(mutate::toString(fate), counts[fate]);
    return value;
  }

  void finishJson() {
    json::Value value, by_operator;
    for (const auto& [op, counts] : by_operator_) by_operator.set(op, valueOf(counts));
    value.set("version", 1);
    value.set("all", valueOf(all_));
    value.set("operators", std::move(by_operator));
    value.set("kernels", std::move(kernels_json_));
    value.set("skipped", std::move(skipped_json_));
    out_ << json::print(value);
  }

  static std::string textOf(const Counts& counts) {
    std::string text;
    for (const Fate fate : kFates) {
      if (counts[fate] == 0) continue;
      text += (text.empty() ? " " : ", ") + std::to_string(counts[fate]) + " " + std::string(mutate::toString(fate));
    }
    return text;
  }

  void printRow(std::string_view name, const Counts& counts) {
    out_ << std::left << std::setw(24) << name << std::right << std::setw(8) << counts.total();
    for (const Fate fate : kFates) out_ << std::setw(11) << counts[fate];
    out_ << "\n";
  }

  const CheckOptions& options_;
  std::ostream& out_;
  WitnessFiles& witnesses_;
  report::Paths paths_;
  std::map<std::string_view, Counts> by_operator_;
  Counts all_;
  json::Value kernels_json_{json::Array()}, skipped_json_{json::Array()};
  std::uint32_t kernels_ = 0, skipped_ = 0;
};

}  // namespace

ExitCode runMutate(const CheckOptions& options) {
  const auto units = project::selectUnits(options.inputs, options.frontend);
  if (!units) return fail(units.error());
  std::vector<std::string> files;
  for (const project::TranslationUnit& unit : *units) files.push_back(unit.file);
  const Result<Configurations> configurations = Configurations::forFiles(files, options);
  if (!configurations) return fail(configurations.error());
  std::ofstream output;
  if (!options.output.empty()) {
    output.open(options.output);
    if (!output) return fail({"cannot write to the file given with --output", {options.output, 0, 0}});
  }
  std::ostream& out = options.output.empty() ? std::cout : output;
  Result<WitnessFiles> witnesses = WitnessFiles::open(options.witness_folder, "");
  if (!witnesses) return fail(witnesses.error());
  Scores scores(options, out, *witnesses);
  llvm::DefaultThreadPool pool(llvm::hardware_concurrency(options.jobs));
  bool has_failed = false;
  for (const project::TranslationUnit& input : *units) {
    const project::Settings& settings = configurations->settings(input.file);
    const Result<frontend::Unit> unit = frontend::load(input.file, project::optionsOf(input, settings.frontend));
    if (!unit) {
      has_failed = true;
      fail(unit.error());
      continue;
    }
    const auto runner = [&](std::vector<std::function<void()>> jobs) {
      for (std::function<void()>& job : jobs) pool.async(std::move(job));
      pool.wait();
    };
    for (const KernelScore& kernel : mutate::score(*unit, settings.explore, runner, options.mutants)) {
      if (const Result<unsigned> added = scores.add(kernel); !added) return fail(added.error());
    }
  }
  scores.finish();
  out.flush();
  if (!out) return fail({"cannot write the scores", {options.output, 0, 0}});
  return has_failed ? ExitCode::kBadInput : ExitCode::kNothingFound;
}

}  // namespace handoff::cli
