// SPDX-License-Identifier: Apache-2.0
// Checks: when they are asked for, what becomes of their results.
//
// A result counts only when it is of the newest check that was asked for (accept). So an old result, however
// late it comes, overwrites none that is newer, and what a client sees of a file only ever moves forward.
// Diagnostics are computed and sent under the lock; their order on the wire is the order in which results
// were accepted.
#include "analyzer/lsp/server.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "analyzer/frontend/files.h"
#include "analyzer/lsp/hover.h"
#include "analyzer/lsp/lenses.h"
#include "analyzer/lsp/server_state.h"

namespace handoff::lsp {

namespace json = llvm::json;

namespace {

/// What the disk has otherwise, or not at all.
std::shared_ptr<const frontend::Overlay> unsavedOf(const std::map<std::string, SharedText>& texts) {
  auto unsaved = std::make_shared<frontend::Overlay>();
  for (const auto& [path, text] : texts) {
    const Result<std::string> saved = frontend::readFile(path);
    if (!saved || *saved != text->content()) unsaved->emplace(path, text->content());
  }
  return unsaved;
}

bool dependsOn(const Document& document, const std::string& path) {
  if (!document.result) return false;
  const std::vector<std::string>& files = document.result->checked->dependencies;
  return std::find(files.begin(), files.end(), path) != files.end();
}

}  // namespace

Server::Server(Checker& checker, const ServerOptions& options, llvm::lsp::JSONTransport& transport,
               MessageInput& input)
    : checker_(checker),
      options_(options),
      input_(input),
      transport_(transport),
      handler_(transport),
      context_{options.paths, Encoding::kUtf16, options.rule_link},
      scheduler_(options.workers) {
  bind();
}

int Server::run() {
  llvm::consumeError(transport_.run(handler_));  // that the stream ended is no error of ours
  const std::lock_guard lock(mutex_);
  return phase_ == Phase::kShutDown ? 0 : 1;
}

// A header is checked by itself only where no open file includes it: there it has its template arguments and
// flags.
bool Server::isCovered(const std::string& header) const {
  return isHeader(header) && std::any_of(documents_.begin(), documents_.end(), [&](const auto& entry) {
           return entry.first != header && dependsOn(entry.second, header);
         });
}

void Server::requestCheck(const std::string& path, std::chrono::milliseconds delay) {
  const auto document = documents_.find(path);
  if (document == documents_.end() || document->second.text == nullptr || isCovered(path)) return;
  const std::uint64_t generation = document->second.wanted = ++generation_;
  scheduler_.schedule(path, delay, [this, path, generation](const CancelToken& cancel) {
    runCheck(path, generation, cancel);
  });
}

void Server::requestChecksOf(const std::string& changed) {
  for (const auto& [path, document] : documents_)
    if (path == changed || dependsOn(document, changed)) requestCheck(path, {});
}

void Server::runCheck(const std::string& path, std::uint64_t generation, const CancelToken& cancel) {
  CheckRequest request{path, {}, nullptr, &cancel};
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [file, document] : documents_)
      if (document.text != nullptr) request.texts.emplace(file, document.text);
    if (request.texts.contains(path)) beginProgress(generation, path);
  }
  std::shared_ptr<const Checked> checked;
  if (request.texts.contains(path) && !cancel.isCancelled()) {
    request.unsaved = unsavedOf(request.texts);
    checked = checker_.check(request);
  }
  bool needs_audit = false;
  if (checked != nullptr) {
    const std::lock_guard lock(mutex_);
    needs_audit = accept(path, {generation, checked, request.texts, nullptr});
  }
  std::shared_ptr<const std::vector<audit::KernelAudit>> audits;
  if (needs_audit) audits = std::make_shared<const std::vector<audit::KernelAudit>>(checked->audit(cancel));
  const std::lock_guard lock(mutex_);
  if (const auto document = documents_.find(path); document != documents_.end()) {
    std::optional<CheckResult>& result = document->second.result;
    if (audits != nullptr && !cancel.isCancelled() && result && result->generation == generation)
      result->audits = audits;
    document->second.ended = std::max(document->second.ended, generation);
  }
  endProgress(generation);
  settle(path);
}

