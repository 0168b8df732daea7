// SPDX-License-Identifier: Apache-2.0
// JSON values for programs that do without LLVM: parsed, built, printed. Objects keep the order of their
// members.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "analyzer/support/result.h"

namespace handoff::json {

class Value;
using Array = std::vector<Value>;
using Member = std::pair<std::string, Value>;
using Object = std::vector<Member>;

class Value {
 public:
  Value() = default;                                     ///< null
  Value(bool value) : data_(value) {}                    // NOLINT(google-explicit-constructor)
  Value(int value) : data_(std::int64_t{value}) {}       // NOLINT(google-explicit-constructor)
  Value(unsigned value) : data_(std::int64_t{value}) {}  // NOLINT(google-explicit-constructor)
  Value(std::int64_t value) : data_(value) {}            // NOLINT(google-explicit-constructor)
  Value(std::uint64_t value)
      : data_(static_cast<std::int64_t>(value)) {}              // NOLINT(google-explicit-constructor)
  Value(double value) : data_(value) {}                         // NOLINT(google-explicit-constructor)
  Value(const char* value) : data_(std::string(value)) {}       // NOLINT(google-explicit-constructor)
  Value(std::string_view value) : data_(std::string(value)) {}  // NOLINT(google-explicit-constructor)
  Value(std::string value) : data_(std::move(value)) {}         // NOLINT(google-explicit-constructor)
  Value(Array value) : data_(std::move(value)) {}               // NOLINT(google-explicit-constructor)
  Value(Object value) : data_(std::move(value)) {}              // NOLINT(google-explicit-constructor)

  bool isNull() const { return std::holds_alternative<std::monostate>(data_); }
  bool isString() const { return std::holds_alternative<std::string>(data_); }
  bool isInteger() const { return std::holds_alternative<std::int64_t>(data_); }
  bool isObject() const { return std::holds_alternative<Object>(data_); }
  bool isArray() const { return std::holds_alternative<Array>(data_); }

  /// The member of that name; null when there is none, or this is no object.
  const Value& operator[](std::string_view name) const;
  /// Sets a member; makes a null an object.
  void set(std::string_view name, Value value);
  /// Appends to an array; makes a null an array.
  void add(Value value);

  /// The elements; empty when this is no array.
  const Array& array() const;
  const Object& object() const;
  std::string text(std::string_view fallback = "") const;
  std::int64_t integer(std::int64_t fallback = 0) const;
  bool boolean(bool fallback = false) const;

  /// The line in which a parsed value begins, from 1; 0 for one that was built.
  std::uint32_t line() const { return line_; }

 private:
  friend void append(std::string& out, const Value& value, unsigned indent);
  friend class Parser;
  std::uint32_t line_ = 0;
  std::variant<std::monostate, bool, std::int64_t, double, std::string, Array, Object> data_;
};

/// With two spaces a level and a final newline.
std::string print(const Value& value);

/// `name` is the file in errors, which have a line and a column. Text must be UTF-8; nesting beyond 64 levels
/// is an error.
Result<Value> parse(std::string_view text, const std::string& name);

/// Reads and parses a file.
Result<Value> read(const std::string& path);

}  // namespace handoff::json
