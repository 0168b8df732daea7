// SPDX-License-Identifier: Apache-2.0
// What decides on a report, member by member, for the keys of the cache. As in report_fields.h, a member that
// is added to a type has to be thought of here before it compiles.
#pragma once

#include "analyzer/project/report_fields.h"

namespace handoff::project {

template <typename A>
void fields(A& archive, explore::ConfiguredLaunch& launch) {
  auto& [kernel_glob, text, pos] = launch;
  all(archive, kernel_glob, text, pos);
}

template <typename A>
void fields(A& archive, explore::ConfiguredTensorMap& map) {
  auto& [kernel_glob, name, box, pos] = map;
  all(archive, kernel_glob, name, box, pos);
}

/// `cancel` and the filter decide on which kernels there is a report, not on what it says; time and memory do
/// not decide on a report that was not cut short.
template <typename A>
void fields(A& archive, explore::Options& options) {
  auto& [max_seconds, max_share, max_steps, min_steps_of_warp, kernel_filter, launches, configured, tensor_maps, try_repairs,
         any_launch, explores_other_launches, max_paths, makes_jobs, makes_controls, makes_pictures,
         solver_milliseconds, max_memory_mb, cancel] = options;
  all(archive, max_steps, min_steps_of_warp, launches, configured, tensor_maps, try_repairs, any_launch, explores_other_launches,
      max_paths, makes_jobs);
}

template <typename A>
void fields(A& archive, frontend::ParamField& field) {
  auto& [name, param, offset, size, kind, is_signed, pointee_size] = field;
  all(archive, name, param, offset, size, kind, is_signed, pointee_size);
}

template <typename A>
void fields(A& archive, frontend::LaunchSite::Argument& argument) {
  auto& [param, offset, size, value] = argument;
  all(archive, param, offset, size, value);
}

template <typename A>
void fields(A& archive, frontend::LaunchSite& site) {
  auto& [kernel, pos, grid, block, cluster, dynamic_smem, arguments] = site;
  all(archive, kernel, pos, grid, block, cluster, dynamic_smem, arguments);
}

template <typename A>
void fields(A& archive, frontend::TensorMapFact& fact) {
  auto& [kernel, param, offset, variable, element_bytes, box, element_strides, interleave, swizzle, pos,
         launch_pos] = fact;
  all(archive, kernel, param, offset, variable, element_bytes, box, element_strides, interleave, swizzle, pos,
      launch_pos);
}

template <typename A>
void fields(A& archive, frontend::KernelDecl& decl) {
  auto& [name, pretty, pos, members, cluster_dims, max_threads, untrusted] = decl;
  all(archive, name, pretty, pos, members, cluster_dims, max_threads, untrusted);
}

template <typename A>
void fields(A& archive, frontend::AsmFact& fact) {
  auto& [pos, text, is_volatile, has_memory_clobber] = fact;
  all(archive, pos, text, is_volatile, has_memory_clobber);
}

template <typename A>
void fields(A& archive, frontend::SharedArray& array) {
  auto& [name, element_bytes, extents] = array;
  all(archive, name, element_bytes, extents);
}

template <typename A>
void fields(A& archive, frontend::SourceComment& comment) {
  auto& [pos, text] = comment;
  all(archive, pos, text);
}

/// Only for writing.
template <typename A, typename T>
void addConst(A& archive, const T& value) {
  static_assert(!A::kReads);
  all(archive, const_cast<T&>(value));
}

}  // namespace handoff::project
