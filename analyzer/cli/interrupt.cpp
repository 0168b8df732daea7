// SPDX-License-Identifier: Apache-2.0
// LLVM owns the handlers: it also removes temporary files, and gives the signal its usual meaning after the
// first.
#include "analyzer/cli/interrupt.h"

#include <llvm/Support/Signals.h>

namespace handoff::cli {
namespace {

CancelToken token;  // a signal handler gets no argument

}  // namespace

const CancelToken& cancelOnInterrupt() {
  llvm::sys::SetInterruptFunction([] { token.cancel(); });
  return token;
}

}  // namespace handoff::cli
