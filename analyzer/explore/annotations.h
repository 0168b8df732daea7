// SPDX-License-Identifier: Apache-2.0
// "// handoff: ..." comments above a kernel.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/frontend/unit.h"

namespace handoff::explore {

struct Annotation {
  std::string text;  ///< what follows the word, up to the next annotation or the end of the comment
  SourcePos pos;     ///< its own line, also within a block comment
};

/// All "handoff: WORD ..." that speak of the kernel, in the order of the comments; none without a
/// declaration.
std::vector<Annotation> annotationsAbove(const frontend::Unit& unit, const frontend::KernelDecl* decl,
                                         std::string_view word);

}  // namespace handoff::explore
