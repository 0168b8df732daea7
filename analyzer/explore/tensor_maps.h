// SPDX-License-Identifier: Apache-2.0
// What one copy through each tensor map of a kernel writes: from "// handoff: tensormap NAME box=64x128xbf16"
// above the kernel, else from the host code that encodes the map.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/diagnose/finding.h"
#include "analyzer/explore/annotations.h"
#include "analyzer/frontend/unit.h"
#include "analyzer/machine/launch.h"

namespace handoff::explore {

/// What is wrong with "handoff: tensormap ..." above these kernels: it is malformed, or names a map of none
/// of them.
std::optional<Error> tensorMapMistake(const std::vector<const frontend::KernelDecl*>& kernels,
                                      const Annotation& annotation);

class TensorMaps {
 public:
  /// `launch_pos`: the launch site whose maps are wanted; unknown for a launch that a comment or an option
  /// gives.
  TensorMaps(const frontend::Unit& unit, const frontend::KernelDecl* decl, std::string_view kernel,
             const SourcePos& launch_pos);

  /// The map in (or behind the pointer in) this place of the parameters; empty when nobody says what its box
  /// is, or several places of the host code disagree.
  std::optional<machine::TensorMap> at(std::uint32_t param, std::uint32_t offset) const;
  /// Annotations that are malformed, or that name no parameter which may be a map.
  const std::vector<diagnose::Limit>& mistakes() const { return mistakes_; }

 private:
  struct Entry {
    std::uint32_t param = 0, offset = 0;
    machine::TensorMap map;
    bool is_ambiguous = false;
  };
  void addAnnotation(const frontend::KernelDecl& decl, std::string_view text);
  void addFact(const frontend::TensorMapFact& fact, const std::string& name);
  Entry* find(std::uint32_t param, std::uint32_t offset);

  std::vector<Entry> entries_;
  std::vector<diagnose::Limit> mistakes_;
};

}  // namespace handoff::explore
