// SPDX-License-Identifier: Apache-2.0
// The lowering audit: what asynchronous calls became, and what they overlap with.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/audit/audit_report.h"
#include "analyzer/audit/sass.h"
#include "analyzer/explore/analyze.h"
#include "analyzer/frontend/unit.h"

namespace handoff::audit {

/// kBatches: also which group or phase each copy belongs to, and where it goes. Takes one more run.
enum class Detail : std::uint8_t { kCalls, kBatches };

/// One audit for each kernel of the module, in the module's order; Options::kernel_filter leaves some out.
std::vector<KernelAudit> audit(const frontend::Unit& unit, const explore::Options& options, Detail detail = Detail::kCalls);

/// Adds advice for calls that were asynchronous in the PTX, and of which the machine code has no instruction.
void adviseOnSass(KernelAudit& kernel, const SassFunction& sass);

}  // namespace handoff::audit
