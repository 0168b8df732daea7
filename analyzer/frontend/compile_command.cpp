// SPDX-License-Identifier: Apache-2.0
// compile_commands.json: reading it and choosing the entry of a file.
#include "analyzer/frontend/compile_command.h"

#include <llvm/Support/JSON.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "analyzer/frontend/files.h"

namespace handoff::frontend {
namespace fs = std::filesystem;
namespace {

struct Entry {
  std::string file;                ///< absolute
  std::string directory;           ///< absolute
  std::vector<std::string> words;  ///< the compiler first
};

constexpr std::string_view kDatabaseName = "compile_commands.json";

bool hasExtension(const std::string& path, std::initializer_list<std::string_view> extensions) {
  return std::any_of(extensions.begin(), extensions.end(),
                     [&](std::string_view e) { return path.ends_with(e); });
}

bool isNvcc(const std::string& compiler) {
  return fs::path(compiler).filename().string().find("nvcc") != std::string::npos;
}

bool isCuda(const Entry& entry) {
  if (hasExtension(entry.file, {".cu", ".cuh"})) return true;
  for (std::size_t i = 0; i < entry.words.size(); ++i) {
    const std::string& word = entry.words[i];
    if (word == "-xcuda" || word == "-xcu" || word == "--x=cu" || word == "-x=cu") return true;
    if ((word == "-x" || word == "--x") && i + 1 < entry.words.size())
      if (const std::string& language = entry.words[i + 1]; language == "cu" || language == "cuda")
        return true;
  }
  return false;
}

/// JSON.h reports "[line:column, byte=offset]: reason".
Error jsonError(const std::string& path, llvm::Error error) {
  const std::string text = llvm::toString(std::move(error));
  Error result{"is not valid JSON: " + text, {path, 0, 0}};
  unsigned line = 0, column = 0;
  if (std::sscanf(text.c_str(), "[%u:%u", &line, &column) != 2) return result;
  result.pos.line = line;
  result.pos.column = column;
  if (const std::size_t end = text.find("]: "); end != std::string::npos)
    result.message = "is not valid JSON: " + text.substr(end + 3);
  return result;
}

std::optional<Entry> entryOf(const llvm::json::Value& value, const std::string& base) {
  const llvm::json::Object* object = value.getAsObject();
  if (object == nullptr) return std::nullopt;
  const auto file = object->getString("file");
  const auto directory = object->getString("directory");
  if (!file || !directory) return std::nullopt;
  Entry entry;
  entry.directory = absolutePath(directory->str(), base);
  entry.file = absolutePath(file->str(), entry.directory);
  if (const llvm::json::Array* arguments = object->getArray("arguments")) {
    for (const llvm::json::Value& argument : *arguments) {
      const auto word = argument.getAsString();
      if (!word) return std::nullopt;
      entry.words.push_back(word->str());
    }
  } else if (const auto command = object->getString("command")) {
    entry.words = splitWords(std::string_view(command->data(), command->size()));
  }
  if (entry.words.empty()) return std::nullopt;
  return entry;
}

Result<std::vector<Entry>> readDatabase(const std::string& path) {
  auto text = readFile(path);
  if (!text) return text.error();
  auto json = llvm::json::parse(*text);
  if (!json) return jsonError(path, json.takeError());
  const llvm::json::Array* array = json->getAsArray();
  if (array == nullptr)
    return Error{"is not a compilation database: a list of entries is expected", {path, 0, 0}};
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < array->size(); ++i) {
    auto entry = entryOf((*array)[i], fs::path(path).parent_path().string());
    if (!entry)
      return Error{"entry " + std::to_string(i + 1) +
                       " is not a compile command: \"file\", \"directory\" and \"command\" or \"arguments\" "
                       "are expected",
                   {path, 0, 0}};
    entries.push_back(std::move(*entry));
  }
  return entries;
}

/// -p may name the folder or the file itself.
std::string databaseIn(const std::string& build_path) {
  std::error_code code;
  if (fs::is_directory(build_path, code)) return (fs::path(build_path) / kDatabaseName).string();
  return build_path.ends_with(kDatabaseName) ? build_path : (fs::path(build_path) / kDatabaseName).string();
}

std::optional<std::string> nearestDatabase(const std::string& file) {
  std::error_code code;
  for (fs::path folder = fs::path(absolutePath(file)).parent_path();; folder = folder.parent_path()) {
    if (fs::is_regular_file(folder / kDatabaseName, code)) return (folder / kDatabaseName).string();
    if (folder == folder.parent_path()) return std::nullopt;
  }
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

Result<CompileCommand> fromDatabase(const std::string& file, const std::string& database) {
  auto entries = readDatabase(database);
  if (!entries) return entries.error();
  CompileCommand command;
  bool is_guess = false;
  const Entry* entry = chooseEntry(*entries, file, is_guess);
  if (entry == nullptr) {
    command.note =
        Error{"no entry for '" + file + "' and no other CUDA file: compiled without flags", {database, 0, 0}};
    return command;
  }
  if (is_guess)
    command.note =
        Error{"no entry for '" + file + "': the flags of '" + entry->file + "' are used", {database, 0, 0}};
  const std::vector<std::string> words(entry->words.begin() + 1, entry->words.end());
  auto flags = translateFlags(words, isNvcc(entry->words.front()) ? Dialect::kNvcc : Dialect::kClang,
                              entry->directory);
  if (!flags) return flags.error();
  command.flags = std::move(*flags);
  return command;
}

}  // namespace

Result<CompileCommand> commandFor(const std::string& file, const Options& options) {
  CompileCommand command;
  std::optional<std::string> database;
  if (!options.has_fixed_flags) {
    if (options.build_path)
      database = databaseIn(*options.build_path);
    else
      database = nearestDatabase(file);
  }
  if (database) {
    auto found = fromDatabase(file, *database);
    if (!found) return found.error();
    command = std::move(*found);
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

Result<std::vector<std::string>> filesOfDatabase(const std::string& build_path) {
  auto entries = readDatabase(databaseIn(build_path));
  if (!entries) return entries.error();
  std::vector<std::string> files;
  std::set<std::string> seen;
  for (const Entry& entry : *entries)
    if (isCuda(entry) && seen.insert(entry.file).second) files.push_back(entry.file);
  return files;
}

}  // namespace handoff::frontend
