// SPDX-License-Identifier: Apache-2.0
// From any bytes to a well-formed kernel of an asynchronous protocol: instructions of the tables that the machine
// models, under guards, in branches, loops, calls and jumps.
#pragma once

#include <string>

#include "analyzer/fuzz/bytes.h"
#include "analyzer/test_support/ptx_kernel.h"

namespace handoff::fuzz {

struct Kernel {
  test::Setup setup;
  std::string statements;

  /// The module around the statements.
  std::string text() const { return test::kernelText(statements, setup); }
  /// As --launch takes it.
  std::string launchText() const;
};

/// The same bytes give the same kernel.
Kernel makeKernel(Bytes bytes);

}  // namespace handoff::fuzz
