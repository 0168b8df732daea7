// SPDX-License-Identifier: Apache-2.0
// The moments of a run that show a finding: what its threads did, what was in flight, and the order that is
// missing.
#pragma once

#include "analyzer/diagnose/diagnose.h"
#include "analyzer/diagnose/picture.h"
#include "analyzer/machine/run_trace.h"

namespace handoff::picture {

/// `run` is the run that shows the finding, made again with `trace`, which has touches. Where order in time
/// is not what the finding is about, the picture is empty but for a note that says so.
diagnose::Picture pictureOfFinding(const diagnose::Run& run, const machine::RunTrace& trace,
                                   const diagnose::Diagnosis& diagnosis);

}  // namespace handoff::picture
