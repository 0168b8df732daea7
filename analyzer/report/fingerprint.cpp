// SPDX-License-Identifier: Apache-2.0
// Fingerprints of findings.
#include "analyzer/report/fingerprint.h"

#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/SHA256.h>

#include <cctype>
#include <initializer_list>
#include <map>

namespace handoff::report {
namespace {

bool isSpace(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }
bool isDigit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// The line without comments and blanks; what stands in quotes stays as it is.
std::string codeOf(std::string_view line) {
  std::string code;
  char quote = '\0';
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote != '\0') {
      code += c;
      if (c == '\\' && i + 1 < line.size())
        code += line[++i];
      else if (c == quote)
        quote = '\0';
    } else if (line.substr(i, 2) == "//") {
      break;
    } else if (line.substr(i, 2) == "/*") {
      const std::size_t end = line.find("*/", i + 2);
      if (end == std::string_view::npos) break;
      i = end + 1;
    } else if (!isSpace(c)) {
      const bool separates_digits = c == '\'' && !code.empty() && isDigit(code.back());
      if (c == '"' || (c == '\'' && !separates_digits)) quote = c;
      code += c;
    }
  }
  return code;
}

/// Without the digits of %r12, %fd3, $L__BB0_4.
std::string withoutNumbers(const std::string& code) {
  std::string text;
  bool is_name = false;
  for (const char c : code) {
    if (c == '%' || c == '$')
      is_name = true;
    else if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_')
      is_name = false;
    if (!is_name || !isDigit(c)) text += c;
  }
  return text;
}

std::string hashOf(std::initializer_list<std::string_view> fields) {
  llvm::SHA256 hash;
  for (const std::string_view field : fields) {
    hash.update(llvm::StringRef(field.data(), field.size()));
    hash.update(llvm::StringRef("\0", 1));
  }
  constexpr std::size_t kBytes = 8;
  return llvm::toHex(llvm::ArrayRef(hash.final()).take_front(kBytes), /*LowerCase=*/true);
}

}  // namespace

std::string normalisedLine(std::string_view line, bool is_ptx) {
  const std::string code = codeOf(line);
  return is_ptx ? withoutNumbers(code) : code;
}

std::string bufferName(std::string_view buffer) {
  std::string name(buffer.substr(0, buffer.find_first_of("[,")));
  while (!name.empty() && isSpace(name.back())) name.pop_back();
  return name;
}

void addFingerprints(FileReport& file, const Paths& paths, SourceLines& sources) {
  std::map<std::string, unsigned> counts;
  for (diagnose::KernelReport& kernel : file.kernels) {
    const std::string& name = kernel.pretty.empty() ? kernel.name : kernel.pretty;
    for (diagnose::Finding& finding : kernel.findings) {
      const SourcePos pos = paths.ownPos(finding.stack);
      const std::string line = normalisedLine(sources.line(pos.file, pos.line), pos.file.ends_with(".ptx"));
      const std::string hash =
          hashOf({finding.rule, name, paths.fromRoot(pos.file), line, bufferName(finding.witness.buffer)});
      finding.fingerprint = hash + ":" + std::to_string(++counts[hash]);
    }
  }
}

}  // namespace handoff::report
