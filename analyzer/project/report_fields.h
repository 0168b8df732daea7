// SPDX-License-Identifier: Apache-2.0
// The types of a report, member by member, for archive.h. Each list of members is a structured binding, so
// that a member that is added to a type and forgotten here does not compile.
#pragma once

#include "analyzer/project/archive.h"
#include "analyzer/project/check_file.h"

namespace handoff::project {

template <typename A>
void fields(A& archive, SourcePos& pos) {
  auto& [file, line, column] = pos;
  all(archive, file, line, column);
}

template <typename A>
void fields(A& archive, SourceFrame& frame) {
  auto& [pos, function] = frame;
  all(archive, pos, function);
}

template <typename A>
void fields(A& archive, Error& error) {
  auto& [message, pos] = error;
  all(archive, message, pos);
}

template <typename A>
void fields(A& archive, diagnose::Related& related) {
  auto& [message, stack] = related;
  all(archive, message, stack);
}

template <typename A>
void fields(A& archive, diagnose::Step& step) {
  auto& [actor, text, stack] = step;
  all(archive, actor, text, stack);
}

template <typename A>
void fields(A& archive, diagnose::Witness& witness) {
  auto& [launch, parameters, block, first_thread, second_thread, iteration, buffer, steps] = witness;
  all(archive, launch, parameters, block, first_thread, second_thread, iteration, buffer, steps);
}

template <typename A>
void fields(A& archive, diagnose::SourceChange& change) {
  auto& [kind, pos, original, text] = change;
  all(archive, kind, pos, original, text);
}

/// `edit` is about a program that is gone once the kernel has been analysed.
template <typename A>
void fields(A& archive, diagnose::Repair& repair) {
  auto& [description, stack, changes, is_tested, edit] = repair;
  all(archive, description, stack, changes, is_tested);
}

/// Findings with a job or a picture are not stored; what a GPU said is looked up when the report is made.
template <typename A>
void fields(A& archive, diagnose::Finding& finding) {
  auto& [rule, severity, message, stack, related, witness, repair, fingerprint, may_follow, is_use_in_flight,
         is_for_other_launches, job, confirmation, is_repeat, also_in, picture] = finding;
  all(archive, rule, severity, message, stack, related, witness, repair, fingerprint, may_follow,
      is_use_in_flight, is_for_other_launches, is_repeat, also_in);
}

template <typename A>
void fields(A& archive, diagnose::Limit& limit) {
  auto& [reason, pos] = limit;
  all(archive, reason, pos);
}

template <typename A>
void fields(A& archive, diagnose::KernelReport& kernel) {
  auto& [name, pretty, pos, verdict, launches, limits, holds_for, paths, findings, error, control_job, seconds,
         warp_instructions, has_async, is_cut_short, picture] = kernel;
  all(archive, name, pretty, pos, verdict, launches, limits, holds_for, paths, findings, error, seconds,
      warp_instructions, has_async, is_cut_short);
}

template <typename A>
void fields(A& archive, report::SetAside& item) {
  auto& [kernel, finding, by, spelling, reason, pos] = item;
  all(archive, kernel, finding, by, spelling, reason, pos);
}

template <typename A>
void fields(A& archive, report::FileReport& file) {
  auto& [path, frontend, kernels, set_aside, notes, error, more_errors, produce_seconds, parse_seconds] =
      file;
  all(archive, path, frontend, kernels, set_aside, notes, error, more_errors, produce_seconds, parse_seconds);
}

template <typename A>
void fields(A& archive, CheckedFile& file) {
  auto& [report, is_internal, is_cancelled, is_recalled, audiences, map_audiences, unit] = file;
  all(archive, report, is_internal, is_cancelled, audiences, map_audiences);
}

}  // namespace handoff::project
