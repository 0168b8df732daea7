// SPDX-License-Identifier: Apache-2.0
// The incoming half of the transport: frames, and a check of what is in them.
//
// LLVM's transport ends the server on a message that is not JSON-RPC, and its parser recurses as deep as a
// message nests. So every message is looked at here first. A bad one is handed on as a call of kMalformed,
// whose handler answers with the error that JSON-RPC has for it; nothing that a client sends ends the server.
#pragma once

#include <llvm/Support/JSON.h>
#include <llvm/Support/LSP/Transport.h>

#include <cstdio>
#include <optional>
#include <string>

namespace handoff::lsp {

class MessageInput : public llvm::lsp::JSONTransportInput {
 public:
  /// The method that stands for a message that is none; its params are {code, message}.
  static constexpr llvm::StringLiteral kMalformed = "handoff/malformed";

  /// Reads from `in` until its end; does not close it.
  explicit MessageInput(std::FILE* in) : in_(in) {}

  bool hasError() const override { return std::ferror(in_) != 0; }
  bool isEndOfInput() const override { return std::feof(in_) != 0; }
  llvm::LogicalResult readStandardMessage(std::string& json) override;
  llvm::LogicalResult readDelimitedMessage(std::string& json) override;

  /// Of the request that was read last, as text; empty for a notification. A handler runs before the next
  /// message is read, so in a handler this is its own request.
  const std::string& requestId() const { return request_id_; }

 private:
  enum class Header : std::uint8_t { kRead, kBad, kEnd };
  Header readHeader(std::size_t& length);
  bool readLine(std::string& line);
  void inspect(std::string& json);

  std::FILE* in_;
  std::string request_id_;
};

/// Brackets around a value of the text, at most; strings are skipped.
std::size_t nestingOf(llvm::StringRef json);

}  // namespace handoff::lsp
