// SPDX-License-Identifier: Apache-2.0
// What the client says, message by message; on the reader's thread.
#include <llvm/Support/JSON.h>

#include <algorithm>
#include <utility>

#include "analyzer/lsp/lenses.h"
#include "analyzer/lsp/server_state.h"

namespace handoff::lsp {

using llvm::lsp::ErrorCode;
using llvm::lsp::LSPError;
using llvm::lsp::MessageType;
namespace json = llvm::json;

namespace {

llvm::Error errorOf(ErrorCode code, std::string message) {
  return llvm::make_error<LSPError>(std::move(message), code);
}

json::Object capabilities(Encoding encoding) {
  return json::Object{
      {"positionEncoding", encoding == Encoding::kUtf8 ? "utf-8" : "utf-16"},
      {"textDocumentSync",
       json::Object{{"openClose", true},
                    {"change", static_cast<int>(llvm::lsp::TextDocumentSyncKind::Incremental)},
                    {"save", json::Object{{"includeText", false}}}}},
      {"hoverProvider", true},
      {"codeLensProvider", json::Object{{"resolveProvider", false}}},
      {"codeActionProvider", json::Object{{"codeActionKinds", json::Array{"quickfix", kFixAll}}}},
      {"executeCommandProvider", json::Object{{"commands", json::Array{kExplainRule, kShowKernel}}}}};
}

}  // namespace

void Server::bind() {
  handler_.method(MessageInput::kMalformed, this, &Server::onMalformed);
  handler_.method("initialize", this, &Server::onInitialize);
  handler_.method("shutdown", this, &Server::onShutdown);
  handler_.method("textDocument/codeAction", this, &Server::onCodeAction);
  handler_.method("textDocument/hover", this, &Server::onHover);
  handler_.method("textDocument/codeLens", this, &Server::onCodeLens);
  handler_.method("workspace/executeCommand", this, &Server::onCommand);
  handler_.notification("initialized", this, &Server::onInitialized);
  handler_.notification("textDocument/didOpen", this, &Server::onOpen);
  handler_.notification("textDocument/didChange", this, &Server::onChange);
  handler_.notification("textDocument/didSave", this, &Server::onSave);
  handler_.notification("textDocument/didClose", this, &Server::onClose);
  handler_.notification("workspace/didChangeWatchedFiles", this, &Server::onWatchedFiles);
  handler_.notification("$/cancelRequest", this, &Server::onCancel);
}

void Server::onMalformed(const Raw& params, Reply reply) {
  const json::Object* const error = params.value.getAsObject();
  reply(errorOf(static_cast<ErrorCode>(error->getInteger("code").value_or(0)),
                error->getString("message").value_or("").str()));
}

bool Server::refuses(Reply& reply) {
  if (phase_ == Phase::kRunning) return false;
  reply(phase_ == Phase::kNew ? errorOf(ErrorCode::ServerNotInitialized, "initialize has to come first")
                              : errorOf(ErrorCode::InvalidRequest, "the server was shut down"));
  return true;
}

void Server::onInitialize(const Raw& params, Reply reply) {
  const std::lock_guard lock(mutex_);
  if (phase_ != Phase::kNew) return reply(errorOf(ErrorCode::InvalidRequest, "the server is initialized"));
  phase_ = Phase::kRunning;
  client_ = clientOf(params.value);
  if (client_.takes_utf8) context_.encoding = Encoding::kUtf8;
  json::Object info{{"name", "handoff"}, {"version", options_.version}};
  reply(json::Object{{"capabilities", capabilities(context_.encoding)}, {"serverInfo", std::move(info)}});
}

void Server::onShutdown(const Raw&, Reply reply) {
  const std::lock_guard lock(mutex_);
  if (refuses(reply)) return;
  phase_ = Phase::kShutDown;
  for (auto& [path, document] : documents_) scheduler_.cancel(path);
  for (Pending& pending : std::exchange(pending_, {}))
    pending.reply(errorOf(ErrorCode::RequestCancelled, "the server was shut down"));
  reply(nullptr);
}

void Server::onOpen(const llvm::lsp::DidOpenTextDocumentParams& params) {
  const std::lock_guard lock(mutex_);
  if (phase_ != Phase::kRunning) return;
  const std::string path = params.textDocument.uri.file().str();
  Document document;
  document.uri = params.textDocument.uri;
  document.version = params.textDocument.version;
  document.text = std::make_shared<const Text>(params.textDocument.text);
  documents_[path] = std::move(document);
  requestCheck(path, {});
  publish(path, /*is_forced=*/false);  // a header may have findings from files that are open
}

void Server::onChange(const llvm::lsp::DidChangeTextDocumentParams& params) {
  const std::lock_guard lock(mutex_);
  const std::string path = params.textDocument.uri.file().str();
  const auto found = documents_.find(path);
  if (found == documents_.end())
    return show(MessageType::Error, "window/logMessage", "a change of a document that is not open: " + path);
  std::vector<Change> changes;
  for (const llvm::lsp::TextDocumentContentChangeEvent& change : params.contentChanges)
    changes.push_back({change.range, change.text});
  Document& document = found->second;
  document.version = params.textDocument.version;
  // After a change that made no sense only a whole text brings the two together again.
  if (document.text == nullptr && (changes.empty() || changes.front().range)) return;
  document.text = applyChanges(document.text, changes, context_.encoding);
  if (document.text == nullptr)
    return show(MessageType::Error, "window/logMessage",
                "a change lies outside of the document, which is not checked any more: " + path);
  if (client_.checks_on_change.value_or(options_.checks_on_change))
    requestCheck(path, client_.change_delay ? std::chrono::milliseconds(
                                                  std::clamp<std::int64_t>(*client_.change_delay, 0, 60'000))
                                            : options_.change_delay);
}

void Server::onSave(const DocumentParams& params) {
  const std::lock_guard lock(mutex_);
  requestChecksOf(params.document.uri.file().str());
}

void Server::onClose(const llvm::lsp::DidCloseTextDocumentParams& params) {
  const std::lock_guard lock(mutex_);
  const std::string path = params.textDocument.uri.file().str();
  const auto document = documents_.find(path);
  if (document == documents_.end()) return;
  scheduler_.cancel(path);
  const std::string uri = document->second.uri.uri().str();
  documents_.erase(document);
  published_.erase(path);
  notify("textDocument/publishDiagnostics", json::Object{{"uri", uri}, {"diagnostics", json::Array()}});
  settle(path);
  publishAll("");  // what it said of headers goes with it
}

void Server::onWatchedFiles(const WatchedFilesParams& params) {
  const std::lock_guard lock(mutex_);
  for (const llvm::lsp::URIForFile& file : params.files) requestChecksOf(file.file().str());
}

void Server::onCodeAction(const CodeActionParams& params, Reply reply) {
  const std::lock_guard lock(mutex_);
  if (refuses(reply)) return;
  reply(codeActions(
      documents_, {params.document.uri.file().str(), params.range, params.only, client_.has_document_changes},
      context_));
}

void Server::onHover(const llvm::lsp::TextDocumentPositionParams& params, Reply reply) {
  const std::lock_guard lock(mutex_);
  if (refuses(reply)) return;
  Pending pending{Pending::Kind::kHover, input_.requestId(), params.textDocument.uri.file().str(),
                  params.position.line, std::move(reply)};
  if (isReady(pending)) return answer(std::move(pending));
  pending_.push_back(std::move(pending));
}

void Server::onCodeLens(const DocumentParams& params, Reply reply) {
  const std::lock_guard lock(mutex_);
  if (refuses(reply)) return;
  Pending pending{Pending::Kind::kLenses, input_.requestId(), params.document.uri.file().str(), 0,
                  std::move(reply)};
  if (isReady(pending)) return answer(std::move(pending));
  pending_.push_back(std::move(pending));
}

void Server::onCommand(const CommandParams& params, Reply reply) {
  const std::lock_guard lock(mutex_);
  if (refuses(reply)) return;
  const auto argument = [&](std::size_t index) -> const json::Value* {
    return index < params.arguments.size() ? &params.arguments[index] : nullptr;
  };
  std::optional<std::string> text;
  if (params.command == kExplainRule && argument(0) != nullptr) {
    if (const auto page = options_.rule_page(argument(0)->getAsString().value_or("")))
      text = std::string(*page);
  } else if (params.command == kShowKernel && argument(1) != nullptr) {
    llvm::Expected<llvm::lsp::URIForFile> uri =
        llvm::lsp::URIForFile::fromURI(argument(0)->getAsString().value_or(""));
    if (!uri) return reply(errorOf(ErrorCode::InvalidParams, llvm::toString(uri.takeError())));
    text = describeKernels(documents_, uri->file().str(),
                           static_cast<std::uint32_t>(argument(1)->getAsInteger().value_or(0)), context_);
  }
  if (!text)
    return reply(
        errorOf(ErrorCode::InvalidParams, "'" + params.command + "' is no command with such arguments"));
  if (!client_.shows_command_results) show(MessageType::Info, "window/showMessage", *text);
  reply(json::Value(std::move(*text)));
}

void Server::onCancel(const CancelParams& params) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(pending_.begin(), pending_.end(),
                                  [&](const Pending& pending) { return pending.id == params.id; });
  if (found == pending_.end()) return;  // it has been answered
  Reply reply = std::move(found->reply);
  pending_.erase(found);
  reply(errorOf(ErrorCode::RequestCancelled, "the request was cancelled"));
}

void Server::show(MessageType type, llvm::StringLiteral method, const std::string& message) {
  notify(method, json::Object{{"type", static_cast<int>(type)}, {"message", json::fixUTF8(message)}});
}

}  // namespace handoff::lsp
