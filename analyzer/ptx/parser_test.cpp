// SPDX-License-Identifier: Apache-2.0
// What the parser makes of modules, kernels, statements and operands.
#include "analyzer/ptx/parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/ptx/decode.h"
#include "analyzer/ptx/test_modules.h"

namespace handoff::ptx {
namespace {

using test::body;
using test::kernel;
using test::kHeader;
using test::parseOk;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using Kind = Operand::Kind;

/// The operands of one statement.
std::vector<Operand> operands(const std::string& statement) {
  const Function function = body(statement);
  return function.instructions.empty() ? std::vector<Operand>{} : function.instructions.front().operands;
}

TEST(ParserModule, HeaderGivesVersionTargetAndAddressSize) {
  const Module module = parseOk(".version 9.0\n.target sm_100a, debug\n.address_size 64\n");
  EXPECT_EQ(module.version_major, 9u);
  EXPECT_EQ(module.version_minor, 0u);
  EXPECT_EQ(module.target, "sm_100a");
  EXPECT_EQ(module.sm, 100u);
  EXPECT_EQ(module.address_size, 64u);
}

TEST(ParserModule, DynamicSharedArrayHasNoSize) {
  const Module module = parseOk(std::string(kHeader) + ".extern .shared .align 128 .b8 smem[];");
  ASSERT_THAT(module.variables, SizeIs(1));
  EXPECT_TRUE(module.variables[0].is_extern);
  EXPECT_EQ(module.variables[0].space, Space::kShared);
  EXPECT_EQ(module.variables[0].size, 0u);
  EXPECT_EQ(module.variables[0].align, 128u);
}

TEST(ParserModule, ArraySizeIsInBytesAndAlignmentDefaultsToTheElement) {
  const Module module = parseOk(std::string(kHeader) + ".global .u32 a[3][4], b;\n.shared .v4 .f32 c;");
  ASSERT_THAT(module.variables, SizeIs(3));
  EXPECT_EQ(module.variables[0].size, 48u);
  EXPECT_EQ(module.variables[0].align, 4u);
  EXPECT_EQ(module.variables[1].size, 4u);
  EXPECT_EQ(module.variables[2].size, 16u);
}

TEST(ParserModule, InitialiserBytesAreLittleEndian) {
  const Module module =
      parseOk(std::string(kHeader) + ".const .u16 a[2] = {0x1234, -1};\n.const .f32 f = 1.0;");
  EXPECT_THAT(module.variables[0].init, ElementsAre(0x34, 0x12, 0xff, 0xff));
  EXPECT_THAT(module.variables[1].init, ElementsAre(0, 0, 0x80, 0x3f));
}

TEST(ParserModule, UnsizedArrayTakesItsSizeFromTheInitialiser) {
  EXPECT_EQ(parseOk(std::string(kHeader) + ".global .u32 a[] = {1, 2, 3};").variables[0].size, 12u);
}

TEST(ParserModule, AddressInAnInitialiserMakesItSymbolic) {
  const Module module = parseOk(std::string(kHeader) +
                                ".global .u32 x;\n.global .u64 p[2] = {generic(x)+4, 7};\n"
                                ".global .b8 q[8] = {mask(0xff, x), mask(0xff00, x)};");
  EXPECT_FALSE(module.variables[0].has_symbolic_init);
  EXPECT_TRUE(module.variables[1].has_symbolic_init);
  ASSERT_THAT(module.variables[1].symbolic_init, SizeIs(1));
  EXPECT_EQ(module.variables[1].symbolic_init[0].text, "generic(x)+4");
  EXPECT_EQ(module.variables[1].init[8], 7);
  EXPECT_THAT(module.variables[2].symbolic_init, SizeIs(2));
}

TEST(ParserModule, DefinitionWinsOverForwardDeclaration) {
  const Module module = parseOk(std::string(kHeader) + ".entry k();\n.entry k() { ret; }");
  EXPECT_THAT(module.functions, SizeIs(2));
  ASSERT_NE(module.findFunction("k"), nullptr);
  EXPECT_FALSE(module.findFunction("k")->is_declaration);
  EXPECT_EQ(module.findFunction("l"), nullptr);
}

TEST(ParserModule, AliasLeadsToItsTarget) {
  const Module module = parseOk(std::string(kHeader) + ".func f() { ret; }\n.func g();\n.alias g, f;");
  ASSERT_NE(module.findFunction("g"), nullptr);
  EXPECT_EQ(module.findFunction("g")->name, "f");
}

TEST(ParserKernel, PointerAttributesBelongToThePointee) {
  const Module module =
      parseOk(std::string(kHeader) +
              ".entry k(.param .u64 .ptr .shared .align 16 p, .param .align 64 .b8 map[128]) { ret; }");
  const Function& function = module.functions[0];
  ASSERT_THAT(function.params, SizeIs(2));
  EXPECT_TRUE(function.variables[0].is_pointer);
  EXPECT_EQ(function.variables[0].pointee_space, Space::kShared);
  EXPECT_EQ(function.variables[0].pointee_align, 16u);
  EXPECT_EQ(function.variables[0].align, 8u);
  EXPECT_EQ(function.variables[1].size, 128u);
  EXPECT_EQ(function.variables[1].align, 64u);
}

TEST(ParserKernel, LimitsInBothSpellings) {
  const Module module =
      parseOk(std::string(kHeader) +
              ".entry a() .maxntid 128 .minnctapersm 2 .maxnreg 64 { ret; }\n"
              ".entry b() .reqntid 32, 4, 2 .explicitcluster .reqnctapercluster 2, 1, 1 { ret; }\n"
              ".entry c() .maxntid 256, 1, 1 .maxclusterrank 8 .blocksareclusters { ret; }\n");
  using Extent = std::array<std::uint32_t, 3>;
  EXPECT_EQ(module.functions[0].limits.max_ntid, (Extent{128, 1, 1}));
  EXPECT_EQ(module.functions[0].limits.min_nctapersm, 2u);
  EXPECT_EQ(module.functions[0].limits.max_nreg, 64u);
  EXPECT_EQ(module.functions[1].limits.req_ntid, (Extent{32, 4, 2}));
  EXPECT_EQ(module.functions[1].limits.req_cluster, (Extent{2, 1, 1}));
  EXPECT_TRUE(module.functions[1].limits.is_explicit_cluster);
  EXPECT_EQ(module.functions[2].limits.max_ntid, (Extent{256, 1, 1}));
  EXPECT_EQ(module.functions[2].limits.max_cluster_rank, 8u);
}

TEST(ParserKernel, RegisterParametersOfFunctionsAreRegisters) {
  const Module module =
      parseOk(std::string(kHeader) + ".func (.reg .u32 o) f(.reg .u32 a) { add.u32 o, a, 1; ret; }");
  const Function& function = module.functions[0];
  EXPECT_THAT(function.returns, SizeIs(1));
  EXPECT_THAT(function.params, SizeIs(1));
  EXPECT_THAT(function.registers, SizeIs(2));
  EXPECT_EQ(function.instructions[0].operands[0].kind, Kind::kRegister);
}

TEST(ParserBody, RangeRegistersExistOnceUsed) {
  const Function function = body("add.s32 %r3, %r1, %r3;");
  ASSERT_THAT(function.registers, SizeIs(2));
  EXPECT_EQ(function.registers[0].name, "%r3");
  EXPECT_EQ(function.registers[1].name, "%r1");
  EXPECT_EQ(function.registers[0].type, Type::kB32);
}

TEST(ParserBody, InnerScopeHidesAndRestoresNames) {
  const Function function =
      body(".reg .pred p;\n@p ret;\n{ .reg .pred p; @p ret; }\n{ .reg .pred p; @p ret; }\n@p ret;");
  ASSERT_THAT(function.instructions, SizeIs(4));
  EXPECT_EQ(function.instructions[0].guard->reg, function.instructions[3].guard->reg);
  EXPECT_NE(function.instructions[0].guard->reg, function.instructions[1].guard->reg);
  EXPECT_NE(function.instructions[1].guard->reg, function.instructions[2].guard->reg);
  EXPECT_THAT(function.registers,
              ElementsAre(::testing::Field(&Register::name, "p"), ::testing::Field(&Register::name, "p$1"),
                          ::testing::Field(&Register::name, "p$2")));
}

TEST(ParserBody, RangeRegisterFirstUsedInAScopeStaysTheSameOutside) {
  const Function function = body("{ mov.b32 %r5, 1; }\nmov.b32 %r6, %r5;");
  EXPECT_EQ(function.instructions[0].operands[0].reg, function.instructions[1].operands[1].reg);
}

TEST(ParserBody, LabelsOfInlineAsmScopesAreTheirOwn) {
  const Function function =
      body("{ WAIT: @%p1 bra DONE; bra WAIT; DONE: }\n{ WAIT: @%p1 bra DONE; bra WAIT; DONE: }\nret;");
  ASSERT_THAT(function.instructions, SizeIs(5));
  EXPECT_EQ(function.instructions[0].operands[0].target, 2u);
  EXPECT_EQ(function.instructions[1].operands[0].target, 0u);
  EXPECT_EQ(function.instructions[2].operands[0].target, 4u);
  EXPECT_EQ(function.instructions[3].operands[0].target, 2u);
}

TEST(ParserBody, BranchOutOfAScopeFindsTheOuterLabel) {
  const Function function = body("{ bra OUT; }\nret;\nOUT: exit;");
  EXPECT_EQ(function.instructions[0].operands[0].target, 2u);
}

TEST(ParserBody, LabelAtTheEndPointsBehindTheLastInstruction) {
  const Function function = body("bra END;\nEND:");
  EXPECT_EQ(function.instructions[0].operands[0].target, 1u);
}

TEST(ParserBody, CommentsMarkInlineAsm) {
  const Function function = body("ret;\n// begin inline asm\ncp.async.wait_all;\n// end inline asm\nexit;");
  EXPECT_FALSE(function.instructions[0].is_inline_asm);
  EXPECT_TRUE(function.instructions[1].is_inline_asm);
  EXPECT_FALSE(function.instructions[2].is_inline_asm);
}

TEST(ParserBody, SeveralStatementsAndCommentsShareALine) {
  const Function function = body("mov.b32 %r1, 1; /* a; b */ mov.b32 %r2, 2; // trap;\nexit;");
  ASSERT_THAT(function.instructions, SizeIs(3));
  EXPECT_EQ(function.instructions[1].ptx_line, 10u);
  EXPECT_EQ(function.instructions[2].ptx_line, 11u);
}

TEST(ParserBody, BlanksMayPrecedeModifiers) {
  EXPECT_EQ(body("ld .global .u32 %r1, [%rd1];").instructions[0].opcode, "ld.global.u32");
}

TEST(ParserBody, NegatedGuard) {
  const Function function = body("@!%p1 exit;\n@%p1 exit;\nexit;");
  EXPECT_TRUE(function.instructions[0].guard->is_negated);
  EXPECT_FALSE(function.instructions[1].guard->is_negated);
  EXPECT_FALSE(function.instructions[2].guard.has_value());
}

TEST(ParserBody, BranchTableHoldsItsTargets) {
  const Function function = body("ts: .branchtargets A, B, A;\nbrx.idx %r1, ts;\nA: exit;\nB: ret;");
  ASSERT_THAT(function.branch_tables, SizeIs(1));
  EXPECT_THAT(function.branch_tables[0].targets, ElementsAre(1u, 2u, 1u));
  EXPECT_EQ(function.instructions[0].operands[1].text, "ts");
}

TEST(ParserBody, CallKeepsBothLists) {
  const std::string head =
      std::string(kHeader) + ".extern .func g();\n.extern .func (.param .b32 r) f(.param .b64 a);\n";
  const Module module =
      parseOk(head +
              ".entry k() { .reg .b64 %rd<2>; { .param .b64 a; .param .b32 r;\n"
              "call.uni (r), f, (a); } call g; proto: .callprototype (.param .b32 _) _ ();\n"
              "{ .param .b32 r; call (r), %rd1, (), proto; } }");
  const std::vector<Instruction>& instructions = module.functions[2].instructions;
  for (const Instruction& call : instructions) ASSERT_GE(call.operands.size(), 3u);
  EXPECT_THAT(instructions[0].operands[0].elements, SizeIs(1));
  EXPECT_EQ(instructions[0].operands[1].text, "f");
  EXPECT_THAT(instructions[0].operands[2].elements, SizeIs(1));
  EXPECT_THAT(instructions[1].operands[0].elements, IsEmpty());
  EXPECT_EQ(instructions[2].operands[1].kind, Kind::kRegister);
  EXPECT_EQ(instructions[2].operands[3].text, "proto");
  EXPECT_EQ(destinationCount(*instructions[1].decoded, instructions[1].operands.size()), 1u);
}

TEST(ParserOperands, Immediates) {
  const auto imm = [](const std::string& text) { return operands("mov.b64 %rd1, " + text + ";")[1].imm; };
  EXPECT_EQ(imm("42"), 42);
  EXPECT_EQ(imm("-8"), -8);
  EXPECT_EQ(imm("0x1FU"), 31);
  EXPECT_EQ(imm("017"), 15);
  EXPECT_EQ(imm("0b101"), 5);
  EXPECT_EQ(imm("18446744073709551615"), -1);
  EXPECT_EQ(imm("WARP_SZ"), 32);
  EXPECT_EQ(imm("(1 << 4) + 3*2"), 22);
  EXPECT_EQ(imm("~0"), -1);
  EXPECT_EQ(imm("7 > 3 ? 10 : 20"), 10);
}

TEST(ParserOperands, FloatsKeepTheirBits) {
  const Operand single = operands("mov.b32 %r1, 0f3F800000;")[1];
  EXPECT_TRUE(single.is_float);
  EXPECT_EQ(single.imm, 0x3f800000);
  EXPECT_EQ(operands("mov.b64 %rd1, 0dBFF0000000000000;")[1].imm,
            static_cast<std::int64_t>(0xbff0000000000000));
  EXPECT_EQ(operands("mov.b64 %rd1, 1.0;")[1].imm, 0x3ff0000000000000);
  EXPECT_EQ(operands("mov.b64 %rd1, 1.;")[1].imm, 0x3ff0000000000000);
  const auto zeros = operands("mov.b64 %rd1, {0., 0.};")[1].elements;
  ASSERT_EQ(zeros.size(), 2u);
  EXPECT_TRUE(zeros[1].is_float);
}

TEST(ParserOperands, SpecialRegisters) {
  EXPECT_EQ(operands("mov.u32 %r1, %tid.x;")[1].special, Special::kTidX);
  EXPECT_EQ(operands("mov.u32 %r1, %cluster_ctarank;")[1].special, Special::kClusterCtarank);
  EXPECT_EQ(operands("mov.u64 %rd1, %globaltimer;")[1].special, Special::kGlobaltimer);
  const Operand other = operands("mov.u32 %r1, %envreg12;")[1];
  EXPECT_EQ(other.kind, Kind::kSpecial);
  EXPECT_EQ(other.special, Special::kOther);
  EXPECT_EQ(other.text, "%envreg12");
}

TEST(ParserOperands, Addresses) {
  const auto address = [](const std::string& text) {
    return body(".shared .b8 tile[64];\nld.shared.u32 %r1, " + text + ";").instructions[0].operands[1];
  };
  EXPECT_EQ(address("[%r2]").base, Operand::Base::kRegister);
  EXPECT_EQ(address("[%r2+16]").imm, 16);
  EXPECT_EQ(address("[%r2+-16]").imm, -16);
  EXPECT_EQ(address("[%r2-16]").imm, -16);
  EXPECT_EQ(address("[tile+8]").base, Operand::Base::kVariable);
  EXPECT_EQ(address("[tile+8]").imm, 8);
  EXPECT_EQ(address("[1024]").base, Operand::Base::kNone);
  EXPECT_EQ(address("[1024]").imm, 1024);
}

TEST(ParserOperands, VariableAsAValueIsItsAddress) {
  const Operand operand = body(".shared .b8 tile[64];\nmov.b64 %rd1, tile+8;").instructions[0].operands[1];
  EXPECT_EQ(operand.kind, Kind::kVariable);
  EXPECT_EQ(operand.imm, 8);
  EXPECT_FALSE(operand.is_module_scope);
}

TEST(ParserOperands, TensorAddressHasMapThenCoordinates) {
  const auto all = operands(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r2, 8}], "
      "[%r3];");
  ASSERT_THAT(all, SizeIs(3));
  EXPECT_EQ(all[1].kind, Kind::kTensorAddress);
  ASSERT_THAT(all[1].elements, SizeIs(3));
  EXPECT_EQ(all[1].elements[0].kind, Kind::kAddress);
  EXPECT_EQ(all[1].elements[2].imm, 8);
}