bool Server::accept(const std::string& path, CheckResult result) {
  const auto document = documents_.find(path);
  if (document == documents_.end() || document->second.wanted != result.generation ||
      result.checked->is_cancelled)
    return false;
  std::optional<CheckResult>& last = document->second.result;
  // A report from memory: so is what was audited.
  if (last && last->checked == result.checked) result.audits = last->audits;
  last = std::move(result);
  // What a header said by itself is said better by the file that includes it, from now on.
  for (auto& [other, covered] : documents_)
    if (covered.result && isCovered(other)) covered.result.reset();
  publishAll(path);
  settle(path);
  if (client_.refreshes_lenses) refreshLenses(last->generation);
  return last->audits == nullptr && last->checked->audit != nullptr;
}

void Server::publish(const std::string& path, bool is_forced) {
  const auto document = documents_.find(path);
  if (document == documents_.end()) return;
  json::Array diagnostics;
  for (Shown& shown : shownIn(documents_, path, context_)) diagnostics.push_back(std::move(shown.diagnostic));
  json::Value all(std::move(diagnostics));
  const auto [known, is_new] = published_.try_emplace(path, json::Array());
  if (!is_forced && known->second == all) return;
  known->second = all;
  notify("textDocument/publishDiagnostics", json::Object{{"uri", document->second.uri.uri()},
                                                         {"version", document->second.version},
                                                         {"diagnostics", std::move(all)}});
}

void Server::publishAll(const std::string& forced) {
  for (const auto& [path, document] : documents_) publish(path, path == forced);
}

bool Server::isReady(const Pending& pending) const {
  const auto found = documents_.find(pending.path);
  if (found == documents_.end() || !found->second.isInFlight()) return true;
  const std::optional<CheckResult>& result = found->second.result;
  if (!result) return false;
  return pending.kind == Pending::Kind::kLenses ||
         (result->generation == found->second.wanted && result->audits != nullptr);
}

void Server::answer(Pending pending) {
  if (pending.kind == Pending::Kind::kLenses)
    return pending.reply(codeLenses(documents_, pending.path, context_));
  const std::optional<llvm::lsp::Hover> hover = hoverOf(documents_, pending.path, pending.line, context_);
  pending.reply(hover ? llvm::lsp::toJSON(*hover) : json::Value(nullptr));
}

void Server::settle(const std::string& path) {
  std::vector<Pending> left;
  for (Pending& pending : pending_) {
    if (pending.path == path && isReady(pending))
      answer(std::move(pending));
    else
      left.push_back(std::move(pending));
  }
  pending_ = std::move(left);
}

// The client has to know the token before it is used, so what begins is said when the client's answer comes;
// a check that has ended by then is never spoken of.
void Server::beginProgress(std::uint64_t generation, const std::string& path) {
  if (!client_.has_progress) return;
  progress_.emplace(generation, false);
  const std::string token = "handoff-" + std::to_string(generation);
  const std::string title = "checking " + path.substr(path.rfind('/') + 1);
  handler_.outgoingRequest<Raw, Raw>(
      "window/workDoneProgress/create",
      [this, generation, token, title](const json::Value&, llvm::Expected<Raw> reply) {
        if (!reply) return llvm::consumeError(reply.takeError());
        const std::lock_guard lock(mutex_);
        const auto running = progress_.find(generation);
        if (running == progress_.end()) return;
        running->second = true;
        notify("$/progress",
               json::Object{
                   {"token", token},
                   {"value", json::Object{{"kind", "begin"}, {"title", title}, {"cancellable", false}}}});
      })(Raw{json::Object{{"token", token}}}, "progress-" + std::to_string(generation));
}

void Server::endProgress(std::uint64_t generation) {
  const auto running = progress_.find(generation);
  if (running == progress_.end()) return;
  const bool has_begun = running->second;
  progress_.erase(running);
  if (has_begun)
    notify("$/progress", json::Object{{"token", "handoff-" + std::to_string(generation)},
                                      {"value", json::Object{{"kind", "end"}}}});
}

void Server::refreshLenses(std::uint64_t generation) {
  handler_.outgoingRequest<Raw, Raw>("workspace/codeLens/refresh",
                                     [](const json::Value&, llvm::Expected<Raw> reply) {
                                       if (!reply) llvm::consumeError(reply.takeError());
                                     })(Raw{}, "lenses-" + std::to_string(generation));
}

void Server::notify(llvm::StringLiteral method, json::Object params) {
  handler_.outgoingNotification<json::Value>(method)(json::Value(std::move(params)));
}

int serve(Checker& checker, const ServerOptions& options, std::FILE* in, llvm::raw_ostream& out) {
  auto input = std::make_unique<MessageInput>(in);
  MessageInput& reader = *input;
  llvm::lsp::JSONTransport transport(std::move(input), out);
  Server server(checker, options, transport, reader);
  return server.run();
}

}  // namespace handoff::lsp
