// SPDX-License-Identifier: Apache-2.0
// The table of nvcc's and Clang's flags, and the loop that applies it.
#include "analyzer/frontend/flags.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>

#include "analyzer/frontend/files.h"

namespace handoff::frontend {
namespace {

enum class Action : std::uint8_t {
  kSearchPath,    ///< -I: a list of folders
  kSystemPath,    ///< -isystem
  kKeepJoined,    ///< -D, -U: kept in the form "-Dvalue"
  kKeepSplit,     ///< -include and its relatives: kept in the form "-include value"
  kStandard,      ///< -std
  kArch,          ///< one architecture, or a list of them
  kGenerateCode,  ///< "arch=compute_90a,code=[compute_90a,sm_90a]"
  kOptionsFile,   ///< a file of further flags
  kHostOptions,   ///< -Xcompiler: a comma list for the host compiler
  kDefaultStream,
  kCudaPath,
  kDropWithValue,
  kDrop,
};

struct Row {
  std::string_view name;
  Action action;
  /// The value may stand in the same word without a "=" ("-Ifolder").
  bool may_join = false;
};

// NVIDIA CUDA Compiler Driver NVCC, "Command Option Types and Notation" and the option tables that follow it.
constexpr auto kRows = std::to_array<Row>({
    {"-I", Action::kSearchPath, true},
    {"--include-path", Action::kSearchPath},
    {"-isystem", Action::kSystemPath, true},
    {"--system-include", Action::kSystemPath},
    {"-D", Action::kKeepJoined, true},
    {"--define-macro", Action::kKeepJoined},
    {"-U", Action::kKeepJoined, true},
    {"--undefine-macro", Action::kKeepJoined},
    {"-include", Action::kKeepSplit},
    {"--pre-include", Action::kKeepSplit},
    {"-iquote", Action::kKeepSplit},
    {"-idirafter", Action::kKeepSplit},
    {"-imacros", Action::kKeepSplit},
    {"-isysroot", Action::kKeepSplit},
    {"-Xclang", Action::kKeepSplit},
    {"-std", Action::kStandard},
    {"--std", Action::kStandard},
    {"-arch", Action::kArch},
    {"--gpu-architecture", Action::kArch},
    {"-code", Action::kArch},
    {"--gpu-code", Action::kArch},
    {"--cuda-gpu-arch", Action::kArch},
    {"--offload-arch", Action::kArch},
    {"-gencode", Action::kGenerateCode},
    {"--generate-code", Action::kGenerateCode},
    {"-optf", Action::kOptionsFile},
    {"--options-file", Action::kOptionsFile},
    {"-Xcompiler", Action::kHostOptions},
    {"--compiler-options", Action::kHostOptions},
    {"-default-stream", Action::kDefaultStream},
    {"--default-stream", Action::kDefaultStream},
    {"--cuda-path", Action::kCudaPath},
    {"-x", Action::kDropWithValue, true},
    {"--x", Action::kDropWithValue},
    {"-o", Action::kDropWithValue, true},
    {"--output-file", Action::kDropWithValue},
    {"-ccbin", Action::kDropWithValue},
    {"--compiler-bindir", Action::kDropWithValue},
    {"-Xptxas", Action::kDropWithValue},
    {"--ptxas-options", Action::kDropWithValue},
    {"-Xnvlink", Action::kDropWithValue},
    {"--nvlink-options", Action::kDropWithValue},
    {"-Xlinker", Action::kDropWithValue},
    {"--linker-options", Action::kDropWithValue},
    {"-Xcudafe", Action::kDropWithValue},
    {"-Xfatbin", Action::kDropWithValue},
    {"--fatbin-options", Action::kDropWithValue},
    {"-Xarchive", Action::kDropWithValue},
    {"--archive-options", Action::kDropWithValue},
    {"-Xcicc", Action::kDropWithValue},
    {"-diag-suppress", Action::kDropWithValue},
    {"--diag-suppress", Action::kDropWithValue},
    {"-diag-error", Action::kDropWithValue},
    {"--diag-error", Action::kDropWithValue},
    {"-diag-warn", Action::kDropWithValue},
    {"--diag-warn", Action::kDropWithValue},
    {"-maxrregcount", Action::kDropWithValue},
    {"--maxrregcount", Action::kDropWithValue},
    {"-t", Action::kDropWithValue},
    {"--threads", Action::kDropWithValue},
    {"-split-compile", Action::kDropWithValue},
    {"--split-compile", Action::kDropWithValue},
    {"-split-compile-extended", Action::kDropWithValue},
    {"--split-compile-extended", Action::kDropWithValue},
    {"-odir", Action::kDropWithValue},
    {"--output-directory", Action::kDropWithValue},
    {"-MF", Action::kDropWithValue},
    {"--dependency-output", Action::kDropWithValue},
    {"-MT", Action::kDropWithValue},
    {"--dependency-target-name", Action::kDropWithValue},
    {"-MQ", Action::kDropWithValue},
    {"-cudart", Action::kDropWithValue},
    {"--cudart", Action::kDropWithValue},
    {"-cudadevrt", Action::kDropWithValue},
    {"--cudadevrt", Action::kDropWithValue},
    {"-keep-dir", Action::kDropWithValue},
    {"--keep-dir", Action::kDropWithValue},
    {"-time", Action::kDropWithValue},
    {"--time", Action::kDropWithValue},
    {"-rdc", Action::kDropWithValue},
    {"--relocatable-device-code", Action::kDropWithValue},
    {"-ftz", Action::kDropWithValue},
    {"--ftz", Action::kDropWithValue},
    {"-fmad", Action::kDropWithValue},
    {"--fmad", Action::kDropWithValue},
    {"-prec-div", Action::kDropWithValue},
    {"--prec-div", Action::kDropWithValue},
    {"-prec-sqrt", Action::kDropWithValue},
    {"--prec-sqrt", Action::kDropWithValue},
    {"-m", Action::kDropWithValue},
    {"--machine", Action::kDropWithValue},
    {"-L", Action::kDropWithValue, true},
    {"--library-path", Action::kDropWithValue},
    {"-l", Action::kDropWithValue, true},
    {"--library", Action::kDropWithValue},
    {"-opt-info", Action::kDropWithValue},
    {"--opt-info", Action::kDropWithValue},
    {"-target-dir", Action::kDropWithValue},
    {"-Werror", Action::kDrop},
    {"-c", Action::kDrop},
    {"--compile", Action::kDrop},
    {"-dc", Action::kDrop},
    {"--device-c", Action::kDrop},
    {"-S", Action::kDrop},
    {"-E", Action::kDrop},
    {"-ptx", Action::kDrop},
    {"--ptx", Action::kDrop},
    {"-G", Action::kDrop},
    {"-MD", Action::kDrop},
    {"-MMD", Action::kDrop},
    {"-MP", Action::kDrop},
    {"-MM", Action::kDrop},
    {"-M", Action::kDrop},
    {"-w", Action::kDrop},
    {"-fgpu-rdc", Action::kDrop},
    {"-fno-gpu-rdc", Action::kDrop},
    {"--cuda-device-only", Action::kDrop},
    {"--cuda-host-only", Action::kDrop},
    {"-use_fast_math", Action::kDrop},
    {"--use_fast_math", Action::kDrop},
    {"-forward-unknown-to-host-compiler", Action::kDrop},
    {"--forward-unknown-to-host-compiler", Action::kDrop},
    {"-expt-relaxed-constexpr", Action::kDrop},
    {"-expt-extended-lambda", Action::kDrop},
    {"-extended-lambda", Action::kDrop},
    {"--expt-relaxed-constexpr", Action::kDrop},
    {"--expt-extended-lambda", Action::kDrop},
    {"--extended-lambda", Action::kDrop},
    {"-lineinfo", Action::kDrop},
    {"--generate-line-info", Action::kDrop},
});

/// A flag taken apart: its row and, for rows with a value, the value.
struct Match {
  const Row* row = nullptr;
  std::optional<std::string> value;
};

bool takesValue(Action action) { return action != Action::kDrop; }

Match matchWord(const std::string& word) {
  Match joined;
  for (const Row& row : kRows) {
    if (word == row.name) return {&row, std::nullopt};
    if (!takesValue(row.action) || !word.starts_with(row.name)) continue;
    const std::string_view rest = std::string_view(word).substr(row.name.size());
    if (rest.front() == '=') return {&row, std::string(rest.substr(1))};
    // "-m64" and "-MF" must not be read as "-m"/"-M" with a value: only rows that say so join, and long ones
    // win.
    if (row.may_join && (joined.row == nullptr || joined.row->name.size() < row.name.size()))
      joined = {&row, std::string(rest)};
  }
  return joined;
}

std::vector<std::string> splitList(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    if (const auto part = text.substr(0, end); !part.empty()) parts.emplace_back(part);
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

unsigned archNumber(std::string_view arch) {
  unsigned number = 0;
  const std::size_t digits = arch.find_first_of("0123456789");
  if (digits != std::string_view::npos)
    std::from_chars(arch.data() + digits, arch.data() + arch.size(), number);
  return number;
}

/// Flags of the host compiler that change what the preprocessor or the parser sees.
bool isLanguageFlag(std::string_view word) {
  constexpr std::array<std::string_view, 6> kPrefixes = {"-D",    "-U",           "-I",
                                                         "-std=", "-fexceptions", "-fno-exceptions"};
  return std::any_of(kPrefixes.begin(), kPrefixes.end(),
                     [&](std::string_view p) { return word.starts_with(p); });
}

class Translator {
 public:
  Translator(Dialect dialect, std::string directory) : dialect_(dialect) {
    flags_.directory = std::move(directory);
  }

  std::optional<Error> addAll(const std::vector<std::string>& words, int depth);
  Flags take();

 private:
  void addKnown(const Row& row, const std::string& value);
  void addUnknown(const std::string& word);
  void addArchs(std::string_view list);
  void addHostOptions(const std::string& list);
  std::optional<Error> addOptionsFile(const std::string& name, int depth);

  Dialect dialect_;
  Flags flags_;
  std::string best_real_;     ///< highest sm_*
  std::string best_virtual_;  ///< highest compute_*, used when no sm_* is named
};

void Translator::addArchs(std::string_view list) {
  for (const std::string& item : splitList(list, ',')) {
    std::string name = item;
    std::erase_if(name, [](char c) { return c == '[' || c == ']' || c == '"' || c == '\''; });
    const std::string arch = normalizeArch(name);
    if (arch.empty()) continue;
    std::string& best = name.starts_with("compute_") ? best_virtual_ : best_real_;
    if (best.empty() || archNumber(arch) > archNumber(best) ||
        (archNumber(arch) == archNumber(best) && arch.size() > best.size()))
      best = arch;
  }
}

void Translator::addHostOptions(const std::string& list) {
  for (const std::string& word : splitList(list, ','))
    if (isLanguageFlag(word)) flags_.args.push_back(word);
}

void Translator::addKnown(const Row& row, const std::string& value) {
  switch (row.action) {
    case Action::kSearchPath:
      for (const std::string& folder : splitList(value, ',')) flags_.args.push_back("-I" + folder);
      break;
    case Action::kSystemPath:
      for (const std::string& folder : splitList(value, ','))
        flags_.args.insert(flags_.args.end(), {"-isystem", folder});
      break;
    case Action::kKeepJoined:
      flags_.args.push_back((row.name.find('U') == 1 || row.name.starts_with("--undef") ? "-U" : "-D") +
                            value);
      break;
    case Action::kKeepSplit:
      flags_.args.push_back(row.name == "--pre-include" ? "-include" : std::string(row.name));
      flags_.args.push_back(value);
      break;
    case Action::kStandard:
      flags_.args.push_back("-std=" + value);
      break;
    case Action::kArch:
      addArchs(value);
      break;
    case Action::kGenerateCode: {
      const std::size_t code = value.find("code=");
      const std::string_view text = value;
      if (code != std::string::npos)
        addArchs(text.substr(code + 5));
      else if (text.starts_with("arch="))
        addArchs(text.substr(5));
      break;
    }
    case Action::kHostOptions:
      addHostOptions(value);
      break;
    case Action::kDefaultStream:
      if (value == "per-thread") flags_.args.emplace_back("-DCUDA_API_PER_THREAD_DEFAULT_STREAM");
      break;
    case Action::kCudaPath:
      flags_.cuda_path = value;
      break;
    case Action::kOptionsFile:
    case Action::kDropWithValue:
    case Action::kDrop:
      break;
  }
}

void Translator::addUnknown(const std::string& word) {
  if (word.empty() || word[0] != '-') return;  // an input
  const bool is_codegen = word.starts_with("-O") || word.starts_with("-g");
  if (is_codegen) return;
  if (dialect_ == Dialect::kClang || isLanguageFlag(word)) flags_.args.push_back(word);
}

std::optional<Error> Translator::addOptionsFile(const std::string& name, int depth) {
  constexpr int kMaxNesting = 16;  // a file that names itself must end
  const std::string path = absolutePath(name, flags_.directory);
  auto text = readFile(path);
  if (!text) return Error{"cannot read the options file: " + text.error().message, {path, 0, 0}};
  if (depth > kMaxNesting) return Error{"options files are nested too deeply", {path, 0, 0}};
  return addAll(splitWords(*text), depth + 1);
}

std::optional<Error> Translator::addAll(const std::vector<std::string>& words, int depth) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word.starts_with("@")) {
      if (auto error = addOptionsFile(word.substr(1), depth)) return error;
      continue;
    }
    const Match match = matchWord(word);
    if (match.row == nullptr) {
      addUnknown(word);
      continue;
    }
    std::string value = match.value.value_or("");
    if (!match.value && takesValue(match.row->action)) {
      if (i + 1 == words.size()) return Error{"the flag '" + word + "' lacks its value", {}};
      value = words[++i];
    }
    if (match.row->action != Action::kOptionsFile) {
      addKnown(*match.row, value);
      continue;
    }
    for (const std::string& file : splitList(value, ','))
      if (auto error = addOptionsFile(file, depth)) return error;
  }
  return std::nullopt;
}

