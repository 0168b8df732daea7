// SPDX-License-Identifier: Apache-2.0
// Tries every wait for groups with larger counts: the analysis itself is the judge of what the data needs.
#include "analyzer/audit/over_wait.h"

#include <algorithm>
#include <optional>
#include <variant>

#include "analyzer/audit/overlap.h"
#include "analyzer/ptx/decode.h"

namespace handoff::audit {

using diagnose::Finding;
using diagnose::KernelReport;
using diagnose::Verdict;

namespace {

/// Larger counts are not tried: where this one will do, nothing needs the wait.
constexpr std::uint32_t kMostGroups = 8;

/// One wait of the source, by the instructions that it became.
struct Wait {
  SourceStack stack;
  std::string opcode;
  std::uint32_t count = 0;         ///< 0 for wait_all
  std::uint32_t most_pending = 0;
  std::uint32_t instr = 0;         ///< the first of them, in the program
};

std::optional<std::uint32_t> countOf(const ptx::Instruction& instr) {
  const ptx::Effect& effect = instr.decoded->effect;
  if (std::holds_alternative<ptx::CpAsyncWaitAll>(effect)) return 0;
  const auto* wgmma = std::get_if<ptx::Wgmma>(&effect);
  const bool waits_for_groups = std::holds_alternative<ptx::CpAsyncWaitGroup>(effect) ||
                                std::holds_alternative<ptx::BulkWait>(effect) ||
                                (wgmma != nullptr && wgmma->op == ptx::WgmmaOp::kWait);
  const bool has_count = waits_for_groups && !instr.operands.empty() &&
                         instr.operands[0].kind == ptx::Operand::Kind::kImmediate;
  return has_count ? std::optional(static_cast<std::uint32_t>(instr.operands[0].imm)) : std::nullopt;
}

std::vector<Wait> waitsOf(const machine::Program& whole, const std::map<std::uint32_t, std::uint32_t>& most_pending) {
  std::vector<Wait> waits;
  for (const auto& [instr, pending] : most_pending) {
    const ptx::Instruction& instruction = whole.function.instructions[instr];
    const std::optional<std::uint32_t> count = countOf(instruction);
    if (!count) continue;
    const SourceStack& stack = whole.stackOf(instr);
    const auto same = std::find_if(waits.begin(), waits.end(), [&](const Wait& wait) {
      return !stack.empty() && wait.stack == stack && wait.opcode == instruction.opcode && wait.count == *count;
    });
    if (same == waits.end()) {
      waits.push_back({stack, instruction.opcode, *count, pending, instr});
    } else {
      same->most_pending = std::max(same->most_pending, pending);
    }
  }
  return waits;
}

/// The opcode of the same wait with a count.
std::string countedOpcode(const std::string& opcode) {
  return opcode.ends_with("wait_all") ? opcode.substr(0, opcode.size() - 3) + "group" : opcode;
}

class Trial {
 public:
  Trial(const frontend::Unit& unit, const ptx::Function& kernel, const machine::Program& whole, explore::Options options)
      : unit_(unit), kernel_(kernel), whole_(whole), options_(std::move(options)) {
    options_.kernel_filter = kernel.name;
    options_.try_repairs = false;
    options_.explores_other_launches = false;
  }

  /// True when the kernel is one that counts can be weighed for: nothing is wrong with it as it is.
  bool start() {
    base_ = reportOf(unit_);
    return base_ && (base_->verdict == Verdict::kVerified || base_->verdict == Verdict::kBounded);
  }

  bool isVerified() const { return last_ && last_->verdict == Verdict::kVerified; }

