// SPDX-License-Identifier: Apache-2.0
// The table of asynchronous interfaces.
#include "analyzer/audit/api.h"

#include <array>

#include "analyzer/diagnose/names.h"
#include "analyzer/support/text.h"

namespace handoff::audit {

namespace {

// Globs over plain names. Sources: cuda_pipeline_primitives.h, cuda_pipeline.h, cooperative_groups/memcpy_async.h,
// <cuda/pipeline>, <cuda/barrier>, <cuda/ptx>, CUTLASS's cute/arch/copy_sm80.hpp, copy_sm90*.hpp and mma_sm90*.hpp.
constexpr std::array<std::string_view, 18> kApis = {
    "__pipeline_memcpy_async",
    "nvcuda::experimental::memcpy_async",
    "cooperative_groups::memcpy_async",
    "cooperative_groups::experimental::memcpy_async",
    "cuda::memcpy_async",
    "cuda::experimental::memcpy_async",
    "cuda::device::memcpy_async_tx",
    "cuda::device::experimental::cp_async_bulk*",
    "cuda::ptx::cp_async*",
    "cuda::ptx::cp_reduce_async*",
    "cuda::ptx::st_async",
    "cuda::ptx::red_async",
    "cute::SM80_CP_ASYNC_*::copy",
    "cute::SM90_TMA_*::copy",
    "cute::SM90_BULK_COPY_*::copy",
    "cute::SM100_TMA_*::copy",
    "cute::GMMA::MMA_*::fma",
    "cute::SM90_*::fma",
};

/// Namespaces that no user writes: "__v1", "__4"; nvcc puts functions of internal linkage into "_INTERNAL_<hash>...".
bool isReserved(std::string_view part) { return part.starts_with("__") || part.starts_with("_INTERNAL_"); }

}  // namespace

std::string plainName(std::string_view function) {
  // Clang hands over names; nvcc's line tables may hold symbols.
  const std::string demangled = function.starts_with("_Z") ? diagnose::demangle(function) : std::string(function);
  std::string name;
  int depth = 0;
  for (const char c : demangled) {
    if (c == '<') ++depth;
    if (c == '(' && depth == 0) break;
    if (depth == 0) name += c;
    if (c == '>') --depth;
  }
  if (const std::size_t space = name.rfind(' '); space != std::string::npos) name.erase(0, space + 1);
  std::string plain;
  std::size_t from = 0;
  while (true) {
    const std::size_t end = name.find("::", from);
    const bool is_last = end == std::string::npos;
    const std::string_view part = std::string_view(name).substr(from, is_last ? std::string::npos : end - from);
    if (is_last) return plain + std::string(part);
    if (!isReserved(part)) plain += std::string(part) + "::";
    from = end + 2;
  }
}

std::optional<ApiFrame> findApi(const SourceStack& stack) {
  for (std::size_t i = stack.size(); i-- > 0;) {
    std::string name = plainName(stack[i].function);
    for (const std::string_view api : kApis) {
      if (matchesGlob(name, api)) return ApiFrame{std::move(name), i};
    }
  }
  return std::nullopt;
}

}  // namespace handoff::audit