Flags Translator::take() {
  flags_.arch = !best_real_.empty() ? best_real_ : best_virtual_;
  return std::move(flags_);
}

}  // namespace

std::string normalizeArch(std::string_view text) {
  for (const std::string_view prefix : {"sm_", "compute_", "lto_"})
    if (text.starts_with(prefix)) text.remove_prefix(prefix.size());
  std::size_t digits = 0;
  while (digits < text.size() && std::isdigit(static_cast<unsigned char>(text[digits])) != 0) ++digits;
  const std::string_view suffix = text.substr(digits);
  if (digits < 2 || digits > 3 || !(suffix.empty() || suffix == "a" || suffix == "f")) return {};
  // Clang 22 knows no family architectures; "a" has every feature that "f" has.
  return "sm_" + std::string(text.substr(0, digits)) + (suffix.empty() ? "" : "a");
}

std::vector<std::string> splitWords(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool is_open = false;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0 && c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
      is_open = true;
    } else if (c == '\\' && quote != '\'' && i + 1 < text.size() &&
               (quote == 0 || text[i + 1] == '"' || text[i + 1] == '\\')) {
      word += text[++i];
      is_open = true;
    } else if (quote == 0 && std::isspace(static_cast<unsigned char>(c)) != 0) {
      if (is_open) words.push_back(std::move(word));
      word.clear();
      is_open = false;
    } else {
      word += c;
      is_open = true;
    }
  }
  if (is_open) words.push_back(std::move(word));
  return words;
}

