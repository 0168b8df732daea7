// SPDX-License-Identifier: Apache-2.0
// Files through the front end and the analysis, with a cache between the runs. No toolkit is needed.
#include "analyzer/project/memory.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "analyzer/frontend/load_for_test.h"
#include "analyzer/project/report_fields.h"

namespace handoff::project {
namespace {

namespace fs = std::filesystem;
using testing::SizeIs;

constexpr const char* kHeader = R"(#pragma once
#include <cuda_runtime.h>
__device__ inline void fetch(float4* slot, const float4* from) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(slot));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
  asm volatile("cp.async.commit_group;" ::: "memory");
}
)";
constexpr const char* kKernels = R"(#include "fetch.cuh"
__global__ void good(const float4* in, float4* out) {
  __shared__ float4 row[64];
  fetch(&row[threadIdx.x], &in[threadIdx.x]);
  asm volatile("cp.async.wait_group 0;" ::: "memory");
  out[threadIdx.x] = row[threadIdx.x];
}
__global__ void bad(const float4* in, float4* out) {
  __shared__ float4 row[64];
  fetch(&row[threadIdx.x], &in[threadIdx.x]);
  out[threadIdx.x] = row[threadIdx.x];
}
void run(const float4* in, float4* out) {
  good<<<1, 64>>>(in, out);
  bad<<<1, 64>>>(in, out);
}
)";

class MemoryTest : public testing::Test {
 protected:
  MemoryTest() {
    workspace_.write("fetch.cuh", kHeader);
    settings_.frontend = frontend::withoutToolkit();
    settings_.frontend.has_fixed_flags = true;
  }
  CheckedFile check() {
    Memory memory{Cache(folder_)};  // as another process would
    return checkFile(file_, settings_, &memory);
  }
  std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  static std::string bytesOf(CheckedFile file) {
    Writer writer;
    all(writer, file);
    return writer.take();
  }

  frontend::Workspace workspace_;
  const std::string file_ = workspace_.write("k.cu", kKernels), folder_ = workspace_.path("cache");
  Settings settings_;
};

TEST_F(MemoryTest, SecondRunSaysTheSameWithoutWork) {
  const CheckedFile first = check();
  ASSERT_FALSE(first.report.error) << first.report.error->message;
  ASSERT_THAT(first.report.kernels, SizeIs(2));
  EXPECT_EQ(first.report.kernels[0].verdict, diagnose::Verdict::kVerified);
  EXPECT_EQ(first.report.kernels[1].verdict, diagnose::Verdict::kViolation);
  EXPECT_FALSE(first.is_recalled);
  EXPECT_EQ(entries(), 3u) << "the file and its kernels";
  const CheckedFile second = check();
  EXPECT_TRUE(second.is_recalled);
  EXPECT_EQ(bytesOf(second), bytesOf(first));
}

TEST_F(MemoryTest, WhateverDecidesOnTheReportIsPartOfTheQuestion) {
  check();
  const Settings before = settings_;
  const auto is_recalled = [&] {
    const bool result = check().is_recalled;
    settings_ = before;
    return result;
  };
  settings_.frontend.extra_args = {"-DX"};
  EXPECT_FALSE(is_recalled());
  settings_.frontend.arch = "sm_80";
  EXPECT_FALSE(is_recalled());
  settings_.explore.launches = {"block=32"};
  EXPECT_FALSE(is_recalled());
  settings_.explore.configured = {{"*", "block=32", {}}};
  EXPECT_FALSE(is_recalled());
  settings_.explore.max_paths = 3;
  EXPECT_FALSE(is_recalled());
  settings_.explore.kernel_filter = "good";
  EXPECT_FALSE(is_recalled());
  settings_.checks = "*";  // advice takes runs of its own
  EXPECT_FALSE(is_recalled());
  settings_.explore.makes_jobs = true;
  EXPECT_FALSE(is_recalled());
  settings_.checks = "-*,missing-wait,-perf-*";  // is for the filter
  EXPECT_TRUE(is_recalled());
  settings_.explore.max_seconds = 7;  // whoever was in time is in time
  EXPECT_TRUE(is_recalled());
}

TEST_F(MemoryTest, ChangedHeaderIsReadAgain) {
  check();
  workspace_.write("fetch.cuh", std::string("\n") + kHeader);
  EXPECT_FALSE(check().is_recalled);
  EXPECT_TRUE(check().is_recalled);
}

TEST_F(MemoryTest, HeaderThatIsFoundFirstNowIsNoticed) {
  settings_.frontend.extra_args = {"-I" + workspace_.path("first"), "-I" + workspace_.path("second")};
  workspace_.write("second/late.cuh", "");
  workspace_.write("k.cu", std::string("#include <late.cuh>\n") + kKernels);
  ASSERT_FALSE(check().report.error);
  EXPECT_TRUE(check().is_recalled);
  workspace_.write("first/late.cuh", "");
  EXPECT_FALSE(check().is_recalled);
}

