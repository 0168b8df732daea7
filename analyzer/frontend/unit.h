// SPDX-License-Identifier: Apache-2.0
// What a front end hands over: PTX with positions, and what the host side of the file says about launches.
// No Clang type appears here.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analyzer/ptx/module.h"
#include "analyzer/support/result.h"
#include "analyzer/support/source.h"

namespace handoff::frontend {

/// Which producer of PTX served a file.
enum class Producer : std::uint8_t { kClang, kNvcc, kPtxFile };
std::string_view toString(Producer producer);  ///< "clang", "nvcc", "ptx"

/// A value folded from host code; empty: not a constant.
using Folded = std::optional<std::int64_t>;

/// One scalar leaf of a kernel parameter ("K", "params.stride"), with its place in the PTX parameter.
struct ParamField {
  std::string name;
  std::uint32_t param = 0;   ///< index of the kernel parameter
  std::uint32_t offset = 0;  ///< bytes from the start of that parameter
  std::uint32_t size = 0;    ///< bytes
  enum class Kind : std::uint8_t { kInteger, kPointer, kFloat, kOther, kTensorMap } kind = Kind::kOther;
  bool is_signed = false;
  std::uint32_t pointee_size = 0;  ///< bytes of one pointee element, 0 if unknown
};

/// A place that launches a kernel, with whatever folds.
struct LaunchSite {
  std::string kernel;  ///< mangled name of the kernel
  SourcePos pos;
  std::array<Folded, 3> grid, block;
  std::array<Folded, 3> cluster;      ///< all empty: no cluster attribute at this site
  Folded dynamic_smem;                ///< bytes
  struct Argument { std::uint32_t param = 0; std::uint32_t offset = 0; std::uint32_t size = 0; std::int64_t value = 0; };
  std::vector<Argument> arguments;    ///< only those that fold
};

/// What host code encodes into a CUtensorMap that a launch hands to a kernel.
struct TensorMapFact {
  std::string kernel;          ///< mangled name
  std::uint32_t param = 0;     ///< index of the kernel parameter: the map, a structure around it, or a pointer to it
  std::uint32_t offset = 0;    ///< bytes from the start of that parameter
  std::string variable;        ///< the host variable that is encoded
  std::uint32_t element_bytes = 0;
  std::vector<std::uint32_t> box;              ///< elements, innermost first; im2col: channels, pixels
  std::vector<std::uint32_t> element_strides;  ///< one for each extent of the box
  Folded interleave, swizzle;  ///< CUtensorMapInterleave, CUtensorMapSwizzle
  SourcePos pos;               ///< of the encoding
  SourcePos launch_pos;        ///< as LaunchSite::pos
};

/// A kernel as the source declares it.
struct KernelDecl {
  std::string name;       ///< mangled, as in the PTX
  std::string pretty;     ///< "ring_sum<3>(const float4 *, float *, int)"
  SourcePos pos;
  std::vector<ParamField> fields;
  std::array<Folded, 3> cluster_dims;   ///< __cluster_dims__
  Folded max_threads;                   ///< __launch_bounds__
  /// Set when the kernel reaches code with a front-end error: it must be reported as not checked, with this reason.
  std::optional<handoff::Error> untrusted;
};

/// An inline-asm statement that takes part in a protocol.
struct AsmFact {
  SourcePos pos;
  std::string text;           ///< the assembly string, one line
  bool is_volatile = false;
  bool has_memory_clobber = false;
};

/// A __shared__ array as the source declares it: `float4 ring[3][128]` has elements of 16 bytes and extents {3, 128}.
struct SharedArray {
  std::string name;                    ///< unqualified
  std::uint32_t element_bytes = 0;
  std::vector<std::uint32_t> extents;  ///< outermost first; 0 for an open one (extern __shared__ T a[])
  friend bool operator==(const SharedArray&, const SharedArray&) = default;
};

/// A comment that silences or configures: "NOLINT...", "handoff: launch ...", "handoff: tensormap ...".
struct SourceComment {
  SourcePos pos;
  std::string text;
};

struct Unit {
  std::string file;             ///< main input as the user named it
  std::string text;             ///< of that input as it was read; empty for PTX
  Producer producer = Producer::kClang;
  bool used_bundled_headers = false;  ///< no CUDA toolkit found: the minimal declarations were used
  ptx::Module module;
  std::vector<KernelDecl> kernels;    ///< empty for PTX input
  std::vector<LaunchSite> launches;
  std::vector<TensorMapFact> tensor_maps;  ///< only those whose box folds
  std::vector<AsmFact> asm_facts;
  std::vector<SharedArray> shared_arrays;  ///< names that stand for arrays of different shapes are left out
  std::vector<SourceComment> comments;
  /// Conditions the user should read: "clang failed, nvcc served", tolerated front-end errors, kernels that the source
  /// has but the PTX lacks.
  std::vector<handoff::Error> notes;
  std::set<std::string> files_read;    ///< absolute; the input and whatever it includes, headers of the system too
  std::set<std::string> files_missed;  ///< absolute; looked for outside of the system's folders, and not there
  double produce_seconds = 0;   ///< wall time from input to PTX text, without parsing the PTX
  /// Likewise, of the processor; of a compiler that is a process of its own, wall time.
  double produce_processor_seconds = 0;
  double parse_seconds = 0;     ///< wall time of ptx::parse
};

}  // namespace handoff::frontend
