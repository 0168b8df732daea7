// SPDX-License-Identifier: Apache-2.0
// Inputs made to hurt: each ends by itself, within memory, with an exit code of the documents and a line that says
// what was not done. They are made here, since as files they would be tens of megabytes.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "analyzer/tests/command.h"

namespace handoff::tests {
namespace {

namespace fs = std::filesystem;

constexpr const char* kHeader = ".version 8.8\n.target sm_90a\n.address_size 64\n";
/// A copy of every thread to bytes of its own, and its wait.
constexpr const char* kCopies =
    "mov.u32 %r1, %tid.x;\nshl.b32 %r1, %r1, 2;\nmov.u32 %r2, tile;\nadd.u32 %r1, %r1, %r2;\n"
    "cp.async.ca.shared.global [%r1], [%d1], 4;\ncp.async.commit_group;\ncp.async.wait_group 0;\n";

std::string repeated(const std::string& text, std::size_t count) {
  std::string all;
  all.reserve(text.size() * count);
  for (std::size_t i = 0; i < count; ++i) all += text;
  return all;
}

std::string kernel(const std::string& body, const std::string& before = "", const std::string& parameters = "") {
  return kHeader + before + ".visible .entry k(" + parameters +
         ")\n.maxntid 32, 1, 1\n{\n.reg .pred %p<8>;\n.reg .b32 %r<64>;\n.reg .b64 %d<16>;\n"
         ".shared .align 16 .b8 tile[4096];\n" + body + "\nret;\n}\n";
}

std::string loop(const std::string& trips, const std::string& body, const std::string& name = "L") {
  return "mov.u32 %count" + name + ", 0;\n" + name + ":\n" + body + "add.u32 %count" + name + ", %count" + name +
         ", 1;\nsetp.lt.u32 %p1, %count" + name + ", " + trips + ";\n@%p1 bra " + name + ";\n";
}

/// f0, and functions that call the one before `calls` times; and the kernel's call of the last.
std::string callTower(unsigned height, unsigned calls) {
  std::string functions;
  for (unsigned i = 0; i < height; ++i)
    functions += ".func f" + std::to_string(i) + "()\n{\n" +
                 (i == 0 ? "" : repeated("call f" + std::to_string(i - 1) + ";\n", calls)) + "ret;\n}\n";
  return kernel("call f" + std::to_string(height - 1) + ";\n" + kCopies, functions);
}

std::string noise(std::size_t bytes) {
  std::string text(bytes, '\0');
  std::uint32_t state = 1;
  for (char& byte : text) {
    state = state * 1'664'525 + 1'013'904'223;
    byte = static_cast<char>(state >> 24U);
  }
  return text;
}

struct Hostile {
  const char* name;
  const char* file;           ///< its name, for the suffix
  std::string (*text)();
  int exit_code;
  const char* says;           ///< in the report or in the messages
};

class HostileInput : public ::testing::TestWithParam<Hostile> {
 protected:
  HostileInput() {
    folder_ = fs::temp_directory_path() / ("handoff_hostile_" + std::to_string(getpid()));
    fs::create_directories(folder_);
  }
  ~HostileInput() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }

  /// Processor time is limited, not time: other tests run beside this one.
  CommandResult check(const std::string& arguments) {
    return runHandoff("check --no-cache --time-limit=3 --frontend=clang --cuda-path=none " + arguments, folder_.string(),
                      "sh -c 'ulimit -c 0; ulimit -t 60; exec \"$@\"' sh");
  }

  static void expectBounds(const CommandResult& result) {
    rusage usage{};
    getrusage(RUSAGE_CHILDREN, &usage);
    EXPECT_LT(usage.ru_maxrss, 2L << 20) << "KiB";
    EXPECT_GE(result.exit_code, 0) << result.err;
    EXPECT_LE(result.exit_code, 2) << result.out << result.err;
    EXPECT_NE(result.out + result.err, "");
    for (const char c : result.out + result.err)
      EXPECT_TRUE(static_cast<unsigned char>(c) >= ' ' || c == '\n' || c == '\t') << "raw byte " << static_cast<int>(c);
  }

