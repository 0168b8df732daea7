// SPDX-License-Identifier: Apache-2.0
// From the report on a file to what an editor shows at its lines: findings, one hint for the limits of each
// kernel, and why something was not checked. Still in lines and columns of the compiler.
#pragma once

#include <llvm/Support/LSP/Protocol.h>

#include <functional>
#include <string>
#include <vector>

#include "analyzer/diagnose/finding.h"
#include "analyzer/report/paths.h"
#include "analyzer/report/report.h"

namespace handoff::lsp {

struct Notice {
  SourcePos pos;
  llvm::lsp::DiagnosticSeverity severity = llvm::lsp::DiagnosticSeverity::Error;
  std::string code;  ///< the rule; "bounded" and "not-checked" are none
  std::string message;
  struct Related {
    std::string message;
    SourcePos pos;
  };
  std::vector<Related> related;
  const diagnose::Finding* finding = nullptr;  ///< of the report; null: it is about no finding
};

/// True for files whose lines can be shown: the open documents.
using IsShown = std::function<bool(const std::string& path)>;

/// Each with a position in the file itself or in another one that is shown. A finding in a header that is not
/// shown stands where the file leads to it.
std::vector<Notice> noticesOf(const report::FileReport& file, const report::Paths& paths,
                              const IsShown& is_shown);

/// "ring_sum<3>(const float4 *, float *, int)"; the mangled name where there is no other.
const std::string& nameOf(const diagnose::KernelReport& kernel);
/// "2 limits"
std::string counted(std::size_t count, std::string_view noun);
/// "a.cu:12", as in other reports; empty when unknown.
std::string placeText(const SourcePos& pos, const report::Paths& paths);

}  // namespace handoff::lsp
