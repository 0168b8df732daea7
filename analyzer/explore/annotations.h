// SPDX-License-Identifier: Apache-2.0
// "// handoff: ..." comments above a kernel.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/frontend/unit.h"

namespace handoff::explore {

struct Annotation {
  std::string
      text;       ///< what follows the word, up to the next annotation, the end of the line or of the comment
  SourcePos pos;  ///< its own line, also within a block comment
};

/// Comments within a few lines above a kernel speak of it.
bool speaksOf(const frontend::SourceComment& comment, const frontend::KernelDecl& decl);

std::vector<const frontend::KernelDecl*> kernelsBelow(const frontend::Unit& unit,
                                                      const frontend::SourceComment& comment);

/// All "handoff: WORD ..." of a comment.
std::vector<Annotation> annotationsIn(const frontend::SourceComment& comment, std::string_view word);

/// All "handoff: WORD ..." that speak of the kernel, in the order of the comments; none without a
/// declaration.
std::vector<Annotation> annotationsAbove(const frontend::Unit& unit, const frontend::KernelDecl* decl,
                                         std::string_view word);

}  // namespace handoff::explore
