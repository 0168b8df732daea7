// SPDX-License-Identifier: Apache-2.0
// From JSON to parameters.
#include "analyzer/lsp/protocol.h"

#include <algorithm>
#include <initializer_list>

namespace handoff::lsp {

namespace json = llvm::json;

namespace {

/// A value below objects; null when a name on the way is missing.
const json::Value* find(const json::Value& value, std::initializer_list<llvm::StringRef> names) {
  const json::Value* at = &value;
  for (const llvm::StringRef name : names) {
    const json::Object* const object = at->getAsObject();
    at = object == nullptr ? nullptr : object->get(name);
    if (at == nullptr) return nullptr;
  }
  return at;
}

bool isTrue(const json::Value& value, std::initializer_list<llvm::StringRef> names) {
  const json::Value* const found = find(value, names);
  return found != nullptr && found->getAsBoolean().value_or(false);
}

}  // namespace

json::Value toJSON(const Raw& raw) { return raw.value; }

bool fromJSON(const json::Value& value, Raw& raw, json::Path) {
  raw.value = value;
  return true;
}

bool fromJSON(const json::Value& value, DocumentParams& params, json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("textDocument", params.document);
}

bool fromJSON(const json::Value& value, CodeActionParams& params, json::Path path) {
  json::ObjectMapper map(value, path);
  if (!map || !map.map("textDocument", params.document) || !map.map("range", params.range)) return false;
  const json::Value* const only = find(value, {"context", "only"});
  if (only == nullptr || only->getAsArray() == nullptr) return true;
  for (const json::Value& kind : *only->getAsArray())
    if (const auto text = kind.getAsString()) params.only.push_back(text->str());
  return true;
}

bool fromJSON(const json::Value& value, CommandParams& params, json::Path path) {
  json::ObjectMapper map(value, path);
  if (!map || !map.map("command", params.command)) return false;
  if (const json::Value* const arguments = find(value, {"arguments"});
      arguments != nullptr && arguments->getAsArray() != nullptr)
    params.arguments = *arguments->getAsArray();
  return true;
}

bool fromJSON(const json::Value& value, CancelParams& params, json::Path path) {
  const json::Value* const id = find(value, {"id"});
  if (id == nullptr) {
    path.report("no id");
    return false;
  }
  params.id = llvm::formatv("{0}", *id);
  return true;
}

bool fromJSON(const json::Value& value, WatchedFilesParams& params, json::Path path) {
  const json::Value* const changes = find(value, {"changes"});
  if (changes == nullptr || changes->getAsArray() == nullptr) {
    path.report("no changes");
    return false;
  }
  for (const json::Value& change : *changes->getAsArray()) {
    const json::Value* const uri = find(change, {"uri"});
    llvm::Expected<llvm::lsp::URIForFile> file =
        llvm::lsp::URIForFile::fromURI(uri == nullptr ? "" : uri->getAsString().value_or(""));
    if (file)
      params.files.push_back(*file);
    else
      llvm::consumeError(file.takeError());
  }
  return true;
}

Client clientOf(const json::Value& initialize) {
  Client client;
  if (const json::Value* const encodings = find(initialize, {"capabilities", "general", "positionEncodings"}))
    if (const json::Array* const list = encodings->getAsArray())
      client.takes_utf8 = std::any_of(list->begin(), list->end(), [](const json::Value& item) {
        return item.getAsString() == llvm::StringRef("utf-8");
      });
  client.has_progress = isTrue(initialize, {"capabilities", "window", "workDoneProgress"});
  client.has_document_changes =
      isTrue(initialize, {"capabilities", "workspace", "workspaceEdit", "documentChanges"});
  client.refreshes_lenses = isTrue(initialize, {"capabilities", "workspace", "codeLens", "refreshSupport"});
  client.shows_command_results = isTrue(initialize, {"initializationOptions", "showsCommandResults"});
  if (const json::Value* const on_change = find(initialize, {"initializationOptions", "checkOnChange"}))
    client.checks_on_change = on_change->getAsBoolean();
  if (const json::Value* const delay = find(initialize, {"initializationOptions", "changeDelay"}))
    client.change_delay = delay->getAsInteger();
  return client;
}

}  // namespace handoff::lsp
