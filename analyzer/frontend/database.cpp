// SPDX-License-Identifier: Apache-2.0
// Reading compile_commands.json.
#include "analyzer/frontend/database.h"

#include <llvm/Support/JSON.h>

#include <algorithm>
#include <filesystem>

#include "analyzer/frontend/files.h"
#include "analyzer/frontend/flags.h"

namespace handoff::frontend {
namespace fs = std::filesystem;
namespace {

using Entry = Database::Entry;

constexpr std::string_view kDatabaseName = "compile_commands.json";

bool hasExtension(const std::string& path, std::initializer_list<std::string_view> extensions) {
  return std::any_of(extensions.begin(), extensions.end(),
                     [&](std::string_view e) { return path.ends_with(e); });
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

Result<std::vector<Entry>> readEntries(const std::string& path) {
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

}  // namespace

Result<std::shared_ptr<const Database>> Database::read(const std::string& path) {
  auto entries = readEntries(path);
  if (!entries) return entries.error();
  return std::shared_ptr<const Database>(new Database(path, std::move(*entries)));
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

std::string databaseIn(const std::string& build_path) {
  std::error_code code;
  if (fs::is_directory(build_path, code)) return (fs::path(build_path) / kDatabaseName).string();
  return build_path.ends_with(kDatabaseName) ? build_path : (fs::path(build_path) / kDatabaseName).string();
}

std::vector<std::string> databaseCandidates(const std::string& file) {
  std::vector<std::string> candidates;
  for (fs::path folder = fs::path(absolutePath(file)).parent_path();; folder = folder.parent_path()) {
    candidates.push_back((folder / kDatabaseName).string());
    candidates.push_back((folder / "build" / kDatabaseName).string());
    if (folder == folder.parent_path()) return candidates;
  }
}

std::optional<std::string> nearestDatabase(const std::string& file) {
  std::error_code code;
  for (std::string& candidate : databaseCandidates(file))
    if (fs::is_regular_file(candidate, code)) return std::move(candidate);
  return std::nullopt;
}

}  // namespace handoff::frontend
