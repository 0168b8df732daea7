// SPDX-License-Identifier: Apache-2.0
// The frame around a test's statements.
#include "analyzer/test_support/ptx_kernel.h"

#include <gtest/gtest.h>

#include <set>

#include "analyzer/machine/address.h"
#include "analyzer/ptx/parser.h"

namespace handoff::test {

namespace {

constexpr const char* kHeader = ".version 8.8\n.target sm_90a\n.address_size 64\n";
constexpr unsigned kUnknownParam = 3;

constexpr const char* kFrame = R"(
.reg .pred %p<16>;
.reg .b16 %h<16>;
.reg .b32 %r<64>;
.reg .b64 %d<64>;
.reg .f32 %f<16>;
.reg .b32 %s, %t, %lane, %w, %n, %u;
.reg .b64 %g, %in, %out, %map<4>;
.shared .align 16 .b8 tile[16384];
.shared .align 8 .b64 bar[4];
.shared .align 4 .b32 flag[4];
)";

constexpr const char* kPrologue = R"(
ld.param.u64 %in, [k_param_0];
ld.param.u64 %out, [k_param_1];
ld.param.u32 %n, [k_param_2];
ld.param.u32 %u, [k_param_3];
mov.u32 %t, %tid.x;
mov.u32 %lane, %laneid;
shr.u32 %w, %t, 5;
mov.u32 %s, tile;
mad.lo.u32 %s, %t, 16, %s;
mad.wide.u32 %g, %t, 16, %in;
)";

machine::Launch launchOf(const machine::Program& program, const Setup& setup) {
  machine::Launch launch{.grid = setup.grid,
                         .block = setup.block,
                         .cluster = setup.cluster,
                         .block_index = setup.block_index,
                         .dynamic_shared_bytes = setup.dynamic_shared_bytes,
                         .param_bytes = {},
                         .param_known = {},
                         .tensor_maps = setup.tensor_maps};
  launch.param_bytes.assign(program.param_bytes, 0);
  launch.param_known.assign(program.param_bytes, true);
  const std::uint64_t words[] = {machine::bufferBase(0), machine::bufferBase(1), setup.n};
  for (std::size_t param = 0; param < program.param_offset.size(); ++param) {
    const std::uint32_t offset = program.param_offset[param];
    for (std::uint32_t i = 0; i < 8 && offset + i < program.param_bytes; ++i) {
      if (param == kUnknownParam) launch.param_known[offset + i] = false;
      if (param < kUnknownParam)
        launch.param_bytes[offset + i] = static_cast<std::uint8_t>(words[param] >> (8 * i));
    }
  }
  return launch;
}

}  // namespace

std::string kernelText(std::string_view statements, const Setup& setup) {
  std::string map_parameters, map_addresses;
  for (unsigned map = 0; map < setup.map_parameters; ++map) {
    const std::string parameter = "k_param_" + std::to_string(kUnknownParam + 1 + map);
    const std::string reg = "%map" + std::to_string(map);
    map_parameters += ", .param .align 64 .b8 " + parameter + "[128]";
    map_addresses += "mov.b64 " + reg + ", " + parameter + ";\ncvta.param.u64 " + reg + ", " + reg + ";\n";
  }
  return kHeader + setup.functions +
         "\n.visible .entry k(.param .u64 k_param_0, .param .u64 k_param_1, .param .u32 k_param_2, .param "
         ".u32 k_param_3" +
         map_parameters + ")\n{" + kFrame + setup.declarations + kPrologue + map_addresses +
         std::string(statements) + "\nret;\n}\n";
}

std::unique_ptr<ptx::Module> parseModule(const std::string& text) {
  Result<ptx::Module> parsed = ptx::parse(text, "test.ptx");
  if (!parsed) {
    ADD_FAILURE() << toString(parsed.error()) << "\n" << text;
    return std::make_unique<ptx::Module>();
  }
  return std::make_unique<ptx::Module>(std::move(*parsed));
}

Ran runModule(const std::string& text, const Setup& setup) {
  Ran ran;
  ran.module = parseModule(text);
  const ptx::Function* kernel = ran.module->findFunction("k");
  if (kernel == nullptr) {
    ADD_FAILURE() << "no kernel 'k'";
    return ran;
  }
  Result<machine::Program> program = machine::buildProgram(*ran.module, *kernel);
  if (!program) {
    ADD_FAILURE() << toString(program.error());
    return ran;
  }
  ran.program = std::move(*program);
  ran.launch = launchOf(ran.program, setup);
  ran.names.launch = "test";
  ran.names.buffers = {{0, "in"}, {1, "out"}};
  ran.outcome = machine::run(ran.program, ran.launch, setup.options);
  return ran;
}

Ran run(std::string_view statements, const Setup& setup) {
  return runModule(kernelText(statements, setup), setup);
}

std::vector<std::string> rulesOf(const Ran& ran) {
  std::set<std::string> rules;
  for (const diagnose::Diagnosis& diagnosis : ran.diagnoses()) rules.insert(diagnosis.finding.rule);
  return {rules.begin(), rules.end()};
}

std::vector<std::string> rulesOf(std::string_view statements, const Setup& setup) {
  return rulesOf(run(statements, setup));
}

std::vector<std::string> limitsOf(const Ran& ran) {
  std::vector<std::string> reasons;
  for (const machine::RunLimit& limit : ran.outcome.limits) reasons.push_back(limit.reason);
  return reasons;
}

std::string probe(std::string_view register_name) {
  return "cp.async.ca.shared.global [%s], [" + std::string(register_name) + "], 4, 0;\n";
}

std::vector<std::array<std::uint64_t, machine::kWarpSize>> probesOf(const Ran& ran) {
  std::vector<std::array<std::uint64_t, machine::kWarpSize>> probes;
  const machine::EventLog& log = ran.outcome.log;
  for (machine::EventId id = 1; id < log.end(); ++id) {
    if (log[id].kind != machine::EventKind::kCopy) continue;
    auto& words = probes.emplace_back();
    machine::forEachLane(log[id].lanes, [&](unsigned lane) { words[lane] = log.sourceOf(id, lane); });
  }
  return probes;
}

}  // namespace handoff::test
