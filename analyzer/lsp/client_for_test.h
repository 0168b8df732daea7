// SPDX-License-Identifier: Apache-2.0
// A client in the test's own process: the server runs in a thread behind two pipes.
#pragma once

#include <llvm/Support/JSON.h>

#include <condition_variable>
#include <cstdio>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "analyzer/lsp/server.h"

namespace handoff::lsp::test {

class Client {
 public:
  Client(Checker& checker, ServerOptions options);
  /// Ends the stream, if the test has not, and waits for the server.
  ~Client();

  /// Sends initialize and initialized; the reply.
  llvm::json::Value initialize(llvm::json::Object capabilities = {}, llvm::json::Object options = {});

  void sendBytes(const std::string& bytes);
  void send(llvm::json::Object message);
  void notify(const std::string& method, llvm::json::Value params);
  /// Sends a request; its id.
  std::int64_t ask(const std::string& method, llvm::json::Value params);
  /// Sends a request and waits for its reply: {"result": ...} or {"error": ...}.
  llvm::json::Object request(const std::string& method, llvm::json::Value params);
  llvm::json::Object replyTo(std::int64_t id);

  void open(const std::string& path, const std::string& text, std::int64_t version = 1);
  void change(const std::string& path, const std::string& text, std::int64_t version);
  void save(const std::string& path);
  void close(const std::string& path);

  /// The next message that fits, waited for; messages before it are dropped unless they are replies. Fails
  /// the test after 30 seconds and returns {}.
  llvm::json::Object next(const std::function<bool(const llvm::json::Object&)>& fits,
                          const std::string& what);
  /// The params of the next notification or request of this method.
  llvm::json::Object nextOf(const std::string& method);
  /// Diagnostics of the next publication for the file.
  llvm::json::Array diagnostics(const std::string& path);
  /// A message of this method came, and was not taken yet.
  bool hasAny(const std::string& method);

  /// shutdown and exit; the exit code.
  int quit();
  /// Ends the stream; the exit code.
  int endStream();

 private:
  void listen();

  std::FILE* to_server_ = nullptr;
  std::FILE* server_in_ = nullptr;
  int from_server_ = -1, server_out_ = -1;
  std::int64_t next_id_ = 0;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<llvm::json::Object> messages_;
  int exit_code_ = -1;
  std::thread server_, listener_;
};

std::string uriOf(const std::string& path);
/// "textDocument" with a position, as hover takes it.
llvm::json::Object at(const std::string& path, int line, int character);

}  // namespace handoff::lsp::test
