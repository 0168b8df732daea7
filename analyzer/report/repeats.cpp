// SPDX-License-Identifier: Apache-2.0
// Finding what several files of a run share.
#include "analyzer/report/repeats.h"

#include <algorithm>
#include <iterator>

namespace handoff::report {
namespace {

/// The line alone: which kernel led there differs by file. Empty when the line is not known.
std::string keyOf(const diagnose::Finding& finding, const SourcePos& pos, const Paths& paths) {
  if (!pos.isKnown()) return {};
  return finding.rule + "|" + std::to_string(static_cast<int>(finding.severity)) +
         (finding.is_for_other_launches ? "|other|" : "|") + paths.shorten(pos.file) + ":" +
         std::to_string(pos.line);
}

}  // namespace

void RepeatFinder::mark(FileReport& file, const Paths& paths) {
  const std::size_t file_index = files_++;
  const std::string file_name = paths.shorten(file.path);
  for (std::size_t k = 0; k < file.kernels.size(); ++k) {
    for (std::size_t f = 0; f < file.kernels[k].findings.size(); ++f) {
      diagnose::Finding& finding = file.kernels[k].findings[f];
      const SourcePos pos = paths.ownPos(finding.stack);
      const std::string key = keyOf(finding, pos, paths);
      if (key.empty()) continue;
      const auto [known, is_new] = known_.try_emplace(key, all_.size());
      if (is_new) {
        all_.push_back({file_index, k, f, finding.rule, pos, {file_name}});
        continue;
      }
      Repeat& first = all_[known->second];
      if (first.file == file_index) continue;  // the same file again: groups.h
      finding.is_repeat = true;
      if (std::find(first.files.begin(), first.files.end(), file_name) == first.files.end())
        first.files.push_back(file_name);
    }
  }
}

std::vector<Repeat> RepeatFinder::repeats() const {
  std::vector<Repeat> result;
  std::copy_if(all_.begin(), all_.end(), std::back_inserter(result),
               [](const Repeat& repeat) { return repeat.files.size() > 1; });
  return result;
}

void addRepeats(Report& report) {
  for (const Repeat& repeat : report.end.repeats)
    report.files.at(repeat.file)
        .kernels.at(repeat.kernel)
        .findings.at(repeat.finding)
        .also_in.assign(repeat.files.begin() + 1, repeat.files.end());
}

}  // namespace handoff::report
