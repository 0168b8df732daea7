// SPDX-License-Identifier: Apache-2.0
// Parameters that LLVM's library does not have, or has without what is needed here.
#pragma once

#include <llvm/Support/JSON.h>
#include <llvm/Support/LSP/Protocol.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace handoff::lsp {

/// JSON as it came, for what is looked into by hand.
struct Raw {
  llvm::json::Value value = nullptr;
};
llvm::json::Value toJSON(const Raw& raw);
bool fromJSON(const llvm::json::Value& value, Raw& raw, llvm::json::Path path);

/// textDocument/didSave, codeLens: all that counts is the document.
struct DocumentParams {
  llvm::lsp::TextDocumentIdentifier document;
};
bool fromJSON(const llvm::json::Value& value, DocumentParams& params, llvm::json::Path path);

/// LLVM's own type wants every diagnostic of the context in its own form, those of other servers among them.
struct CodeActionParams {
  llvm::lsp::TextDocumentIdentifier document;
  llvm::lsp::Range range;
  std::vector<std::string> only;
};
bool fromJSON(const llvm::json::Value& value, CodeActionParams& params, llvm::json::Path path);

struct CommandParams {
  std::string command;
  llvm::json::Array arguments;
};
bool fromJSON(const llvm::json::Value& value, CommandParams& params, llvm::json::Path path);

struct CancelParams {
  std::string id;  ///< as text, like MessageInput::requestId
};
bool fromJSON(const llvm::json::Value& value, CancelParams& params, llvm::json::Path path);

struct WatchedFilesParams {
  std::vector<llvm::lsp::URIForFile> files;
};
bool fromJSON(const llvm::json::Value& value, WatchedFilesParams& params, llvm::json::Path path);

/// What the client can do, and what it asks for, from the parameters of initialize.
struct Client {
  bool takes_utf8 = false;               ///< general.positionEncodings
  bool has_progress = false;             ///< window.workDoneProgress
  bool has_document_changes = false;     ///< workspace.workspaceEdit.documentChanges
  bool refreshes_lenses = false;         ///< workspace.codeLens.refreshSupport
  bool shows_command_results = false;    ///< initializationOptions.showsCommandResults: no message is needed
  std::optional<bool> checks_on_change;  ///< initializationOptions.checkOnChange
  std::optional<std::int64_t> change_delay;  ///< initializationOptions.changeDelay, milliseconds
};
Client clientOf(const llvm::json::Value& initialize);

}  // namespace handoff::lsp
