// SPDX-License-Identifier: Apache-2.0
// What the server asks of the analysis. An interface, so that tests of the protocol and of the threads can
// say what a check finds and how long it takes.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "analyzer/audit/audit_report.h"
#include "analyzer/frontend/input.h"
#include "analyzer/lsp/text.h"
#include "analyzer/report/report.h"
#include "analyzer/support/cancel.h"

namespace handoff::lsp {

struct CheckRequest {
  std::string file;                         ///< absolute
  std::map<std::string, SharedText> texts;  ///< of all open documents, by absolute path
  std::shared_ptr<const frontend::Overlay>
      unsaved;  ///< those of them that the disk has otherwise; never null
  const CancelToken* cancel = nullptr;
};

struct Checked {
  report::FileReport report;  ///< without what is switched off or silenced
  bool is_cancelled = false;  ///< the report is not all
  /// Absolute paths of all files that the report may depend on, also of those that are not there. Empty: not
  /// known, and the report is not kept for another time.
  std::vector<std::string> dependencies;
  /// What asynchronous calls became. Takes a run of its own; null: there is nothing to audit.
  std::function<std::vector<audit::KernelAudit>(const CancelToken& cancel)> audit;
};

class Checker {
 public:
  virtual ~Checker() = default;
  /// Called from several threads at a time, but for one file from one only. Does not throw.
  virtual std::shared_ptr<const Checked> check(const CheckRequest& request) = 0;
};

}  // namespace handoff::lsp
