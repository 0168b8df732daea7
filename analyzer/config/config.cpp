// SPDX-License-Identifier: Apache-2.0
// Reading .handoff.yaml with LLVM's YAML I/O, which knows the position of every node.
#include "analyzer/config/config.h"

#include <llvm/ADT/SmallString.h>
#include <llvm/Support/JSON.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/YAMLParser.h>
#include <llvm/Support/YAMLTraits.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>
#include <filesystem>

#include "analyzer/support/launch_text.h"
#include "analyzer/support/tensor_box.h"
#include "analyzer/support/text.h"

namespace handoff::config {
namespace {

/// Values whose scalars are checked while the reader still knows where they stand.
struct LaunchValue {
  std::string text;
};
struct BoxValue {
  std::string text;
};
struct Glob {
  std::string text;
};
struct Positive {
  unsigned value = 0;
};

struct LaunchEntry {
  Glob kernel;
  LaunchValue launch;
  llvm::SMLoc loc;
};
struct BudgetEntry {
  std::optional<Positive> seconds, share, paths, memory;
};
/// Text that must say something.
struct Words {
  std::string text;
};
struct TensorMapEntry {
  Glob kernel;
  Words map;
  BoxValue box;
  llvm::SMLoc loc;
};
struct SuppressionEntry {
  Words rule;
  std::optional<Words> file;
  std::optional<Glob> kernel;
  Words reason;
  llvm::SMLoc loc;
};
struct FileContent {
  std::optional<Words> checks, warnings_as_errors, arch, frontend, cuda_path;
  std::vector<Words> extra_args;
  std::vector<LaunchEntry> launches;
  std::vector<TensorMapEntry> tensor_maps;
  std::vector<SuppressionEntry> suppressions;
  BudgetEntry budget;
};

constexpr std::string_view kAllKeys[] = {"checks",    "warnings-as-errors",
                                         "arch",      "frontend",
                                         "cuda-path", "extra-arg",
                                         "launches",  "tensormaps",
                                         "budget",    "suppressions",
                                         "kernel",    "launch",
                                         "map",       "box",
                                         "rule",      "file",
                                         "reason",    "seconds",
                                         "share",     "paths",
                                         "memory"};

constexpr llvm::StringLiteral kNoText = "expected text: UTF-8 without control characters";

/// Where the first byte is that is no text; npos: nowhere. Escapes of YAML make such bytes, too.
std::size_t findNoText(llvm::StringRef text) {
  const std::size_t control = text.find_if([](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte == 0x7f || (byte < 0x20 && c != '\t' && c != '\n' && c != '\r');
  });
  std::size_t invalid = llvm::StringRef::npos;
  if (llvm::json::isUTF8(text, &invalid)) return control;
  return std::min(control, invalid);
}

bool isText(llvm::StringRef text) { return findNoText(text) == llvm::StringRef::npos; }

}  // namespace
}  // namespace handoff::config

LLVM_YAML_IS_SEQUENCE_VECTOR(handoff::config::LaunchEntry)
LLVM_YAML_IS_SEQUENCE_VECTOR(handoff::config::TensorMapEntry)
LLVM_YAML_IS_SEQUENCE_VECTOR(handoff::config::SuppressionEntry)
LLVM_YAML_IS_SEQUENCE_VECTOR(handoff::config::Words)

