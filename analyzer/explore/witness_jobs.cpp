// SPDX-License-Identifier: Apache-2.0
// Every leaf of the parameters gets a value here: what the protocol does not depend on may still guard a
// store.
#include "analyzer/explore/witness_jobs.h"

#include <algorithm>

#include "analyzer/explore/apply_edit.h"
#include "analyzer/explore/scenario.h"

namespace handoff::explore {

using witness::Parameter;

namespace {

Parameter::Kind kindOf(frontend::ParamField::Kind kind) {
  using From = frontend::ParamField::Kind;
  switch (kind) {
    case From::kPointer:
      return Parameter::Kind::kPointer;
    case From::kFloat:
      return Parameter::Kind::kFloat;
    case From::kTensorMap:
      return Parameter::Kind::kTensorMap;
    case From::kInteger:
    case From::kOther:
      break;
  }
  return Parameter::Kind::kValue;
}

std::vector<Parameter> fromDeclaration(const frontend::KernelDecl& decl) {
  std::vector<Parameter> parameters;
  for (const frontend::ParamField& field : decl.fields) {
    if (field.size == 0) continue;
    parameters.push_back({field.param, field.offset, field.size, kindOf(field.kind), field.name,
                          field.size == 1 ? 1 : kAssumedInteger});
  }
  return parameters;
}

/// For PTX: what the kernel loads, in the protocol or not.
std::vector<Parameter> fromLoads(const ptx::Module& module, const ptx::Function& kernel) {
  std::vector<Parameter> parameters;
  const Result<machine::Program> whole = machine::buildWholeProgram(module, kernel);
  if (!whole) return parameters;
  for (const machine::ParamRead& read : whole->param_reads) {
    const bool is_known = std::any_of(parameters.begin(), parameters.end(), [&](const Parameter& p) {
      return p.param == read.param && read.offset >= p.offset && read.offset < p.offset + p.size;
    });
    if (is_known) continue;
    parameters.push_back({read.param, read.offset, read.size,
                          read.is_pointer ? Parameter::Kind::kPointer : Parameter::Kind::kValue,
                          "parameter " + std::to_string(read.param) +
                              (read.offset == 0 ? "" : "+" + std::to_string(read.offset)),
                          read.size == 1 ? 1 : kAssumedInteger});
  }
  return parameters;
}

}  // namespace

WitnessJobs::WitnessJobs(const frontend::Unit& unit, const ptx::Function& kernel,
                         const frontend::KernelDecl* decl, const machine::Program& program,
                         const Statements* statements, const witness::Repaired* reference)
    : program_(program),
      statements_(statements),
      reference_(reference),
      parameters_(decl != nullptr && !decl->fields.empty() ? fromDeclaration(*decl)
                                                           : fromLoads(unit.module, kernel)) {
  for (const frontend::LaunchSite& site : unit.launches) {
    if (!isSameKernel(site.kernel, kernel.name)) continue;
    for (const frontend::LaunchSite::Argument& argument : site.arguments) {
      for (Parameter& parameter : parameters_) {
        if (parameter.param == argument.param && parameter.offset == argument.offset)
          parameter.value = argument.value;
      }
    }
    break;
  }
}

std::shared_ptr<const diagnose::WitnessJob> WitnessJobs::make(const diagnose::Diagnosis& diagnosis,
                                                              const diagnose::Finding& finding,
                                                              const machine::Launch& launch) const {
  std::optional<witness::Repaired> repaired;
  if (reference_ == nullptr && statements_ != nullptr && finding.repair && finding.repair->edit) {
    if (std::optional<Edited> edited = applyEdit(program_, *statements_, *finding.repair->edit))
      repaired = {std::move(edited->function), std::move(edited->origin), finding.repair->description};
  }
  return std::make_shared<const diagnose::WitnessJob>(
      witness::makeJob({program_, launch, diagnosis, parameters_, repaired ? &*repaired : reference_}));
}

std::shared_ptr<const diagnose::WitnessJob> WitnessJobs::makeControl(
    const machine::Launch& launch, const std::map<std::uint64_t, std::uint64_t>& assumed_boxes) const {
  diagnose::Diagnosis nothing;
  nothing.finding.rule = "none";
  nothing.finding.message = "no finding: nothing that is added may change the result";
  nothing.assumed_boxes = assumed_boxes;
  return std::make_shared<const diagnose::WitnessJob>(
      witness::makeJob({program_, launch, nothing, parameters_, reference_, /*is_control=*/true}));
}

}  // namespace handoff::explore
