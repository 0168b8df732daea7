// SPDX-License-Identifier: Apache-2.0
// A parsed PTX module: what the text says, with names resolved and nothing interpreted yet.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/ptx/types.h"
#include "analyzer/support/source.h"

namespace handoff::ptx {

struct Decoded;  // decode.h

/// Index into Function::registers.
enum class RegId : std::uint32_t {};
/// Index into Module::variables (module scope) or Function::variables; see Variable::is_module_scope.
enum class VarId : std::uint32_t {};
/// Index into Function::instructions, also used for labels (the instruction that follows).
using InstrIndex = std::uint32_t;
/// Index into Module::locations; entry 0 is the empty stack.
using LocId = std::uint32_t;

/// Special registers a kernel can read (PTX ISA, "Special Registers").
enum class Special : std::uint8_t {
  kTidX,
  kTidY,
  kTidZ,
  kNtidX,
  kNtidY,
  kNtidZ,
  kCtaidX,
  kCtaidY,
  kCtaidZ,
  kNctaidX,
  kNctaidY,
  kNctaidZ,
  kLaneid,
  kWarpid,
  kNwarpid,
  kClusterCtaidX,
  kClusterCtaidY,
  kClusterCtaidZ,
  kClusterNctaidX,
  kClusterNctaidY,
  kClusterNctaidZ,
  kClusterCtarank,
  kClusterNctarank,
  kClusteridX,
  kClusteridY,
  kClusteridZ,
  kNclusteridX,
  kNclusteridY,
  kNclusteridZ,
  kIsExplicitCluster,
  kLanemaskEq,
  kLanemaskLe,
  kLanemaskLt,
  kLanemaskGe,
  kLanemaskGt,
  kDynamicSmemSize,
  kTotalSmemSize,
  kAggrSmemSize,
  kReservedSmem,
  kSmid,
  kNsmid,
  kGridid,
  kClock,
  kClock64,
  kGlobaltimer,
  kOther,  ///< any other name: its value is unknown to the machine
};

/// How a function or variable is linked. kNone: visible in this module only.
enum class Linkage : std::uint8_t { kNone, kExtern, kVisible, kWeak, kCommon };
/// The directive with its dot, ".extern"; empty for kNone.
std::string_view toString(Linkage linkage);

/// "%tid.x" -> kTidX. Names that the machine does not evaluate are kOther; nullopt when PTX has no such
/// register.
std::optional<Special> parseSpecial(std::string_view name);
std::string_view toString(Special special);  ///< "%tid.x"; empty for kOther

/// One operand. `kind` says which members are meaningful.
struct Operand {
  enum class Kind : std::uint8_t {
    kRegister,   ///< reg; for "p|q" the second predicate is in `elements[0]` (also with kSink: "_|p")
    kImmediate,  ///< imm (two's complement, or the bit pattern of a float); is_float, then text is "0f" or
                 ///< "0d"
    kSpecial,    ///< special; text holds the name of a kOther
    kVariable,   ///< var (+ imm): the address of a variable
    kFunction,   ///< text: the name of a function (call target, or address taken)
    kAddress,    ///< [base + imm]; base is reg, var or none (absolute); elements[0] if the base is a special
    kVector,     ///< elements: "{a, b, c}"; also the coordinate list of tensor copies
    kTensorAddress,  ///< [map, {coordinates}]: elements[0] is the map address, the rest the coordinates
    kLabel,          ///< target: an instruction index of the same function
    kSink,           ///< "_"
    kList,  ///< "(a, b)" of a call: elements. A call has the operands returns, callee, arguments{, prototype}
    kSymbol,  ///< text: a name that nothing declares (unknown instruction), a branch table or a call
              ///< prototype
  };
  enum class Base : std::uint8_t { kNone, kRegister, kVariable };