namespace llvm::yaml {

using namespace handoff::config;  // for the types that the traits are about

template <>
struct ScalarTraits<LaunchValue> {
  static void output(const LaunchValue& value, void*, raw_ostream& out) { out << value.text; }
  static StringRef input(StringRef text, void* context, LaunchValue& value) {
    value.text = text.str();
    if (!isText(text)) return kNoText;
    const auto launch = handoff::parseLaunchText(value.text, handoff::Block::kNeeded);
    if (launch) return {};
    std::string& message = *static_cast<std::string*>(context);  // must outlive the call
    message = launch.error().message;
    return message;
  }
  static QuotingType mustQuote(StringRef) { return QuotingType::Double; }
};

template <>
struct ScalarTraits<BoxValue> {
  static void output(const BoxValue& value, void*, raw_ostream& out) { out << value.text; }
  static StringRef input(StringRef text, void*, BoxValue& value) {
    value.text = text.str();
    return handoff::parseTensorBox(value.text) ? StringRef()
                                               : "expected one to five extents and a type, as 64x128xbf16";
  }
  static QuotingType mustQuote(StringRef) { return QuotingType::Double; }
};

template <>
struct ScalarTraits<Glob> {
  static void output(const Glob& value, void*, raw_ostream& out) { out << value.text; }
  static StringRef input(StringRef text, void*, Glob& value) {
    value.text = text.str();
    if (!isText(text)) return kNoText;
    return value.text.empty() ? "expected the name of a kernel, where * stands for any text" : StringRef();
  }
  static QuotingType mustQuote(StringRef) { return QuotingType::Double; }
};

template <>
struct ScalarTraits<Words> {
  static void output(const Words& value, void*, raw_ostream& out) { out << value.text; }
  static StringRef input(StringRef text, void*, Words& value) {
    value.text = text.trim().str();
    if (!isText(text)) return kNoText;
    return value.text.empty() ? "expected a text that is not empty" : StringRef();
  }
  static QuotingType mustQuote(StringRef) { return QuotingType::Double; }
};

template <>
struct ScalarTraits<Positive> {
  static void output(const Positive& value, void*, raw_ostream& out) { out << value.value; }
  static StringRef input(StringRef text, void*, Positive& value) {
    return text.getAsInteger(10, value.value) || value.value == 0 ? "expected a positive number"
                                                                  : StringRef();
  }
  static QuotingType mustQuote(StringRef) { return QuotingType::None; }
};

/// Where the entry starts.
template <typename Entry>
void keepPlace(IO& io, Entry& entry) {
  if (io.outputting()) return;
  if (const Node* node = static_cast<Input&>(io).getCurrentNode()) entry.loc = node->getSourceRange().Start;
}

template <>
struct MappingTraits<LaunchEntry> {
  static void mapping(IO& io, LaunchEntry& entry) {
    keepPlace(io, entry);
    io.mapRequired("kernel", entry.kernel);
    io.mapRequired("launch", entry.launch);
  }
};

template <>
struct MappingTraits<TensorMapEntry> {
  static void mapping(IO& io, TensorMapEntry& entry) {
    keepPlace(io, entry);
    io.mapRequired("kernel", entry.kernel);
    io.mapRequired("map", entry.map);
    io.mapRequired("box", entry.box);
  }
};

template <>
struct MappingTraits<SuppressionEntry> {
  static void mapping(IO& io, SuppressionEntry& entry) {
    keepPlace(io, entry);
    io.mapRequired("rule", entry.rule);
    io.mapOptional("file", entry.file);
    io.mapOptional("kernel", entry.kernel);
    io.mapRequired("reason", entry.reason);
  }
};

template <>
struct MappingTraits<BudgetEntry> {
  static void mapping(IO& io, BudgetEntry& budget) {
    io.mapOptional("seconds", budget.seconds);
    io.mapOptional("share", budget.share);
    io.mapOptional("paths", budget.paths);
    io.mapOptional("memory", budget.memory);
  }
};

template <>
struct MappingTraits<FileContent> {
  static void mapping(IO& io, FileContent& content) {
    io.mapOptional("checks", content.checks);
    io.mapOptional("warnings-as-errors", content.warnings_as_errors);
    io.mapOptional("arch", content.arch);
    io.mapOptional("frontend", content.frontend);
    io.mapOptional("cuda-path", content.cuda_path);
    io.mapOptional("extra-arg", content.extra_args);
    io.mapOptional("launches", content.launches);
    io.mapOptional("tensormaps", content.tensor_maps);
    io.mapOptional("suppressions", content.suppressions);
    io.mapOptional("budget", content.budget);
  }
};

}  // namespace llvm::yaml