void makePathsAbsolute(std::vector<std::string>& args, const std::string& directory) {
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (args[i].starts_with("-I")) {
      args[i] = "-I" + absolutePath(args[i].substr(2), directory);
    } else if ((args[i] == "-isystem" || args[i] == "-iquote" || args[i] == "-idirafter") &&
               i + 1 < args.size()) {
      ++i;
      args[i] = absolutePath(args[i], directory);
    } else if (args[i] == "-include" && i + 1 < args.size()) {
      // "-include" also searches the include path: only a file that is there is meant by its place.
      const std::string full = absolutePath(args[++i], directory);
      if (readFile(full)) args[i] = full;
    }
  }
}

Result<Flags> translateFlags(const std::vector<std::string>& words, Dialect dialect,
                             const std::string& directory) {
  Translator translator(dialect, directory);
  if (auto error = translator.addAll(words, 0)) return *error;
  return translator.take();
}

std::vector<std::string> nvccSpelling(const std::vector<std::string>& args) {
  std::vector<std::string> out;
  for (const std::string& arg : args) {
    if (arg.starts_with("-W") || arg.starts_with("-Q") || arg.starts_with("--")) continue;
    if (arg.starts_with("-std=gnu++"))
      out.push_back("-std=c++" + arg.substr(10));
    else if (arg.starts_with("-f") || arg.starts_with("-m"))
      out.push_back("-Xcompiler=" + arg);
    else
      out.push_back(arg);
  }
  return out;
}

}  // namespace handoff::frontend
