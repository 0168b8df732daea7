// SPDX-License-Identifier: Apache-2.0
// The server with the settings of the command line.
#include "analyzer/cli/lsp.h"

#include <llvm/Support/raw_ostream.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <thread>

#include "analyzer/cli/check.h"
#include "analyzer/cli/explain.h"
#include "analyzer/cli/settings.h"
#include "analyzer/cli/version.h"
#include "analyzer/lsp/caching_checker.h"
#include "analyzer/lsp/project_checker.h"
#include "analyzer/lsp/server.h"

namespace handoff::cli {
namespace {

Result<project::Settings> settingsOf(const CheckOptions& options, const config::Config& config) {
  if (const Result<CheckOptions> merged = mergedOptions(options, config); !merged) return merged.error();
  return settingsFor(options, config);
}

/// Documents of an installation are on the disk or not; a link that leads nowhere is worse than none.
std::string linkTo(std::string_view rule) {
  constexpr std::string_view kFile = "file://";
  const std::string link = std::string(kDocsUri) + "/rules/" + std::string(rule) + ".md";
  if (!link.starts_with(kFile)) return link;
  std::error_code failed;
  return std::filesystem::exists(link.substr(kFile.size()), failed) ? link : "";
}

}  // namespace

int runLsp(const CheckOptions& options) {
  const report::Paths paths(std::filesystem::current_path().string(), toolkitFolders(options));
  lsp::ProjectChecker checker(
      [&options](const config::Config& config) { return settingsOf(options, config); }, paths,
      options.config_file);
  lsp::CachingChecker caching(checker);
  lsp::ServerOptions server{.version = std::string(kVersion), .paths = paths};
  server.rule_link = linkTo;
  server.rule_page = rulePage;
  server.checks_on_change = options.checks_on_change;
  // An editor is in use beside it, and clangd.
  server.workers =
      options.jobs != 0 ? options.jobs : std::clamp(std::thread::hardware_concurrency() / 2, 1U, 4U);
  llvm::raw_fd_ostream out(STDOUT_FILENO, /*shouldClose=*/false);
  return lsp::serve(caching, server, stdin, out);
}

}  // namespace handoff::cli