TEST(ParserOperands, Im2colOffsetsAreAVectorOfTheirOwn) {
  const auto all = operands(
      "cp.async.bulk.tensor.3d.shared::cta.global.im2col.mbarrier::complete_tx::bytes "
      "[%r1], [%rd1, {%r2, %r2, %r2}], [%r3], {%rs1};");
  ASSERT_THAT(all, SizeIs(4));
  EXPECT_EQ(all[3].kind, Kind::kVector);
}

TEST(ParserOperands, SecondPredicateHangsOnTheFirst) {
  const Operand pair = operands("setp.lt.s32 %p1|%p2, %r1, 0;")[0];
  EXPECT_EQ(pair.kind, Kind::kRegister);
  ASSERT_THAT(pair.elements, SizeIs(1));
  const Operand sink = operands("elect.sync _|%p1, 0xffffffff;")[0];
  EXPECT_EQ(sink.kind, Kind::kSink);
  EXPECT_THAT(sink.elements, SizeIs(1));
}

TEST(ParserOperands, NegatedPredicateSource) {
  EXPECT_TRUE(operands("setp.eq.and.s32 %p1, %r1, 0, !%p2;")[3].is_negated);
  EXPECT_FALSE(operands("setp.eq.and.s32 %p1, %r1, 0, %p2;")[3].is_negated);
}

