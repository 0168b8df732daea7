// SPDX-License-Identifier: Apache-2.0
// The server with the real analysis behind it: texts that are not saved, headers, configurations, repairs,
// memory.
#include "analyzer/lsp/project_checker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "analyzer/lsp/caching_checker.h"
#include "analyzer/lsp/client_for_test.h"

namespace handoff::lsp {
namespace {

namespace fs = std::filesystem;
namespace json = llvm::json;
using test::Client;
using testing::HasSubstr;

constexpr const char* kHeader = R"(#pragma once
#include <cstdint>
#include <cuda_runtime.h>
__device__ __forceinline__ void copy16(void* dst, const void* src) {
  uint32_t to = static_cast<uint32_t>(__cvta_generic_to_shared(dst));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(src) : "memory");
}
__device__ __forceinline__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
)";

constexpr const char* kKernel = R"(#include "copy.cuh"
__global__ void exchange(const float4* in, float4* out) {
  __shared__ alignas(16) float4 rows[64];
  const int t = threadIdx.x;
  copy16(&rows[t], &in[t]);
  commit();
  __syncthreads();
  out[t] = rows[(t + 1) % 64];
}
int main() {
  exchange<<<1, 64>>>(nullptr, nullptr);
}
)";

std::string dump(const json::Value& value) { return llvm::formatv("{0:2}", value); }
std::string dump(json::Array value) { return dump(json::Value(std::move(value))); }

Result<project::Settings> settings(const config::Config& config) {
  project::Settings settings;
  settings.frontend.no_toolkit = true;
  for (const config::Launch& launch : config.launches)
    settings.explore.configured.push_back({launch.kernel, launch.launch, launch.pos});
  return settings;
}

class ProjectCheckerTest : public testing::Test {
 protected:
  ProjectCheckerTest() : client_(caching_, options()) {
    folder_ = fs::temp_directory_path() / ("handoff_lsp_" + std::to_string(getpid()));
    fs::create_directories(folder_);
    write("copy.cuh", kHeader);
    write("a.cu", kKernel);
    std::this_thread::sleep_for(
        std::chrono::milliseconds(30));  // so that they are older than the first check
    client_.initialize(json::Object{
        {"workspace", json::Object{{"workspaceEdit", json::Object{{"documentChanges", true}}}}}});
  }
  ~ProjectCheckerTest() override {
    client_.endStream();
    fs::remove_all(folder_);
  }