namespace handoff::config {
namespace {

struct Reading {
  std::string file;
  std::optional<Error> error;
};

/// Keys that the reader calls unknown are misspelt ones of ours.
std::string withSuggestion(llvm::StringRef message) {
  constexpr llvm::StringLiteral kUnknown = "unknown key '";
  if (!message.starts_with(kUnknown)) return message.str();
  const std::string word = message.substr(kUnknown.size()).split('\'').first.str();
  return message.str() + suggestion(word, kAllKeys);
}

void keepFirst(const llvm::SMDiagnostic& diagnostic, void* context) {
  Reading& reading = *static_cast<Reading*>(context);
  if (reading.error || diagnostic.getKind() != llvm::SourceMgr::DK_Error) return;
  const int line = diagnostic.getLineNo(), column = diagnostic.getColumnNo();
  reading.error = Error{withSuggestion(diagnostic.getMessage()),
                        {reading.file, static_cast<std::uint32_t>(std::max(line, 1)),  // some name no place
                         column >= 0 ? static_cast<std::uint32_t>(column) + 1 : 0}};
}

std::uint32_t lineOf(std::string_view text, llvm::SMLoc loc) {
  if (!loc.isValid()) return 0;
  const std::size_t offset = std::min(static_cast<std::size_t>(loc.getPointer() - text.data()), text.size());
  return 1 + static_cast<std::uint32_t>(
                 std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(offset), '\n'));
}

std::optional<unsigned> numberOf(const std::optional<Positive>& value) {
  return value ? std::optional(value->value) : std::nullopt;
}

std::optional<std::string> textOf(const std::optional<Words>& value) {
  return value ? std::optional(value->text) : std::nullopt;
}

std::optional<Words> wordsOf(const std::optional<std::string>& value) {
  return value ? std::optional(Words{*value}) : std::nullopt;
}

/// Where the keys of a text that could be read stand.
class KeyFinder {
 public:
  KeyFinder(std::string_view text, const std::string& file, std::map<std::string, SourcePos>& positions)
      : text_(text), file_(file), positions_(positions) {}

  /// What was read is the first document that says something; another is a mistake.
  std::optional<Error> find() {
    Reading reading{file_, std::nullopt};
    llvm::SourceMgr sources;
    sources.setDiagHandler(keepFirst, &reading);
    llvm::yaml::Stream stream(llvm::StringRef(text_.data(), text_.size()), sources);
    bool is_first = true;
    for (llvm::yaml::Document& document : stream) {
      llvm::yaml::Node* const root = document.getRoot();
      if (root == nullptr || llvm::isa<llvm::yaml::NullNode>(root)) continue;
      if (!is_first) return Error{"a second document; a configuration is one", positionOf(*root)};
      add(root, "");
      is_first = false;
    }
    return reading.error;
  }

 private:
  void add(llvm::yaml::Node* node, const std::string& prefix) {
    auto* const mapping = llvm::dyn_cast_or_null<llvm::yaml::MappingNode>(node);
    if (mapping == nullptr) return;
    for (llvm::yaml::KeyValueNode& item : *mapping) {
      auto* const key = llvm::dyn_cast_or_null<llvm::yaml::ScalarNode>(item.getKey());
      if (key == nullptr) continue;
      llvm::SmallString<32> storage;
      const std::string name = prefix + key->getValue(storage).str();
      positions_[name] = positionOf(*key);
      add(item.getValue(), name + ".");
    }
  }

  SourcePos positionOf(const llvm::yaml::Node& node) const {
    return {file_, std::max(lineOf(text_, node.getSourceRange().Start), 1u), 0};
  }

  std::string_view text_;
  const std::string& file_;
  std::map<std::string, SourcePos>& positions_;
};

/// Nothing but blanks and comments: a file that is about to be written.
bool isEmpty(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::size_t start = text.substr(0, end).find_first_not_of(" \t\r");
    if (start != std::string_view::npos && text[start] != '#') return false;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return true;
}

}  // namespace

