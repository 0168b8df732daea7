// SPDX-License-Identifier: Apache-2.0
// The module level: header, files, sections, and the dispatch to variables and functions.
#include "analyzer/ptx/parser.h"

#include <algorithm>
#include <charconv>

#include "analyzer/ptx/parser_impl.h"

namespace handoff::ptx {
namespace {

std::optional<Linkage> parseLinkage(std::string_view word) {
  for (const Linkage linkage : {Linkage::kExtern, Linkage::kVisible, Linkage::kWeak, Linkage::kCommon}) {
    if (word == toString(linkage)) return linkage;
  }
  return std::nullopt;
}

std::string quoted(const Token& token) {
  if (token.kind == TokenKind::kEnd) return "the end of the text";
  constexpr std::size_t kLongest = 40;
  std::string text;
  for (const char c : token.text.substr(0, kLongest)) text += c >= 0x20 && c < 0x7f ? c : '?';
  return "'" + text + "'";
}

std::uint32_t lineOf(std::string_view text, std::size_t offset) {
  std::uint32_t line = 1;
  for (const char c : text.substr(0, offset)) line += c == '\n';
  return line;
}

}  // namespace

Result<Module> parse(std::string_view text, std::string file) { return Parser(text, std::move(file)).run(); }

std::optional<Space> parseSpace(std::string_view word) {
  if (!word.empty() && word.front() == '.') word.remove_prefix(1);
  constexpr struct {
    std::string_view name;
    Space space;
  } kSpaces[] = {
      {"global", Space::kGlobal},
      {"shared", Space::kShared},
      {"shared::cta", Space::kShared},
      {"shared::cluster", Space::kSharedCluster},
      {"local", Space::kLocal},
      {"param", Space::kParam},
      {"param::entry", Space::kParam},
      {"param::func", Space::kParam},
      {"const", Space::kConst},
      {"reg", Space::kReg},
      {"tex", Space::kTex},
  };
  for (const auto& row : kSpaces) {
    if (row.name == word) return row.space;
  }
  return std::nullopt;
}

// Initial bytes may exceed the text that spells them (padded rows), but only by a constant factor.
Parser::Parser(std::string_view text, std::string file)
    : text_(text), lexer_(text), initial_bytes_left_(16 * text.size() + 4096) {
  module_.file = std::move(file);
}

Result<Module> Parser::run() {
  if (const std::size_t nul = text_.find('\0'); nul != std::string_view::npos) {
    return Error{"the input is binary, not PTX text", {module_.file, lineOf(text_, nul), 0}};
  }
  parseHeader();
  while (ok() && !lexer_.isEnd()) parseModuleItem();
  if (module_.target.empty()) fail("truncated or not PTX: no '.target' directive");
  if (error_) return *error_;
  debug_.finish(module_);
  return std::move(module_);
}

void Parser::failAt(std::uint32_t line, std::string message) {
  if (error_) return;
  error_ = Error{std::move(message), {module_.file, line, 0}};
  lexer_.stop();
}

void Parser::fail(std::string message) { failAt(lexer_.peek().line, std::move(message)); }

bool Parser::expect(char punct) {
  if (lexer_.accept(punct)) return true;
  fail(std::string("expected '") + punct + "' but found " + quoted(lexer_.peek()));
  return false;
}

std::string_view Parser::expectIdentifier() {
  if (lexer_.peek().kind == TokenKind::kIdentifier) return lexer_.take().text;
  fail("expected a name but found " + quoted(lexer_.peek()));
  return {};
}

std::optional<std::uint64_t> Parser::expectUnsigned() {
  if (lexer_.peek().kind == TokenKind::kNumber) {
    const auto number = parseNumber(lexer_.peek().text);
    if (number && !number->is_float) {
      lexer_.take();
      return static_cast<std::uint64_t>(number->bits);
    }
  }
  fail("expected an integer but found " + quoted(lexer_.peek()));
  return std::nullopt;
}

void Parser::parseHeader() {
  if (!isDirective(".version")) {
    fail("not PTX: expected '.version' but found " + quoted(lexer_.peek()));
    return;
  }
  lexer_.take();
  const std::string_view version = lexer_.peek().text;
  const std::size_t dot = version.find('.');
  const char* const end = version.data() + version.size();
  if (lexer_.peek().kind != TokenKind::kNumber || dot == std::string_view::npos ||
      std::from_chars(version.data(), end, module_.version_major).ptr != version.data() + dot ||
      std::from_chars(version.data() + dot + 1, end, module_.version_minor).ptr != end) {
    fail("expected a version such as '8.0' but found " + quoted(lexer_.peek()));
    return;
  }
  lexer_.take();
}

void Parser::parseTarget() {
  module_.target = expectIdentifier();
  if (module_.target.starts_with("sm_")) {
    std::from_chars(module_.target.data() + 3, module_.target.data() + module_.target.size(), module_.sm);
  }
  while (lexer_.accept(',')) expectIdentifier();  // texmode_independent, debug, ...
}

void Parser::parseModuleItem() {
  if (lexer_.accept(';')) return;
  const Token token = lexer_.peek();
  if (token.kind != TokenKind::kDirective) {
    fail("expected a directive but found " + quoted(token));
    return;
  }
  Linkage linkage = Linkage::kNone;
  while (lexer_.peek().kind == TokenKind::kDirective) {
    const auto word = parseLinkage(lexer_.peek().text);
    if (!word) break;
    linkage = *word;
    lexer_.take();
  }
  const std::string_view word = lexer_.peek().kind == TokenKind::kDirective ? lexer_.peek().text : "";
  if (word == ".entry" || word == ".func") {
    lexer_.take();
    parseFunction(linkage, /*is_kernel=*/word == ".entry");
  } else if (const auto space = parseSpace(word); space && *space != Space::kReg) {
    lexer_.take();
    parseVariables(*space, linkage);
  } else if (word == ".target") {
    lexer_.take();
    parseTarget();
  } else if (word == ".address_size") {
    lexer_.take();
    module_.address_size = static_cast<unsigned>(expectUnsigned().value_or(64));
  } else if (word == ".file") {
    parseFileDirective();
  } else if (word == ".section") {
    parseSection();
  } else if (word == ".alias") {
    parseAlias();
  } else if (word == ".pragma") {
    skipToSemicolon();
  } else if (word == ".loc") {
    parseLoc();
  } else {
    fail("unexpected " + quoted(lexer_.peek()));
  }
}

void Parser::skipToSemicolon() {
  while (!lexer_.isEnd() && !lexer_.isPunct(';')) lexer_.take();
  expect(';');
}

// .file index "path"{, timestamp, size}
void Parser::parseFileDirective() {
  lexer_.take();
  const std::uint64_t index = expectUnsigned().value_or(0);
  if (lexer_.peek().kind != TokenKind::kString) {
    fail("expected a file name but found " + quoted(lexer_.peek()));
    return;
  }
  debug_.addFile(static_cast<std::uint32_t>(std::min<std::uint64_t>(index, 0xffffffff)), lexer_.take().text);
  while (lexer_.accept(',')) expectUnsigned();
}

// .alias name, target;
void Parser::parseAlias() {
  lexer_.take();
  Alias alias;
  alias.name = expectIdentifier();
  expect(',');
  alias.target = expectIdentifier();
  expect(';');
  module_.aliases.push_back(std::move(alias));
}

// .section .debug_str { label: .b8 list ... }: all others are skipped.
void Parser::parseSection() {
  const std::uint32_t line = lexer_.take().line;
  const bool is_strings = isDirective(".debug_str");
  if (lexer_.peek().kind == TokenKind::kDirective || lexer_.peek().kind == TokenKind::kIdentifier)
    lexer_.take();
  if (!is_strings) {
    if (!lexer_.skipBraces()) failAt(line, "the section does not end");
    return;
  }
  expect('{');
  while (ok() && !lexer_.isPunct('}')) parseSectionItem();
  expect('}');
}

void Parser::parseSectionItem() {
  if (lexer_.peek().kind == TokenKind::kIdentifier) {
    debug_.beginString(lexer_.take().text);
    expect(':');
    return;
  }
  if (!isDirective(".b8")) {
    fail("unexpected " + quoted(lexer_.peek()) + " in .debug_str");
    return;
  }
  lexer_.take();
  do {
    debug_.addStringByte(static_cast<std::uint8_t>(expectUnsigned().value_or(0)));
  } while (lexer_.accept(','));
}

}  // namespace handoff::ptx
