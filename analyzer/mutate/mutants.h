// SPDX-License-Identifier: Apache-2.0
// The mutants of a kernel.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/diagnose/edit.h"
#include "analyzer/explore/apply_edit.h"
#include "analyzer/explore/statement.h"
#include "analyzer/frontend/unit.h"
#include "analyzer/machine/program.h"
#include "analyzer/mutate/operators.h"

namespace handoff::mutate {

struct Mutant {
  std::uint32_t op = 0;     ///< index into operators()
  std::uint32_t instr = 0;  ///< of Program::function: the changed statement's first copy
  diagnose::Edit edit;
  SourceStack stack;        ///< of the statement
};

/// In the order of the program. A change goes to every copy that the compiler made of its statement; a change that does not
/// fit the program is left out.
std::vector<Mutant> mutantsOf(const Subject& subject);

/// The unit with the mutated kernel, and no other one.
frontend::Unit mutate(const frontend::Unit& unit, const machine::Program& program, const explore::Edited& edited);

}  // namespace handoff::mutate
