// SPDX-License-Identifier: Apache-2.0
// Entries of whole files.
#include "analyzer/project/memory.h"

#include <algorithm>
#include <filesystem>

#include "analyzer/project/input_fields.h"
#include "analyzer/project/kernel_cache.h"

namespace handoff::project {
namespace {

bool hasUnsaved(const Settings& settings) {
  return settings.frontend.overlay != nullptr && !settings.frontend.overlay->empty();
}

}  // namespace

std::optional<Hash> Memory::keyOf(const std::string& file, const Settings& settings) const {
  if (!cache_.isOn() || settings.explore.makes_jobs || settings.explore.makes_pictures || hasUnsaved(settings)) return std::nullopt;
  const Result<std::string> command = frontend::describeCommand(file, settings.frontend);
  if (!command) return std::nullopt;
  std::error_code failed;
  Writer key;
  addConst(key, std::string("unit"));
  addConst(key, program_);
  addConst(key, file);
  // Paths in reports are relative to it.
  addConst(key, std::filesystem::current_path(failed).string());
  addConst(key, *command);
  addConst(key, settings.explore);
  addConst(key, settings.explore.kernel_filter);
  addConst(key, wantsAdvice(settings));
  return hashOf(key.text());
}

std::optional<Memory::Entry> Memory::find(const Hash& key) {
  const std::optional<std::string> content = cache_.read(key);
  if (!content) return std::nullopt;
  Reader reader(*content);
  Entry entry;
  all(reader, entry.manifest, entry.checked);
  if (!reader.isAtEnd()) return std::nullopt;
  const Freshness freshness = check(entry.manifest, hashes_);
  if (freshness == Freshness::kStale) return std::nullopt;
  if (freshness == Freshness::kRetouched) {
    Writer writer;
    all(writer, entry.manifest, entry.checked);
    cache_.write(key, writer.text());
  }
  return entry;
}

std::optional<CheckedFile> Memory::recall(const std::string& file, const Settings& settings) {
  const std::optional<Hash> key = keyOf(file, settings);
  std::optional<Entry> entry = key ? find(*key) : std::nullopt;
  if (!entry) return std::nullopt;
  entry->checked.is_recalled = true;
  return std::move(entry->checked);
}

void Memory::keep(const CheckedFile& checked, const Settings& settings, const frontend::Unit& unit,
                  std::int64_t started) {
  const std::vector<diagnose::KernelReport>& kernels = checked.report.kernels;
  if (checked.report.error || checked.is_internal || !std::all_of(kernels.begin(), kernels.end(), isStorable))
    return;
  if (isCancelled(settings.explore.cancel) || isCancelled(settings.frontend.cancel)) return;
  const std::optional<Hash> key = keyOf(checked.report.path, settings);
  if (!key) return;
  const std::optional<Manifest> manifest = makeManifest(unit.files_read, unit.files_missed, started, hashes_);
  if (!manifest) return;
  Writer writer;
  addConst(writer, *manifest);
  addConst(writer, checked);
  cache_.write(*key, writer.text());
}

std::optional<std::set<std::string>> Memory::filesOf(const std::string& file, const Settings& settings) {
  const std::optional<Hash> key = keyOf(file, settings);
  const std::optional<Entry> entry = key ? find(*key) : std::nullopt;
  if (!entry) return std::nullopt;
  std::set<std::string> files;
  for (const FileStamp& stamp : entry->manifest.files) files.insert(stamp.path);
  return files;
}

}  // namespace handoff::project
