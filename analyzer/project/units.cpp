// SPDX-License-Identifier: Apache-2.0
// Expanding inputs, and finding the commands of each file.
#include "analyzer/project/units.h"

#include <llvm/Support/GlobPattern.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "analyzer/frontend/compile_command.h"
#include "analyzer/frontend/files.h"

namespace handoff::project {
namespace {

namespace fs = std::filesystem;
using frontend::Database;

bool isChecked(const fs::path& file) { return file.extension() == ".cu" || file.extension() == ".ptx"; }

bool isHidden(const fs::path& path) { return path.filename().string().starts_with('.'); }

/// Where CMake builds: what lies there is made from the sources, or tries out the compiler.
bool isBuildTree(const fs::path& folder) {
  std::error_code failed;
  return fs::exists(folder / "CMakeCache.txt", failed);
}

bool isGlob(const std::string& input) {
  std::error_code failed;
  return input.find_first_of("*?[{") != std::string::npos && !fs::exists(input, failed);
}

Result<std::vector<std::string>> filesBelow(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code failed;
  fs::recursive_directory_iterator entry(folder, failed);
  while (!failed && entry != fs::recursive_directory_iterator()) {
    if (entry->is_directory() && (isHidden(entry->path()) || isBuildTree(entry->path()))) entry.disable_recursion_pending();
    if (entry->is_regular_file() && isChecked(entry->path()))
      files.push_back(entry->path().lexically_normal());
    entry.increment(failed);
  }
  if (failed) return Error{"cannot list the folder: " + failed.message(), {folder, 0, 0}};
  if (files.empty()) return Error{"no .cu or .ptx file lies in this folder", {folder, 0, 0}};
  std::sort(files.begin(), files.end());
  return files;
}

/// CUDA files of the database, each once, for which `is_wanted` holds.
template <typename IsWanted>
std::vector<std::string> filesOf(const Database& database, IsWanted is_wanted) {
  std::vector<std::string> files;
  std::set<std::string> seen;
  for (const Database::Entry& entry : database.entries())
    if (isCuda(entry) && is_wanted(entry.file) && seen.insert(entry.file).second) files.push_back(entry.file);
  return files;
}

/// Globs speak of paths as the user would write them, from here or from the root; "*" also stands for "/".
Result<std::vector<std::string>> filesMatching(const Database& database, const std::string& glob) {
  llvm::Expected<llvm::GlobPattern> pattern = llvm::GlobPattern::create(glob, /*MaxSubPatterns=*/64);
  if (!pattern) return Error{"'" + glob + "' is no glob: " + llvm::toString(pattern.takeError()), {}};
  std::error_code failed;
  const fs::path here = fs::current_path(failed);
  std::vector<std::string> files = filesOf(database, [&](const std::string& file) {
    return pattern->match(file) || pattern->match(fs::path(file).lexically_relative(here).string());
  });
  if (files.empty())
    return Error{"'" + glob + "' matches no CUDA file of this database", {database.path(), 0, 0}};
  return files;
}

Result<std::vector<std::string>> filesInFolder(const Database& database, const std::string& folder) {
  std::string prefix = frontend::absolutePath(folder);
  if (!prefix.ends_with('/')) prefix += '/';
  std::vector<std::string> files =
      filesOf(database, [&](const std::string& file) { return file.starts_with(prefix); });
  if (files.empty())
    return Error{"no CUDA file of '" + database.path() + "' lies in this folder", {folder, 0, 0}};
  return files;
}

Result<std::vector<std::string>> expand(const std::string& input, const Database* database) {
  std::error_code failed;
  if (fs::is_directory(input, failed))
    return database != nullptr ? filesInFolder(*database, input) : filesBelow(input);
  if (database != nullptr && isGlob(input)) return filesMatching(*database, input);
  return std::vector{input};
}

/// Databases by path, each read once; null for one that cannot be read: whoever needs the file's command says
/// so.
class Databases {
 public:
  explicit Databases(const frontend::Options& options) : options_(options) {}

