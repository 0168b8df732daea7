// SPDX-License-Identifier: Apache-2.0
// How a source file says what an instruction does: its own functions first, then the toolkit's, then inline assembly.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/diagnose/edit.h"
#include "analyzer/diagnose/finding.h"
#include "analyzer/explore/source_text.h"

namespace handoff::explore {

/// A call of the file's function that stands for this instruction and no other, with an immediate in angle brackets or
/// parentheses: "cp_async_wait<0>();".
std::optional<std::string> callOfWrapper(const SourceText& text, std::string_view opcode, const std::vector<ptx::Operand>& operands);
/// A barrier of the cluster, arrive and wait, as the file writes it.
std::optional<std::string> clusterSyncOf(const SourceText& text);
/// A statement for an instruction whose operands are immediates.
std::string asmOf(const std::string& opcode, const std::vector<ptx::Operand>& operands);

/// `volatile` and the "memory" clobber for the asm statement of that line, where they are missing; empty when it is more
/// than one line.
std::optional<diagnose::SourceChange> completeAsm(const SourceText& text, const std::string& file, std::uint32_t line);

/// The edit with instructions that the file has a function for, where another one does the same here: wait_group 0 for
/// wait_all, a fence of shared memory for one of all. The variant needs a run of its own.
std::optional<diagnose::Edit> inStyleOf(const SourceText& text, const diagnose::Edit& edit);

}  // namespace handoff::explore
