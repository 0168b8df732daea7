// SPDX-License-Identifier: Apache-2.0
// How many warp instructions the machine runs a second, and how its time grows with threads and iterations.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <iostream>
#include <string>

#include "analyzer/machine/address.h"
#include "analyzer/machine/machine.h"
#include "analyzer/ptx/parser.h"

namespace handoff::machine {
namespace {

constexpr const char* kHead = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 k_param_0, .param .u32 k_param_1)
{
.reg .pred %p<4>;
.reg .b32 %r<64>;
.reg .b64 %d<16>;
.shared .align 128 .b8 ring[65536];
ld.param.u64 %d1, [k_param_0];
ld.param.u32 %r1, [k_param_1];
mov.u32 %r2, %tid.x;
shl.b32 %r3, %r2, 4;
mov.u32 %r4, ring;
mul.wide.u32 %d2, %r2, 16;
add.s64 %d3, %d1, %d2;
mov.u32 %r5, 0;
)";

/// Four slots of a row of 16 bytes a thread; three copies ahead, one barrier an iteration, a neighbour's row
/// is read.
const std::string kRing = R"(
cp.async.cg.shared.global [%r10], [%d3], 16;
cp.async.commit_group;
cp.async.commit_group;
cp.async.commit_group;
LOOP:
cp.async.wait_group 2;
bar.sync 0;
and.b32 %r6, %r5, 3;
mul.lo.u32 %r7, %r6, 16384;
add.u32 %r8, %r7, %r4;
xor.b32 %r9, %r3, 16;
add.u32 %r10, %r8, %r9;
ld.shared.v4.u32 {%r20, %r21, %r22, %r23}, [%r10];
add.u32 %r11, %r5, 3;
and.b32 %r12, %r11, 3;
mul.lo.u32 %r13, %r12, 16384;
add.u32 %r14, %r13, %r4;
add.u32 %r15, %r14, %r3;
add.s64 %d3, %d3, 16384;
cp.async.cg.shared.global [%r15], [%d3], 16;
cp.async.commit_group;
add.u32 %r5, %r5, 1;
setp.lt.u32 %p1, %r5, %r1;
@%p1 bra LOOP;
cp.async.wait_all;
)";

/// Sixteen integer operations an iteration that all reach the address of one access at the end.
const std::string kAlu = [] {
  std::string text = "mov.u32 %r6, %r2;\nLOOP:\n";
  for (int i = 0; i < 4; ++i)
    text +=
        "mad.lo.u32 %r6, %r6, 5, %r5;\nxor.b32 %r6, %r6, %r2;\nshr.u32 %r7, %r6, 3;\nadd.u32 %r6, %r6, "
        "%r7;\n";
  return text +
         "add.u32 %r5, %r5, 1;\nsetp.lt.u32 %p1, %r5, %r1;\n@%p1 bra LOOP;\nand.b32 %r6, %r6, 65520;\n"
         "add.u32 %r6, %r6, %r4;\nld.shared.u32 %r8, [%r6];\n";
}();

/// Two slots, filled by cp.async and read by ldmatrix for eight tensor-core operations an iteration.
const std::string kGemm = [] {
  std::string text =
      "add.u32 %r16, %r4, %r3;\ncp.async.cg.shared.global [%r16], [%d3], 16;\ncp.async.commit_group;\nLOOP:\n"
      "cp.async.wait_group 0;\nbar.sync 0;\nand.b32 %r6, %r5, 1;\nmul.lo.u32 %r7, %r6, 16384;\nadd.u32 %r8, "
      "%r7, %r4;\n"
      "xor.b32 %r9, %r7, 16384;\nadd.u32 %r10, %r9, %r16;\nadd.s64 %d3, %d3, 16384;\n"
      "cp.async.cg.shared.global [%r10], [%d3], 16;\ncp.async.commit_group;\nadd.u32 %r11, %r8, %r3;\n";
  for (int i = 0; i < 8; ++i) {
    text +=
        "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r20, %r21, %r22, %r23}, [%r11];\n"
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r30, %r31, %r32, %r33}, {%r20, %r21, %r22, "
        "%r23}, {%r20, %r21}, "
        "{%r30, %r31, %r32, %r33};\n";
  }
  return text + "add.u32 %r5, %r5, 1;\nsetp.lt.u32 %p1, %r5, %r1;\n@%p1 bra LOOP;\ncp.async.wait_all;\n";
}();

class Kernel {
 public:
  explicit Kernel(const std::string& body)
      : module_(parsed(kHead + body + "ret;\n}\n")), program_(built(module_)) {}

  Launch launch(std::uint32_t threads, std::uint32_t iterations) const {
    Launch launch;
    launch.block = {threads, 1, 1};
    launch.param_bytes.resize(program_.param_bytes);
    launch.param_known.assign(program_.param_bytes, true);
    write(launch, 0, bufferBase(0), 8);
    write(launch, program_.param_offset[1], iterations, 4);
    return launch;
  }
  const Program& program() const { return program_; }

 private:
  template <typename T>
  static T orDie(Result<T> result) {
    if (!result) {
      std::cerr << toString(result.error()) << "\n";
      std::exit(2);
    }
    return std::move(*result);
  }
  static ptx::Module parsed(const std::string& text) { return orDie(ptx::parse(text, "bench.ptx")); }
  static Program built(const ptx::Module& module) {
    return orDie(buildProgram(module, module.functions.front()));
  }
  static void write(Launch& launch, std::uint32_t at, std::uint64_t word, unsigned bytes) {
    for (unsigned i = 0; i < bytes; ++i)
      launch.param_bytes[at + i] = static_cast<std::uint8_t>(word >> (8 * i));
  }

  ptx::Module module_;
  Program program_;
};

void runKernel(benchmark::State& state, const Kernel& kernel) {
  const Launch launch =
      kernel.launch(static_cast<std::uint32_t>(state.range(0)), static_cast<std::uint32_t>(state.range(1)));
  std::uint64_t steps = 0;
  for (auto _ : state) {
    const Outcome outcome = run(kernel.program(), launch);
    if (!outcome.limits.empty() || !outcome.stuck.empty()) {
      state.SkipWithError(outcome.limits.empty() ? "the kernel hangs" : outcome.limits[0].reason.c_str());
      break;
    }
    steps += outcome.steps;
    benchmark::DoNotOptimize(steps);
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(steps));  // warp instructions
}

void BM_CopyRing(benchmark::State& state) {
  static const Kernel kKernel("add.u32 %r10, %r4, %r3;\n" + kRing);
  runKernel(state, kKernel);
}
void BM_Alu(benchmark::State& state) {
  static const Kernel kKernel(kAlu);
  runKernel(state, kKernel);
}
void BM_GemmLdmatrix(benchmark::State& state) {
  static const Kernel kKernel(kGemm);
  runKernel(state, kKernel);
}

// Throughput.
BENCHMARK(BM_CopyRing)->Args({128, 1024})->Args({1024, 1024})->Unit(benchmark::kMillisecond);
BENCHMARK(BM_Alu)->Args({128, 4096})->Unit(benchmark::kMillisecond);
BENCHMARK(BM_GemmLdmatrix)->Args({128, 1024})->Args({256, 1024})->Unit(benchmark::kMillisecond);
// Growth: threads first, then iterations.
BENCHMARK(BM_CopyRing)->ArgsProduct({{32, 64, 128, 256, 512, 1024}, {64}})->Unit(benchmark::kMillisecond);
BENCHMARK(BM_CopyRing)
    ->ArgsProduct({{256}, benchmark::CreateRange(1, 4096, 8)})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace handoff::machine

BENCHMARK_MAIN();
