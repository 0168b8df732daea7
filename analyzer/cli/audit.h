// SPDX-License-Identifier: Apache-2.0
// `handoff audit`: inputs in, report out.
#pragma once

#include "analyzer/cli/exit_code.h"
#include "analyzer/cli/options.h"
#include "analyzer/project/check_file.h"
#include "analyzer/report/audit.h"

namespace handoff::cli {

/// Reads and audits one file. Never throws: a fault of ours becomes the file's error.
report::AuditedFile auditFile(const std::string& file, const CheckOptions& options, const project::Settings& settings);

/// The whole command.
ExitCode runAudit(const CheckOptions& options);

}  // namespace handoff::cli
