// SPDX-License-Identifier: Apache-2.0
// Keys and entries of kernels.
#include "analyzer/project/kernel_cache.h"

#include <algorithm>

#include "analyzer/explore/annotations.h"
#include "analyzer/explore/scenario.h"
#include "analyzer/project/input_fields.h"
#include "analyzer/ptx/printer.h"

namespace handoff::project {
namespace {

/// The kernel with all that it could call or name.
ptx::Module withoutOtherKernels(const ptx::Module& module, const ptx::Function& kernel) {
  ptx::Module own = module;
  std::erase_if(own.functions, [&](const ptx::Function& function) {
    return function.is_kernel && function.name != kernel.name;
  });
  return own;
}

/// Whether a report may name the instruction's line in the PTX: nothing else says where it stands.
bool isNamedByPtxLine(const ptx::Instruction& instruction) {
  const std::string_view opcode = instruction.opcode;
  return instruction.loc == 0 && !opcode.starts_with("ld.param") && !opcode.starts_with("mov.") &&
         !opcode.starts_with("cvta.") && opcode != "ret";
}

void addStacks(Writer& key, const ptx::Module& module) {
  for (const ptx::Function& function : module.functions) {
    ptx::LocId last = 0;
    for (const ptx::Instruction& instruction : function.instructions) {
      addConst(key, instruction.is_inline_asm);
      if (isNamedByPtxLine(instruction)) addConst(key, instruction.ptx_line);
      if (instruction.loc == last) continue;
      last = instruction.loc;
      addConst(key, module.locations[instruction.loc]);
    }
  }
}

/// Comments that configure the kernel, with the other kernels that they speak of.
void addComments(Writer& key, const frontend::Unit& unit, const frontend::KernelDecl& decl) {
  for (const frontend::SourceComment& comment : unit.comments) {
    if (comment.text.find("handoff:") == std::string::npos || !explore::speaksOf(comment, decl)) continue;
    addConst(key, comment);
    for (const frontend::KernelDecl* other : explore::kernelsBelow(unit, comment)) addConst(key, *other);
  }
}

}  // namespace

bool isStorable(const diagnose::KernelReport& kernel) {
  const bool is_final = !kernel.is_cut_short || kernel.verdict == diagnose::Verdict::kVerified;
  return is_final && std::none_of(kernel.findings.begin(), kernel.findings.end(),
                                  [](const diagnose::Finding& finding) { return finding.job != nullptr; });
}

KernelCache::KernelCache(const Cache& cache, const Hash& program, const frontend::Unit& unit,
                         const explore::Options& options)
    : cache_(cache), program_(program), unit_(unit), options_(options), text_(hashOf(unit.text)) {}

Hash KernelCache::keyOf(const ptx::Function& kernel) const {
  Writer key;
  addConst(key, std::string("kernel"));
  addConst(key, program_);
  addConst(key, options_);
  addConst(key, unit_.file);
  addConst(key, unit_.producer);
  const ptx::Module module = withoutOtherKernels(unit_.module, kernel);
  addConst(key, kernel.name);
  addConst(key, module.file);
  addConst(key, ptx::print(module));
  addStacks(key, module);
  if (unit_.producer == frontend::Producer::kPtxFile) addConst(key, kernel.ptx_line);
  for (const frontend::KernelDecl& decl : unit_.kernels)
    if (explore::isSameKernel(decl.name, kernel.name)) {
      addConst(key, decl);
      addComments(key, unit_, decl);
    }
  for (const frontend::LaunchSite& site : unit_.launches)
    if (explore::isSameKernel(site.kernel, kernel.name)) addConst(key, site);
  for (const frontend::TensorMapFact& fact : unit_.tensor_maps)
    if (explore::isSameKernel(fact.kernel, kernel.name)) addConst(key, fact);
  addConst(key, unit_.asm_facts);
  addConst(key, unit_.shared_arrays);
  return hashOf(key.text());
}

diagnose::KernelReport KernelCache::get(const ptx::Function& kernel,
                                        const std::function<diagnose::KernelReport()>& run) const {
  if (!cache_.isOn() || options_.makes_jobs || options_.makes_pictures) return run();
  const Hash key = keyOf(kernel);
  if (const std::optional<std::string> entry = cache_.read(key)) {
    Reader reader(*entry);
    Hash text{};
    diagnose::KernelReport report;
    all(reader, text, report);
    // Findings come with repairs, and these with lines of the source.
    if (reader.isAtEnd() && (report.findings.empty() || text == text_)) return report;
  }
  diagnose::KernelReport report = run();
  if (!isStorable(report) || isCancelled(options_.cancel)) return report;
  Writer entry;
  addConst(entry, text_);
  addConst(entry, report);
  cache_.write(key, entry.text());
  return report;
}

}  // namespace handoff::project
