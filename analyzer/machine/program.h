// SPDX-License-Identifier: Apache-2.0
// A kernel made ready to run: calls inlined, everything outside the protocol slice dropped, operands resolved to
// register slots.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "analyzer/machine/lanes.h"
#include "analyzer/ptx/decode.h"
#include "analyzer/ptx/module.h"
#include "analyzer/support/result.h"

namespace handoff::machine {

/// Index into a warp's registers; with the top bit set: into Program::constants.
using Slot = std::uint32_t;
inline constexpr Slot kConstantBit = 0x80000000u;
inline constexpr Slot kNoSlot = 0xffffffffu;

/// Index into Program::ops.
using OpIndex = std::uint32_t;
inline constexpr OpIndex kNoOp = 0xffffffffu;

/// A resolved operand.
struct Arg {
  enum class Kind : std::uint8_t { kSlot, kAddress, kVector, kSink };
  Kind kind = Kind::kSink;
  bool is_negated = false;
  ptx::Space space = ptx::Space::kGeneric;  ///< kAddress: space of the variable at the base, if it is one
  Slot slot = kNoSlot;        ///< kSlot: the value; kAddress: the base
  std::int64_t offset = 0;    ///< kAddress: bytes added to the base
  std::uint32_t first = 0, count = 0;  ///< kVector: elements in Program::args; kSlot "p|q": the second one
};

/// One executed instruction.
struct Op {
  const ptx::Decoded* decoded = nullptr;
  std::uint32_t instr = 0;            ///< index into Program::function.instructions
  std::uint32_t site = 0;             ///< equal for copies of one source statement (an unrolled loop)
  Slot guard = kNoSlot;
  bool is_guard_negated = false;
  bool is_collective = false;         ///< ".sync": lanes of a warp execute it together, though the code has split them
  std::uint32_t first_arg = 0, arg_count = 0, dst_count = 0;  ///< destinations come first
  // Branches:
  OpIndex target = kNoOp;             ///< kNoOp: the end of the kernel
  OpIndex reconverge = kNoOp;         ///< immediate post-dominator; kNoOp: none before the end
  std::uint32_t table = 0;            ///< brx.idx: index into Program::branch_tables
  bool leaves_loop_on_taken = false, leaves_loop_on_fallthrough = false;
  bool is_apart = false;              ///< a weak access to a global buffer that no asynchronous copy touches
  bool is_null_check = false;         ///< in Program::null_checks
  bool reads_input = false;           ///< what it loads from global memory is an input of the kernel (read_only.h)
};

/// A shared-memory variable at its place in the CTA's shared memory.
struct SharedVariable {
  std::string name;        ///< as in the PTX
  std::uint64_t offset = 0;  ///< shared address
  std::uint64_t size = 0;    ///< bytes; 0: dynamic, as much as the launch gives
  std::uint32_t align = 1;
};

/// A scalar read of a kernel parameter: the places that a launch has to give values to.
struct ParamRead {
  std::uint32_t param = 0;   ///< index of the kernel parameter
  std::uint32_t offset = 0;  ///< bytes within it
  std::uint32_t size = 0;    ///< bytes
  bool is_pointer = false;   ///< used as the base of global addresses
  friend auto operator<=>(const ParamRead&, const ParamRead&) = default;
};

/// "setp.eq" or "setp.ne" of a 64-bit parameter, as it is, with 0.
struct NullCheck {
  OpIndex op = 0;
  std::uint64_t parameter = 0;  ///< its place in the parameter window
};

struct Program {
  const ptx::Module* module = nullptr;
  ptx::Function function;                ///< calls inlined; ops refer to its instructions
  std::vector<SourceStack> locations;    ///< by LocId of `function` (the module's, and those of inlined calls)
  std::vector<Op> ops;
  std::vector<Arg> args;
  std::vector<Lanes> constants;
  std::uint32_t register_count = 0;      ///< slots of one warp, specials included
  std::vector<std::uint8_t> slot_bits;   ///< width of each
  struct SpecialSlot { ptx::Special special; Slot slot; };
  std::vector<SpecialSlot> specials;
  std::vector<std::vector<OpIndex>> branch_tables;
  std::vector<NullCheck> null_checks;    ///< by instruction

  std::vector<SharedVariable> shared;
  std::uint64_t static_shared_bytes = 0;  ///< end of the static variables, from kSharedBase
  std::uint64_t dynamic_shared_offset = 0;
  bool has_dynamic_shared = false;
  std::uint64_t local_bytes = 0;
  std::vector<std::uint32_t> param_offset;  ///< by kernel parameter: place in the parameter window
  std::uint32_t param_bytes = 0;
  std::vector<ParamRead> param_reads;
  std::vector<std::uint8_t> const_bytes;    ///< contents of the const window
  std::vector<bool> const_known;

  unsigned shared_granule = 4;      ///< bytes: the narrowest access that names shared memory
  bool needs_shared_contents = false;  ///< a value loaded from shared memory reaches an address, a branch or a barrier
  bool depends_on_block = false;    ///< %ctaid reaches more than global addresses
  bool addresses_depend_on_block = false;  ///< %ctaid reaches the global addresses of copies or stores
  bool has_async_copies = false;
  bool has_mbarrier_waits = false;
  bool ends_barriers = false;       ///< an mbarrier may end or begin anew after it was used (barrier_reuse.h)
  bool has_async_proxy = false;     ///< bulk or tensor copies, wgmma, tcgen05
  bool has_bulk_stores = false;     ///< bulk or tensor copies to global memory
  bool edits_tensormaps = false;
  bool has_tensor_memory = false;   ///< tcgen05
  bool uses_cluster = false;        ///< cluster barriers, or shared memory of other CTAs
  struct Limit { std::string reason; std::uint32_t instr = 0; };
  std::vector<Limit> limits;        ///< what the program holds that cannot be modelled, whether reached or not

  std::span<const Arg> argsOf(const Op& op) const { return {args.data() + op.first_arg, op.arg_count}; }
  const ptx::Instruction& instruction(const Op& op) const { return function.instructions[op.instr]; }
  const SourceStack& stackOf(std::uint32_t instr) const { return locations[function.instructions[instr].loc]; }
  const SharedVariable* sharedAt(std::uint64_t address) const;
};

/// Instructions, by their index in Program::function; these are the same in each program of a kernel.
using Instructions = std::set<std::uint32_t>;

/// Errors: the kernel has no body, a call cannot be resolved to a bounded program (recursion). `input_words`: the loads
/// that get Op::reads_input.
Result<Program> buildProgram(const ptx::Module& module, const ptx::Function& kernel, const Instructions& input_words = {});
/// The same with every instruction kept, for questions about data (used_reads.h).
Result<Program> buildWholeProgram(const ptx::Module& module, const ptx::Function& kernel, const Instructions& input_words = {});

/// The kernel with every call to a function of the module replaced by its body. Recursive or indirect calls and
/// functions without a body stay as calls.
ptx::Function inlineCalls(const ptx::Module& module, const ptx::Function& kernel, std::vector<SourceStack>& locations);

}  // namespace handoff::machine
