// SPDX-License-Identifier: Apache-2.0
// Files and positions in SARIF.
#include <llvm/Support/ConvertUTF.h>

#include <algorithm>
#include <cctype>

#include "analyzer/report/file_lines.h"
#include "analyzer/report/json_text.h"
#include "analyzer/report/sarif_parts.h"

namespace handoff::report {

namespace json = llvm::json;

namespace {

constexpr const char* kRoot = "%SRCROOT%";

/// Bytes of the word that begins at `byte`; at least 1.
std::size_t wordAt(std::string_view line, std::size_t byte) {
  std::size_t end = byte;
  while (end < line.size() && (std::isalnum(static_cast<unsigned char>(line[end])) != 0 || line[end] == '_'))
    ++end;
  return std::max<std::size_t>(end - byte, 1);
}

}  // namespace

std::string uriOf(std::string_view path) {
  constexpr std::string_view kPlain =
      "-._~!$&'()*+,;=@/";  // RFC 3986, path; ':' is left out for relative paths
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string uri = path.starts_with('/') ? "file://" : "";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x80 && std::isalnum(byte) != 0) || kPlain.find(c) != std::string_view::npos) {
      uri += c;
    } else {
      uri += '%';
      uri += kDigits[byte >> 4];
      uri += kDigits[byte & 0xf];
    }
  }
  return uri;
}

json::Object SarifPlaces::artifact(const std::string& file, bool is_input) {
  const std::string path = paths_.fromRoot(file);
  const auto [entry, is_new] = numbers_.try_emplace(path, artifacts_.size());
  if (is_new) artifacts_.push_back({path, false});
  artifacts_[entry->second].is_input |= is_input;
  json::Object object{{"uri", uriOf(path)}, {"index", static_cast<std::int64_t>(entry->second)}};
  if (!path.starts_with('/')) object["uriBaseId"] = kRoot;
  return object;
}

std::int64_t SarifPlaces::column(std::string_view line, std::size_t byte) const {
  const llvm::StringRef before(line.data(), std::min(byte, line.size()));
  llvm::SmallVector<llvm::UTF16, 128> units;
  if (!llvm::convertUTF8ToUTF16String(before, units)) return static_cast<std::int64_t>(byte + 1);
  // The conversion closes its text with a zero that it does not count.
  return static_cast<std::int64_t>(units.size() + (byte - before.size()) + 1);
}

json::Object SarifPlaces::region(const SourcePos& pos, bool with_text) {
  const std::string_view line = sources_.line(pos.file, pos.line);
  std::size_t begin = pos.column == 0 ? line.find_first_not_of(" \t") : pos.column - 1;
  if (begin == std::string_view::npos) begin = 0;
  const std::size_t end = pos.column == 0 ? std::max(line.size(), begin + 1) : begin + wordAt(line, begin);
  json::Object object{{"startLine", static_cast<std::int64_t>(pos.line)},
                      {"startColumn", column(line, begin)},
                      {"endLine", static_cast<std::int64_t>(pos.line)},
                      {"endColumn", column(line, end)}};
  if (with_text && !line.empty()) object["snippet"] = json::Object{{"text", jsonText(line)}};
  return object;
}

json::Object SarifPlaces::location(const SourcePos& pos, bool with_text) {
  json::Object physical{{"artifactLocation", artifact(pos.file)}};
  if (pos.isKnown()) physical["region"] = region(pos, with_text);
  return json::Object{{"physicalLocation", std::move(physical)}};
}

json::Array SarifPlaces::changes(const diagnose::Repair& repair) {
  std::vector<std::pair<std::string, json::Array>> by_file;
  for (const diagnose::SourceChange& change : repair.changes) {
    const std::vector<FileLine> lines = splitLines(sources_.text(change.pos.file));
    if (!isStillThere(change, lines)) return {};
    const TextEdit edit = toEdit(change, lines);
    const auto columnOf = [&](const EditPoint& point) {
      return point.column == 0 ? 1 : column(lines[point.line - 1].text, point.column);
    };
    json::Object replacement{
        {"deletedRegion", json::Object{{"startLine", static_cast<std::int64_t>(edit.first.line)},
                                       {"startColumn", columnOf(edit.first)},
                                       {"endLine", static_cast<std::int64_t>(edit.last.line)},
                                       {"endColumn", columnOf(edit.last)}}}};
    if (!edit.text.empty()) replacement["insertedContent"] = json::Object{{"text", jsonText(edit.text)}};
    auto entry = std::find_if(by_file.begin(), by_file.end(),
                              [&](const auto& item) { return item.first == change.pos.file; });
    if (entry == by_file.end()) entry = by_file.insert(entry, {change.pos.file, {}});
    entry->second.push_back(std::move(replacement));
  }
  json::Array result;
  for (auto& [file, replacements] : by_file)
    result.push_back(
        json::Object{{"artifactLocation", artifact(file)}, {"replacements", std::move(replacements)}});
  return result;
}

json::Array SarifPlaces::artifacts() const {
  json::Array result;
  for (const Artifact& item : artifacts_) {
    json::Object where{{"uri", uriOf(item.path)}};
    if (!item.path.starts_with('/')) where["uriBaseId"] = kRoot;
    json::Object object{{"location", std::move(where)}};
    if (item.is_input) object["roles"] = json::Array{"analysisTarget"};
    result.push_back(std::move(object));
  }
  return result;
}

}  // namespace handoff::report
