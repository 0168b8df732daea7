// SPDX-License-Identifier: Apache-2.0
// The server's insides. Threads are explained in scheduler.h.
#pragma once

#include <llvm/Support/LSP/Transport.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "analyzer/lsp/code_actions.h"
#include "analyzer/lsp/message_input.h"
#include "analyzer/lsp/protocol.h"
#include "analyzer/lsp/scheduler.h"
#include "analyzer/lsp/server.h"

namespace handoff::lsp {

class Server {
 public:
  Server(Checker& checker, const ServerOptions& options, llvm::lsp::JSONTransport& transport,
         MessageInput& input);

  /// Reads messages until the end; the exit code.
  int run();

 private:
  using Reply = llvm::lsp::Callback<llvm::json::Value>;
  enum class Phase : std::uint8_t { kNew, kRunning, kShutDown };

  /// A request that waits for a check. Hovers want the audit, too, which comes after the diagnostics.
  struct Pending {
    enum class Kind : std::uint8_t { kLenses, kHover } kind = Kind::kLenses;
    std::string id;  ///< for $/cancelRequest
    std::string path;
    int line = 0;  ///< of a hover, from 0
    Reply reply;
  };

  // --- messages: server_messages.cpp, called by the reader ---
  void bind();
  void onMalformed(const Raw& params, Reply reply);
  void onInitialize(const Raw& params, Reply reply);
  void onInitialized(const Raw&) {}
  void onShutdown(const Raw&, Reply reply);
  void onOpen(const llvm::lsp::DidOpenTextDocumentParams& params);
  void onChange(const llvm::lsp::DidChangeTextDocumentParams& params);
  void onSave(const DocumentParams& params);
  void onClose(const llvm::lsp::DidCloseTextDocumentParams& params);
  void onWatchedFiles(const WatchedFilesParams& params);
  void onCodeAction(const CodeActionParams& params, Reply reply);
  void onHover(const llvm::lsp::TextDocumentPositionParams& params, Reply reply);
  void onCodeLens(const DocumentParams& params, Reply reply);
  void onCommand(const CommandParams& params, Reply reply);
  void onCancel(const CancelParams& params);
  /// True: the request was answered, since it came before initialize or after shutdown.
  bool refuses(Reply& reply);

  // --- checks: server.cpp; all of these are called with the lock held, but for runCheck ---
  void requestCheck(const std::string& path, std::chrono::milliseconds delay);
  void requestChecksOf(const std::string& changed);
  bool isCovered(const std::string& header) const;
  /// On a worker.
  void runCheck(const std::string& path, std::uint64_t generation, const CancelToken& cancel);
  bool accept(const std::string& path, CheckResult result);
  void publish(const std::string& path, bool is_forced);
  void publishAll(const std::string& forced);
  /// Answers what has waited for the file long enough.
  void settle(const std::string& path);
  bool isReady(const Pending& pending) const;
  void answer(Pending pending);

  // --- what the client is asked; called with the lock held ---
  void beginProgress(std::uint64_t generation, const std::string& path);
  void endProgress(std::uint64_t generation);
  void refreshLenses(std::uint64_t generation);
  void notify(llvm::StringLiteral method, llvm::json::Object params);
  void show(llvm::lsp::MessageType type, llvm::StringLiteral method, const std::string& message);

  Checker& checker_;
  const ServerOptions options_;
  MessageInput& input_;
  llvm::lsp::JSONTransport& transport_;
  llvm::lsp::MessageHandler handler_;  ///< locks by itself

  std::mutex mutex_;  ///< of all that follows, but for the scheduler
  Phase phase_ = Phase::kNew;
  Client client_;
  Context context_;
  Documents documents_;
  std::map<std::string, llvm::json::Value> published_;  ///< diagnostics that the client has, by path
  std::vector<Pending> pending_;
  std::map<std::uint64_t, bool> progress_;  ///< checks that run: has the client been told that they began
  std::uint64_t generation_ = 0;

  Scheduler scheduler_;  ///< last: its workers end before the rest does
};

}  // namespace handoff::lsp
