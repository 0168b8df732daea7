// SPDX-License-Identifier: Apache-2.0
// Every repair has been run on the PTX; what the changed source compiles to is looked at once more, because several
// repairs, and several kernels that share a line, have not been tried together.
#include "analyzer/cli/fix.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "analyzer/report/apply_repairs.h"

namespace handoff::cli {
namespace {

bool writeFile(const std::string& file, const std::string& text) {
  std::ofstream stream(file, std::ios::binary | std::ios::trunc);
  stream << text;
  stream.close();
  return static_cast<bool>(stream);
}

std::string plural(unsigned count, const char* noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

}  // namespace

std::size_t weightOf(const report::FileReport& file) {
  constexpr std::size_t kBroken = 1'000'000;
  if (file.error) return kBroken;
  std::size_t weight = 0;
  for (const diagnose::KernelReport& kernel : file.kernels) {
    weight += kernel.findings.size();
    if (kernel.verdict == diagnose::Verdict::kError) weight += kBroken;
  }
  return weight;
}

Result<std::string> fixFile(const report::FileReport& before, std::size_t weight, const std::function<report::FileReport()>& check) {
  std::vector<diagnose::Finding> findings;
  for (const diagnose::KernelReport& kernel : before.kernels) {
    findings.insert(findings.end(), kernel.findings.begin(), kernel.findings.end());
  }
  std::ifstream stream(before.path, std::ios::binary);
  if (!stream) return std::string();
  const std::string original{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  const Result<report::Repaired> repaired = report::applyRepairs(original, before.path, findings);
  if (!repaired) return repaired.error();
  if (repaired->applied == 0) return std::string();
  if (access(before.path.c_str(), W_OK) != 0 || !writeFile(before.path, repaired->text)) {
    return Error{"cannot write the repaired file", {before.path, 0, 0}};
  }
  if (weightOf(check()) >= weight) {
    if (!writeFile(before.path, original)) return Error{"cannot take back repairs that did not hold", {before.path, 0, 0}};
    return Error{"the repairs do not hold together; the file is as it was", {before.path, 0, 0}};
  }
  std::string done = before.path + ": " + plural(repaired->applied, "repair") + " applied";
  if (repaired->left != 0) done += ", " + plural(repaired->left, "repair") + " for the same lines left: check again";
  return done;
}

}  // namespace handoff::cli
