// SPDX-License-Identifier: Apache-2.0
// Grouping findings.
#include "analyzer/report/groups.h"

#include <algorithm>
#include <map>

namespace handoff::report {
namespace {

constexpr std::size_t kMaxNames = 4;

/// The lines of the user's files that a stack goes through; columns differ where macros are involved.
void addLines(const SourceStack& stack, const Paths& paths, std::string& key) {
  bool has_line = false;
  for (const SourceFrame& frame : stack) {
    if (!frame.pos.isKnown() || !paths.isUserFile(frame.pos.file)) continue;
    key += paths.shorten(frame.pos.file) + ":" + std::to_string(frame.pos.line) + " ";
    has_line = true;
  }
  const SourcePos pos = paths.ownPos(stack);
  if (!has_line) key += pos.file + ":" + std::to_string(pos.line);
  key += "|";
}

std::string keyOf(const diagnose::Finding& finding, const Paths& paths) {
  std::string key = finding.rule + "|" + std::to_string(static_cast<int>(finding.severity)) +
                    (finding.is_for_other_launches ? "|other|" : "|");
  addLines(finding.stack, paths, key);
  for (const diagnose::Related& related : finding.related) addLines(related.stack, paths, key);
  return key;
}

std::string times(std::size_t count) {
  return count == 1 ? "once more" : std::to_string(count) + " more times";
}

}  // namespace

GroupIds groupFindings(const FileReport& file, const Paths& paths) {
  std::map<std::string, std::uint32_t> known;
  GroupIds groups;
  for (const diagnose::KernelReport& kernel : file.kernels) {
    std::vector<std::uint32_t>& ids = groups.emplace_back();
    for (const diagnose::Finding& finding : kernel.findings) {
      const auto next = static_cast<std::uint32_t>(known.size() + 1);
      ids.push_back(known.try_emplace(keyOf(finding, paths), next).first->second);
    }
  }
  return groups;
}

bool isFirstOfGroup(const GroupIds& groups, std::size_t kernel, std::size_t finding) {
  const std::uint32_t id = groups[kernel][finding];
  for (std::size_t k = 0; k < kernel; ++k)
    if (std::find(groups[k].begin(), groups[k].end(), id) != groups[k].end()) return false;
  const auto here = groups[kernel].begin();
  return std::find(here, here + static_cast<std::ptrdiff_t>(finding), id) ==
         here + static_cast<std::ptrdiff_t>(finding);
}

std::string restOfGroup(const FileReport& file, const GroupIds& groups, std::size_t kernel,
                        std::size_t finding) {
  const std::uint32_t id = groups[kernel][finding];
  std::vector<std::string_view> others;
  std::size_t repeats = 0;
  for (std::size_t k = 0; k < groups.size(); ++k) {
    const auto count = static_cast<std::size_t>(std::count(groups[k].begin(), groups[k].end(), id));
    if (k == kernel)
      repeats = count - 1;
    else if (count != 0)
      others.push_back(file.kernels[k].pretty.empty() ? file.kernels[k].name : file.kernels[k].pretty);
  }
  std::string text = repeats == 0 ? "" : "also " + times(repeats) + " in this kernel";
  if (others.empty()) return text;
  text += (text.empty() ? "also in " : ", and in ") + std::to_string(others.size()) +
          (others.size() == 1 ? " other instance: " : " other instances: ");
  for (std::size_t i = 0; i < std::min(others.size(), kMaxNames); ++i)
    text += (i == 0 ? "" : ", ") + std::string(others[i]);
  return others.size() > kMaxNames ? text + ", ..." : text;
}

}  // namespace handoff::report
