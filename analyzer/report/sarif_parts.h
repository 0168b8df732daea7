// SPDX-License-Identifier: Apache-2.0
// Building blocks of the SARIF log: artifacts, locations, and the tables and results made of them.
#pragma once

#include <llvm/Support/JSON.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/report/sarif.h"

namespace handoff::report {

/// An absolute path as "file:///a%20b", a relative one as "a%20b".
std::string uriOf(std::string_view path);

/// Positions as SARIF locations; collects the files that they lie in.
class SarifPlaces {
 public:
  SarifPlaces(const Paths& paths, SourceLines& sources) : paths_(paths), sources_(sources) {}

  /// {uri, uriBaseId, index}. `is_input`: the user named the file.
  llvm::json::Object artifact(const std::string& file, bool is_input = false);
  /// {physicalLocation}. A position without a line stands for the whole file. `with_text`: adds the source
  /// line.
  llvm::json::Object location(const SourcePos& pos, bool with_text = false);
  /// {artifactLocation, replacements}[] of a repair; empty when the source has changed meanwhile.
  llvm::json::Array changes(const diagnose::Repair& repair);
  /// run.artifacts
  llvm::json::Array artifacts() const;

  const Paths& paths() const { return paths_; }

 private:
  llvm::json::Object region(const SourcePos& pos, bool with_text);
  /// The column of a byte (from 0) in UTF-16 code units, from 1, as columnKind says.
  std::int64_t column(std::string_view line, std::size_t byte) const;

  const Paths& paths_;
  SourceLines& sources_;
  std::map<std::string, std::size_t> numbers_;  ///< by path from the root
  struct Artifact {
    std::string path;
    bool is_input = false;
  };
  std::vector<Artifact> artifacts_;
};

/// tool.driver
llvm::json::Object sarifDriver(const SarifOptions& options);
/// Number of the rule in the driver's table; -1 when there is none.
std::int64_t sarifRuleIndex(std::string_view rule);

/// Names of notifications, rows of the driver's table.
enum class SarifNotice : std::uint8_t { kInput, kNote, kBounded, kUnchecked, kInterrupted };
/// {id, index} of the notification's row.
llvm::json::Object sarifNotice(SarifNotice notice);

/// Appends the results of a file: findings, then what was taken out of the report.
void addSarifResults(llvm::json::Array& results, const FileReport& file, SarifPlaces& places,
                     const SarifOptions& options);

}  // namespace handoff::report
