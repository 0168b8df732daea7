// SPDX-License-Identifier: Apache-2.0
#include "analyzer/machine/executor.h"

namespace handoff::machine {

void Executor::operator()(const ptx::Tcgen05&, const Step& step) { notModelled(step); }

}  // namespace handoff::machine