  std::shared_ptr<const Database> of(const std::string& file) {
    if (options_.has_fixed_flags || file.ends_with(".ptx")) return nullptr;
    if (options_.database) return options_.database;
    const std::optional<std::string> path = frontend::nearestDatabase(file);
    if (!path) return nullptr;
    const auto [known, is_new] = known_.try_emplace(*path);
    if (is_new)
      if (auto database = Database::read(*path)) known->second = *database;
    return known->second;
  }

 private:
  const frontend::Options& options_;
  std::map<std::string, std::shared_ptr<const Database>> known_;
};

std::vector<std::size_t> entriesOf(const Database& database, const std::string& file) {
  const std::string wanted = frontend::absolutePath(file);
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < database.entries().size(); ++i)
    if (database.entries()[i].file == wanted) found.push_back(i);
  return found;
}

/// What a command says beyond what all commands of the file say.
std::string difference(const std::vector<std::vector<std::string>>& all, std::size_t own) {
  std::string text;
  for (const std::string& word : all[own]) {
    const bool is_common = std::all_of(all.begin(), all.end(), [&](const std::vector<std::string>& words) {
      return std::find(words.begin(), words.end(), word) != words.end();
    });
    if (!is_common) text += " " + word;
  }
  return text;
}

/// One unit for each command that differs from those before it.
void addUnits(const std::string& file, std::shared_ptr<const Database> database,
              const frontend::Options& options, std::vector<TranslationUnit>& units) {
  const std::vector<std::size_t> entries =
      database != nullptr ? entriesOf(*database, file) : std::vector<std::size_t>();
  if (entries.size() < 2) {
    units.push_back({file, std::move(database), {}, {}});
    return;
  }
  std::set<std::string> known;
  std::vector<TranslationUnit> own;
  std::vector<std::vector<std::string>> words;
  for (const std::size_t entry : entries) {
    TranslationUnit unit{file, database, entry, {}};
    const frontend::Options with = optionsOf(unit, options);
    const Result<std::string> description = frontend::describeCommand(file, with);
    if (description && !known.insert(*description).second) continue;
    const auto command = frontend::commandFor(file, with);
    words.push_back(command ? command->flags.args : std::vector<std::string>());
    if (command) words.back().push_back(command->flags.arch);
    own.push_back(std::move(unit));
  }
  for (std::size_t i = 0; own.size() > 1 && i < own.size(); ++i)
    own[i].variant = std::to_string(i + 1) + " of " + std::to_string(own.size()) + ":" + difference(words, i);
  std::move(own.begin(), own.end(), std::back_inserter(units));
}

}  // namespace

frontend::Options optionsOf(const TranslationUnit& unit, frontend::Options options) {
  options.database = unit.database;
  options.entry = unit.entry;
  return options;
}

Result<std::vector<TranslationUnit>> selectUnits(const std::vector<std::string>& inputs,
                                                 const frontend::Options& given) {
  frontend::Options options = given;
  if (inputs.empty() && !options.build_path)
    return Error{"no input: name files or folders, or give a build folder with -p", {}};
  if (options.build_path && !options.has_fixed_flags) {
    auto database = Database::read(frontend::databaseIn(*options.build_path));
    if (!database) return database.error();
    options.database = *database;
  }
  std::vector<std::string> files;
  if (inputs.empty() && options.database)
    files = filesOf(*options.database, [](const std::string&) { return true; });
  // A build that has lost its kernels must not look like one without findings.
  if (inputs.empty() && options.database && files.empty())
    return Error{"no CUDA file is in this database", {options.database->path(), 0, 0}};
  for (const std::string& input : inputs) {
    Result<std::vector<std::string>> some = expand(input, options.database.get());
    if (!some) return some.error();
    files.insert(files.end(), some->begin(), some->end());
  }
  std::vector<TranslationUnit> units;
  std::set<std::string> known;
  Databases databases(options);
  for (const std::string& file : files)
    if (known.insert(frontend::absolutePath(file)).second) addUnits(file, databases.of(file), options, units);
  return units;
}

}  // namespace handoff::project
