// SPDX-License-Identifier: Apache-2.0
// LLVM owns the handlers: it also removes temporary files, and gives the signal its usual meaning after the
// first.
#include "analyzer/cli/interrupt.h"

#include <llvm/Support/Signals.h>

#include <csignal>
#include <ctime>

namespace handoff::cli {
namespace {

CancelToken token;  // a signal handler gets no argument
std::timespec first{};

double secondsSinceFirst() {
  std::timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec - first.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec - first.tv_nsec);
}

// Who sends a signal to a process and then to its group, as timeout(1) does, means one.
void interruptAgain(int signal) {
  constexpr double kOneSignal = 0.5;
  if (secondsSinceFirst() < kOneSignal) return;
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void interrupt() {
  clock_gettime(CLOCK_MONOTONIC, &first);
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, interruptAgain);
  token.cancel();
}

}  // namespace

const CancelToken& cancelOnInterrupt() {
  llvm::sys::SetInterruptFunction(interrupt);
  return token;
}

}  // namespace handoff::cli
