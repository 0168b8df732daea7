// SPDX-License-Identifier: Apache-2.0
// The lines of a text with their ends and offsets, and changes of lines as replacements of characters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/diagnose/finding.h"

namespace handoff::report {

/// A line of a text that outlives it.
struct FileLine {
  std::string_view text;
  std::string_view end;    ///< "\n", "\r\n", or "" for a last line that lacks it
  std::size_t offset = 0;  ///< of its first character
};

std::vector<FileLine> splitLines(std::string_view text);

/// A place between two characters. Lines count from 1, columns from 0, in bytes.
struct EditPoint {
  std::uint32_t line = 1, column = 0;
  std::size_t offset = 0;
  friend bool operator==(const EditPoint&, const EditPoint&) = default;
};

/// What stands between `first` and `last` becomes `text`, whose line ends are those of the file.
struct TextEdit {
  EditPoint first, last;
  std::string text;
  friend bool operator==(const TextEdit&, const TextEdit&) = default;
};

/// True when the line of the change is still the one that it was made for.
bool isStillThere(const diagnose::SourceChange& change, const std::vector<FileLine>& lines);

/// The change, for which isStillThere holds, as a replacement.
TextEdit toEdit(const diagnose::SourceChange& change, const std::vector<FileLine>& lines);

}  // namespace handoff::report
