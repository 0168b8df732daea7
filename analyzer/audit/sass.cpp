// SPDX-License-Identifier: Apache-2.0
// Line by line: heads of functions, positions in the source, and opcodes by their mnemonic.
#include "analyzer/audit/sass.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <sstream>
#include <utility>

namespace handoff::audit {

namespace {

/// What ptxas makes of asynchronous PTX ("CUDA Binary Utilities", Instruction Set Reference; UBLKRED, UTMAREDG and UTCHMMA
/// as disassembled from reductions and tcgen05).
constexpr std::array<std::pair<std::string_view, Lowering>, 15> kMnemonics = {{
    {"LDGSTS", Lowering::kCpAsync},
    {"UBLKCP", Lowering::kBulk},
    {"UBLKRED", Lowering::kBulk},
    {"UBLKPF", Lowering::kBulk},
    {"UTMALDG", Lowering::kTensor},
    {"UTMASTG", Lowering::kTensor},
    {"UTMAREDG", Lowering::kTensor},
    {"UTMAPF", Lowering::kTensor},
    {"STAS", Lowering::kAsyncStore},
    {"REDAS", Lowering::kAsyncStore},
    {"HGMMA", Lowering::kMatrix},
    {"IGMMA", Lowering::kMatrix},
    {"QGMMA", Lowering::kMatrix},
    {"UTCHMMA", Lowering::kMatrix},
    {"UTCQMMA", Lowering::kMatrix},
}};

/// "   /*0120*/   @!P0 LDGSTS.E.BYPASS.128 [R3], ..." -> "LDGSTS.E.BYPASS.128"; empty for other lines.
std::string_view opcodeOf(std::string_view line) {
  const std::size_t start = line.find("/*"), end = line.find("*/");
  if (start == std::string_view::npos || end == std::string_view::npos) return {};
  const bool is_first = line.find_first_not_of(" \t") == start;
  if (!is_first) return {};
  line.remove_prefix(end + 2);
  const auto next = [&] {
    const std::size_t from = line.find_first_not_of(" \t{");
    if (from == std::string_view::npos) return std::string_view();
    line.remove_prefix(from);
    const std::size_t to = line.find_first_of(" \t;");
    const std::string_view word = line.substr(0, to);
    line.remove_prefix(to == std::string_view::npos ? line.size() : to);
    return word;
  };
  const std::string_view word = next();
  return word.starts_with('@') ? next() : word;
}

std::optional<std::string> textBehind(const std::string& line, std::string_view mark) {
  const std::size_t at = line.find(mark);
  if (at == std::string::npos) return std::nullopt;
  std::string text = line.substr(at + mark.size());
  while (!text.empty() && (text.back() == '\r' || text.back() == ' ')) text.pop_back();
  return text;
}

void add(SassFunction& function, std::string_view opcode, std::uint32_t line) {
  const std::string_view mnemonic = opcode.substr(0, opcode.find('.'));
  if (mnemonic == "LDG") ++function.plain_loads;
  if (mnemonic == "STS") ++function.plain_stores;
  const auto row = std::find_if(kMnemonics.begin(), kMnemonics.end(), [&](const auto& known) { return known.first == mnemonic; });
  if (row == kMnemonics.end()) return;
  const auto same = std::find_if(function.instructions.begin(), function.instructions.end(), [&](const SassInstruction& known) {
    return known.opcode == opcode && known.line == line;
  });
  if (same == function.instructions.end()) {
    function.instructions.push_back({row->second, std::string(opcode), line, 1});
  } else {
    ++same->count;
  }
}

/// `//## File "a.cu", line 18 inlined at "a.cu", line 32`: the last number. Of several such lines the last one counts.
std::uint32_t outermostLine(const std::string& text) {
  constexpr std::string_view kMark = ", line ";
  const std::size_t at = text.rfind(kMark);
  std::uint32_t line = 0;
  if (at != std::string::npos) std::from_chars(text.data() + at + kMark.size(), text.data() + text.size(), line);
  return line;
}

}  // namespace

std::string SassFunction::opcodesOf(Lowering lowering, std::uint32_t line) const {
  if (!hasLines()) line = 0;
  std::vector<std::pair<std::string_view, std::uint32_t>> counts;
  for (const SassInstruction& instr : instructions) {
    if (instr.lowering != lowering || (line != 0 && instr.line != line)) continue;
    const auto same = std::find_if(counts.begin(), counts.end(), [&](const auto& known) { return known.first == instr.opcode; });
    if (same == counts.end()) {
      counts.emplace_back(instr.opcode, instr.count);
    } else {
      same->second += instr.count;
    }
  }
  std::string text;
  for (const auto& [opcode, count] : counts)
    text += (text.empty() ? "" : ", ") + std::string(opcode) + " (" + std::to_string(count) + ")";
  return text;
}

bool SassFunction::hasLines() const {
  return std::any_of(instructions.begin(), instructions.end(), [](const SassInstruction& instr) { return instr.line != 0; });
}

std::vector<SassFunction> parseSass(std::string_view text) {
  std::vector<SassFunction> functions;
  std::string arch;
  std::uint32_t source_line = 0;
  const auto start = [&](std::string name) {
    functions.push_back({});
    functions.back().name = std::move(name);
    functions.back().arch = arch;
    source_line = 0;
  };
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    if (const auto named = textBehind(line, "code for ")) arch = *named;
    if (const auto named = textBehind(line, ".target\t")) arch = *named;
    if (auto name = textBehind(line, "Function : ")) start(std::move(*name));
    if (auto name = textBehind(line, ".section\t.text.")) start(name->substr(0, name->find(',')));
    if (line.find("//## File ") != std::string::npos) source_line = outermostLine(line);
    if (functions.empty()) continue;
    if (const std::string_view opcode = opcodeOf(line); !opcode.empty()) add(functions.back(), opcode, source_line);
  }
  return functions;
}

}  // namespace handoff::audit
