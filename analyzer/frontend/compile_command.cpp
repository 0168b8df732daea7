// SPDX-License-Identifier: Apache-2.0
// Choosing the entry of a file, and adding what the options say.
#include "analyzer/frontend/compile_command.h"

#include <algorithm>
#include <filesystem>
#include <memory>

#include "analyzer/frontend/database.h"
#include "analyzer/frontend/files.h"

namespace handoff::frontend {
namespace fs = std::filesystem;
namespace {

using Entry = Database::Entry;

bool isNvcc(const std::string& compiler) {
  return fs::path(compiler).filename().string().find("nvcc") != std::string::npos;
}

std::size_t commonPrefix(const std::string& a, const std::string& b) {
  return static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
}

/// The file's own entry, else (`is_guess`) that of the CUDA file whose path is most alike.
const Entry* chooseEntry(const std::vector<Entry>& entries, const std::string& file, bool& is_guess) {
  const std::string wanted = absolutePath(file);
  is_guess = false;
  for (const Entry& entry : entries)
    if (entry.file == wanted) return &entry;
  std::error_code code;
  for (const Entry& entry : entries)
    if (fs::path(entry.file).filename() == fs::path(wanted).filename() &&
        fs::equivalent(entry.file, wanted, code))
      return &entry;
  is_guess = true;
  const Entry* best = nullptr;
  for (const Entry& entry : entries)
    if (isCuda(entry) &&
        (best == nullptr || commonPrefix(entry.file, wanted) > commonPrefix(best->file, wanted)))
      best = &entry;
  return best;
}

/// Before the compiler may stand a program that calls it: "ccache nvcc ...".
std::size_t placeOfCompiler(const std::vector<std::string>& words) {
  const std::string first = fs::path(words.front()).filename().string();
  const bool is_launcher = first == "ccache" || first == "sccache" || first == "distcc" || first == "icecc";
  return is_launcher && words.size() > 1 ? 1 : 0;
}

/// The toolkit that a compiler called by its full path belongs to.
std::string toolkitOf(const std::string& compiler) {
  const fs::path path(compiler);
  return path.is_absolute() ? path.parent_path().parent_path().string() : "";
}

Result<CompileCommand> fromDatabase(const std::string& file, const Database& database,
                                    std::optional<std::size_t> number) {
  CompileCommand command;
  bool is_guess = false;
  const std::vector<Entry>& entries = database.entries();
  const Entry* entry = number ? &entries.at(*number) : chooseEntry(entries, file, is_guess);
  if (entry == nullptr) {
    command.note = Error{"no entry for '" + file + "' and no other CUDA file: compiled without flags",
                         {database.path(), 0, 0}};
    return command;
  }
  if (is_guess)
    command.note = Error{"no entry for '" + file + "': the flags of '" + entry->file + "' are used",
                         {database.path(), 0, 0}};
  const std::size_t place = placeOfCompiler(entry->words);
  const std::string& compiler = entry->words[place];
  const std::vector<std::string> words(entry->words.begin() + static_cast<std::ptrdiff_t>(place) + 1,
                                       entry->words.end());
  auto flags = translateFlags(words, isNvcc(compiler) ? Dialect::kNvcc : Dialect::kClang, entry->directory);
  if (!flags) return flags.error();
  command.flags = std::move(*flags);
  if (isNvcc(compiler) && command.flags.cuda_path.empty()) command.flags.cuda_path = toolkitOf(compiler);
  return command;
}

/// Null: there is none.
Result<std::shared_ptr<const Database>> databaseFor(const std::string& file, const Options& options) {
  if (options.database) return options.database;
  std::optional<std::string> path;
  if (options.build_path)
    path = databaseIn(*options.build_path);
  else
    path = nearestDatabase(file);
  if (!path) return std::shared_ptr<const Database>();
  return Database::read(*path);
}

}  // namespace

Result<CompileCommand> commandFor(const std::string& file, const Options& options) {
  CompileCommand command;
  if (!options.has_fixed_flags) {
    const auto database = databaseFor(file, options);
    if (!database) return database.error();
    if (*database) {
      auto found = fromDatabase(file, **database, options.entry);
      if (!found) return found.error();
      command = std::move(*found);
    }
  }
  // Extra flags are the user's own: their relative paths start where the user is, not where the build ran.
  auto extra = translateFlags(options.extra_args, Dialect::kClang, {});
  if (!extra) return extra.error();
  std::vector<std::string>& args = command.flags.args;
  if (!extra->args.empty() && !command.flags.directory.empty()) makePathsAbsolute(extra->args);
  args.insert(args.end(), extra->args.begin(), extra->args.end());
  if (!extra->arch.empty()) command.flags.arch = extra->arch;
  if (!extra->cuda_path.empty()) command.flags.cuda_path = extra->cuda_path;
  if (!options.arch.empty()) {
    command.flags.arch = normalizeArch(options.arch);
    if (command.flags.arch.empty())
      return Error{"'" + options.arch + "' is not a GPU architecture such as sm_90a", {}};
  }
  if (command.flags.arch.empty()) command.flags.arch = "sm_90a";
  return command;
}

}  // namespace handoff::frontend
