// SPDX-License-Identifier: Apache-2.0
// The slots of a whole run: fill, steady state and drain.
#pragma once

#include "analyzer/diagnose/diagnose.h"
#include "analyzer/diagnose/picture.h"
#include "analyzer/machine/run_trace.h"

namespace handoff::picture {

/// Of the CTA that runs, or the first one of the cluster. `trace` has to have touches. Without a slot that is
/// both filled and read the picture is empty but for a note that says so.
diagnose::Picture pictureOfKernel(const diagnose::Run& run, const machine::RunTrace& trace);

}  // namespace handoff::picture