  static ServerOptions options() {
    return {.version = "1",
            .paths = report::Paths("/", {}),
            .rule_link = [](std::string_view) { return std::string(); },
            .rule_page = [](std::string_view) { return std::optional<std::string_view>(); }};
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  void write(const std::string& name, const std::string& text) {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  }
  static std::string replaced(std::string text, const std::string& from, const std::string& to) {
    return text.replace(text.find(from), from.size(), to);
  }
  json::Object actionsAt(int line) {
    const auto position = [line] { return json::Object{{"line", line}, {"character", 0}}; };
    return client_.request("textDocument/codeAction",
                           json::Object{{"textDocument", json::Object{{"uri", test::uriOf(path("a.cu"))}}},
                                        {"range", json::Object{{"start", position()}, {"end", position()}}},
                                        {"context", json::Object{{"diagnostics", json::Array()}}}});
  }

  fs::path folder_;
  ProjectChecker checker_{settings, report::Paths("/", {})};
  CachingChecker caching_{checker_};
  Client client_;
};

TEST_F(ProjectCheckerTest, RepairOfARealFindingMakesItGo) {
  client_.open(path("a.cu"), kKernel);
  const json::Array found = client_.diagnostics(path("a.cu"));
  ASSERT_EQ(found.size(), 1U) << dump(json::Array(found));
  EXPECT_THAT(dump(json::Array(found)), HasSubstr("barrier-only-handoff"));
  const json::Object reply = actionsAt(7);
  const json::Object* repair = nullptr;
  for (const json::Value& action : *reply.getArray("result"))
    if (action.getAsObject()->getBoolean("isPreferred").value_or(false)) repair = action.getAsObject();
  ASSERT_NE(repair, nullptr) << dump(*reply.get("result"));
  const json::Object& edits = *(*repair->getObject("edit")->getArray("documentChanges"))[0].getAsObject();
  json::Array changes;
  for (const json::Value& edit : *edits.getArray("edits"))
    changes.push_back(json::Object{{"range", *edit.getAsObject()->get("range")},
                                   {"text", *edit.getAsObject()->get("newText")}});
  client_.notify(
      "textDocument/didChange",
      json::Object{{"textDocument", json::Object{{"uri", test::uriOf(path("a.cu"))}, {"version", 2}}},
                   {"contentChanges", std::move(changes)}});
  client_.save(path("a.cu"));  // the disk still has the old text: what the editor holds counts
  EXPECT_TRUE(client_.diagnostics(path("a.cu")).empty());
  const json::Object lenses =
      client_.request("textDocument/codeLens",
                      json::Object{{"textDocument", json::Object{{"uri", test::uriOf(path("a.cu"))}}}});
  EXPECT_THAT(dump(*lenses.get("result")), HasSubstr("handoff: verified"));
}

TEST_F(ProjectCheckerTest, HoverSaysWhatTheCallBecame) {
  client_.open(path("a.cu"),
               replaced(kKernel, "__syncthreads();",
                        "asm volatile(\"cp.async.wait_group 0;\" ::: \"memory\"); __syncthreads();"));
  const std::string hover = dump(client_.request("textDocument/hover", test::at(path("a.cu"), 4, 4)));
  EXPECT_THAT(hover, HasSubstr("inline PTX became `cp.async.cg, 16 bytes`"));
  EXPECT_THAT(hover, HasSubstr("group 0: fills `rows[0]`, complete after `cp.async.wait_group 0` (line 7)"));
}

TEST_F(ProjectCheckerTest, HeaderThatIsNotSavedCounts) {
  client_.open(path("a.cu"), kKernel);
  EXPECT_EQ(client_.diagnostics(path("a.cu")).size(), 1U);
  const std::string waits = replaced(kHeader, "commit_group;", "commit_group; cp.async.wait_group 0;");
  client_.open(path("copy.cuh"), waits);
  client_.save(path("copy.cuh"));
  EXPECT_TRUE(client_.diagnostics(path("a.cu")).empty());
}

TEST_F(ProjectCheckerTest, NothingChangedIsAnsweredFromMemory) {
  client_.open(path("a.cu"), kKernel);
  client_.diagnostics(path("a.cu"));
  const auto start = std::chrono::steady_clock::now();
  client_.save(path("a.cu"));
  EXPECT_EQ(client_.diagnostics(path("a.cu")).size(), 1U);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(100));
}

TEST_F(ProjectCheckerTest, ErrorOfTheConfigurationIsShown) {
  write(".handoff.yaml", "launches:\n  - {kernal: x}\n");
  client_.open(path("a.cu"), kKernel);
  const std::string text = dump(client_.diagnostics(path("a.cu")));
  EXPECT_THAT(text, HasSubstr("not checked"));
  EXPECT_THAT(text, HasSubstr(".handoff.yaml"));
}

TEST_F(ProjectCheckerTest, ConfigurationThatAppearsIsRead) {
  client_.open(path("a.cu"), kKernel);
  EXPECT_EQ(client_.diagnostics(path("a.cu")).size(), 1U);
  write(".handoff.yaml", "nonsense: 1\n");
  client_.notify("workspace/didChangeWatchedFiles",
                 json::Object{{"changes", json::Array{json::Object{
                                              {"uri", test::uriOf(path(".handoff.yaml"))}, {"type", 1}}}}});
  EXPECT_THAT(dump(client_.diagnostics(path("a.cu"))), HasSubstr("nonsense"));
}

TEST_F(ProjectCheckerTest, FlagsComeFromTheBuildFolder) {
  write("build/compile_commands.json",
        R"([{"directory": ")" + folder_.string() +
            R"(", "file": "a.cu", "command": "nvcc -DREPAIRED -arch=sm_80 -c a.cu"}])");
  client_.open(path("a.cu"), replaced(kKernel, "  __syncthreads();",
                                      "#ifdef REPAIRED\n  asm volatile(\"cp.async.wait_group 0;\" ::: "
                                      "\"memory\");\n#endif\n  __syncthreads();"));
  EXPECT_TRUE(client_.diagnostics(path("a.cu")).empty());
}

TEST_F(ProjectCheckerTest, SyntaxErrorIsShownWhereItIs) {
  client_.open(path("a.cu"), replaced(kKernel, "commit();", "commit()"));
  const json::Array found = client_.diagnostics(path("a.cu"));
  ASSERT_FALSE(found.empty());
  EXPECT_THAT(dump(json::Array(found)), HasSubstr("not checked"));
  EXPECT_THAT(dump(json::Array(found)), HasSubstr("\"line\": 5"));
}

}  // namespace
}  // namespace handoff::lsp