  fs::path folder_;
};

TEST_P(HostileInput, EndsAndSaysSo) {
  const Hostile& hostile = GetParam();
  write(hostile.file, hostile.text());
  const CommandResult result = check(hostile.file);
  expectBounds(result);
  EXPECT_EQ(result.exit_code, hostile.exit_code) << result.out.substr(0, 2000) << result.err.substr(0, 2000);
  EXPECT_NE((result.out + result.err).find(hostile.says), std::string::npos)
      << result.out.substr(0, 2000) << result.err.substr(0, 2000);
}

constexpr const char* kCounters = ".reg .b32 %countL, %countM;\n";

const Hostile kHostile[] = {
    {"EndlessLoop", "a.ptx", [] { return kernel("L:\nbra L;"); }, 0, "the run was stopped after"},
    {"LoopOf2To31Trips", "a.ptx", [] { return kernel(kCounters + loop("0x80000000", kCopies)); }, 0, " 0 violations"},
    {"LoopsOf2To62Trips", "a.ptx",
     [] { return kernel(kCounters + loop("0x7fffffff", loop("0x7fffffff", kCopies, "M"))); }, 0, " 0 violations"},
    {"FunctionOf10Megabytes", "a.ptx", [] { return kernel(kCopies + repeated("add.u32 %r1, %r2, %r3;\n", 450'000)); }, 0,
     " 0 violations"},
    {"Blocks", "a.ptx", [] { return kernel(repeated("{\n", 10'000) + repeated("}\n", 10'000)); }, 2, "nest too deeply"},
    {"Parentheses", "a.ptx",
     [] {
       return kernel("", ".shared .align 4 .b8 x[" + repeated("(", 10'000) + "4" + repeated(")", 10'000) + "];\n");
     },
     2, "nests too deeply"},
    {"Initialiser", "a.ptx",
     [] {
       return kernel("", ".global .align 4 .b32 x[4] = " + repeated("{", 10'000) + "4" + repeated("}", 10'000) + ";\n");
     },
     0, " 0 violations"},
    {"Recursion", "a.ptx", [] { return kernel(std::string("call f;\n") + kCopies, ".func f()\n{\ncall f;\nret;\n}\n"); }, 0,
     "call"},
    {"MutualRecursion", "a.ptx",
     [] {
       return kernel(std::string("call f;\n") + kCopies,
                     ".func g();\n.func f()\n{\ncall g;\nret;\n}\n.func g()\n{\ncall f;\nret;\n}\n");
     },
     0, "call"},
    {"CallsThatDouble", "a.ptx", [] { return callTower(40, 2); }, 0, "call"},
    {"TowerOfCalls", "a.ptx", [] { return callTower(5'000, 1); }, 0, "call"},
    {"SharedArray", "a.ptx", [] { return kernel("mov.u32 %r1, big;\n", ".shared .align 16 .b8 big[1099511627776];\n"); }, 2,
     "bytes of shared memory, more than any GPU has"},
    {"ConstantArray", "a.ptx", [] { return kernel("ld.const.u32 %r1, [big];\n", ".const .align 4 .b8 big[1099511627776];\n"); },
     2, "bytes of constant memory, more than any GPU has"},
    {"LocalArray", "a.ptx", [] { return kernel(".local .align 4 .b8 big[1099511627776];\nst.local.u32 [big], %r1;\n"); }, 2,
     "bytes of local memory, more than any GPU has"},
    {"Parameters", "a.ptx", [] { return kernel("ld.param.u64 %d1, [x];\n", "", ".param .align 8 .b8 x[4294967304]"); }, 2,
     "bytes of parameter memory, more than any GPU has"},
    {"ArrayOf2To96", "a.ptx", [] { return kernel("", ".global .b8 x[4294967296][4294967296][4294967296];\n"); }, 2, "too large"},
    {"Registers", "a.ptx",
     [] {
       std::string body = ".reg .b32 %q<1048576>;\n";
       for (unsigned i = 0; i < 1'048'576; i += 8) body += "add.u32 %q" + std::to_string(i) + ", %r1, 1;\n";
       return kernel(body + kCopies);
     },
     0, " 0 violations"},
    {"RegistersThatDecide", "a.ptx",
     [] {
       std::string body = ".reg .b32 %q<60000>;\nmov.u32 %q0, %tid.x;\n";
       for (unsigned i = 1; i < 60'000; ++i)
         body += "add.u32 %q" + std::to_string(i) + ", %q" + std::to_string(i - 1) + ", 1;\n";
       return kernel(body + "setp.eq.u32 %p1, %q59999, 0;\n@%p1 bra L;\n" + kCopies + "L:");
     },
     0, " 0 violations"},
    {"VectorOperand", "a.ptx", [] { return kernel("st.shared.u32 [tile], {" + repeated("%r1, ", 65'535) + "%r1};\n"); }, 0,
     "reaches shared memory outside"},
    {"LongLine", "a.ptx", [] { return kernel("//" + repeated("x", 20'000'000) + "\n" + kCopies); }, 0, " 0 violations"},
    {"LongName", "a.ptx", [] { return kernel("bra " + repeated("x", 5'000'000) + ";\n"); }, 2, "a.ptx"},
    {"Noise", "a.ptx", [] { return noise(1'000'000); }, 2, "the input is binary, not PTX text"},
    {"NoiseInAKernel", "a.ptx", [] { return kernel(noise(3'000)); }, 2, "the input is binary, not PTX text"},
    {"Zeros", "a.ptx", [] { return std::string(1'000'000, '\0'); }, 2, "the input is binary, not PTX text"},
    {"EmptyPtx", "a.ptx", [] { return std::string(); }, 2, "not PTX"},
    {"EmptyCuda", "a.cu", [] { return std::string(); }, 0, "no kernel was found, so nothing was checked"},
    {"NoiseAsCuda", "a.cu", [] { return noise(4'000); }, 2, "a.cu:1:"},
    {"TemplateDepth", "a.cu",
     [] {
       return std::string("template <int N> struct B { static const int v = B<N - 1>::v; };\n"
                          "__global__ void k(int* p) { *p = B<1000000>::v; }\n");
     },
     2, "maximum depth"},
    {"TemplateBomb", "a.cu",
     [] {
       return std::string("template <int N, int M> struct B { static const int v = B<N - 1, 2 * M>::v + B<N - 1, 2 * M + 1>::v; };\n"
                          "template <int M> struct B<0, M> { static const int v = M; };\n"
                          "__global__ void k(int* p) { *p = B<24, 0>::v; }\n");
     },
     2, "template instantiations"},
    {"MacroBomb", "a.cu",
     [] {
       std::string text = "#define A0 x x x x x x x x x x\n";
       for (unsigned i = 1; i < 10; ++i)
         text += "#define A" + std::to_string(i) + repeated(" A" + std::to_string(i - 1), 10) + "\n";
       return text + "__global__ void k(int* p) { int x; A9; }\n";
     },
     2, "takes more than 100000 errors to compile"},
    {"ConstantExpression", "a.cu",
     [] {
       return std::string("constexpr int f(unsigned long long n) { int s = 0; while (n) s += n--; return s; }\n"
                          "__global__ void k(int* p) { constexpr int v = f(1ull << 60); *p = v; }\n");
     },
     2, "constant expression"},
    {"BracketsInCuda", "a.cu",
     [] { return "__global__ void k(int* p) { *p = " + repeated("(", 10'000) + "1" + repeated(")", 10'000) + "; }\n"; }, 2,
     "bracket nesting level"},
    {"IncludesItself", "a.cu", [] { return std::string("#include \"a.cu\"\n__global__ void k(int* p) { *p = 1; }\n"); }, 2,
     "a.cu"},
    {"IncludesWithoutEnd", "a.cu", [] { return std::string("#include \"/dev/zero\"\n__global__ void k(int* p) { *p = 1; }\n"); },
     0, "cannot open file '/dev/zero'"},  // noted, as a header that is not there
};

INSTANTIATE_TEST_SUITE_P(All, HostileInput, ::testing::ValuesIn(kHostile),
                         [](const auto& info) { return std::string(info.param.name); });

class HostilePath : public HostileInput {};

TEST_F(HostilePath, FolderWithTheNameOfAFile) {
  fs::create_directories(folder_ / "x.cu");
  const CommandResult result = check("x.cu");
  expectBounds(result);
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("no .cu or .ptx file lies in this folder"), std::string::npos) << result.err;
}

TEST_F(HostilePath, PipesAndDevicesAreNotRead) {
  ASSERT_EQ(mkfifo((folder_ / "a.ptx").c_str(), 0600), 0);
  ASSERT_EQ(mkfifo((folder_ / "b.cu").c_str(), 0600), 0);
  ASSERT_EQ(mkfifo((folder_ / "c.h").c_str(), 0600), 0);
  write("c.cu", "#include \"c.h\"\n__global__ void k(int* p) { *p = 1; }\n");
  for (const char* input : {"a.ptx", "b.cu", "/dev/zero"}) {
    SCOPED_TRACE(input);
    const CommandResult result = check(input);
    expectBounds(result);
    EXPECT_EQ(result.exit_code, 2) << result.out << result.err;
  }
  const CommandResult includes = check("c.cu");
  expectBounds(includes);
  EXPECT_EQ(includes.exit_code, 0) << includes.out;
  EXPECT_NE(includes.out.find("cannot open file"), std::string::npos) << includes.out;
}

TEST_F(HostilePath, FileThatIsRemovedWhileOthersAreChecked) {
  write("a.ptx", kernel(std::string(".reg .b32 %countL;\n") + loop("0x80000000", kCopies)));
  write("b.ptx", kernel(kCopies));
  const CommandResult result = runHandoff(
      "check --no-cache -j1 --time-limit=3 a.ptx b.ptx", folder_.string(), "sh -c '(sleep 0.05; rm b.ptx) & exec \"$@\"' sh");
  expectBounds(result);
  EXPECT_TRUE(result.exit_code == 2 || result.out.find("2 kernels") != std::string::npos) << result.out;
}

}  // namespace
}  // namespace handoff::tests
