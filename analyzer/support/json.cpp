// SPDX-License-Identifier: Apache-2.0
// RFC 8259, without surrogate pairs beyond what a report holds.
#include "analyzer/support/json.h"

#include <charconv>
#include <cstdio>
#include <fstream>
#include <iterator>

namespace handoff::json {

const Value& Value::operator[](std::string_view name) const {
  static const Value kNull;
  for (const Member& member : object()) {
    if (member.first == name) return member.second;
  }
  return kNull;
}

void Value::set(std::string_view name, Value value) {
  if (!isObject()) data_ = Object();
  for (Member& member : std::get<Object>(data_)) {
    if (member.first == name) {
      member.second = std::move(value);
      return;
    }
  }
  std::get<Object>(data_).emplace_back(std::string(name), std::move(value));
}

void Value::add(Value value) {
  if (!isArray()) data_ = Array();
  std::get<Array>(data_).push_back(std::move(value));
}

const Array& Value::array() const {
  static const Array kEmpty;
  const auto* array = std::get_if<Array>(&data_);
  return array != nullptr ? *array : kEmpty;
}

const Object& Value::object() const {
  static const Object kEmpty;
  const auto* object = std::get_if<Object>(&data_);
  return object != nullptr ? *object : kEmpty;
}

std::string Value::text(std::string_view fallback) const {
  const auto* text = std::get_if<std::string>(&data_);
  return text != nullptr ? *text : std::string(fallback);
}

std::int64_t Value::integer(std::int64_t fallback) const {
  const auto* integer = std::get_if<std::int64_t>(&data_);
  return integer != nullptr ? *integer : fallback;
}

bool Value::boolean(bool fallback) const {
  const auto* boolean = std::get_if<bool>(&data_);
  return boolean != nullptr ? *boolean : fallback;
}

namespace {

void appendString(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (byte < 0x20) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", byte);
      out += code;
    } else {
      out += c;
    }
  }
  out += '"';
}

/// Short arrays of numbers stay on one line.
bool isFlat(const Array& array) {
  for (const Value& value : array) {
    if (value.isObject() || value.isArray() || value.isString()) return false;
  }
  return array.size() <= 16;
}

}  // namespace

void append(std::string& out, const Value& value, unsigned indent) {
  const std::string inner = "\n" + std::string(indent + 2, ' '), outer = "\n" + std::string(indent, ' ');
  if (const auto* boolean = std::get_if<bool>(&value.data_)) {
    out += *boolean ? "true" : "false";
  } else if (const auto* integer = std::get_if<std::int64_t>(&value.data_)) {
    out += std::to_string(*integer);
  } else if (const auto* number = std::get_if<double>(&value.data_)) {
    char text[40];
    std::snprintf(text, sizeof text, "%.9g", *number);
    out += text;
  } else if (const auto* text = std::get_if<std::string>(&value.data_)) {
    appendString(out, *text);
  } else if (const auto* array = std::get_if<Array>(&value.data_)) {
    const bool is_flat = isFlat(*array);
    out += "[";
    for (std::size_t i = 0; i < array->size(); ++i) {
      if (i != 0) out += is_flat ? ", " : ",";
      if (!is_flat) out += inner;
      append(out, (*array)[i], indent + 2);
    }
    if (!is_flat) out += outer;
    out += "]";
  } else if (const auto* object = std::get_if<Object>(&value.data_)) {
    out += "{";
    for (std::size_t i = 0; i < object->size(); ++i) {
      out += (i != 0 ? "," : "") + inner;
      appendString(out, (*object)[i].first);
      out += ": ";
      append(out, (*object)[i].second, indent + 2);
    }
    out += object->empty() ? "}" : outer + "}";
  } else {
    out += "null";
  }
}

std::string print(const Value& value) {
  std::string out;
  append(out, value, 0);
  return out + "\n";
}

namespace {

constexpr unsigned kMaxDepth = 64;

}  // namespace

