// SPDX-License-Identifier: Apache-2.0
// The checks on launches and tensor maps that users give.
#include "analyzer/explore/given_check.h"

#include <algorithm>

#include "analyzer/diagnose/names.h"
#include "analyzer/explore/annotations.h"
#include "analyzer/explore/configured.h"
#include "analyzer/explore/scenario.h"
#include "analyzer/explore/tensor_maps.h"
#include "analyzer/support/text.h"

namespace handoff::explore {
namespace {

using frontend::KernelDecl;
using frontend::ParamField;
using frontend::SourceComment;

using Names = std::set<std::string, std::less<>>;

void addParameters(const KernelDecl& decl, Names& names, Names& pointers) {
  for (const ParamField& field : decl.fields) {
    if (field.kind == ParamField::Kind::kInteger || field.kind == ParamField::Kind::kOther) names.insert(field.name);
    if (field.kind == ParamField::Kind::kPointer) pointers.insert(field.name);
  }
}

std::vector<Error> unknownNames(const LaunchText& launch, const Names& known, const Names& pointers,
                                std::string_view of, const SourcePos& pos) {
  std::vector<std::string_view> candidates = launchFieldNames();
  candidates.insert(candidates.end(), known.begin(), known.end());
  std::vector<Error> mistakes;
  for (const auto& [name, value] : launch.parameters) {
    const bool is_pointer = pointers.count(name) != 0;
    if (known.count(name) != 0 || (is_pointer && value == 0)) continue;
    if (is_pointer) {
      mistakes.push_back({"'" + name + "=" + std::to_string(value) + "': of a pointer a launch can say only that it is null, as " +
                              name + "=0",
                          pos});
      continue;
    }
    mistakes.push_back({"'" + name + "=" + std::to_string(value) + "': " + std::string(of) +
                            " has an integer parameter of this name" + suggestion(name, candidates),
                        pos});
  }
  return mistakes;
}

void checkLaunch(const frontend::Unit& unit, const SourceComment& comment, const Annotation& annotation,
                 std::vector<Error>& mistakes) {
  const Result<LaunchText> launch = parseLaunchText(annotation.text, Block::kOptional);
  if (!launch) {
    mistakes.push_back({"handoff: launch: " + launch.error().message, annotation.pos});
    return;
  }
  Names names, pointers;
  const std::vector<const KernelDecl*> kernels = kernelsBelow(unit, comment);
  for (const KernelDecl* decl : kernels) addParameters(*decl, names, pointers);
  if (kernels.empty()) return;  // of a template without instances, the parameters are not known
  for (Error& error : unknownNames(*launch, names, pointers, "no kernel below", annotation.pos))
    mistakes.push_back({"handoff: launch: " + error.message, error.pos});
}

/// The declarations of the kernels whose names contain `filter` and match `glob`; null for one that has none.
std::vector<const KernelDecl*> kernelsCalled(const frontend::Unit& unit, std::string_view glob, std::string_view filter) {
  std::vector<const KernelDecl*> kernels;
  for (const ptx::Function& function : unit.module.functions) {
    if (!function.is_kernel || function.is_declaration) continue;
    const auto decl = std::find_if(unit.kernels.begin(), unit.kernels.end(),
                                   [&](const KernelDecl& d) { return isSameKernel(d.name, function.name); });
    const std::string demangled = diagnose::demangle(function.name);
    const std::string& pretty =
        decl != unit.kernels.end() && !decl->pretty.empty() ? decl->pretty : demangled;
    if (diagnose::isNamed(function.name, filter) && isKernelCalled(glob, function.name, pretty))
      kernels.push_back(decl != unit.kernels.end() ? &*decl : nullptr);
  }
  return kernels;
}

}  // namespace

std::vector<Error> commentMistakes(const frontend::Unit& unit) {
  std::vector<Error> mistakes;
  for (const SourceComment& comment : unit.comments) {
    for (const Annotation& annotation : annotationsIn(comment, "launch"))
      checkLaunch(unit, comment, annotation, mistakes);
    for (const Annotation& annotation : annotationsIn(comment, "tensormap"))
      if (std::optional<Error> mistake = tensorMapMistake(kernelsBelow(unit, comment), annotation))
        mistakes.push_back(std::move(*mistake));
  }
  return mistakes;
}

void Audience::add(const frontend::Unit& unit, std::string_view glob, std::string_view filter) {
  for (const KernelDecl* decl : kernelsCalled(unit, glob, filter)) {
    has_kernels_ = true;
    has_unknown_ |= decl == nullptr;
    if (decl != nullptr) addParameters(*decl, parameters_, pointers_);
  }
}

void Audience::add(const Audience& other) {
  parameters_.insert(other.parameters_.begin(), other.parameters_.end());
  pointers_.insert(other.pointers_.begin(), other.pointers_.end());
  has_kernels_ |= other.has_kernels_;
  has_unknown_ |= other.has_unknown_;
}

std::vector<Error> Audience::mistakes(const LaunchText& launch, const SourcePos& pos) const {
  if (!has_kernels_ || has_unknown_) return {};
  return unknownNames(launch, parameters_, pointers_, "no kernel that it is for", pos);
}

void MapAudience::add(const frontend::Unit& unit, std::string_view glob, std::string_view filter,
                      std::string_view name) {
  for (const KernelDecl* decl : kernelsCalled(unit, glob, filter)) {
    has_kernels_ = true;
    has_map_ |= decl == nullptr || findMap(*decl, name).has_value();
    if (decl != nullptr) addMapNames(*decl, names_);
  }
}

void MapAudience::add(const MapAudience& other) {
  names_.insert(other.names_.begin(), other.names_.end());
  has_kernels_ |= other.has_kernels_;
  has_map_ |= other.has_map_;
}

std::optional<Error> MapAudience::mistake(std::string_view name, const SourcePos& pos) const {
  if (!has_kernels_ || has_map_) return std::nullopt;
  const std::vector<std::string_view> candidates(names_.begin(), names_.end());
  return Error{"'" + std::string(name) + "': no kernel that it is for has a tensor map of this name" +
                   suggestion(name, candidates),
               pos};
}

}  // namespace handoff::explore
