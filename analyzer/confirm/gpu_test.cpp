// SPDX-License-Identifier: Apache-2.0
// handoff-confirm with a real driver, where there is a GPU.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "analyzer/confirm/driver.h"
#include "analyzer/support/json.h"

namespace handoff::confirm {
namespace {

namespace fs = std::filesystem;

// The helper kernels, and the driver's functions as they are declared here.
TEST(GpuConfirm, RightKernelIsRight) {
  if (const Result<Driver> driver = Driver::open(); !driver) GTEST_SKIP() << driver.error().message;
  const fs::path folder = fs::temp_directory_path() / ("handoff_gpu_" + std::to_string(getpid()));
  fs::create_directories(folder);
  std::ofstream(folder / "k.ptx")
      << ".version 7.0\n.target sm_80\n.address_size 64\n"
         ".visible .entry k(.param .u64 a, .param .u32 n) {\n.reg .b64 %a;\n.reg .b32 %n;\n"
         "ld.param.u64 %a, [a];\nld.param.u32 %n, [n];\nst.global.u32 [%a], %n;\nret;\n}\n";
  std::ofstream(folder / "job.json") << R"({"name": "g", "version": 1, "kernel": "k",
      "launch": {"grid": [1,1,1], "block": [32,1,1], "cluster": [1,1,1], "dynamic_shared": 0},
      "parameters": [{"bytes": 8}, {"bytes": 4}],
      "arguments": [{"param": 0, "offset": 0, "name": "a", "kind": "buffer", "bytes": 4096},
                    {"param": 1, "offset": 0, "name": "n", "kind": "value", "bytes": "07000000"}],
      "variants": [{"name": "plain", "what": "as it is", "base": "k.ptx", "repaired": "k.ptx"},
                   {"name": "b", "what": "b", "base": "k.ptx", "repaired": "k.ptx", "host_buffers": true},
                   {"name": "c", "what": "c", "base": "k.ptx", "repaired": "k.ptx", "neighbour": true},
                   {"name": "d", "what": "d", "base": "k.ptx", "repaired": "k.ptx", "noise": true}]})";
  const int status = std::system(
      (HANDOFF_CONFIRM " " + folder.string() + " --json " + (folder / "r.json").string()).c_str());
  EXPECT_EQ(WEXITSTATUS(status), 0);
  const Result<json::Value> results = json::read((folder / "r.json").string());
  ASSERT_TRUE(results);
  EXPECT_EQ((*results)["not_reproduced"].integer(), 1) << json::print(*results);
  const json::Value job = (*results)["jobs"].array().at(0);
  ASSERT_EQ(job["variants"].array().size(), 4u);
  for (const json::Value& variant : job["variants"].array())
    EXPECT_EQ(variant["repaired"]["launches"].integer(), 50) << variant["name"].text();
  fs::remove_all(folder);
}

}  // namespace
}  // namespace handoff::confirm
