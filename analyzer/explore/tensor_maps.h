// SPDX-License-Identifier: Apache-2.0
// What one copy through each tensor map of a kernel writes: from "// handoff: tensormap NAME box=64x128xbf16"
// above the kernel, else from .handoff.yaml, else from the host code that encodes the map.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/diagnose/finding.h"
#include "analyzer/explore/analyze.h"
#include "analyzer/explore/annotations.h"
#include "analyzer/frontend/unit.h"
#include "analyzer/machine/launch.h"
#include "analyzer/support/tensor_box.h"

namespace handoff::explore {

struct NamedPlace {
  std::string name;  ///< as the report calls it
  ParamPlace place;
};
/// The map, or the pointer to one, that users call so: "tma_a", "params.tma_b", "param0+128". Empty: the kernel has none.
std::optional<NamedPlace> findMap(const frontend::KernelDecl& decl, std::string_view name);
/// What may be such a name; places are left out.
void addMapNames(const frontend::KernelDecl& decl, std::set<std::string, std::less<>>& names);

/// What is wrong with "handoff: tensormap ..." above these kernels: it is malformed, or names a map of none
/// of them.
std::optional<Error> tensorMapMistake(const std::vector<const frontend::KernelDecl*>& kernels,
                                      const Annotation& annotation);

class TensorMaps {
 public:
  /// `launch_pos`: the launch site whose maps are wanted; unknown for a launch that a comment or an option
  /// gives.
  TensorMaps(const frontend::Unit& unit, const frontend::KernelDecl* decl, std::string_view kernel,
             const Options& options, const SourcePos& launch_pos);

  /// The map in (or behind the pointer in) this place of the parameters; empty when nobody says what its box
  /// is, or several places of the host code disagree.
  std::optional<machine::TensorMap> at(const ParamPlace& place) const;
  std::vector<ParamPlace> places() const;
  /// Annotations that are malformed, or that name no parameter which may be a map; of PTX, which has no names, entries
  /// of .handoff.yaml that give one.
  const std::vector<diagnose::Limit>& mistakes() const { return mistakes_; }

 private:
  struct Entry {
    ParamPlace place;
    machine::TensorMap map;
    bool is_ambiguous = false;
  };
  void addFacts(const frontend::Unit& unit, const frontend::KernelDecl* decl, std::string_view kernel,
                const SourcePos& launch_pos);
  void addConfigured(const ConfiguredTensorMap& configured, const frontend::KernelDecl* decl);
  void addAnnotations(const frontend::Unit& unit, const frontend::KernelDecl& decl);
  void addFact(const frontend::TensorMapFact& fact, const std::string& name);
  /// Takes the place of what was known.
  void set(const NamedPlace& place, const TensorBox& box);
  Entry* find(const ParamPlace& place);

  std::vector<Entry> entries_;
  std::vector<diagnose::Limit> mistakes_;
};

bool haveSameBoxes(const machine::Launch& a, const machine::Launch& b);

}  // namespace handoff::explore
