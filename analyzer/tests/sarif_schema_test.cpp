// SPDX-License-Identifier: Apache-2.0
// SARIF logs against the official schema and the rules of its makers, GitHub's among them. Both come with the npm
// package @microsoft/sarif-multitool-linux, which `./dev test` installs below build/npm. Without it the tests are
// skipped, and say so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <llvm/Support/JSON.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "analyzer/tests/command.h"
#include "analyzer/tests/repository.h"

namespace handoff::tests {
namespace {

namespace fs = std::filesystem;
using testing::IsEmpty;
using testing::Not;

/// What the validator is known to say about a right log, with the reason why it stays.
const std::set<std::string> kAccepted = {
    "SARIF1004/originalUriBaseIds",  // placeholder
};

class SarifSchema : public testing::Test {
 protected:
  SarifSchema() : folder_(fs::temp_directory_path() / ("handoff_schema" + std::to_string(getpid()))) {
    fs::create_directories(folder_);
    validator_ = repositoryRoot() / "build/npm/node_modules/@microsoft/sarif-multitool-linux/Sarif.Multitool";
  }
  ~SarifSchema() override { fs::remove_all(folder_); }

  bool hasValidator() const { return access(validator_.c_str(), X_OK) == 0; }

  static CommandResult check(const std::string& arguments) {
    return runHandoff("check --format=sarif --cuda-path=none --frontend=clang --arch=sm_80 " + arguments,
                      repositoryRoot().string());
  }

  fs::path folder_, validator_;
};

}  // namespace
}  // namespace handoff::tests
