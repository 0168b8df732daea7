// SPDX-License-Identifier: Apache-2.0
// One folder a job: job.json and the PTX that it names.
#include "analyzer/cli/witness_files.h"

#include <filesystem>
#include <fstream>
#include <system_error>

namespace handoff::cli {

namespace fs = std::filesystem;

namespace {

Error cannotWrite(const std::string& path) { return {"cannot write the witness", {path, 0, 0}}; }

std::string plain(std::string text, std::size_t longest) {
  for (char& c : text) {
    const bool is_plain =
        (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' || c == '-';
    if (!is_plain) c = '_';
  }
  // The end tells more than the beginning: of paths, the file; of mangled names, the parameters.
  return text.size() > longest ? text.substr(text.size() - longest) : text;
}

}  // namespace

Result<WitnessFiles> WitnessFiles::open(const std::string& folder, const std::string& results) {
  WitnessFiles files;
  files.folder_ = folder;
  if (results.empty()) return files;
  const Result<json::Value> read = json::read(results);
  if (!read) return read.error();
  if ((*read)["version"].integer() != 1 || !(*read)["jobs"].isArray())
    return Error{"this is no result of handoff-confirm", {results, 0, 0}};
  for (const json::Value& job : (*read)["jobs"].array())
    files.results_[job["name"].text()] = {job["status"].text(), job["summary"].text()};
  return files;
}

std::string WitnessFiles::uniqueName(const Subject& subject) {
  const std::string what = subject.op.empty() ? subject.rule : subject.op + "-" + std::to_string(subject.number) + "." + subject.rule;
  const std::string stem = plain(subject.file, 80) + "." + plain(subject.kernel, 40) + "." + what + "." + std::to_string(subject.line);
  std::string name = stem;
  for (unsigned count = 2; !names_.insert(name).second; ++count) name = stem + "-" + std::to_string(count);
  return name;
}

Result<unsigned> WitnessFiles::write(const std::string& name, const Subject& subject,
                                     const diagnose::WitnessJob& job) const {
  const fs::path folder = fs::path(folder_) / name;
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return cannotWrite(folder.string());
  json::Value manifest;
  manifest.set("name", name);
  manifest.set("file", subject.file);
  manifest.set("line", subject.line);
  if (!subject.op.empty()) manifest.set("mutant", subject.op + ": " + subject.change);
  for (const auto& [key, value] : job.manifest.object()) manifest.set(key, value);
  const auto put = [&](const std::string& file_name, const std::string& text) {
    std::ofstream stream(folder / file_name, std::ios::binary);
    stream << text;
    stream.flush();
    return stream.good();
  };
  if (!put("job.json", json::print(manifest))) return cannotWrite((folder / "job.json").string());
  for (const auto& [file_name, text] : job.files) {
    if (!put(file_name, text)) return cannotWrite((folder / file_name).string());
  }
  return 1u;
}

Result<std::vector<std::string>> WitnessFiles::add(const Mutant& mutant, const std::vector<mutate::Scored::Job>& jobs) {
  std::vector<std::string> names;
  if (folder_.empty()) return names;
  for (const auto& [rule, content] : jobs) {
    const Subject subject{mutant.file, mutant.kernel, rule, mutant.line, mutant.op, mutant.change, mutant.number};
    names.push_back(uniqueName(subject));
    const Result<unsigned> done = write(names.back(), subject, *content);
    if (!done) return done.error();
  }
  return names;
}

Result<unsigned> WitnessFiles::add(report::FileReport& file, const report::Paths& paths) {
  unsigned written = 0;
  const std::string path = paths.shorten(file.path);
  for (diagnose::KernelReport& kernel : file.kernels) {
    if (kernel.control_job != nullptr && !folder_.empty()) {
      const Subject subject{path, kernel.name, "none", kernel.pos.line};
      const Result<unsigned> done = write(uniqueName(subject), subject, *kernel.control_job);
      if (!done) return done;
      written += *done;
    }
    for (diagnose::Finding& finding : kernel.findings) {
      if (finding.job == nullptr || finding.is_for_other_launches) continue;
      const Subject subject{path, kernel.name, finding.rule, paths.ownPos(finding.stack).line};
      const std::string name = uniqueName(subject);
      if (const auto result = results_.find(name); result != results_.end())
        finding.confirmation = result->second;
      if (folder_.empty()) continue;
      const Result<unsigned> done = write(name, subject, *finding.job);
      if (!done) return done;
      written += *done;
    }
  }
  return written;
}

}  // namespace handoff::cli
