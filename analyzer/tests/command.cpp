// SPDX-License-Identifier: Apache-2.0
// Running the handoff binary in tests.
#include "analyzer/tests/command.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace handoff::tests {
namespace {

std::string takeFile(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::stringstream text;
  text << stream.rdbuf();
  stream.close();
  std::filesystem::remove(file);
  return text.str();
}

}  // namespace

CommandResult runHandoff(const std::string& arguments, const std::string& folder, const std::string& prefix) {
  const std::string base =
      (std::filesystem::temp_directory_path() / ("handoff_cli_" + std::to_string(getpid()))).string();
  const std::string command = "cd '" + folder + "' && XDG_CACHE_HOME=/dev/null " + prefix +
                              " '" HANDOFF_BINARY "' " + arguments + " >" + base + ".out 2>" + base +
                              ".err </dev/null";
  const int status = std::system(command.c_str());  // NOLINT(concurrency-mt-unsafe)
  CommandResult result;
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  result.out = takeFile(base + ".out");
  result.err = takeFile(base + ".err");
  return result;
}

}  // namespace handoff::tests
