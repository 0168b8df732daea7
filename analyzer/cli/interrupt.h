// SPDX-License-Identifier: Apache-2.0
// Ctrl-C: the first asks the run to come to its end, the second ends the process.
#pragma once

#include "analyzer/support/cancel.h"

namespace handoff::cli {

/// From now on SIGINT and SIGTERM cancel the token that is returned; there is one for the process.
const CancelToken& cancelOnInterrupt();

}  // namespace handoff::cli