class Parser {
 public:
  Parser(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  Result<Value> run() {
    Value value;
    if (parseValue(value, 0)) {
      skipSpace();
      if (at_ == text_.size()) return value;
      fail("there is text behind the value");
    }
    return Error{error_, position()};
  }

 private:
  SourcePos position() const {
    std::uint32_t line = 1, column = 1;
    for (std::size_t i = 0; i < at_ && i < text_.size(); ++i) {
      column = text_[i] == '\n' ? 1 : column + 1;
      line += text_[i] == '\n' ? 1 : 0;
    }
    return {name_, line, column};
  }
  /// Looks at every character once, since the parser never goes back.
  std::uint32_t lineHere() {
    for (; counted_ < at_; ++counted_) lines_ += text_[counted_] == '\n' ? 1 : 0;
    return lines_;
  }
  bool fail(const char* why) {
    if (error_.empty()) error_ = why;
    return false;
  }
  void skipSpace() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos)
      ++at_;
  }
  bool take(char c) {
    skipSpace();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool takeWord(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  bool parseValue(Value& value, unsigned depth) {
    skipSpace();
    if (depth > kMaxDepth) return fail("the nesting is too deep");
    if (at_ >= text_.size()) return fail("the text ends too early");
    const std::uint32_t line = lineHere();
    if (!parseBare(value, depth)) return false;
    value.line_ = line;
    return true;
  }

  bool parseBare(Value& value, unsigned depth) {
    switch (text_[at_]) {
      case '{':
        return parseObject(value, depth);
      case '[':
        return parseArray(value, depth);
      case '"': {
        std::string text;
        if (!parseString(text)) return false;
        value = Value(std::move(text));
        return true;
      }
      default:
        break;
    }
    if (takeWord("true")) return value = Value(true), true;
    if (takeWord("false")) return value = Value(false), true;
    if (takeWord("null")) return value = Value(), true;
    return parseNumber(value);
  }

  bool parseObject(Value& value, unsigned depth) {
    Object object;
    take('{');
    if (!take('}')) {
      do {
        skipSpace();
        Member member;
        if (at_ >= text_.size() || text_[at_] != '"') return fail("a member needs a name in quotes");
        if (!parseString(member.first)) return false;
        if (!take(':')) return fail("':' is missing");
        if (!parseValue(member.second, depth + 1)) return false;
        object.push_back(std::move(member));
      } while (take(','));
      if (!take('}')) return fail("'}' or ',' is missing");
    }
    value = Value(std::move(object));
    return true;
  }

  bool parseArray(Value& value, unsigned depth) {
    Array array;
    take('[');
    if (!take(']')) {
      do {
        array.emplace_back();
        if (!parseValue(array.back(), depth + 1)) return false;
      } while (take(','));
      if (!take(']')) return fail("']' or ',' is missing");
    }
    value = Value(std::move(array));
    return true;
  }

  bool parseString(std::string& text) {
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (static_cast<unsigned char>(text_[at_]) < 0x20) return fail("a control character in a string");
      if (text_[at_] != '\\') {
        text += text_[at_];
        continue;
      }
      if (++at_ >= text_.size()) break;
      constexpr std::string_view kCodes = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
      if (text_[at_] == 'u') {
        if (!parseCodePoint(text)) return false;
      } else if (const std::size_t code = kCodes.find(text_[at_]); code != std::string_view::npos) {
        text += kMeanings[code];
      } else {
        return fail("an unknown escape in a string");
      }
    }
    if (at_ >= text_.size()) return fail("the string does not end");
    ++at_;
    return true;
  }

  bool parseCodePoint(std::string& text) {
    unsigned code = 0;
    const char* digits = text_.data() + at_ + 1;
    if (at_ + 4 >= text_.size() || std::from_chars(digits, digits + 4, code, 16).ptr != digits + 4)
      return fail("\\u needs four hexadecimal digits");
    at_ += 4;
    if (code < 0x80) {
      text += static_cast<char>(code);
    } else if (code < 0x800) {
      text += static_cast<char>(0xc0 | code >> 6);
      text += static_cast<char>(0x80 | (code & 0x3f));
    } else {
      text += static_cast<char>(0xe0 | code >> 12);
      text += static_cast<char>(0x80 | (code >> 6 & 0x3f));
      text += static_cast<char>(0x80 | (code & 0x3f));
    }
    return true;
  }

  bool parseNumber(Value& value) {
    const char *begin = text_.data() + at_, *end = text_.data() + text_.size();
    std::int64_t integer = 0;
    const auto [stop, status] = std::from_chars(begin, end, integer);
    const bool is_integer = status == std::errc() &&
                            (stop == end || std::string_view(".eE").find(*stop) == std::string_view::npos);
    if (is_integer) {
      at_ += static_cast<std::size_t>(stop - begin);
      value = Value(integer);
      return true;
    }
    double number = 0;
    const auto [double_stop, double_status] = std::from_chars(begin, end, number);
    if (double_status != std::errc()) return fail("this is no value");
    at_ += static_cast<std::size_t>(double_stop - begin);
    value = Value(number);
    return true;
  }

  std::string_view text_;
  const std::string& name_;
  std::size_t at_ = 0;
  std::size_t counted_ = 0;  ///< characters up to which line ends were counted
  std::uint32_t lines_ = 1;
  std::string error_;
};

Result<Value> parse(std::string_view text, const std::string& name) { return Parser(text, name).run(); }

Result<Value> read(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return Error{"cannot read the file", {path, 0, 0}};
  const std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  return parse(text, path);
}

}  // namespace handoff::json
