// SPDX-License-Identifier: Apache-2.0
// Result<T>: a value, or an error with a position that a user can act on.
#pragma once

#include <string>
#include <utility>
#include <variant>

#include "analyzer/support/check.h"
#include "analyzer/support/source.h"

namespace handoff {

/// Something the user can cause: an unreadable file, a syntax error, a bad option.
struct Error {
  std::string message;  ///< one sentence, lower case, no full stop
  SourcePos pos;        ///< unknown when the error belongs to no file
};

/// "file:line:column: error: message", or "error: message" when the position is unknown.
std::string toString(const Error& error);

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Error error) : state_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool hasValue() const { return std::holds_alternative<T>(state_); }
  explicit operator bool() const { return hasValue(); }

  T& operator*() { return value(); }
  const T& operator*() const { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const Error& error() const {
    HANDOFF_CHECK(!hasValue());
    return std::get<Error>(state_);
  }

 private:
  T& value() {
    HANDOFF_CHECK(hasValue());
    return std::get<T>(state_);
  }
  const T& value() const {
    HANDOFF_CHECK(hasValue());
    return std::get<T>(state_);
  }

  std::variant<T, Error> state_;
};

}  // namespace handoff
