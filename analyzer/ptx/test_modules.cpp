// SPDX-License-Identifier: Apache-2.0
// Structural comparison of modules: everything but the lines of the PTX text.
#include "analyzer/ptx/test_modules.h"

#include <functional>

namespace handoff::ptx::test {
namespace {

/// Remembers the first difference.
class Comparison {
 public:
  template <typename T>
  void same(const char* what, const T& a, const T& b) {
    if (!(a == b) && difference_.empty()) difference_ = context_ + ": " + what;
  }
  template <typename T, typename Compare>
  void each(const char* what, const std::vector<T>& a, const std::vector<T>& b, Compare compare) {
    same(what, a.size(), b.size());
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) compare(a[i], b[i]);
  }
  void in(std::string context) { context_ = std::move(context); }
  const std::string& result() const { return difference_; }

  void operand(const Operand& a, const Operand& b) {
    same("operand kind", a.kind, b.kind);
    same("operand flags", std::tuple(a.is_negated, a.is_float, a.is_module_scope, a.base),
         std::tuple(b.is_negated, b.is_float, b.is_module_scope, b.base));
    same("operand value", std::tuple(a.special, a.reg, a.var, a.target, a.imm),
         std::tuple(b.special, b.reg, b.var, b.target, b.imm));
    same("operand text", a.text, b.text);
    each("operand elements", a.elements, b.elements,
         [&](const Operand& x, const Operand& y) { operand(x, y); });
  }

  void variable(const Variable& a, const Variable& b) {
    in("variable " + a.name);
    same("name", a.name, b.name);
    same("shape", std::tuple(a.space, a.type, a.align, a.size), std::tuple(b.space, b.type, b.align, b.size));
    same("pointer", std::tuple(a.is_pointer, a.pointee_space, a.pointee_align),
         std::tuple(b.is_pointer, b.pointee_space, b.pointee_align));
    same("init", a.init, b.init);
    each("symbolic init", a.symbolic_init, b.symbolic_init,
         [&](const SymbolicInit& x, const SymbolicInit& y) {
           same("symbolic element", std::tuple(x.offset, x.text), std::tuple(y.offset, y.text));
         });
    same("linkage", std::tuple(a.linkage, a.is_extern, a.has_symbolic_init, a.opaque_type),
         std::tuple(b.linkage, b.is_extern, b.has_symbolic_init, b.opaque_type));
  }

  void instruction(const Module& ma, const Module& mb, const Instruction& a, const Instruction& b) {
    in(a.opcode + " at line " + std::to_string(a.ptx_line));
    same("opcode", a.opcode, b.opcode);
    same("decoded", a.decoded, b.decoded);
    same("guard", a.guard.has_value(), b.guard.has_value());
    if (a.guard && b.guard) {
      same("guard", std::tuple(a.guard->reg, a.guard->is_negated),
           std::tuple(b.guard->reg, b.guard->is_negated));
    }
    each("operands", a.operands, b.operands, [&](const Operand& x, const Operand& y) { operand(x, y); });
    same("location", ma.locations[a.loc], mb.locations[b.loc]);
    same("location id", a.loc, b.loc);
    same("inline asm", a.is_inline_asm, b.is_inline_asm);
  }

  void limits(const KernelLimits& a, const KernelLimits& b) {
    same("limits", std::tuple(a.max_ntid, a.req_ntid, a.req_cluster, a.is_explicit_cluster),
         std::tuple(b.max_ntid, b.req_ntid, b.req_cluster, b.is_explicit_cluster));
    same("limits", std::tuple(a.max_cluster_rank, a.max_nreg, a.min_nctapersm),
         std::tuple(b.max_cluster_rank, b.max_nreg, b.min_nctapersm));
  }

  void function(const Module& ma, const Module& mb, const Function& a, const Function& b) {
    in("function " + a.name);
    same("head", std::tuple(a.name, a.is_kernel, a.is_declaration, a.is_noreturn, a.linkage),
         std::tuple(b.name, b.is_kernel, b.is_declaration, b.is_noreturn, b.linkage));
    same("parameters", std::tuple(a.returns, a.params), std::tuple(b.returns, b.params));
    limits(a.limits, b.limits);
    each("registers", a.registers, b.registers, [&](const Register& x, const Register& y) {
      same("register", std::tuple(x.name, x.type), std::tuple(y.name, y.type));
    });
    each("labels", a.labels, b.labels, [&](const Label& x, const Label& y) {
      same("label", std::tuple(x.name, x.target), std::tuple(y.name, y.target));
    });
    each("branch tables", a.branch_tables, b.branch_tables, [&](const BranchTable& x, const BranchTable& y) {
      same("branch table", std::tuple(x.name, x.targets), std::tuple(y.name, y.targets));
    });
    each("call declarations", a.call_declarations, b.call_declarations,
         [&](const CallDeclaration& x, const CallDeclaration& y) {
           same("call declaration", std::tuple(x.name, x.text), std::tuple(y.name, y.text));
         });
    each("variables", a.variables, b.variables,
         [&](const Variable& x, const Variable& y) { variable(x, y); });
    in("function " + a.name);
    each("instructions", a.instructions, b.instructions,
         [&](const Instruction& x, const Instruction& y) { instruction(ma, mb, x, y); });
  }

 private:
  std::string context_ = "module";
  std::string difference_;
};

}  // namespace

std::string difference(const Module& a, const Module& b) {
  Comparison compare;
  compare.same("version", std::tuple(a.version_major, a.version_minor, a.address_size),
               std::tuple(b.version_major, b.version_minor, b.address_size));
  compare.same("target", std::tuple(a.target, a.sm), std::tuple(b.target, b.sm));
  compare.same("files", a.files, b.files);
  compare.same("locations", a.locations, b.locations);
  compare.each("aliases", a.aliases, b.aliases, [&](const Alias& x, const Alias& y) {
    compare.same("alias", std::tuple(x.name, x.target), std::tuple(y.name, y.target));
  });
  compare.each("variables", a.variables, b.variables,
               [&](const Variable& x, const Variable& y) { compare.variable(x, y); });
  compare.in("module");
  compare.each("functions", a.functions, b.functions,
               [&](const Function& x, const Function& y) { compare.function(a, b, x, y); });
  return compare.result();
}

}  // namespace handoff::ptx::test