TEST(ParserOperands, VectorRegisterComponents) {
  const Function function = body(".reg .v4 .b32 v;\nmov.b32 v.y, 1;\nld.global.v4.b32 v, [%rd1];");
  const Operand whole = function.instructions[1].operands[0];
  EXPECT_EQ(whole.kind, Kind::kVector);
  ASSERT_THAT(whole.elements, SizeIs(4));
  EXPECT_EQ(whole.elements[1].reg, function.instructions[0].operands[0].reg);
}

TEST(ParserOperands, UnknownInstructionParsesGenerically) {
  const Function function = body("frobnicate.x [%rd1+4], thing, {%r1, _}, .flag;");
  const Instruction& instruction = function.instructions[0];
  EXPECT_TRUE(std::holds_alternative<Unmodelled>(instruction.decoded->effect));
  ASSERT_THAT(instruction.operands, SizeIs(4));
  EXPECT_EQ(instruction.operands[1].kind, Kind::kSymbol);
}

struct BadInput {
  const char* name;
  std::string text;
  std::uint32_t line;
  const char* message;
};

class ParserErrors : public ::testing::TestWithParam<BadInput> {};

TEST_P(ParserErrors, NamesTheLineAndTheReason) {
  const auto result = parse(GetParam().text, "bad.ptx");
  ASSERT_FALSE(result.hasValue());
  EXPECT_THAT(result.error().message, HasSubstr(GetParam().message));
  EXPECT_EQ(result.error().pos.line, GetParam().line);
  EXPECT_EQ(result.error().pos.file, "bad.ptx");
}

