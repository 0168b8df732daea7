// SPDX-License-Identifier: Apache-2.0
// Findings about one operation, and about threads that never go on.
#pragma once

#include <vector>

#include "analyzer/diagnose/diagnose.h"

namespace handoff::diagnose {

void reportMisuses(const Run& run, std::vector<Diagnosis>& result);
/// One finding for each place where threads are stuck; the places are told what the others wait for.
void reportStuck(const Run& run, std::vector<Diagnosis>& result);

}  // namespace handoff::diagnose