  Kind kind = Kind::kSink;
  bool is_negated = false;  ///< "!p" as a source operand
  bool is_float = false;
  bool is_module_scope = false;  ///< var indexes Module::variables, not Function::variables
  Base base = Base::kNone;
  Special special = Special::kOther;
  RegId reg{};
  VarId var{};
  InstrIndex target = 0;
  std::int64_t imm = 0;
  std::string text{};
  std::vector<Operand> elements{};
};

/// "@p" or "@!p".
struct Guard {
  RegId reg{};
  bool is_negated = false;
};

struct Instruction {
  std::string opcode;  ///< full spelling with modifiers, e.g. "cp.async.cg.shared.global.L2::128B"
  const Decoded* decoded = nullptr;  ///< what the instruction table knows; never null after parsing
  std::optional<Guard> guard;
  std::vector<Operand> operands;
  LocId loc = 0;
  std::uint32_t ptx_line = 0;  ///< line in the PTX text, from 1; 0 for an instruction a repair inserted
  bool is_inline_asm = false;  ///< between the compiler's "begin inline asm" comments
};

struct Register {
  std::string name;  ///< unique within the function (nested scopes get a suffix)
  Type type = Type::kNone;
};

/// An initial element that is the address of a symbol.
struct SymbolicInit {
  std::uint64_t offset = 0;  ///< bytes from the start of the variable
  std::string text;          ///< as written: "generic(f)+8"
};

struct Variable {
  std::string name;  ///< as written; a nested scope that repeats a name gets a suffix
  Space space = Space::kGeneric;
  Type type = Type::kB8;
  std::uint32_t align = 1;  ///< bytes
  std::uint64_t size = 0;   ///< bytes; 0 for an unsized ".extern .shared" array
  bool is_extern = false;
  bool is_pointer = false;                ///< ".ptr" attribute on a kernel parameter
  Space pointee_space = Space::kGeneric;  ///< of ".ptr"
  std::uint32_t pointee_align = 0;        ///< bytes, 0 when not given
  std::vector<std::uint8_t> init;         ///< initial bytes of .const/.global data, may be shorter than size
  bool has_symbolic_init = false;  ///< an initialiser held addresses of other symbols: contents unknown
  std::vector<SymbolicInit> symbolic_init;
  std::string opaque_type;  ///< "texref", "samplerref", "surfref"; empty for ordinary types
  Linkage linkage = Linkage::kNone;
  std::uint32_t ptx_line = 0;
};

/// Performance and cluster directives of a kernel (PTX ISA, "Performance-Tuning Directives", "Cluster
/// Dimension Directives").
struct KernelLimits {
  std::optional<std::array<std::uint32_t, 3>> max_ntid;     ///< .maxntid, threads
  std::optional<std::array<std::uint32_t, 3>> req_ntid;     ///< .reqntid, threads
  std::optional<std::array<std::uint32_t, 3>> req_cluster;  ///< .reqnctapercluster, CTAs
  bool is_explicit_cluster = false;
  std::optional<std::uint32_t> max_cluster_rank;
  std::optional<std::uint32_t> max_nreg;
  std::optional<std::uint32_t> min_nctapersm;
};

/// ".branchtargets" / brx.idx tables.
struct BranchTable {
  std::string name;
  std::vector<InstrIndex> targets;
};

/// ".callprototype" or ".calltargets": the operand of an indirect call names it.
struct CallDeclaration {
  std::string name;
  std::string text;  ///< the directive without the label and the semicolon
};

struct Label {
  std::string name;
  InstrIndex target = 0;  ///< may equal instructions.size() for a label at the very end
};

struct Function {
  std::string name;  ///< mangled
  bool is_kernel = false;
  bool is_declaration = false;
  bool is_noreturn = false;
  std::vector<VarId> returns;  ///< into variables, Space::kParam or kReg
  std::vector<VarId> params;   ///< into variables, Space::kParam or kReg
  std::vector<Register> registers;
  std::vector<Variable> variables;
  std::vector<Instruction> instructions;
  std::vector<Label> labels;
  std::vector<BranchTable> branch_tables;
  std::vector<CallDeclaration> call_declarations;
  KernelLimits limits;
  Linkage linkage = Linkage::kNone;
  std::uint32_t ptx_line = 0;
};

/// ".alias name, target".
struct Alias {
  std::string name, target;
};

struct Module {
  std::string file;  ///< the name used in errors and in locations without .loc
  unsigned version_major = 0, version_minor = 0;
  std::string target;  ///< "sm_90a"
  unsigned sm = 0;     ///< 90
  unsigned address_size = 64;
  std::vector<Variable> variables;
  std::vector<Function> functions;
  std::vector<SourceStack> locations;  ///< by LocId; entry 0 is empty
  std::vector<std::string> files;      ///< by .file index (index 0 unused)

  std::vector<Alias> aliases;

  /// The definition of that name (an alias leads to its target); its declaration if there is no definition.
  const Function* findFunction(std::string_view name) const;
};

}  // namespace handoff::ptx