INSTANTIATE_TEST_SUITE_P(
    Table, ParserErrors,
    ::testing::Values(
        BadInput{"Empty", "", 1, "not PTX"}, BadInput{"Prose", "Hello\n", 1, "not PTX"},
        BadInput{"Elf",
                 std::string("\x7f"
                             "ELF\n\0\0",
                             7),
                 2, "binary"},
        BadInput{"NoTarget", ".version 8.0\n", 2, "no '.target'"},
        BadInput{"NoVersion", ".version\n.target sm_80\n", 2, "expected a version"},
        BadInput{"TruncatedBody", std::string(kHeader) + ".entry k()\n{ ret;\n", 5,
                 "ends inside the function 'k'"},
        BadInput{"TruncatedStatement", std::string(kHeader) + ".entry k() {\nadd.s32", 5, "expected"},
        BadInput{"UndeclaredRegister", kernel("mov.b32 %r1, 0;"), 6, "'%r1' is not declared"},
        BadInput{"RegisterBeyondItsRange", kernel(".reg .b32 %r<2>;\nmov.b32 %r2, 0;"), 7,
                 "'%r2' is not declared"},
        BadInput{"UndeclaredGuard", kernel("@%p1 ret;"), 6, "'%p1' is no declared register"},
        BadInput{"UndefinedLabel", kernel("\nbra L;"), 7, "'L' is not defined"},
        BadInput{"LabelOfAnotherScope", kernel("{ L: }\nbra L;"), 7, "'L' is not defined"},
        BadInput{"LabelTwice", kernel("L:\nL:"), 7, "defined twice"},
        BadInput{"HugeRange", kernel(".reg .b32 %r<4000000000>;"), 6, "too large"},
        BadInput{"HugeArray", std::string(kHeader) + ".global .b8 a[99999999999][99999999999];", 4,
                 "too large"},
        BadInput{"HugeNumber", kernel(".reg .b64 a;\nmov.b64 a, 99999999999999999999;"), 7,
                 "expected an integer"},
        BadInput{"DivisionByZero", kernel(".reg .b64 a;\nmov.b64 a, 1/0;"), 7, "divides by zero"},
        BadInput{"OpenSection", std::string(kHeader) + ".section .debug_info\n{ .b8 1", 4, "does not end"},
        BadInput{"OpenInitialiser", std::string(kHeader) + ".global .u32 a[2] = { 1,", 4, "does not end"},
        BadInput{"UnknownDirective", std::string(kHeader) + ".frobnicate 1;", 4, "unexpected '.frobnicate'"},
        BadInput{"DeepExpression", kernel(".reg .b64 a;\nmov.b64 a, " + std::string(100000, '(') + ";"), 7,
                 "too deeply"},
        BadInput{"DeepScopes", kernel(std::string(100000, '{')), 6, "too deeply"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(ParserTruncation, NoProperPrefixOfAKernelParses) {
  const std::string text = kernel(
      ".reg .pred %p<2>;\n.reg .b32 %r<4>;\nL: @%p1 bra L;\n{ .reg .b32 t; mov.b32 t, (1+2)*3; }\n"
      "ld.shared.v2.b32 {%r1, %r2}, [%r3+4];\nret;");
  ASSERT_TRUE(parse(text, "x").hasValue());
  const std::size_t last_brace = text.rfind('}');
  for (std::size_t length = std::string(kHeader).size() + 1; length <= last_brace; ++length) {
    EXPECT_FALSE(parse(text.substr(0, length), "x").hasValue()) << text.substr(0, length);
  }
}

}  // namespace
}  // namespace handoff::ptx