TEST_F(MemoryTest, HeaderThatIsOnlyAskedForIsNoticed) {
  workspace_.write("k.cu", std::string("#if __has_include(\"maybe.cuh\")\n#define MAYBE\n#endif\n") + kKernels);
  check();
  EXPECT_TRUE(check().is_recalled);
  workspace_.write("maybe.cuh", "");
  EXPECT_FALSE(check().is_recalled) << "it has come";
  EXPECT_TRUE(check().is_recalled);
  fs::remove(workspace_.path("maybe.cuh"));
  EXPECT_FALSE(check().is_recalled) << "it has gone";
}

TEST_F(MemoryTest, KernelsOutliveChangesElsewhereInTheFile) {
  const CheckedFile first = check();
  workspace_.write("k.cu", std::string(kKernels) + "// a word at the end\n");
  const CheckedFile second = check();
  EXPECT_FALSE(second.is_recalled);
  // The kernel without a finding is as it was; the other one has a repair, which goes by the text.
  EXPECT_EQ(second.report.kernels[0].seconds, first.report.kernels[0].seconds);
  EXPECT_NE(second.report.kernels[1].seconds, first.report.kernels[1].seconds);
  workspace_.write("k.cu", std::string("\n") + kKernels);  // every line is another one
  const CheckedFile third = check();
  EXPECT_NE(third.report.kernels[0].seconds, first.report.kernels[0].seconds);
  EXPECT_EQ(third.report.kernels[0].pos.line, first.report.kernels[0].pos.line + 1);
}

TEST_F(MemoryTest, WhatTimeCutShortIsNotKept) {
  settings_.explore.max_seconds = 0;
  const CheckedFile first = check();
  ASSERT_THAT(first.report.kernels, SizeIs(2));
  EXPECT_TRUE(first.report.kernels[0].is_cut_short);
  settings_.explore.max_seconds = 60;
  const CheckedFile second = check();
  EXPECT_FALSE(second.is_recalled);
  EXPECT_EQ(second.report.kernels[0].verdict, diagnose::Verdict::kVerified);
}

TEST_F(MemoryTest, WhatTheUserInterruptsIsNotKept) {
  CancelToken cancel;
  cancel.cancel();
  settings_.frontend.cancel = settings_.explore.cancel = &cancel;
  const CheckedFile interrupted = check();
  EXPECT_TRUE(interrupted.is_cancelled);
  EXPECT_EQ(interrupted.report.error->message, frontend::kCancelled);
  settings_.frontend.cancel = settings_.explore.cancel = nullptr;
  const CheckedFile second = check();
  EXPECT_FALSE(second.is_recalled);
  EXPECT_FALSE(second.is_cancelled);
}

TEST_F(MemoryTest, FailuresAreNotKept) {
  workspace_.write("k.cu", "__global__ void k() { nonsense; }");
  EXPECT_TRUE(check().report.error.has_value());
  EXPECT_EQ(entries(), 0u);
}

TEST_F(MemoryTest, UnsavedTextsCountAndAreNotTakenForTheFile) {
  check();
  auto overlay = std::make_shared<frontend::Overlay>();
  (*overlay)[file_] = std::string(kKernels) + "__global__ void third(int* p) { *p = 1; }\n";
  settings_.frontend.overlay = overlay;
  EXPECT_THAT(check().report.kernels, SizeIs(3));
  settings_.frontend.overlay = nullptr;
  const CheckedFile saved = check();
  EXPECT_TRUE(saved.is_recalled);
  EXPECT_THAT(saved.report.kernels, SizeIs(2));
}

TEST_F(MemoryTest, FilesOfAUnitComeFromItsManifestOrFromAScan) {
  Memory memory{Cache(folder_)};
  EXPECT_EQ(memory.filesOf(file_, settings_), std::nullopt);
  const auto scanned = frontend::scanFiles(file_, settings_.frontend);
  ASSERT_TRUE(scanned);
  EXPECT_EQ(scanned->count(workspace_.path("fetch.cuh")), 1u);
  checkFile(file_, settings_, &memory);
  const auto known = memory.filesOf(file_, settings_);
  ASSERT_TRUE(known);
  EXPECT_EQ(known->count(workspace_.path("fetch.cuh")), 1u);
  EXPECT_EQ(known->count(file_), 1u);
  workspace_.write("broken.cu", "#include \"none.cuh\"\n");
  EXPECT_EQ(frontend::scanFiles(workspace_.path("broken.cu"), settings_.frontend), std::nullopt);
}

TEST_F(MemoryTest, DamagedEntriesAreAnsweredByWork) {
  const CheckedFile first = check();
  for (const auto& item : fs::directory_iterator(folder_))
    fs::resize_file(item.path(), fs::file_size(item.path()) / 2);
  const CheckedFile second = check();
  EXPECT_FALSE(second.is_recalled);
  EXPECT_EQ(second.report.kernels[1].findings.size(), first.report.kernels[1].findings.size());
  EXPECT_TRUE(check().is_recalled);
}

}  // namespace
}  // namespace handoff::project
