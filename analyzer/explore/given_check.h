// SPDX-License-Identifier: Apache-2.0
// Mistakes in what users give: a launch or a tensor map that is not of its form, or that names what no kernel
// has. Nothing that was meant to fix a value may pass by unseen.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/explore/analyze.h"
#include "analyzer/support/launch_text.h"

namespace handoff::explore {

/// Of the comments of a unit, in the order of the comments. A comment above several kernels, or several
/// instances of one, has to be right for one of them.
std::vector<Error> commentMistakes(const frontend::Unit& unit);

/// The parameters of all kernels that a launch given for many is meant for. Kernels of several units may be
/// joined before the launch is judged.
class Audience {
 public:
  /// Adds the kernels of a unit whose names contain `filter` and match `glob`.
  void add(const frontend::Unit& unit, std::string_view glob, std::string_view filter);
  void add(const Audience& other);

  /// Names in the launch that are no parameters of any kernel, and pointers that it does not call null; none as long as there is no kernel, or one
  /// whose parameters are not known.
  std::vector<Error> mistakes(const LaunchText& launch, const SourcePos& pos) const;

 private:
  /// For the cache (project/archive.h).
  template <typename Archive>
  friend void fields(Archive& archive, Audience& audience) {
    all(archive, audience.parameters_, audience.pointers_, audience.has_kernels_, audience.has_unknown_);
  }

  std::set<std::string, std::less<>> parameters_, pointers_;
  bool has_kernels_ = false;
  bool has_unknown_ = false;  ///< a kernel without a declaration, as in PTX
};

/// The same for a tensor map of one name.
class MapAudience {
 public:
  void add(const frontend::Unit& unit, std::string_view glob, std::string_view filter, std::string_view name);
  void add(const MapAudience& other);

  /// No kernel has a map of this name; none as long as there is no kernel, or one whose parameters are not known.
  std::optional<Error> mistake(std::string_view name, const SourcePos& pos) const;

 private:
  template <typename Archive>
  friend void fields(Archive& archive, MapAudience& audience) {
    all(archive, audience.names_, audience.has_kernels_, audience.has_map_);
  }

  std::set<std::string, std::less<>> names_;  ///< of the maps that there are
  bool has_kernels_ = false;
  bool has_map_ = false;  ///< a kernel has it, or may have it
};

}  // namespace handoff::explore