Result<Config> parse(std::string_view text, const std::string& file) {
  Config config;
  config.path = file;
  if (isEmpty(text)) return config;
  if (const std::size_t at = findNoText(text); at != llvm::StringRef::npos)
    return Error{std::string(kNoText), {file, lineOf(text, llvm::SMLoc::getFromPointer(text.data() + at)), 0}};
  Reading reading{file, std::nullopt};
  std::string message;
  FileContent content;
  llvm::yaml::Input input(llvm::StringRef(text.data(), text.size()), &message, keepFirst, &reading);
  input >> content;
  if (reading.error) return *reading.error;
  if (input.error()) return Error{"is no YAML", {file, 1, 0}};  // the scanner names no place of its own
  for (const LaunchEntry& entry : content.launches)
    config.launches.push_back({entry.kernel.text, entry.launch.text, {file, lineOf(text, entry.loc), 0}});
  for (const TensorMapEntry& entry : content.tensor_maps)
    config.tensor_maps.push_back(
        {entry.kernel.text, entry.map.text, entry.box.text, {file, lineOf(text, entry.loc), 0}});
  config.budget = {numberOf(content.budget.seconds), numberOf(content.budget.paths),
                   numberOf(content.budget.memory), numberOf(content.budget.share)};
  for (const SuppressionEntry& entry : content.suppressions) {
    Suppression item{
        .rule = entry.rule.text, .reason = entry.reason.text, .pos = {file, lineOf(text, entry.loc), 0}};
    if (entry.file) item.file = entry.file->text;
    if (entry.kernel) item.kernel = entry.kernel->text;
    config.suppressions.push_back(std::move(item));
  }
  config.checks = textOf(content.checks);
  config.warnings_as_errors = textOf(content.warnings_as_errors);
  config.arch = textOf(content.arch);
  config.frontend = textOf(content.frontend);
  config.cuda_path = textOf(content.cuda_path);
  for (const Words& word : content.extra_args) config.extra_args.push_back(word.text);
  if (std::optional<Error> error = KeyFinder(text, file, config.positions).find()) return *error;
  return config;
}

std::string toYaml(const Config& config) {
  FileContent content;
  content.checks = wordsOf(config.checks);
  content.warnings_as_errors = wordsOf(config.warnings_as_errors);
  content.arch = wordsOf(config.arch);
  content.frontend = wordsOf(config.frontend);
  content.cuda_path = wordsOf(config.cuda_path);
  for (const std::string& arg : config.extra_args) content.extra_args.push_back({arg});
  for (const Launch& launch : config.launches)
    content.launches.push_back({{launch.kernel}, {launch.launch}, {}});
  for (const TensorMap& map : config.tensor_maps)
    content.tensor_maps.push_back({{map.kernel}, {map.map}, {map.box}, {}});
  for (const Suppression& item : config.suppressions)
    content.suppressions.push_back({{item.rule}, Words{item.file}, Glob{item.kernel}, {item.reason}, {}});
  const auto positive = [](const std::optional<unsigned>& value) {
    return value ? std::optional(Positive{*value}) : std::nullopt;
  };
  content.budget = {positive(config.budget.seconds), positive(config.budget.share),
                    positive(config.budget.paths), positive(config.budget.memory_mb)};
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::yaml::Output output(stream, /*Ctxt=*/nullptr, /*WrapColumn=*/0);
  output << content;
  return text;
}

Result<Config> load(const std::string& file) {
  const auto buffer = llvm::MemoryBuffer::getFile(file);
  if (!buffer) return Error{"cannot be read: " + buffer.getError().message(), {file, 0, 0}};
  return parse(std::string_view((*buffer)->getBufferStart(), (*buffer)->getBufferSize()), file);
}

std::optional<std::string> findFor(const std::string& file) {
  std::error_code failed;
  const std::filesystem::path start = std::filesystem::absolute(file, failed).lexically_normal();
  if (failed) return std::nullopt;
  for (std::filesystem::path folder = start.parent_path();; folder = folder.parent_path()) {
    const std::filesystem::path candidate = folder / kFileName;
    if (std::filesystem::exists(candidate, failed)) return candidate.string();
    if (folder == folder.parent_path()) return std::nullopt;
  }
}

}  // namespace handoff::config
