// SPDX-License-Identifier: Apache-2.0
// Which instructions ptxas selected: an asynchronous name in the source proves neither a copy engine nor an overlap.
#include <array>
#include <cstdio>
#include <memory>

#include "common/device_facts.h"

namespace handoff::kernels {
namespace {

/// Copies, their completion, and tensor-core instructions. A longer mnemonic comes before its prefix.
constexpr std::array<const char*, 15> kMnemonics = {
    "LDGSTS",  "LDGDEPBAR", "DEPBAR", "ARRIVES", "UBLKCP",    "UBLKRED", "UTMALDG", "UTMASTG",
    "UTMARED", "UTMACMDFLUSH", "SYNCS", "HGMMA",   "WARPGROUP", "HMMA",    "BAR"};

/// "        /*0120*/   @!P0 LDGSTS.E.BYPASS.128 [R3], …" -> "LDGSTS"; "" where it is none of the above.
std::string mnemonicOf(const std::string& line) {
  const std::size_t close = line.find("*/");
  if (close == std::string::npos) return "";
  std::size_t at = line.find_first_not_of(' ', close + 2);
  if (at != std::string::npos && line[at] == '@') {
    at = line.find(' ', at);
    at = at == std::string::npos ? at : line.find_first_not_of(' ', at);
  }
  if (at == std::string::npos) return "";
  const std::string word = line.substr(at, line.find_first_of(" .;", at) - at);
  for (const char* mnemonic : kMnemonics)
    if (word == mnemonic) return word;
  return "";
}

}  // namespace

std::map<std::string, InstructionCounts> countInstructions(const std::string& executable, int sm) {
  std::map<std::string, InstructionCounts> counts;
  const std::string target = "sm_" + std::to_string(sm);
  const std::string command = "cuobjdump -sass '" + executable + "' 2>/dev/null";
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  if (pipe == nullptr) return counts;

  std::string function, arch;
  std::array<char, 4096> buffer{};
  while (std::fgets(buffer.data(), buffer.size(), pipe.get()) != nullptr) {
    std::string line = buffer.data();
    while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.pop_back();
    if (const std::size_t at = line.find("arch = "); at != std::string::npos) arch = line.substr(at + 7);
    if (const std::size_t at = line.find("Function : "); at != std::string::npos) function = line.substr(at + 11);
    if (arch.rfind(target, 0) != 0 || function.empty()) continue;
    const std::string mnemonic = mnemonicOf(line);
    if (!mnemonic.empty()) ++counts[function][mnemonic];
  }
  return counts;
}

}  // namespace handoff::kernels
