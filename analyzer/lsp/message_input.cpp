// SPDX-License-Identifier: Apache-2.0
// "Content-Length: N", an empty line, N bytes (Language Server Protocol, "Base Protocol").
#include "analyzer/lsp/message_input.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace handoff::lsp {

using llvm::lsp::ErrorCode;

namespace {

constexpr std::size_t kMaxMessage = std::size_t{256} << 20U;  ///< bytes: a source file is far below
constexpr std::size_t kMaxHeaderLine = 4096;
constexpr std::size_t kMaxNesting = 256;

std::string malformed(ErrorCode code, const std::string& message, llvm::json::Value id = nullptr) {
  llvm::json::Value call = llvm::json::Object{
      {"jsonrpc", "2.0"},
      {"id", std::move(id)},
      {"method", MessageInput::kMalformed},
      {"params",
       llvm::json::Object{{"code", static_cast<int>(code)}, {"message", llvm::json::fixUTF8(message)}}}};
  return llvm::formatv("{0}", call);
}

bool isId(const llvm::json::Value& id) {
  return id.kind() == llvm::json::Value::String || id.kind() == llvm::json::Value::Number;
}

}  // namespace

std::size_t nestingOf(llvm::StringRef json) {
  std::size_t depth = 0, most = 0;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (c == '"') {
      for (++i; i < json.size() && json[i] != '"'; ++i)
        if (json[i] == '\\') ++i;
    } else if (c == '[' || c == '{') {
      most = std::max(most, ++depth);
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return most;
}

bool MessageInput::readLine(std::string& line) {
  line.clear();
  for (int c = std::fgetc(in_); c != EOF; c = std::fgetc(in_)) {
    if (c == '\n') {
      if (line.ends_with('\r')) line.pop_back();
      return true;
    }
    if (line.size() < kMaxHeaderLine) line.push_back(static_cast<char>(c));
  }
  return false;
}

MessageInput::Header MessageInput::readHeader(std::size_t& length) {
  bool has_length = false, has_lines = false;
  for (std::string line; readLine(line);) {
    if (line.empty()) {
      if (!has_lines) continue;  // between messages
      return has_length ? Header::kRead : Header::kBad;
    }
    has_lines = true;
    const llvm::StringRef text(line);
    if (!text.starts_with_insensitive("content-length:")) continue;  // "Content-Type" says nothing new
    const llvm::StringRef value = text.drop_front(15).trim();
    const auto [end, error] = std::from_chars(value.begin(), value.end(), length);
    has_length = error == std::errc() && end == value.end();
  }
  return Header::kEnd;
}

llvm::LogicalResult MessageInput::readStandardMessage(std::string& json) {
  request_id_.clear();
  std::size_t length = 0;
  const Header header = readHeader(length);
  if (header == Header::kEnd) return llvm::failure();
  if (header == Header::kBad) {
    json = malformed(ErrorCode::ParseError, "a message has no Content-Length");
    return llvm::success();
  }
  if (length > kMaxMessage) {
    for (std::size_t i = 0; i < length && std::fgetc(in_) != EOF; ++i) {
    }
    json =
        malformed(ErrorCode::InvalidRequest, "a message of " + std::to_string(length) + " bytes is too long");
    return llvm::success();
  }
  json.clear();
  // In pieces: a length is a claim, and only bytes that come cost memory.
  while (json.size() < length) {
    const std::size_t had = json.size(), wanted = std::min<std::size_t>(length - had, 1U << 20U);
    json.resize(had + wanted);
    const std::size_t got = std::fread(json.data() + had, 1, wanted, in_);
    json.resize(had + got);
    if (got == 0) return llvm::failure();  // the input ended within a message
  }
  inspect(json);
  return llvm::success();
}

llvm::LogicalResult MessageInput::readDelimitedMessage(std::string& json) {
  return readStandardMessage(json);
}

void MessageInput::inspect(std::string& json) {
  if (nestingOf(json) > kMaxNesting) {
    json = malformed(ErrorCode::ParseError,
                     "a message nests deeper than " + std::to_string(kMaxNesting) + " values");
    return;
  }
  llvm::Expected<llvm::json::Value> message = llvm::json::parse(json);
  if (!message) {
    json = malformed(ErrorCode::ParseError, llvm::toString(message.takeError()));
    return;
  }
  const llvm::json::Object* const object = message->getAsObject();
  if (object == nullptr || object->getString("jsonrpc") != llvm::StringRef("2.0")) {
    json = malformed(ErrorCode::InvalidRequest, "a message is an object with \"jsonrpc\": \"2.0\"");
    return;
  }
  const llvm::json::Value* const id = object->get("id");
  const bool is_request = object->get("method") != nullptr;
  if (is_request && !object->getString("method")) {
    json = malformed(ErrorCode::InvalidRequest, "the method of a message is a string",
                     id != nullptr && isId(*id) ? *id : nullptr);
  } else if (is_request && object->getString("method") == llvm::StringRef(kMalformed)) {
    json = malformed(ErrorCode::MethodNotFound, "method not found: " + kMalformed.str(),
                     id != nullptr && isId(*id) ? *id : nullptr);
  } else if (id != nullptr && !isId(*id)) {
    json = malformed(ErrorCode::InvalidRequest, "the id of a message is a string or a number");
  } else if (!is_request && id == nullptr) {
    json = malformed(ErrorCode::InvalidRequest, "a message has a method or an id");
  } else if (is_request && id != nullptr) {
    request_id_ = llvm::formatv("{0}", *id);
  }
}

}  // namespace handoff::lsp