  /// Nothing is found with this count that was not found before, and nothing is left open that was not.
  bool holdsWith(const Wait& wait, std::uint32_t count) {
    const std::optional<frontend::Unit> changed = withCount(wait, count);
    last_ = changed ? reportOf(*changed) : std::nullopt;
    if (!last_ || last_->verdict == Verdict::kError || last_->verdict == Verdict::kViolation) return false;
    const auto isKnown = [&](const Finding& finding) {
      return std::any_of(base_->findings.begin(), base_->findings.end(), [&](const Finding& known) {
        return known.rule == finding.rule && known.stack == finding.stack;
      });
    };
    const auto isKnownLimit = [&](const diagnose::Limit& limit) {
      return std::any_of(base_->limits.begin(), base_->limits.end(),
                         [&](const diagnose::Limit& known) { return known.reason == limit.reason; });
    };
    return std::all_of(last_->findings.begin(), last_->findings.end(), isKnown) &&
           std::all_of(last_->limits.begin(), last_->limits.end(), isKnownLimit);
  }

 private:
  std::optional<KernelReport> reportOf(const frontend::Unit& unit) const {
    for (KernelReport& report : explore::analyze(unit, options_))
      if (report.name == kernel_.name) return std::move(report);
    return std::nullopt;
  }

  // The wait may stand in a function that the kernel calls; there it is changed for all callers, as in the source.
  std::optional<frontend::Unit> withCount(const Wait& wait, std::uint32_t count) const {
    const std::uint32_t line = whole_.function.instructions[wait.instr].ptx_line;
    frontend::Unit changed = unit_;
    SourceStack where;
    for (const ptx::Function& function : changed.module.functions)
      for (const ptx::Instruction& instr : function.instructions)
        if (instr.ptx_line == line) where = changed.module.locations[instr.loc];
    bool is_changed = false;
    for (ptx::Function& function : changed.module.functions) {
      if (function.is_kernel && function.name != kernel_.name) continue;
      for (ptx::Instruction& instr : function.instructions) {
        const bool is_it = instr.ptx_line == line ||
                           (!where.empty() && instr.opcode == wait.opcode && countOf(instr) == wait.count &&
                            changed.module.locations[instr.loc] == where);
        if (!is_it) continue;
        instr.opcode = countedOpcode(wait.opcode);
        instr.decoded = &ptx::decode(instr.opcode);
        ptx::Operand number;
        number.kind = ptx::Operand::Kind::kImmediate;
        number.imm = count;
        instr.operands = {number};
        is_changed = true;
      }
    }
    return is_changed ? std::optional(std::move(changed)) : std::nullopt;
  }

  const frontend::Unit& unit_;
  const ptx::Function& kernel_;
  const machine::Program& whole_;
  explore::Options options_;
  std::optional<KernelReport> base_, last_;
};

}  // namespace

std::vector<Finding> findOverWaits(const frontend::Unit& unit, const ptx::Function& kernel, const machine::Program& whole,
                                   const std::map<std::uint32_t, std::uint32_t>& most_pending,
                                   const explore::Options& options) {
  std::vector<Finding> findings;
  std::vector<Wait> waits = waitsOf(whole, most_pending);
  // A wait that never met more groups than it leaves pending costs nothing.
  std::erase_if(waits, [](const Wait& wait) { return wait.most_pending <= wait.count; });
  if (waits.empty()) return findings;
  Trial trial(unit, kernel, whole, options);
  if (!trial.start()) return findings;
  for (const Wait& wait : waits) {
    std::uint32_t enough = wait.count;
    bool is_verified = false;
    while (enough < kMostGroups && trial.holdsWith(wait, enough + 1)) {
      ++enough;
      is_verified = trial.isVerified();
    }
    if (enough == wait.count) continue;
    Finding finding;
    finding.rule = "perf-over-wait";
    finding.severity = diagnose::Severity::kNote;
    const std::string better = enough < kMostGroups ? "with '" + countedOpcode(wait.opcode) + " " + std::to_string(enough) + "' "
                                                    : "without it ";
    finding.message = "'" + describeWait(whole, wait.instr) + "' waits for more groups than the data needs: " + better +
                      (is_verified ? "the kernel is verified, too" : "nothing is found, either");
    finding.stack = wait.stack;
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace handoff::audit
