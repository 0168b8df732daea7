// SPDX-License-Identifier: Apache-2.0
// What the analysis of one kernel says: findings with witnesses, limits, a verdict. Plain data, read by every reporter.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/support/json.h"
#include "analyzer/support/source.h"

namespace handoff::diagnose {

/// kPossible: two accesses may meet, but whether they do depends on values that the machine does not have. Never counts
/// as a violation.
enum class Severity : std::uint8_t { kError, kWarning, kPossible, kNote };

/// A second position of a finding: the copy, the wait, the barrier, the other access.
struct Related {
  std::string message;
  SourceStack stack;   ///< innermost first
};

/// One step of the trace that leads to the conflict.
struct Step {
  std::string actor;    ///< "thread 32 (warp 1)", "copy engine"
  std::string text;     ///< "commits group 2", "waits until at most 1 group is pending"
  SourceStack stack;
};

/// Concrete inputs under which the machine met the finding.
struct Witness {
  std::string launch;   ///< "grid=(16,1,1) block=(128,1,1) smem=0"
  std::vector<std::pair<std::string, std::string>> parameters;  ///< name, value; assumed values end in " (assumed)"
  std::string block;    ///< "(0,0,0)"
  std::string first_thread, second_thread;  ///< "(32,0,0)"
  std::uint64_t iteration = 0;      ///< how often the second access's instruction had run in its thread, from 1
  std::string buffer;   ///< "ring", with slot and byte range: "ring[1], bytes 2048..2063"
  std::vector<Step> steps;
};

/// A change of one line of a source file.
struct SourceChange {
  enum class Kind : std::uint8_t { kInsertBefore, kInsertAfter, kReplace, kDelete } kind = Kind::kInsertBefore;
  SourcePos pos;         ///< file and line; the column is 0
  std::string original;  ///< the line as it was when the change was made up
  std::string text;      ///< the new line or lines without the last line end; empty for kDelete
  friend bool operator==(const SourceChange&, const SourceChange&) = default;
};

struct Edit;
struct Picture;

/// The files of a directory from which the finding can be tried on a GPU (docs/witness.md).
struct WitnessJob {
  json::Value manifest;                      ///< job.json, without what only the command line knows
  std::map<std::string, std::string> files;  ///< PTX by name
};

/// What the GPU said to a finding (handoff-confirm).
struct Confirmation {
  std::string status;  ///< "confirmed", "not reproduced", "invalid"
  std::string text;    ///< "wrong in 50 of 50 launches with a delayed reader, repaired: 0 of 50"
};

/// A change that was applied to the program, run again, and removed the finding.
struct Repair {
  std::string description;   ///< "insert cp.async.wait_group 0"
  SourceStack stack;         ///< where
  std::vector<SourceChange> changes{};  ///< the same in the source; empty if that cannot be given
  bool is_tested = true;     ///< false: it is about the compiler, and no run can show what it does
  std::shared_ptr<const Edit> edit{};  ///< the change as it was tried
};

struct Finding {
  std::string rule;          ///< name from rules.def
  Severity severity = Severity::kError;
  std::string message;
  SourceStack stack;         ///< innermost first; the reporter picks the user's own line
  std::vector<Related> related;
  Witness witness;
  std::optional<Repair> repair;
  std::string fingerprint{};  ///< the same from run to run (report/fingerprint.h); empty before it was made
  /// A phase met too early: what a missing or a wrong wait leads to, and then not worth a finding of its own.
  bool may_follow = false;
  /// The first of two accesses has the data in flight: a use that came after it without a wait, and no consequence.
  bool is_use_in_flight = false;
  /// Met only with values that no launch of the unit has: said apart, and of no weight for verdict and exit code unless
  /// the user asks about any launch.
  bool is_for_other_launches = false;
  std::shared_ptr<const WitnessJob> job{};  ///< where it was asked for
  std::optional<Confirmation> confirmation{};
  /// The same mistake was reported with an earlier file of the run, and is counted there.
  bool is_repeat = false;
  std::vector<std::string> also_in{};  ///< files of the run that repeat it
  std::shared_ptr<const Picture> picture{};  ///< where it was asked for (diagnose/picture.h)
};

/// Something that keeps the verdict from being `verified`.
struct Limit {
  std::string reason;
  SourcePos pos;
};

enum class Verdict : std::uint8_t { kVerified, kBounded, kViolation, kError };
std::string_view toString(Verdict verdict);  ///< "verified", ...

/// The result for one kernel of one file.
struct KernelReport {
  std::string name;       ///< mangled
  std::string pretty;     ///< as the user wrote it
  SourcePos pos;
  Verdict verdict = Verdict::kBounded;
  std::vector<std::string> launches;  ///< every launch that was run: "grid=... block=... smem=... tiles=12 (file:line)"
  std::vector<Limit> limits;
  /// What the verdict holds for, one quantified or fixed value each: "all tiles >= 0", "all blocks", "block = (128,1,1)".
  std::vector<std::string> holds_for;
  std::uint32_t paths = 0;  ///< runs with inputs of their own
  std::vector<Finding> findings;
  std::string error;      ///< for kError: why the kernel was not checked
  /// Where it was asked for, of a kernel whose findings have no job: perturbations that may change nothing.
  std::shared_ptr<const WitnessJob> control_job{};
  double seconds = 0;     ///< analysis wall time
  std::uint64_t warp_instructions = 0;  ///< executed by the machine
  bool has_async = false; ///< the kernel uses asynchronous copies or barriers objects
  bool is_cut_short = false; ///< by time, memory or an interruption: another run of the same may say more
  std::shared_ptr<const Picture> picture{};  ///< its slots over time, where it was asked for
};

}  // namespace handoff::diagnose
