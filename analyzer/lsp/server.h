// SPDX-License-Identifier: Apache-2.0
// The language server: messages in, checks on workers, messages out.
#pragma once

#include <llvm/Support/raw_ostream.h>

#include <chrono>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "analyzer/lsp/checker.h"
#include "analyzer/lsp/diagnostics.h"

namespace handoff::lsp {

struct ServerOptions {
  std::string version;
  report::Paths paths;
  std::function<std::string(std::string_view rule)> rule_link;                      ///< see Context
  std::function<std::optional<std::string_view>(std::string_view rule)> rule_page;  ///< Markdown
  bool checks_on_change =
      false;  ///< documents are checked when they are opened and saved; also when they change
  std::chrono::milliseconds change_delay{500};  ///< without a further change, before such a check
  unsigned workers = 2;                         ///< checks of different files at a time
};

/// Serves one client until it says exit or its stream ends. The exit code of the process: 0 after shutdown, 1
/// without.
int serve(Checker& checker, const ServerOptions& options, std::FILE* in, llvm::raw_ostream& out);

}  // namespace handoff::lsp
