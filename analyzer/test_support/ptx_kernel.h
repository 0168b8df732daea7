// SPDX-License-Identifier: Apache-2.0
// Kernels for tests: a few statements of PTX with everything around them, run and diagnosed.
//
// The statements find, ready made:
//   %s   .b32  shared address of the thread's 16 bytes of `tile` (tile + 16 * %t)
//   %g   .b64  global address of the thread's 16 bytes of `in` (in + 16 * %t)
//   %t   .b32  %tid.x        %lane  .b32  %laneid        %w  .b32  its warp, %t / 32
//   %n   .b32  Setup::n      %u     .b32  a parameter whose value nobody knows
//   %in, %out  .b64  two buffers that do not overlap
//   %map0-3  .b64  generic addresses of the tensor maps in parameters, as many as Setup::map_parameters
//   %p0-15 .pred, %h0-15 .b16, %r0-63 .b32, %d0-63 .b64, %f0-15 .f32
// and in shared memory: tile (16 KiB, 16-byte aligned, the first byte of shared memory), bar (4 mbarriers),
// flag (4 words).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/diagnose/diagnose.h"
#include "analyzer/machine/address.h"
#include "analyzer/machine/machine.h"
#include "analyzer/ptx/module.h"

namespace handoff::test {

inline constexpr std::uint32_t kTileBytes = 16 * 1024;

struct Setup {
  machine::Dim3 block{32, 1, 1};
  machine::Dim3 grid{1, 1, 1};
  machine::Dim3 cluster{1, 1, 1};
  machine::Dim3 block_index{0, 0, 0};
  std::uint32_t n = 4;
  std::uint64_t dynamic_shared_bytes = 0;
  std::string functions;     ///< before the kernel: .func definitions, module-scope variables
  std::string declarations;  ///< at the head of the kernel
  unsigned map_parameters = 0;  ///< parameters behind the four that are CUtensorMaps
  std::map<std::uint64_t, machine::TensorMap> tensor_maps;  ///< by generic address, as Launch::tensor_maps
  machine::RunOptions options{};
};

/// Generic address of the tensor map in a parameter, %map0 to %map3 of the statements.
constexpr std::uint64_t mapAddress(unsigned index) { return machine::kParamWindow + 64 + 128 * index; }

/// The text of a module with one kernel "k" around these statements.
std::string kernelText(std::string_view statements, const Setup& setup = {});

/// A module that must parse; the test fails with the error otherwise.
std::unique_ptr<ptx::Module> parseModule(const std::string& text);

/// A kernel, its program and what a run of it says.
struct Ran {
  std::unique_ptr<ptx::Module> module;
  machine::Program program;
  machine::Launch launch;
  machine::Outcome outcome;
  diagnose::Names names;

  diagnose::Run view() const { return {program, launch, outcome, names}; }
  std::vector<diagnose::Diagnosis> diagnoses() const { return diagnose::diagnose(view()); }
};

/// Parses, lowers, runs. The test fails when the text does not parse.
Ran run(std::string_view statements, const Setup& setup = {});
/// The kernel "k" of a whole module.
Ran runModule(const std::string& text, const Setup& setup = {});

/// Rules of the findings, sorted, each once.
std::vector<std::string> rulesOf(const Ran& ran);
std::vector<std::string> rulesOf(std::string_view statements, const Setup& setup = {});

/// Reasons of the limits that the run met, in order.
std::vector<std::string> limitsOf(const Ran& ran);

/// Words as the machine saw them: the statements show a 64-bit register by `probe("%d1")`, and this gives,
/// for each executed probe, the word of each lane (0 for lanes that did not execute it or whose word is
/// unknown).
std::vector<std::array<std::uint64_t, machine::kWarpSize>> probesOf(const Ran& ran);
/// A copy of no source bytes whose source address is the register.
std::string probe(std::string_view register_name);

/// Copies of the thread's 16 bytes, its commit, and so on, for tests that are not about spelling.
inline constexpr const char* kCopy = "cp.async.cg.shared.global [%s], [%g], 16;\n";
inline constexpr const char* kCommit = "cp.async.commit_group;\n";
inline constexpr const char* kWait = "cp.async.wait_group 0;\n";
inline constexpr const char* kSync = "bar.sync 0;\n";
inline constexpr const char* kReadOwn = "ld.shared.v4.u32 {%r60, %r61, %r62, %r63}, [%s];\n";
/// Reads the 16 bytes of the thread that is 32 further on, or 32 before (other warp of 64 threads).
inline constexpr const char* kReadOther =
    "xor.b32 %r59, %t, 32;\nshl.b32 %r59, %r59, 4;\nmov.u32 %r58, tile;\nadd.s32 %r59, %r59, %r58;\n"
    "ld.shared.v4.u32 {%r60, %r61, %r62, %r63}, [%r59];\n";

}  // namespace handoff::test
