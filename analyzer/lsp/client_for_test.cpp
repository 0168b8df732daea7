// SPDX-License-Identifier: Apache-2.0
// Frames, ids and queues of the test's client.
#include "analyzer/lsp/client_for_test.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <utility>

namespace handoff::lsp::test {

namespace json = llvm::json;

std::string uriOf(const std::string& path) { return "file://" + path; }

json::Object at(const std::string& path, int line, int character) {
  return json::Object{{"textDocument", json::Object{{"uri", uriOf(path)}}},
                      {"position", json::Object{{"line", line}, {"character", character}}}};
}

Client::Client(Checker& checker, ServerOptions options) {
  int in[2], out[2];
  if (pipe(in) != 0 || pipe(out) != 0) std::abort();
  server_in_ = fdopen(in[0], "r");
  to_server_ = fdopen(in[1], "w");
  from_server_ = out[0];
  server_out_ = out[1];
  server_ = std::thread([this, &checker, options = std::move(options)] {
    {
      llvm::raw_fd_ostream stream(server_out_, /*shouldClose=*/true);
      exit_code_ = serve(checker, options, server_in_, stream);
    }
    std::fclose(server_in_);
  });
  listener_ = std::thread([this] { listen(); });
}

Client::~Client() { endStream(); }

int Client::endStream() {
  if (to_server_ != nullptr) std::fclose(std::exchange(to_server_, nullptr));
  if (server_.joinable()) server_.join();
  if (listener_.joinable()) {
    listener_.join();
    ::close(from_server_);
  }
  return exit_code_;
}

void Client::listen() {
  std::FILE* const in = fdopen(dup(from_server_), "r");
  for (;;) {
    std::size_t length = 0;
    char line[256];
    bool has_header = false;
    while (std::fgets(line, sizeof line, in) != nullptr) {
      if (std::sscanf(line, "Content-Length: %zu", &length) == 1) has_header = true;
      if (line[0] == '\r' || line[0] == '\n') break;
    }
    if (!has_header) break;
    std::string body(length, '\0');
    if (std::fread(body.data(), 1, length, in) != length) break;
    llvm::Expected<json::Value> message = json::parse(body);
    if (!message) {
      ADD_FAILURE() << "the server sent no JSON: " << body;
      llvm::consumeError(message.takeError());
      break;
    }
    // A client answers what it is asked.
    const json::Object& object = *message->getAsObject();
    const std::optional<json::Value> id = object.get("id") != nullptr && object.get("method") != nullptr
                                              ? std::optional<json::Value>(*object.get("id"))
                                              : std::nullopt;
    {
      const std::lock_guard lock(mutex_);
      messages_.push_back(*message->getAsObject());
      if (id && to_server_ != nullptr) {
        const std::string text = llvm::formatv(
            "{0}", json::Value(json::Object{{"jsonrpc", "2.0"}, {"id", *id}, {"result", nullptr}}));
        std::fprintf(to_server_, "Content-Length: %zu\r\n\r\n%s", text.size(), text.c_str());
        std::fflush(to_server_);
      }
    }
    arrived_.notify_all();
  }
  std::fclose(in);
}

void Client::sendBytes(const std::string& bytes) {
  const std::lock_guard lock(mutex_);
  std::fwrite(bytes.data(), 1, bytes.size(), to_server_);
  std::fflush(to_server_);
}

void Client::send(json::Object message) {
  message["jsonrpc"] = "2.0";
  const std::string text = llvm::formatv("{0}", json::Value(std::move(message)));
  sendBytes("Content-Length: " + std::to_string(text.size()) + "\r\n\r\n" + text);
}

void Client::notify(const std::string& method, json::Value params) {
  send(json::Object{{"method", method}, {"params", std::move(params)}});
}

std::int64_t Client::ask(const std::string& method, json::Value params) {
  send(json::Object{{"id", ++next_id_}, {"method", method}, {"params", std::move(params)}});
  return next_id_;
}

json::Object Client::replyTo(std::int64_t id) {
  return next(
      [id](const json::Object& message) {
        return message.get("method") == nullptr && message.getInteger("id") == id;
      },
      "a reply to request " + std::to_string(id));
}

json::Object Client::request(const std::string& method, json::Value params) {
  return replyTo(ask(method, std::move(params)));
}

json::Object Client::next(const std::function<bool(const json::Object&)>& fits, const std::string& what) {
  std::unique_lock lock(mutex_);
  const auto find = [&] {
    for (auto message = messages_.begin(); message != messages_.end(); ++message)
      if (fits(*message)) return message;
    return messages_.end();
  };
  if (!arrived_.wait_for(lock, std::chrono::seconds(30), [&] { return find() != messages_.end(); })) {
    ADD_FAILURE() << "there was no " << what;
    return {};
  }
  const auto found = find();
  json::Object message = std::move(*found);
  std::deque<json::Object> left;
  for (auto other = messages_.begin(); other != messages_.end(); ++other)
    if (other > found || (other < found && other->get("method") == nullptr))
      left.push_back(std::move(*other));
  messages_ = std::move(left);
  return message;
}

json::Object Client::nextOf(const std::string& method) {
  json::Object message =
      next([&](const json::Object& other) { return other.getString("method") == llvm::StringRef(method); },
           method);
  const json::Object* const params = message.getObject("params");
  return params == nullptr ? json::Object() : *params;
}

json::Array Client::diagnostics(const std::string& path) {
  const json::Object message = next(
      [&](const json::Object& other) {
        return other.getString("method") == llvm::StringRef("textDocument/publishDiagnostics") &&
               other.getObject("params")->getString("uri") == llvm::StringRef(uriOf(path));
      },
      "diagnostics of " + path);
  const json::Object* const params = message.getObject("params");
  return params == nullptr ? json::Array() : *params->getArray("diagnostics");
}

bool Client::hasAny(const std::string& method) {
  const std::lock_guard lock(mutex_);
  for (const json::Object& message : messages_)
    if (message.getString("method") == llvm::StringRef(method)) return true;
  return false;
}

json::Value Client::initialize(json::Object capabilities, json::Object options) {
  json::Object reply = request("initialize", json::Object{{"processId", nullptr},
                                                          {"rootUri", nullptr},
                                                          {"capabilities", std::move(capabilities)},
                                                          {"initializationOptions", std::move(options)}});
  notify("initialized", json::Object());
  return reply.get("result") == nullptr ? json::Value(nullptr) : *reply.get("result");
}

void Client::open(const std::string& path, const std::string& text, std::int64_t version) {
  notify("textDocument/didOpen", json::Object{{"textDocument", json::Object{{"uri", uriOf(path)},
                                                                            {"languageId", "cuda"},
                                                                            {"version", version},
                                                                            {"text", text}}}});
}

void Client::change(const std::string& path, const std::string& text, std::int64_t version) {
  notify("textDocument/didChange",
         json::Object{{"textDocument", json::Object{{"uri", uriOf(path)}, {"version", version}}},
                      {"contentChanges", json::Array{json::Object{{"text", text}}}}});
}

void Client::save(const std::string& path) {
  notify("textDocument/didSave", json::Object{{"textDocument", json::Object{{"uri", uriOf(path)}}}});
}

void Client::close(const std::string& path) {
  notify("textDocument/didClose", json::Object{{"textDocument", json::Object{{"uri", uriOf(path)}}}});
}

int Client::quit() {
  request("shutdown", nullptr);
  notify("exit", nullptr);
  return endStream();
}

}  // namespace handoff::lsp::test
