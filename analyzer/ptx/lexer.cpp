// SPDX-License-Identifier: Apache-2.0
// The scanner behind lexer.h: a table of character classes and one pass over the text.
#include "analyzer/ptx/lexer.h"

#include <array>
#include <bit>
#include <charconv>
#include <cstring>

namespace handoff::ptx {
namespace {

enum : std::uint8_t { kNameStart = 1, kNameRest = 2, kDigit = 4, kHexDigit = 8 };

constexpr std::array<std::uint8_t, 256> makeClasses() {
  std::array<std::uint8_t, 256> classes{};
  for (int c = 'a'; c <= 'z'; ++c) classes[c] = classes[c - 'a' + 'A'] = kNameStart | kNameRest;
  for (int c = '0'; c <= '9'; ++c) classes[c] = kNameRest | kDigit | kHexDigit;
  for (int c = 'a'; c <= 'f'; ++c) {
    classes[c] |= kHexDigit;
    classes[c - 'a' + 'A'] |= kHexDigit;
  }
  classes['_'] = classes['$'] = kNameStart | kNameRest;
  classes['%'] = kNameStart;
  return classes;
}
constexpr std::array<std::uint8_t, 256> kClasses = makeClasses();

bool is(char c, std::uint8_t mask) { return (kClasses[static_cast<unsigned char>(c)] & mask) != 0; }

std::optional<std::uint64_t> parseUnsigned(std::string_view digits, int base) {
  std::uint64_t value = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (code != std::errc() || end != digits.data() + digits.size() || digits.empty()) return std::nullopt;
  return value;
}

std::optional<NumberValue> parseInteger(std::string_view text) {
  if (text.ends_with('U')) text.remove_suffix(1);
  int base = 10;
  if (text.size() > 1 && text[0] == '0') {
    const char kind = text[1];
    base = kind == 'x' || kind == 'X' ? 16 : kind == 'b' || kind == 'B' ? 2 : 8;
    text.remove_prefix(base == 8 ? 1 : 2);
  }
  const auto value = parseUnsigned(text, base);
  if (!value) return std::nullopt;
  return NumberValue{.bits = static_cast<std::int64_t>(*value)};
}

}  // namespace

std::optional<NumberValue> parseNumber(std::string_view text) {
  if (text.size() > 2 && text[0] == '0' && std::strchr("fFdD", text[1]) != nullptr) {
    const bool is_single = text[1] == 'f' || text[1] == 'F';
    const auto bits = parseUnsigned(text.substr(2), 16);
    if (!bits || text.size() != (is_single ? 10u : 18u)) return std::nullopt;
    return NumberValue{static_cast<std::int64_t>(*bits), /*is_float=*/true, is_single};
  }
  const bool is_hex = text.size() > 1 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
  if (is_hex || text.find_first_of(".eE") == std::string_view::npos) return parseInteger(text);
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return NumberValue{std::bit_cast<std::int64_t>(value), /*is_float=*/true, /*is_single=*/false};
}

Lexer::Lexer(std::string_view text) : cursor_(text.data()), end_(text.data() + text.size()) { advance(); }

Token Lexer::take() {
  const Token taken = token_;
  previous_end_ = cursor_;
  advance();
  return taken;
}

bool Lexer::accept(char c) {
  if (!isPunct(c)) return false;
  take();
  return true;
}

void Lexer::stop() {
  cursor_ = end_;
  token_ = Token{.line = token_.line};
}

// The compilers mark the text of asm statements by comments of their own; both spell them alike.
void Lexer::noteComment(std::string_view comment) {
  if (comment.find("inline asm") == std::string_view::npos) return;
  if (comment.find("begin inline asm") != std::string_view::npos) is_inline_asm_ = true;
  if (comment.find("end inline asm") != std::string_view::npos) is_inline_asm_ = false;
}

void Lexer::skipBlanks() {
  while (cursor_ != end_) {
    const char c = *cursor_;
    if (c == '\n') {
      ++line_;
      ++cursor_;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
      ++cursor_;
    } else if (c == '/' && cursor_ + 1 != end_ && cursor_[1] == '/') {
      const void* eol = std::memchr(cursor_, '\n', static_cast<std::size_t>(end_ - cursor_));
      const char* stop = eol != nullptr ? static_cast<const char*>(eol) : end_;
      noteComment(std::string_view(cursor_, static_cast<std::size_t>(stop - cursor_)));
      cursor_ = stop;
    } else if (c == '/' && cursor_ + 1 != end_ && cursor_[1] == '*') {
      const std::string_view rest(cursor_ + 2, static_cast<std::size_t>(end_ - cursor_ - 2));
      const std::size_t close = rest.find("*/");
      const std::string_view body = rest.substr(0, close);
      for (const char b : body) line_ += b == '\n';
      noteComment(body);
      cursor_ = close == std::string_view::npos ? end_ : body.data() + body.size() + 2;
    } else {
      return;
    }
  }
}

void Lexer::lexNumber() {
  const char* const begin = cursor_;
  const bool is_prefixed = *cursor_ == '0' && cursor_ + 1 != end_ &&
                           std::strchr("xXfFdDbB", cursor_[1]) != nullptr && cursor_[1] != 0;
  const auto skip = [&](std::uint8_t mask) {
    while (cursor_ != end_ && is(*cursor_, mask)) ++cursor_;
  };
  if (is_prefixed) {
    skip(kNameRest);
    return;
  }
  skip(kDigit);
  // "1.5", and "0." as inline assembly writes it; a name behind the point is a modifier.
  if (cursor_ != end_ && *cursor_ == '.' && cursor_ + 1 != end_ && (is(cursor_[1], kDigit) || !is(cursor_[1], kNameRest))) {
    ++cursor_;
    skip(kDigit);
  }
  if (cursor_ != end_ && (*cursor_ == 'e' || *cursor_ == 'E')) {
    ++cursor_;
    if (cursor_ != end_ && (*cursor_ == '+' || *cursor_ == '-')) ++cursor_;
  }
  if (cursor_ != begin) skip(kNameRest);
}

void Lexer::advance() {
  skipBlanks();
  token_ = Token{.line = line_};
  if (cursor_ == end_) return;
  const char* const begin = cursor_;
  const char c = *cursor_;
  if (is(c, kNameStart)) {
    token_.kind = TokenKind::kIdentifier;
    ++cursor_;
    while (cursor_ != end_ && is(*cursor_, kNameRest)) ++cursor_;
    // A lone '%' is the remainder operator of a constant expression.
    if (c == '%' && cursor_ == begin + 1) {
      token_.kind = TokenKind::kPunct;
      token_.punct = '%';
    }
  } else if (is(c, kDigit)) {
    token_.kind = TokenKind::kNumber;
    lexNumber();
  } else if (c == '.' && cursor_ + 1 != end_ && is(cursor_[1], kNameRest)) {
    token_.kind = TokenKind::kDirective;
    ++cursor_;
    while (cursor_ != end_ &&
           (is(*cursor_, kNameRest) || (*cursor_ == ':' && cursor_ + 1 != end_ && cursor_[1] == ':'))) {
      cursor_ += *cursor_ == ':' ? 2 : 1;
    }
  } else if (c == '"') {
    const char* close = cursor_ + 1;
    while (close != end_ && *close != '"' && *close != '\n') ++close;
    if (close == end_ || *close != '"') {
      token_.kind = TokenKind::kPunct;
      token_.punct = '"';
      ++cursor_;
    } else {
      token_.kind = TokenKind::kString;
      token_.text = std::string_view(begin + 1, static_cast<std::size_t>(close - begin - 1));
      cursor_ = close + 1;
      return;
    }
  } else {
    token_.kind = TokenKind::kPunct;
    token_.punct = c;
    ++cursor_;
  }
  token_.text = std::string_view(begin, static_cast<std::size_t>(cursor_ - begin));
}

void Lexer::extendOpcode() {
  while (cursor_ != end_ && *cursor_ == '.' && cursor_ + 1 != end_ && is(cursor_[1], kNameRest)) {
    ++cursor_;
    while (cursor_ != end_ &&
           (is(*cursor_, kNameRest) || (*cursor_ == ':' && cursor_ + 1 != end_ && cursor_[1] == ':'))) {
      cursor_ += *cursor_ == ':' ? 2 : 1;
    }
  }
  token_.text = std::string_view(token_.text.data(), static_cast<std::size_t>(cursor_ - token_.text.data()));
}

bool Lexer::skipBraces() {
  if (!isPunct('{')) return false;
  for (std::size_t depth = 0; !isEnd();) {
    if (isPunct('{')) ++depth;
    if (isPunct('}') && --depth == 0) {
      take();
      return true;
    }
    take();
  }
  return false;
}

}  // namespace handoff::ptx
