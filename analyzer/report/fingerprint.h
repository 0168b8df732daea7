// SPDX-License-Identifier: Apache-2.0
// Names by which a finding is known again in a later run, on another machine, after other lines have moved
// it.
//
// A fingerprint is "<16 hexadecimal digits>:<n>". The digits are the beginning of the SHA-256 of five fields,
// each followed by a zero byte:
//
//   rule     the name of the rule
//   kernel   the kernel as the source writes it (demangled), with its template arguments
//   file     the path from the root of the repository (Paths::fromRoot)
//   line     the text of the line that the finding is shown at, without blanks and comments; of PTX also
//   without the
//            numbers of registers and labels, which any change of the kernel moves
//   buffer   the name of the memory, without slots, bytes and addresses
//
// and n counts, from 1, the findings of one input that have the same digits. All else was left out on
// purpose: line numbers move; messages change from version to version and name threads; the second position
// (the copy, the wait) depends on the launch under which the machine met the conflict first. Findings that
// the five fields cannot tell apart are a count: when one of three goes, the third is the one that is gone.
//
// So a finding keeps its fingerprint when lines are inserted or reformatted, when other functions are
// renamed, and whatever -j, the machine and the folder of the checkout are. It loses it when its own line,
// its kernel's name or its file's path changes, and it is right to look at it again then.
#pragma once

#include <string>
#include <string_view>

#include "analyzer/report/paths.h"
#include "analyzer/report/report.h"
#include "analyzer/report/source_lines.h"

namespace handoff::report {

/// Sets Finding::fingerprint of every finding. Call it while all are there: n would depend on what was taken
/// away.
void addFingerprints(FileReport& file, const Paths& paths, SourceLines& sources);

/// The line as it counts for a fingerprint.
std::string normalisedLine(std::string_view line, bool is_ptx);
/// "ring" of "ring[1], bytes 2048..2063".
std::string bufferName(std::string_view buffer);

}  // namespace handoff::report
